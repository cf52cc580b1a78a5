"""Parameters: typed, overlaid, and strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.config import load_params
from driveproof.config.overlay import apply_overlay
from driveproof.errors import BadInput


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_default_and_every_overlay_are_valid(root: Path) -> None:
    base = root / "params.yaml"
    assert load_params(base).seed == 0
    overlays = sorted((root / "params").glob("*.yaml"))
    assert overlays
    for overlay in overlays:
        load_params(base, [overlay])


def test_an_overlay_replaces_only_its_keys(tmp_path: Path) -> None:
    base = write(tmp_path / "a.yaml", "seed: 1\nmcq: {}\n")
    top = write(tmp_path / "b.yaml", "seed: 2\n")
    assert load_params(base).seed == 1
    assert load_params(base, [top]).seed == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sead: 1", r"sead: Extra inputs are not permitted"),
        ("mcq: {speed: 1}", r"mcq.speed: Extra inputs"),
        ("mcq: {size: 1}", r"mcq.size: reserved name"),
        ("seed: many", r"seed: Input should be a valid integer"),
        ("- 1", "expected sections"),
        ("a: [", "not YAML"),
        ("seed: 1\nseed: 2", "seed comes twice"),
        ("mcq: &a {x: *a}", "references .* are not allowed"),
        ("seed: " + "[" * 3000, "not YAML: maximum recursion"),
        ("seed: " + "9" * 5000, "not YAML: Exceeds the limit"),
        ("seed: -1", "seed: Input should be greater than or equal to 0"),
        ("sweep: {seeds: [-1]}", "sweep.seeds.0: Input should be greater"),
        ("evaluate: {timeout_s: .inf}", "evaluate.timeout_s: Input should be a finite number"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "p.yaml", text)
    with pytest.raises(BadInput, match=message) as caught:
        load_params(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such parameter file"):
        load_params(tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="Is a directory"):
        load_params(tmp_path)


def test_applying_an_overlay_keeps_comments_and_checks_first(tmp_path: Path) -> None:
    base = write(tmp_path / "a.yaml", "# the seed\nseed: 1 # of everything\n")
    apply_overlay(base, write(tmp_path / "b.yaml", "seed: 2\n"))
    assert base.read_text() == "# the seed\nseed: 2 # of everything\n"
    with pytest.raises(BadInput, match="sead"):
        apply_overlay(base, write(tmp_path / "c.yaml", "sead: 3\n"))
    assert load_params(base).seed == 2


@pytest.mark.parametrize("overlay", ["small.yaml", "gpu.yaml"])
def test_the_shipped_overlays_merge_into_a_file_that_means_the_same(
    root: Path, tmp_path: Path, overlay: str
) -> None:
    base = write(tmp_path / "params.yaml", (root / "params.yaml").read_text())
    apply_overlay(base, root / "params" / overlay)
    assert load_params(base) == load_params(root / "params.yaml", [root / "params" / overlay])
    assert '["transformers:models/sft"]' in base.read_text()
    assert "n_codes: null" in base.read_text() or overlay == "gpu.yaml"


def test_the_full_scale_overlay_leaves_no_model_tiny(root: Path) -> None:
    full = load_params(root / "params.yaml", [root / "params/gpu.yaml"])
    for section in (full.sft, full.distill, full.judge_sft):
        assert section.base != "tiny"
        assert section.optimizer == "adamw"
        assert section.style == "full"
    assert full.distill.freeze_vision
    assert (full.distill.style, full.distill.decimals) == (
        full.evaluate.style,
        full.evaluate.decimals,
    )
    served = (full.rubrics.generator, full.evaluate.cfs, full.grpo.reward.grader)
    assert len(set(served)) == 1
    assert served[0].startswith("openai:")

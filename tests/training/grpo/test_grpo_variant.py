"""A whole variant: processes of its own, measured against the start, written down, whatever the number of workers."""

from __future__ import annotations

import shutil
from pathlib import Path
from queue import Queue
from typing import Any

import pyarrow.parquet as pq
import pytest
import toy_world
from grpo_arena import STYLE, Arena, settings

from driveproof.config import Params, load_params
from driveproof.config.evaluate import EvaluateParams
from driveproof.config.grpo import GrpoParams
from driveproof.errors import BadInput
from driveproof.evaluation.facts import facts_by_key
from driveproof.files import read_json, sha256_file, write_json
from driveproof.mcq.answers import read_answers
from driveproof.mcq.interaction import Answer
from driveproof.mcq.table import write_items
from driveproof.prompts import choice_line
from driveproof.rewards import offline_rubric, write_rubrics
from driveproof.scene import write_scenes
from driveproof.training.grpo.train import TIMES
from driveproof.training.grpo.variant import Plan, run_variant


@pytest.fixture(scope="module")
def data(arena: Arena) -> Path:
    """Tables as the stages write them."""
    made = toy_world.scenes(arena.folder)
    write_scenes(made, arena.folder / "scenes")
    (arena.folder / "mcq").mkdir()
    write_items(arena.items, arena.folder / "mcq" / "train.parquet")
    write_items(arena.items[:4], arena.folder / "mcq" / "test.parquet")
    rubrics = [offline_rubric(facts) for facts in facts_by_key(made).values()]
    write_rubrics(rubrics, arena.folder / "rubrics.parquet")
    return arena.folder


def plan(arena: Arena, name: str, scratch: Path, **changes: Any) -> Plan:
    values = settings(steps=1, max_tokens=4).model_dump()
    params = GrpoParams.model_validate(
        {
            **values,
            "start": str(arena.start),
            "train_seeds": 1,
            "rubrics": str(arena.folder / "rubrics.parquet"),
            **changes,
        }
    )
    return Plan(
        name, params, EvaluateParams(repeats=2, max_tokens=8), STYLE, 0, data=arena.folder / "mcq",
        scenes=arena.folder / "scenes", scratch=scratch, root=arena.folder,
        timing=scratch.parent / "timing",
    )  # fmt: skip


@pytest.mark.slow
def test_a_variant_leaves_model_summary_curves_samples_and_answers(
    arena: Arena, data: Path, tmp_path: Path
) -> None:
    seen: set[tuple[str, str]] = set()
    digests = []
    for workers in (1, 2):
        model, report = tmp_path / f"m{workers}", tmp_path / f"r{workers}"
        run_variant(
            plan(arena, "deft_rlvr", tmp_path / "scratch", workers=workers, train_seeds=2),
            model, report, lambda who, what, *_: seen.add((who, what)),
        )  # fmt: skip
        files = sorted(p for p in (*model.iterdir(), *report.iterdir()) if p.name != "summary.json")
        digests.append([sha256_file(path) for path in files])
        summary = read_json(report / "summary.json")
    assert digests[0] == digests[1]
    assert {("start", "test"), ("seed 0", "train"), ("seed 1", "test")} <= seen
    assert summary["seeds"] == ["seed 0", "seed 1"]
    assert summary["questions"] == 4
    assert set(summary["gain"]) == {"accuracy", "hld", "cfs"}
    assert summary["gain"]["cfs"]["n"] == 8  # every answer of both seeds has facts
    assert len(summary["runs"]) == 2
    assert not [p for p in report.iterdir() if "time" in p.name or "timing" in p.name]
    assert set(read_answers(report / "answers.parquet")) == {"start", "seed 0", "seed 1"}
    samples = pq.read_table(report / "samples.parquet").to_pylist()
    assert {row["run"] for row in samples} == {"seed 0", "seed 1"}
    split = read_json(tmp_path / "timing" / "grpo_deft_rlvr.json")
    assert set(split["mean"]) == {*TIMES, "scoring_share"}
    assert [len(rows) for rows in split["runs"].values()] == [1, 1]
    assert not (tmp_path / "scratch" / "deft_rlvr").exists()


def test_what_is_missing_is_said_before_anything_is_trained(
    arena: Arena, data: Path, tmp_path: Path
) -> None:
    cases = [
        (plan(arena, "deft_exact", tmp_path, start=str(tmp_path / "none")), "none"),
        (plan(arena, "deft_rlvr", tmp_path, rubrics=str(tmp_path / "no.parquet")), "no such file of rubrics"),
        (plan(arena, "deft", tmp_path), "no such variant"),
    ]  # fmt: skip
    for wrong, text in cases:
        with pytest.raises(BadInput, match=text):
            run_variant(wrong, tmp_path / "model", tmp_path / "report")
    assert not (tmp_path / "model").exists()


def test_a_variant_whose_answers_are_all_lost_is_refused(
    arena: Arena, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it is asked with is what the parameters say."""
    from driveproof.training.grpo import variant

    given: dict[str, Any] = {}

    def lost(model: Path, items: Any, *_: Any, **named: Any) -> list[Answer]:
        given.update(named)
        return [
            Answer(item.record_key, 0, "deft", None, None, None, error="out of memory")
            for item in items
        ]

    monkeypatch.setattr(variant, "answer_questions", lost)
    monkeypatch.setattr(variant, "_OWN", {"test": arena.items[:2], "reports": Queue()})
    made = plan(arena, "deft_exact", tmp_path, answer_batch_size=3)
    with pytest.raises(BadInput, match="every answer was lost: out of memory"):
        variant._answers(made, "start", arena.start)
    assert given["batch_size"] == 3


def test_the_default_build_measures_as_it_always_did(root: Path) -> None:
    assert load_params(root / "params.yaml").grpo.answer_batch_size == 128


def test_what_was_launched_is_measured_as_the_stage_does(
    arena: Arena, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from driveproof.training.grpo import variant
    from driveproof.training.grpo.launched import measure_launched

    (tmp_path / "data").mkdir()
    for name in ("mcq", "scenes"):
        shutil.copytree(data / name, tmp_path / "data" / name)
    shutil.copytree(arena.start, tmp_path / "models/sft")
    params = Params.model_validate({"grpo": {"train_seeds": 3}, "evaluate": {"repeats": 2}})
    with pytest.raises(BadInput, match=r"nothing was trained .driveproof launch grpo deft_exact"):
        measure_launched(params, "deft_exact", root=tmp_path)
    with pytest.raises(BadInput, match="no such variant"):
        measure_launched(params, "deft", root=tmp_path)
    for number in (0, 2):
        shutil.copytree(arena.start, tmp_path / f"models/launch/grpo_deft_exact_{number}")
        told = {"curves": [{"step": 1, "reward": 0.5}], "samples": [{"step": 1, "reward": 1.0}]}
        write_json(tmp_path / f"reports/launch/grpo_deft_exact_{number}.json", told)

    def answers(model: Path, items: Any, mode: str, *_: Any, **named: Any) -> list[Answer]:
        """The trained ones are right."""
        right = "models/launch" in str(model)
        return [
            Answer(item.record_key, k, "deft", "nothing", choice_line(0), None, (item.oracle_index + (not right)) % 6)
            for item in items for k in range(2)
        ]  # fmt: skip

    monkeypatch.setattr(variant, "answer_questions", answers)
    summary = measure_launched(params, "deft_exact", root=tmp_path)
    assert summary["seeds"] == ["seed 0", "seed 2"]
    assert summary["gain"]["accuracy"]["mean"] == 1.0
    report = tmp_path / "reports/grpo/deft_exact"
    assert read_json(report / "summary.json")["gain"] == summary["gain"]
    assert {p.name for p in report.iterdir()} == {
        "summary.json", "curves.json", "samples.parquet", "answers.parquet",
    }  # fmt: skip
    assert sha256_file(tmp_path / "models/grpo/deft_exact/model.safetensors") == sha256_file(
        arena.start / "model.safetensors"
    )

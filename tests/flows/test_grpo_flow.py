"""The flow of GRPO promotes what it has trained and published, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import flows.grpo
import flows.rebuild


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is asked of the promotion; two variants are published, a third is not."""
    seen: list[object] = []

    def rebuild(**given: object) -> dict[str, str]:
        return {
            "models/sft": "driveproof-policy/1",
            "models/grpo/deft_exact": "driveproof-policy/2",
            "models/grpo/mine": "driveproof-policy/3",
        }

    def promote(
        repository: Path, model: str, dry_run: bool, grace_s: float, only: Sequence[str]
    ) -> bool:
        seen.append((model, list(only)))
        return True

    monkeypatch.setattr(flows.grpo, "rebuild", rebuild)
    monkeypatch.setattr(flows.grpo, "promote_challenger", promote)
    return seen


def test_only_what_was_published_is_promoted(asked: list[object], tmp_path: Path) -> None:
    assert flows.grpo.grpo.fn(["deft_exact", "mine"], repository=tmp_path)
    assert asked == [("driveproof-policy", ["driveproof-policy/2", "driveproof-policy/3"])]


def test_a_variant_that_was_not_published_promotes_nothing(
    asked: list[object], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="models/grpo/deft_rlvr was trained and not published"):
        flows.grpo.grpo.fn(repository=tmp_path)
    assert asked == []


def test_the_versions_are_read_from_what_publish_prints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = {"models": [{"folder": "models/sft", "name": "p", "version": "4", "new": True}]}

    def run(argv: Sequence[str], cwd: Path, log: object, grace_s: float) -> int:
        assert "--json" in argv
        for line in ("a warning", json.dumps(told)):
            log(line)  # type: ignore[operator]
        return 0

    monkeypatch.setattr(flows.rebuild, "run", run)
    monkeypatch.setattr(flows.rebuild, "get_run_logger", lambda: type("L", (), {"info": print}))
    assert flows.rebuild.publish_results.fn(tmp_path, tmp_path, 1.0) == {"models/sft": "p/4"}

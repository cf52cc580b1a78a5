"""The chapter about reinforcement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driveproof.errors import BadInput
from driveproof.report.grpo_section import grpo_section
from driveproof.report.inputs import read_inputs


def _estimate(mean: float) -> dict[str, Any]:
    return {"mean": mean, "low": mean - 0.05, "high": mean + 0.05, "n": 10, "lost": 0}


def _summary(gain: float) -> dict[str, Any]:
    figures = ("accuracy", "hld", "cfs")
    keys = ("steps", "questions", "group", "learning_rate", "kl", "advantage_clip", "temperature")
    return {
        "rollout": "two_turn",
        "reward": "rubric",
        "seeds": ["seed 0", "seed 1"],
        "settings": dict.fromkeys(keys, 2),
        "start": {name: _estimate(0.5) for name in figures},
        "trained": {name: _estimate(0.5 + gain) for name in figures},
        "gain": {name: _estimate(gain) for name in figures},
        "improved": gain > 0.05,
    }


def _write(root: Path, name: str, summary: Any) -> None:
    folder = root / "reports/grpo" / name
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(summary))
    rows = [{"step": step, "reward": 0.1 * step, "graded": None} for step in range(3)]
    curves = {"seed 0": rows, "seed 1": rows}
    (folder / "curves.json").write_text(json.dumps(curves))


def test_every_variant_says_whether_it_improved(tmp_path: Path) -> None:
    _write(tmp_path, "deft_rlvr", _summary(0.1))
    _write(tmp_path, "jeft_exact", _summary(0.01))
    section = grpo_section(read_inputs(tmp_path))
    assert "Surely more accurate than their start: deft_rlvr." in section.intro
    assert "Not surely more accurate than their start: jeft_exact" in section.intro
    assert section.tables[0].rows[2][:3] == (
        "deft_rlvr",
        "gain",
        "0.100 [0.050, 0.150] (n 10)",
    )
    assert len(section.figures) == 2
    assert "reward" in section.figures[0][0]
    assert "graded" not in section.figures[0][0]


def test_what_was_not_trained_is_said_and_broken_files_are_named(tmp_path: Path) -> None:
    assert grpo_section(read_inputs(tmp_path)).missing == "grpo"
    _write(tmp_path, "deft_rlvr", [])
    with pytest.raises(BadInput, match="expected a JSON object"):
        grpo_section(read_inputs(tmp_path))

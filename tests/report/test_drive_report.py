"""The chapter in which driving and answers stand side by side."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.errors import BadInput
from driveproof.evaluation.driving.motion import write_motion
from driveproof.report.drive_section import drive_section
from driveproof.report.inputs import read_inputs

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluation/driving"))
from made_records import Kind, motion, record
from made_runs import decision, make_run


def _estimate(mean: float | None, n: int = 2) -> dict[str, Any]:
    known = mean is not None
    low, high = (mean - 5.0, mean + 5.0) if known else (None, None)
    return {"mean": mean, "low": low, "high": high, "n": n if known else 0, "lost": 0}


def _row(policy: str, score: float, answers: float | None, privileged: list[str]) -> dict[str, Any]:
    names = ("driving_score", "success_rate", "efficiency", "comfort", "ability_mean")
    abilities = {"Overtaking": _estimate(score), "Merging": _estimate(None)}
    scores = {name: _estimate(score) for name in names} | {"abilities": abilities}
    relation = {
        "answers": _estimate(answers),
        "driving": _estimate(score),
        "rank_correlation": _estimate(None),
    }
    said = {"overall": relation, "by_ability": {"Overtaking": relation}}
    return {
        "policy": policy,
        "name": policy,
        "privileged": privileged,
        "scores": {"bench2drive": scores, "corrected": scores},
        "answers": said if answers is not None else None,
        "routes": [],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "reports/drive"
    made.mkdir(parents=True)
    rows = {
        "expert": _row("expert", 95.0, None, ["the expert drives"]),
        "tiny": _row("tiny", 12.5, 40.0, []),
    }
    (made / "drive.json").write_text(json.dumps(rows))
    hit = record("1", Kind.COLLISION_VEHICLE, motion="motion.parquet", town="Town01")
    keys = [decision(0.05 + n, "FOLLOW_LANE, KEEP") for n in range(4)]
    make_run(made / "expert", {"1": (record("1"), []), "2": (record("2"), [])})
    make_run(made / "tiny", {"1": (hit, keys), "2": (record("2", Kind.RED_LIGHT), [])})
    table = motion(0.05, 0.0, n=100)
    driven = replace(
        table, x=100.0 + np.linspace(0.0, 40.0, 100), y=table.y - 55.0, speed=table.speed + 8.0
    )
    write_motion(made / "tiny/routes/1_rep0/motion.parquet", driven)
    return tmp_path


@pytest.mark.slow
def test_driving_and_answers_stand_side_by_side(folder: Path) -> None:
    section = drive_section(read_inputs(folder))
    scores, answers, abilities, groups, causes = section.tables
    assert len(scores.rows) == 4, "two variants of two policies"
    assert scores.rows[0][:3] == ("expert", "bench2drive", "95.0 [90.0, 100.0] (n 2)")
    assert answers.rows == (
        ("expert", "–", "–", "–"),
        ("tiny", "40.0 [35.0, 45.0] (n 2)", "12.5 [7.5, 17.5] (n 2)", "unscored (n 0)"),
    )
    assert abilities.rows[1] == ("tiny", "12.5 [7.5, 17.5] (n 2)", "unscored (n 0)")
    assert groups.rows[0][:2] == ("tiny", "Overtaking")
    assert {row[0]: row[1:] for row in causes.rows} == {
        "hit vehicle": ("0", "1"),
        "ran red light": ("0", "1"),
        "success": ("2", "0"),
    }
    assert "expert (the expert drives)" in section.intro
    assert "same 2 routes of Town01, Town12" in section.intro


@pytest.mark.slow
def test_one_episode_is_drawn_from_above_and_over_time(folder: Path) -> None:
    both, above, time = drive_section(read_inputs(folder)).figures
    assert "tiny" in both[0]
    assert "expert" not in both[0], "who answered nothing has no place among answers"
    assert "tiny on route 1 (Accident)" in above[1]
    assert above[0].count("<path") > 20, "the lanes of Town01 are drawn around the way"
    assert "KEEP" in time[0]
    assert drive_section(read_inputs(folder)).figures[1] == above, "the same bytes again"


def test_what_was_not_driven_is_said_and_broken_files_are_named(
    folder: Path, tmp_path: Path
) -> None:
    path = folder / "reports/drive/drive.json"
    rows = json.loads(path.read_text())
    del rows["tiny"]["scores"]
    for broken in (rows, []):
        path.write_text(json.dumps(broken))
        with pytest.raises(BadInput, match=r"no result of the stage drive"):
            drive_section(read_inputs(folder))
    shutil.rmtree(folder / "reports/drive")
    assert drive_section(read_inputs(folder)).missing == "drive"

"""Scores by unit: from answers and drives, and two models by what both were measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.evaluation.unit_scores import (
    UnitScore,
    compare_units,
    drive_unit_scores,
    mcq_unit_scores,
    read_unit_scores,
    write_unit_scores,
)
from driveproof.mcq.interaction import Answer
from driveproof.sim.criteria import Infraction, InfractionKind

RECORD = RouteRecord(
    route_id="7",
    repeat=0,
    index=0,
    scenarios=("ParkedObstacle",),
    town="Town01",
    weather_id="",
    state=RouteState.COMPLETED,
    status=Status.PERFECT,
    completion=1.0,
    infractions=(),
    length_m=100.0,
    game_s=20.0,
    system_s=0.0,
    speed_shares=(),
)


def _scores(metric: str, values: dict[str, float]) -> list[UnitScore]:
    return [UnitScore(metric, unit, unit.split("/")[0], value) for unit, value in values.items()]


def test_questions_are_scored_over_their_repeats(make_item) -> None:
    items = [make_item(0, oracle=1), make_item(1, oracle=2)]
    answers = [
        Answer("drive/0", 0, "deft", choice=1),
        Answer("drive/0", 1, "deft", choice=4),
        Answer("drive/1", 0, "deft", error="the server is gone"),
    ]
    found = {(s.metric, s.unit): s for s in mcq_unit_scores(items, answers)}
    assert found["accuracy", "drive/0"].value == 0.5
    assert found["accuracy", "drive/0"].cluster == "drive"
    assert np.isnan(found["accuracy", "drive/1"].value)
    assert found["hld", "drive/0"].value == 0.0


def test_a_route_that_was_lost_is_no_zero() -> None:
    struck = Infraction(InfractionKind.COLLISION_VEHICLE, 5.0, (0.0, 0.0))
    records = [
        RECORD,
        replace(RECORD, repeat=1, infractions=(struck,), status=Status.COMPLETED),
        replace(
            RECORD, route_id="8", state=RouteState.QUARANTINED, status=Status.FAILED, completion=0.3
        ),
    ]
    found = {(s.metric, s.unit): s.value for s in drive_unit_scores(records)}
    assert found["driving_score", "7_rep0"] == 100.0
    assert found["driving_score", "7_rep1"] == pytest.approx(60.0)
    assert found["success", "7_rep1"] == 0.0
    assert np.isnan(found["driving_score", "8_rep0"])
    assert np.isnan(found["success", "8_rep0"])


def test_models_are_compared_on_what_both_have() -> None:
    first = _scores("accuracy", {"a/1": 1.0, "a/2": 1.0, "b/1": 0.5, "c/1": 0.0})
    second = _scores("accuracy", {"a/1": 0.5, "a/2": 0.5, "b/1": 0.0, "d/1": 1.0})
    (row,) = compare_units(first, second)
    assert row.difference.mean == pytest.approx(0.5)
    assert (row.difference.low, row.difference.high) == (0.5, 0.5)
    assert (row.difference.n, row.only_first, row.only_second) == (3, 1, 1)
    assert row.first.mean == pytest.approx(0.625)


def test_one_drive_has_no_interval_and_losses_are_counted_by_side() -> None:
    first = _scores("accuracy", {"a/1": 1.0, "a/2": 1.0, "b/1": float("nan")})
    second = _scores("accuracy", {"a/1": 0.0, "a/2": float("nan"), "b/1": float("nan")})
    (row,) = compare_units(first, second)
    assert (row.difference.mean, row.difference.low, row.difference.high) == (1.0, None, None)
    assert (row.difference.n, row.lost_first, row.lost_second) == (1, 1, 2)
    assert str(row.difference) == "1.000 [no interval] (n 1, lost 2)"


def test_a_metric_that_one_lacks_has_no_difference() -> None:
    rows = compare_units(_scores("accuracy", {"a/1": 1.0}), _scores("success", {"r": 1.0}))
    assert [row.metric for row in rows] == ["accuracy", "success"]
    assert all(row.difference.mean is None for row in rows)


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    scores = _scores("accuracy", {"a/1": 1.0, "b/1": float("nan")})
    write_unit_scores(tmp_path / "scores.parquet", scores)
    back = read_unit_scores(tmp_path / "scores.parquet")
    assert [s.unit for s in back] == ["a/1", "b/1"]
    assert np.isnan(back[1].value)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\x00" * 100])
def test_noise_is_no_table(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scores.parquet"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"scores\.parquet"):
        read_unit_scores(path)


def test_other_tables_and_doubled_units_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"metric": ["accuracy"]}), path)
    with pytest.raises(BadInput, match="no table of scores"):
        read_unit_scores(path)
    write_unit_scores(path, [UnitScore("m", "u", "c", 1.0), UnitScore("m", "u", "c", 0.0)])
    with pytest.raises(BadInput, match="twice"):
        read_unit_scores(path)

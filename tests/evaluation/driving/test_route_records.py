"""Records and motion tables come back as they were, and nothing else passes for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_records import Kind, infraction, motion, record

from driveproof.errors import BadInput
from driveproof.evaluation.driving.motion import UNITS, read_motion, write_motion
from driveproof.evaluation.driving.records import (
    RouteRecord,
    RouteState,
    Status,
    read_record,
    status_of,
    write_record,
)


def full() -> RouteRecord:
    return record(
        "24",
        infraction(Kind.OFF_LANE, 0.25),
        infraction(Kind.RED_LIGHT, signal_id="943"),
        infraction(Kind.COLLISION_VEHICLE, actor_id=7, actor_type="vehicle.a.b", bearing=0.25),
        speed_shares=(0.5, 1.25),
        motion="motion.parquet",
        first_junction=(12.0, 30.5),
    )


def test_a_record_comes_back(tmp_path: Path) -> None:
    write_record(tmp_path / "record.json", full())
    text = (tmp_path / "record.json").read_text()
    back = read_record(tmp_path / "record.json")
    assert back.to_json() == full().to_json()  # NaN differs from itself, null does not
    assert repr(back) == repr(full())
    write_record(tmp_path / "record.json", back)
    assert (tmp_path / "record.json").read_text() == text
    assert "NaN" not in text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("completion", 1.5, "completion: 1.5 is not in 0 to 1"),
        ("completion", "1", "completion: .*number"),
        ("completion", None, "completion"),
        ("state", "done", "state: .*queued"),
        ("status", "Fine", "none of Bench2Drive's words"),
        ("route_id", "", "route_id: is empty"),
        ("repeat", -1, "repeat"),
        ("repeat", True, "repeat"),
        ("length_m", float("inf"), "length_m"),
        ("scenarios", "Accident", "scenarios"),
        ("speed_shares", [0.5, -0.1], "speed_shares"),
        ("first_junction", [30.0, 12.0], "first_junction"),
        (
            "infractions",
            [{"kind": "rammed", "time": 1.0, "place": [0.0, 0.0]}],
            "infractions.0.kind",
        ),
        ("infractions", [{"kind": "off_lane", "time": 1.0, "place": [0.0, 0.0]}], "needs a share"),
        ("infractions", [7], "infractions.0"),
        ("colour", "red", "colour"),
        ("game_s", 1e18, "game_s: 1e\\+18 is no number from 0 to"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, field: str, value: Any, said: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps({**full().to_json(), field: value}))
    with pytest.raises(BadInput, match=said) as caught:
        read_record(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{", "{}", "null", "1e999"])
def test_broken_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(BadInput):
        read_record(path)


@pytest.mark.parametrize(
    ("completion", "kinds", "word"),
    [
        (1.0, (), Status.PERFECT),
        (1.0, (Kind.STOP_SIGN,), Status.COMPLETED),
        (0.4, (Kind.BLOCKED,), Status.BLOCKED),
        (0.4, (Kind.ROUTE_DEVIATION, Kind.RED_LIGHT), Status.DEVIATED),
        (0.4, (Kind.ROUTE_TIMEOUT,), Status.TIMED_OUT),
        (0.4, (), Status.TICKS),
    ],
)
def test_the_word_for_how_a_drive_ended(
    completion: float, kinds: tuple[Kind, ...], word: str
) -> None:
    assert status_of(completion, tuple(map(infraction, kinds))) == word


def test_which_states_say_something_about_the_policy() -> None:
    assert [s for s in RouteState if s.scored] == [
        RouteState.COMPLETED,
        RouteState.FAILED_BY_POLICY,
    ]
    assert [s for s in RouteState if not s.ended] == [RouteState.QUEUED, RouteState.RUNNING]


def test_a_motion_table_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = motion(0.05, rng.normal(size=50), rng.normal(size=50), rng.normal(size=50))
    write_motion(tmp_path / "motion.parquet", table)
    back = read_motion(tmp_path / "motion.parquet")
    for name in UNITS:
        assert np.array_equal(getattr(back, name), getattr(table, name))
    assert len(back) == 50


def _broken(tmp_path: Path, **changed: pa.Array | None) -> Path:
    path = tmp_path / "motion.parquet"
    columns = {name: pa.array([0.0, 0.5]) for name in UNITS} | {"time": pa.array([0.0, 0.1])}
    columns = {name: values for name, values in (columns | changed).items() if values is not None}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"heading": None}, "heading: there is no such column"),
        ({"speed": pa.array([0.0, float("nan")])}, "speed: not finite in row 1"),
        ({"speed": pa.array([0.0, None], pa.float64())}, "speed: not finite in row 1"),
        ({"speed": pa.array(["a", "b"])}, "speed: holds no floating"),
        ({"time": pa.array([0.1, 0.1])}, "time: does not ascend in row 1"),
        ({"throttle": pa.array([0.0, 1.5])}, "throttle: 1.5 in row 1"),
        ({"steer": pa.array([0.0, -2.0])}, "steer"),
    ],
)
def test_what_is_no_motion_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_motion(_broken(tmp_path, **changed))


def test_other_units_are_refused(tmp_path: Path) -> None:
    path = _broken(tmp_path)
    table = pq.read_table(path)
    at = table.schema.get_field_index("speed")
    field = pa.field("speed", pa.float64(), metadata={"unit": "km/h"})
    pq.write_table(table.set_column(at, field, table["speed"]), path)
    with pytest.raises(BadInput, match="speed: is in km/h, expected m/s"):
        read_motion(path)


def test_no_table_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "motion.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match="not a readable parquet"):
        read_motion(tmp_path / "motion.parquet")
    with pytest.raises(BadInput, match="no such file"):
        read_motion(tmp_path / "none.parquet")

"""Every failed route has one primary cause, and what was decided before it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from made_records import Kind, infraction, motion, record
from made_runs import decision, make_run

from driveproof.errors import BadInput
from driveproof.evaluation.driving.decisions import DecisionLine, read_decisions
from driveproof.evaluation.driving.failures import Cause, counts, failure_of, failures_of
from driveproof.evaluation.driving.motion import write_motion
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.evaluation.driving.runs import read_run
from driveproof.sim.criteria import Infraction


def at(kind: Kind, time: float, **more: float) -> Infraction:
    return infraction(kind, more.pop("share", math.nan), time=time, **more)


def hit(time: float, degrees: float) -> Infraction:
    """Another vehicle met the ego's outline in this direction, left positive."""
    return at(Kind.COLLISION_VEHICLE, time, bearing=math.radians(degrees))


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        ([at(Kind.COLLISION_PEDESTRIAN, 3.0)], Cause.HIT_PEDESTRIAN),
        ([hit(3.0, 0.0)], Cause.STRUCK_VEHICLE),
        ([hit(3.0, -44.0)], Cause.STRUCK_VEHICLE),
        ([hit(3.0, 46.0)], Cause.SIDE_COLLISION),
        ([hit(3.0, -134.0)], Cause.SIDE_COLLISION),
        ([hit(3.0, 136.0)], Cause.STRUCK_FROM_BEHIND),
        ([hit(3.0, math.nan)], Cause.HIT_VEHICLE),
        ([at(Kind.COLLISION_STATIC, 3.0)], Cause.HIT_STATIC),
        ([at(Kind.RED_LIGHT, 3.0)], Cause.RAN_RED_LIGHT),
        ([at(Kind.STOP_SIGN, 3.0)], Cause.RAN_STOP_SIGN),
        ([at(Kind.YIELD_EMERGENCY, 3.0)], Cause.HELD_EMERGENCY),
        ([at(Kind.ROUTE_DEVIATION, 3.0)], Cause.DEVIATED),
        ([at(Kind.OFF_LANE, 3.0, share=0.1)], Cause.OFF_LANE),
        ([at(Kind.WRONG_WAY, 3.0, share=0.1)], Cause.WRONG_WAY),
        ([at(Kind.BLOCKED, 60.0)], Cause.STUCK),
        ([at(Kind.ROUTE_TIMEOUT, 300.0)], Cause.TIME_OUT),
        ([at(Kind.SCENARIO_TIMEOUT, 90.0)], Cause.SCENARIO_TIME_OUT),
        ([], Cause.NOT_THERE),
        # Whatever follows a contact follows from it, and a rule that was broken comes before the pace.
        ([hit(9.0, 0.0), at(Kind.BLOCKED, 70.0)], Cause.STRUCK_VEHICLE),
        ([at(Kind.OFF_LANE, 2.0, share=0.1), at(Kind.RED_LIGHT, 8.0)], Cause.RAN_RED_LIGHT),
        ([hit(9.0, 90.0), hit(4.0, 180.0)], Cause.STRUCK_FROM_BEHIND),
        ([at(Kind.OFF_LANE, 2.0, share=0.1), at(Kind.ROUTE_DEVIATION, 8.0)], Cause.DEVIATED),
        ([at(Kind.OFF_LANE, 2.0, share=0.1), at(Kind.BLOCKED, 70.0)], Cause.OFF_LANE),
    ],
)
def test_one_primary_cause(found: list[Infraction], cause: Cause) -> None:
    one = record("1", *found, completion=0.5, status=Status.TICKS)
    assert failure_of(one).cause is cause


def test_who_is_late_among_faster_traffic_was_too_slow() -> None:
    late = (at(Kind.ROUTE_TIMEOUT, 300.0), at(Kind.MIN_SPEED, 100.0, share=0.2))
    slow = record("1", *late, speed_shares=(0.2, 0.6), completion=0.6, status=Status.TIMED_OUT)
    assert failure_of(slow).cause is Cause.TOO_SLOW
    quick = record("1", *late, speed_shares=(0.2, 0.9), completion=0.6, status=Status.TIMED_OUT)
    assert failure_of(quick).cause is Cause.TIME_OUT


def test_other_causes_are_kept_in_order_of_time() -> None:
    one = record("1", at(Kind.RED_LIGHT, 2.0), hit(3.0, 0.0), at(Kind.BLOCKED, 70.0))
    assert failure_of(one).also == (Cause.RAN_RED_LIGHT, Cause.STUCK)


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        (RouteState.FAILED_BY_POLICY, Cause.POLICY_FAILURE),
        (RouteState.FAILED_BY_SIMULATOR, Cause.SIMULATOR_FAILURE),
        (RouteState.FAILED_BY_MODEL_SERVER, Cause.MODEL_SERVER_FAILURE),
        (RouteState.QUARANTINED, Cause.QUARANTINED),
    ],
)
def test_a_state_is_a_cause_by_itself(state: RouteState, cause: Cause) -> None:
    one = record("1", hit(3.0, 0.0), state=state, status=Status.FAILED, reason="it raised")
    failure = failure_of(one)
    assert (failure.cause, failure.text) == (cause, "it raised")
    assert failure.also == (Cause.STRUCK_VEHICLE,)


def test_the_decisions_of_three_seconds_before_and_the_one_that_held(tmp_path: Path) -> None:
    speeds = np.linspace(0.0, 10.0, 101)  # 1 m/s2 for ten seconds
    drive = motion(0.1, 1.0, n=101)
    object.__setattr__(drive, "speed", speeds)
    write_motion(tmp_path / "motion.parquet", drive)
    one = record("1", hit(6.2, 0.0), motion=str(tmp_path / "motion.parquet"))
    lines = [
        DecisionLine(10 * n, n / 2, 5.0, f"FOLLOW_LANE, {n}", "", None, None) for n in range(20)
    ]
    failure = failure_of(one, lines)
    assert failure.window == pytest.approx((3.2, 6.2))
    assert failure.speed == pytest.approx((3.2, 6.2))
    # 3.0 s held when the window begins at 3.2 s; 6.0 s is the last before 6.2 s
    assert [d.time for d in failure.decisions] == [3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0]
    assert failure_of(one, lines, before_s=1.0).decisions[0].time == 5.0


def test_failures_of_a_run_come_in_the_order_of_the_suite(tmp_path: Path) -> None:
    def driven(route: str, **more: object) -> RouteRecord:
        return record(route, at(Kind.RED_LIGHT, 3.0), **more)

    run = make_run(
        tmp_path,
        {
            "9": (driven("9"), [decision(1.0, keys="FOLLOW_LANE, KEEP")]),
            "2": (record("2"), []),
            "5": ("quarantined", "3 crashes"),
            "1": ("running", ""),
            "7": None,
        },
    )
    failures = failures_of(read_run(run))
    assert [(one.route_id, one.cause) for one in failures] == [
        ("9", Cause.RAN_RED_LIGHT),
        ("5", Cause.QUARANTINED),
        ("1", Cause.UNFINISHED),
        ("7", Cause.UNFINISHED),
    ]
    assert failures[0].decisions[0].keys == "FOLLOW_LANE, KEEP"
    assert (failures[1].text, failures[1].scenarios) == ("3 crashes", ("Accident",))
    assert counts(failures) == {"unfinished": 2, "quarantined": 1, "ran_red_light": 1}
    assert json.loads(json.dumps([one.to_json() for one in failures]))[0]["time"] == 3.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: is no JSON"),
        ("[]", "line 1: is no JSON object"),
        ('{"frame": 1}', "line 1: time is no number"),
        ('{"frame": true, "time": 1}', "line 1: frame"),
        ('{"frame": 1, "time": 1, "trace": 5}', "line 1: trace"),
        ('{"frame": 1, "time": NaN}', "line 1: time"),
    ],
)
def test_broken_decisions_are_refused(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "decisions.jsonl").write_text(line + "\n")
    with pytest.raises(BadInput, match=said):
        read_decisions(tmp_path)


def test_a_line_without_end_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driveproof.evaluation.driving.decisions._LONGEST_LINE", 100)
    path = tmp_path / "decisions.jsonl"
    good = '{"frame": 1, "time": 1, "latency_s": 1' + "0" * 40 + "}"
    path.write_text(f"{good}\n\n{good}\n")
    assert len(read_decisions(tmp_path)) == 2
    path.write_text(f"{good}\n" + "x" * 101)
    with pytest.raises(BadInput, match="line 2: is longer"):
        read_decisions(tmp_path)


def test_numbers_of_any_size_are_numbers(tmp_path: Path) -> None:
    digits = "1" + "0" * 400
    (tmp_path / "decisions.jsonl").write_text(f'{{"frame": 1, "time": 1, "speed": {digits}}}\n')
    assert read_decisions(tmp_path)[0].speed == float("inf")

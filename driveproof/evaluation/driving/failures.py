"""Why routes fail: one primary cause each, when it was, and what was decided before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from driveproof.evaluation.driving.decisions import DecisionLine, read_decisions
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.evaluation.driving.route_score import motion_of
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.evaluation.driving.suite import Loss
from driveproof.sim.criteria import Infraction, InfractionKind

BEFORE_S = 3.0
"""Seconds before an infraction that are looked at."""
SLOW_SHARE = 0.5
"""Below this share of the traffic's speed, who comes too late was too slow."""
FRONT, REAR = math.radians(45.0), math.radians(135.0)
"""Up to and from which bearing the front and the rear were hit (corners lie at 45 degrees)."""


class Cause(StrEnum):
    """The primary cause of a failed route."""

    HIT_PEDESTRIAN = "hit_pedestrian"
    STRUCK_VEHICLE = "struck_vehicle"
    """With its front."""
    SIDE_COLLISION = "side_collision"
    STRUCK_FROM_BEHIND = "struck_from_behind"
    HIT_VEHICLE = "hit_vehicle"
    """Nobody knows with which side."""
    HIT_STATIC = "hit_static"
    RAN_RED_LIGHT = "ran_red_light"
    RAN_STOP_SIGN = "ran_stop_sign"
    HELD_EMERGENCY = "held_emergency_vehicle"
    DEVIATED = "deviated"
    WRONG_WAY = "wrong_way"
    OFF_LANE = "off_lane"
    STUCK = "stuck"
    TOO_SLOW = "too_slow"
    """Out of time, at less than half the speed of the traffic around."""
    TIME_OUT = "time_out"
    SCENARIO_TIME_OUT = "scenario_time_out"
    NOT_THERE = "not_there"
    """Ended before the end of the route, and no infraction says why (limit of ticks)."""
    POLICY_FAILURE = "policy_failure"
    SIMULATOR_FAILURE = "simulator_failure"
    MODEL_SERVER_FAILURE = "model_server_failure"
    QUARANTINED = "quarantined"
    UNFINISHED = "unfinished"


STATES = {
    RouteState.FAILED_BY_POLICY: Cause.POLICY_FAILURE,
    RouteState.FAILED_BY_SIMULATOR: Cause.SIMULATOR_FAILURE,
    RouteState.FAILED_BY_MODEL_SERVER: Cause.MODEL_SERVER_FAILURE,
    RouteState.QUARANTINED: Cause.QUARANTINED,
    RouteState.QUEUED: Cause.UNFINISHED,
    RouteState.RUNNING: Cause.UNFINISHED,
}
"""States that are a cause by themselves."""
_CAUSES = {
    InfractionKind.COLLISION_PEDESTRIAN: (0, Cause.HIT_PEDESTRIAN),
    InfractionKind.COLLISION_VEHICLE: (0, Cause.HIT_VEHICLE),
    InfractionKind.COLLISION_STATIC: (0, Cause.HIT_STATIC),
    InfractionKind.RED_LIGHT: (1, Cause.RAN_RED_LIGHT),
    InfractionKind.STOP_SIGN: (1, Cause.RAN_STOP_SIGN),
    InfractionKind.YIELD_EMERGENCY: (1, Cause.HELD_EMERGENCY),
    InfractionKind.ROUTE_DEVIATION: (2, Cause.DEVIATED),
    InfractionKind.WRONG_WAY: (3, Cause.WRONG_WAY),
    InfractionKind.OFF_LANE: (3, Cause.OFF_LANE),
    InfractionKind.BLOCKED: (4, Cause.STUCK),
    InfractionKind.ROUTE_TIMEOUT: (4, Cause.TIME_OUT),
    InfractionKind.SCENARIO_TIMEOUT: (4, Cause.SCENARIO_TIME_OUT),
}
"""The cause that an infraction is, and its rank: contacts, then broken rules, a lost route, the wrong lane, the pace."""


@dataclass(frozen=True)
class Before:
    """A decision before an infraction."""

    frame: int
    time: float
    keys: str
    error: str


@dataclass(frozen=True)
class Failure:
    """A failed route.

    Attributes
    ----------
    cause, text
        Why, as a type and in words.
    time, window
        Seconds since the episode began of the infraction, and from when to when to look; None if unknown.
    speed
        Of the ego at the beginning of the window and at the infraction, m/s; None if no motion was recorded.
    decisions
        Those within the window, and the one that held when it began.
    also
        The other causes, in order of time.
    """

    route_id: str
    repeat: int
    scenarios: tuple[str, ...]
    town: str
    cause: Cause
    text: str
    time: float | None = None
    window: tuple[float, float] | None = None
    speed: tuple[float, float] | None = None
    decisions: tuple[Before, ...] = ()
    also: tuple[Cause, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def failures_of(run: DriveRun, before_s: float = BEFORE_S) -> tuple[Failure, ...]:
    """Every drive of a run that is no success, with its cause; in the order of the suite.

    Raises
    ------
    BadInput
        If a file of a drive is broken.
    """
    found = {
        record.key: failure_of(record, read_decisions(run.folder(record)), before_s)
        for record in run.records
        if not (record.state.scored and record.success)
    }
    found |= {loss.key: _of_loss(loss, run) for loss in run.losses}
    order = [(one.route_id, n) for n in range(run.repeats) for one in run.expected]
    return tuple(found[key] for key in order if key in found)


def failure_of(
    record: RouteRecord, decisions: Iterable[DecisionLine] = (), before_s: float = BEFORE_S
) -> Failure:
    """The failure of a drive that is no success.

    The state decides if it is one. Otherwise the infraction of the lowest rank does, the earliest of it: whatever
    follows a contact follows from it.
    """
    causes = [(*_ranked(one, record), one) for one in record.failures if one.kind in _CAUSES]
    about = (record.route_id, record.repeat, record.scenarios, record.town)
    if record.state in STATES:
        others = tuple(dict.fromkeys(cause for _, cause, _ in causes))
        text = record.reason or record.status
        end = record.game_s
        return Failure(
            *about,
            STATES[record.state],
            text,
            also=others,
            **_around(record, end, decisions, before_s),
        )
    if not causes:
        end = record.game_s
        return Failure(
            *about, Cause.NOT_THERE, record.status, **_around(record, end, decisions, before_s)
        )
    _, cause, one = min(causes, key=lambda found: (found[0], _late(found[2])))
    others = tuple(dict.fromkeys(other for _, other, _ in causes if other is not cause))
    return Failure(
        *about, cause, one.text, also=others, **_around(record, one.time, decisions, before_s)
    )


def counts(failures: Iterable[Failure]) -> dict[str, int]:
    """How often each cause is the primary one, the most frequent first."""
    found = Counter(failure.cause.value for failure in failures)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _ranked(one: Infraction, record: RouteRecord) -> tuple[int, Cause]:
    rank, cause = _CAUSES[one.kind]
    if one.kind is InfractionKind.COLLISION_VEHICLE:
        return rank, _met(one.bearing)
    late = one.kind in (InfractionKind.ROUTE_TIMEOUT, InfractionKind.SCENARIO_TIMEOUT)
    if late and record.speed_shares and np.mean(record.speed_shares) < SLOW_SHARE:
        return rank, Cause.TOO_SLOW
    return rank, cause


def _met(bearing: float) -> Cause:
    """Which side of the ego was hit."""
    if math.isnan(bearing):
        return Cause.HIT_VEHICLE
    if abs(bearing) <= FRONT:
        return Cause.STRUCK_VEHICLE
    return Cause.STRUCK_FROM_BEHIND if abs(bearing) >= REAR else Cause.SIDE_COLLISION


def _late(one: Infraction) -> float:
    return math.inf if math.isnan(one.time) else one.time


def _around(
    record: RouteRecord, time: float, decisions: Iterable[DecisionLine], before_s: float
) -> dict[str, Any]:
    """What is known of the moments before ``time``."""
    if math.isnan(time):
        return {}
    begin = max(time - before_s, 0.0)
    motion = motion_of(record)
    speed = None
    if motion is not None and len(motion):
        first, last = np.interp([begin, time], motion.time, motion.speed).tolist()
        speed = (first, last)
    told = [line for line in decisions if line.time <= time]
    held = [line for line in told if line.time <= begin][-1:]
    seen = [*held, *(line for line in told if line.time > begin)]
    return {
        "time": time,
        "window": (begin, time),
        "speed": speed,
        "decisions": tuple(Before(d.frame, d.time, d.keys, d.error) for d in seen),
    }


def _of_loss(loss: Loss, run: DriveRun) -> Failure:
    route = next(one for one in run.expected if one.route_id == loss.route_id)
    return Failure(
        loss.route_id, loss.repeat, route.scenarios, route.town, STATES[loss.state], loss.reason
    )

"""How well one fact agrees with the truth: 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from driveproof.questions import FactValue, Kind, Slot
from driveproof.questions import terms as t

_CLOSE: tuple[tuple[frozenset[Enum], float], ...] = (
    (frozenset({t.Intent.LEFT, t.Intent.SLIGHTLY_LEFT}), 0.5),
    (frozenset({t.Intent.RIGHT, t.Intent.SLIGHTLY_RIGHT}), 0.5),
    (frozenset({t.Intent.STRAIGHT, t.Intent.SLIGHTLY_LEFT}), 0.5),
    (frozenset({t.Intent.STRAIGHT, t.Intent.SLIGHTLY_RIGHT}), 0.5),
    (frozenset({t.Motion.STOPPED, t.Motion.SLOW}), 0.5),
    (frozenset({t.Motion.SLOW, t.Motion.NORMAL}), 0.5),
    (frozenset({t.Braking.STOP, t.Braking.SLOW_DOWN}), 0.5),
    (frozenset({t.Braking.NONE, t.Braking.SPEED_UP}), 1.0),
    (frozenset({t.Maneuver.CHANGE_EITHER, t.Maneuver.CHANGE_LEFT}), 0.75),
    (frozenset({t.Maneuver.CHANGE_EITHER, t.Maneuver.CHANGE_RIGHT}), 0.75),
    (frozenset({t.Maneuver.CHANGE_LEFT, t.Maneuver.USE_ONCOMING_LANE}), 0.75),
    (frozenset({t.Maneuver.SHIFT_LEFT, t.Maneuver.STEER_LEFT}), 0.75),
    (frozenset({t.Maneuver.SHIFT_RIGHT, t.Maneuver.STEER_RIGHT}), 0.75),
    (frozenset({t.Reason.PEDESTRIAN, t.Reason.PEDESTRIAN_CROSSING}), 0.75),
    (frozenset({t.Reason.STOPPED_VEHICLE, t.Reason.VEHICLE_TOO_CLOSE}), 0.75),
    (frozenset({t.Reason.STOPPED_VEHICLE, t.Reason.BRAKING_VEHICLE}), 0.75),
    (frozenset({t.Reason.SLOW_VEHICLE, t.Reason.BRAKING_VEHICLE}), 0.75),
    (frozenset({t.Reason.SLOW_VEHICLE, t.Reason.VEHICLE_TOO_CLOSE}), 0.75),
    (frozenset({t.Reason.CROSSING_VEHICLE, t.Reason.MERGING_TRAFFIC}), 0.5),
    (frozenset({t.Advice.STOP_AND_WAIT, t.Advice.STOP_THEN_GO}), 0.75),
    (frozenset({t.Advice.SLOW_DOWN, t.Advice.BE_CAREFUL}), 0.5),
    (frozenset({t.Advice.SLOW_DOWN, t.Advice.STOP_AND_WAIT}), 0.5),
    (frozenset({t.Advice.SLOW_DOWN, t.Advice.OBEY_LIMIT}), 0.5),
    (frozenset({t.Daytime.NOON, t.Daytime.DAY}), 0.75),
    (frozenset({t.Daytime.DAY, t.Daytime.TWILIGHT}), 0.5),
    (frozenset({t.Daytime.TWILIGHT, t.Daytime.NIGHT}), 0.5),
    (frozenset({t.Sky.LIGHT_RAIN, t.Sky.RAIN}), 0.75),
    (frozenset({t.Sky.RAIN, t.Sky.HEAVY_RAIN}), 0.75),
    (frozenset({t.Sky.CLEAR, t.Sky.CLOUDY}), 0.5),
    (frozenset({t.JunctionRelation.INSIDE, t.JunctionRelation.BEFORE}), 0.5),
    (frozenset({t.EgoMove.GO_ON, t.EgoMove.GO_STRAIGHT}), 0.75),
    (frozenset({t.SignState.PENDING, t.SignState.CLEARED}), 0.5),
)
SPEED_FREE_MPS, SPEED_FREE_SHARE = 0.5, 0.1
"""A speed within 0.5 m/s or a tenth is right; three times as far it is worth nothing."""
_UNDER, _OVER = 0.5, 1.0


def agreement(slot: Slot, said: FactValue, true: FactValue, *, number: int = 0) -> float:
    """1 for the truth, 0 for its opposite, between for what is near. Which near values count is tabled here alone.

    ``number`` is the question: where lanes may be entered from (30) a missed side is worse, where one may change to
    (31) an invented one.
    """
    if slot.many:
        assert isinstance(said, frozenset)
        assert isinstance(true, frozenset)
        return f_measure(said, true, beta={30: 2.0, 31: 0.5}.get(number, 1.0))
    if said == true and type(said) is type(true):
        return 1.0
    if slot.type is Kind.LIMIT:
        return limit_agreement(said, true)
    if said is None or true is None:
        return 0.0
    if slot.type is Kind.SPEED:
        return speed_agreement(float(said), float(true))  # type: ignore[arg-type]
    if slot.type is Kind.COUNT:
        return count_agreement(int(said), int(true), number)  # type: ignore[arg-type]
    if isinstance(said, Enum) and isinstance(true, Enum):
        return next((value for pair, value in _CLOSE if pair == {said, true}), 0.0)
    return 0.0


def f_measure(said: frozenset[Enum], true: frozenset[Enum], beta: float = 1.0) -> float:
    """F of two sets; two empty ones agree. ``beta`` above 1 makes a miss worse than an invention."""
    if not said and not true:
        return 1.0
    hits = len(said & true)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(said), hits / len(true)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def speed_agreement(said: float, true: float) -> float:
    """Speeds in m/s."""
    free = max(SPEED_FREE_MPS, SPEED_FREE_SHARE * abs(true))
    return min(max(1.0 - (abs(said - true) - free) / (2.0 * free), 0.0), 1.0)


def count_agreement(said: int, true: int, number: int = 0) -> float:
    """Counts: of several pedestrians (1) one more or less is half right; lanes are counted exactly."""
    return (
        0.5
        if number == 1 and abs(said - true) == 1 and min(said, true) >= 1
        else float(said == true)
    )


def limit_agreement(said: FactValue, true: FactValue) -> float:
    """Limits in km/h: too low costs half of what is missing, too high all of it, and no limit is the highest."""
    if true is None:
        return 0.25 if isinstance(said, int | float) else 1.0
    if not isinstance(said, int | float):
        return 0.0
    assert isinstance(true, int | float)
    if abs(said - true) < 0.5:
        return 1.0
    off = (said - true) / true if true else 1.0
    worth = _UNDER * (1.0 + off) if off < 0 else _UNDER * (1.0 - 2.0 * _OVER * off)
    return min(max(worth, 0.0), 1.0)


def _unless_none(value: FactValue) -> FactValue:
    return None if isinstance(value, Enum) and value.name == "NONE" else value


def score_facts(
    slots: Sequence[Slot],
    said: Mapping[str, FactValue],
    true: Mapping[str, FactValue],
    *,
    number: int = 0,
) -> float:
    """Weighted mean agreement over the slots, 0 to 1; an unread slot counts 0.

    An optional slot that neither the truth nor the answer fills does not count.
    """
    total = gained = 0.0
    for slot in slots:
        truth = true.get(slot.name, frozenset() if slot.many else None)
        value = said.get(slot.name)
        if slot.optional:  # "no obstacle" and leaving it out say the same
            truth, value = _unless_none(truth), _unless_none(value)
            if not truth and not value:
                continue
        total += slot.weight
        if slot.name in said:
            if slot.many and value is None:
                value = frozenset()
            gained += slot.weight * agreement(slot, value, truth, number=number)
    return gained / total if total else 1.0

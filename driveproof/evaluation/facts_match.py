"""Comparing what is said: does a trace meet a criterion, and does it fit a scene. One matcher for rewards and evaluation.

A claim is met only if nothing in the trace says the opposite: naming every colour of a light meets no criterion about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from driveproof.evaluation.claims import Action, Entity, Mention, Trace, plan_actions, plan_route
from driveproof.evaluation.facts import SceneFacts, SignalFact, UserFact
from driveproof.evaluation.trace import read_trace

NEAR_M, NEAR_SHARE = 5.0, 0.25
"""Distances agree within so many metres or this share, whichever is more: what a picture can tell."""
SPEED_MPS, SPEED_SHARE = 1.5, 0.2
MOST_NAMED = 4
"""Who names more things of one kind guesses: no criterion about that kind is met."""
OVERLAP = 0.6
"""Share of a criterion's content words that a trace must hold, for criteria about what the reader does not know."""
_STOPPING = frozenset({Action.STOP, Action.SLOW})
_SPECIFIC_USERS = (Entity.VEHICLE, Entity.PEDESTRIAN, Entity.CYCLIST, Entity.OBSTACLE)


def meets(trace: Trace, criterion: str, *, ego_speed: float | None = None) -> bool:
    """Whether a trace states everything that a criterion asks for.

    Parameters
    ----------
    trace
        Of :func:`driveproof.evaluation.trace.read_trace`.
    criterion
        One English sentence that names evidence, its attributes, or what follows.
    ego_speed
        Known speed of the ego, m/s, by which stated positions are understood.
    """
    asked = read_trace(criterion)
    checks: list[bool] = [_has(trace, wanted) for wanted in asked.mentions]
    if asked.actions:
        checks.append(_follows(trace, asked.actions, ego_speed))
    if asked.denied & _STOPPING and not asked.actions:
        checks.append(goes_on(trace, ego_speed))
    if asked.speed is not None:
        checks.append(_knows_speed(trace, asked.speed))
    if asked.route:
        checks.append(bool(asked.route & route_of(trace)))
    if checks:
        return all(checks)
    if not asked.words:
        return False
    return len(asked.words & trace.words) / len(asked.words) >= OVERLAP


def actions_of(trace: Trace, ego_speed: float | None = None) -> frozenset[Action]:
    """What a trace does to the speed, in words and in stated positions."""
    planned = plan_actions(trace.plan, ego_speed) if trace.plan else frozenset()
    return (trace.actions - trace.denied) | planned


def route_of(trace: Trace) -> frozenset[str]:
    """Where a trace goes, in words and in stated positions."""
    return trace.route | (plan_route(trace.plan) if trace.plan else frozenset())


def goes_on(trace: Trace, ego_speed: float | None = None) -> bool:
    """Whether a trace goes on at some speed, or denies that anything stops it, and does not stop."""
    actions = actions_of(trace, ego_speed)
    return Action.STOP not in actions and bool(actions or trace.denied & _STOPPING)


def _follows(trace: Trace, asked: frozenset[Action], ego_speed: float | None) -> bool:
    """Any of the asked actions, and not its opposite beside it."""
    actions = actions_of(trace, ego_speed)
    if asked & _STOPPING and Action.ACCELERATE in actions:
        return False
    if not asked & _STOPPING and Action.STOP in actions:
        return False
    return bool(asked & actions)


def _knows_speed(trace: Trace, speed: float) -> bool:
    if trace.speed is not None:
        return abs(trace.speed - speed) <= max(SPEED_MPS, SPEED_SHARE * speed)
    if trace.plan is None:
        return False
    (x, y), _ = trace.plan
    # 8 m/s² of braking and 3.5 m/s² of acceleration bound what 2.5 s can do
    return 2.5 * speed - 25.0 <= math.hypot(x, y) <= 2.5 * speed + 11.0


def _has(trace: Trace, wanted: Mention) -> bool:
    """Whether a trace has a mention, and none that says the opposite."""
    if not wanted.present:
        return _rules_out(trace, wanted.entity)
    same = [m for m in trace.mentions if m.present and _is_a(m.entity, wanted.entity)]
    if not same or len(same) > MOST_NAMED:
        return False
    if any(not m.present and _is_a(wanted.entity, m.entity) for m in trace.mentions):
        return False
    if wanted.state and any(m.state and m.state != wanted.state for m in same):
        return False
    return any(_agrees(m, wanted) for m in same)


def _rules_out(trace: Trace, entity: Entity) -> bool:
    """Whether a trace says that there is no such thing, nor names one in the way."""
    family = [m for m in trace.mentions if _same_family(m.entity, entity)]
    absent = [m for m in family if not m.present]
    # a parked car at the left does not fill the way ahead
    present = [m for m in family if m.present and m.side not in ("left", "right")]
    return bool(absent) and not present


def _agrees(said: Mention, wanted: Mention) -> bool:
    if wanted.state and said.state != wanted.state:
        return False
    if wanted.motion and said.motion != wanted.motion:
        return False
    if wanted.distance is not None and not near(said.distance, wanted.distance):
        return False
    if wanted.speed is not None and said.speed is not None:
        return abs(said.speed - wanted.speed) <= max(SPEED_MPS, SPEED_SHARE * wanted.speed)
    return True


def near(said: float | None, true: float) -> bool:
    """Whether a stated distance agrees with a true one, metres."""
    return said is not None and abs(said - true) <= max(NEAR_M, NEAR_SHARE * true)


def _is_a(said: Entity, wanted: Entity) -> bool:
    if said == wanted:
        return True
    if wanted is Entity.CONTROL:
        return said.is_control
    return wanted is Entity.USER and said in _SPECIFIC_USERS


def _same_family(one: Entity, other: Entity) -> bool:
    if one.is_control or other.is_control:
        return one.is_control == other.is_control
    return True


def true_signal(mention: Mention, facts: SceneFacts) -> SignalFact | None:
    """The light or sign of a scene that a mention speaks of truly; None if there is none."""
    for signal in facts.signals:
        if _fits_signal(mention, signal):
            return signal
    return None


def _fits_signal(mention: Mention, signal: SignalFact) -> bool:
    if mention.entity in (Entity.STOP, Entity.YIELD):
        kind = signal.name == mention.entity.value
    elif mention.entity is Entity.LIGHT:
        kind = signal.name not in ("stop", "yield") and mention.state in ("", signal.name)
    else:
        kind = True
    return kind and (mention.distance is None or near(mention.distance, signal.distance))


def true_user(mention: Mention, facts: SceneFacts) -> UserFact | None:
    """The road user of a scene that a mention speaks of truly; None if there is none."""
    for user in facts.users:
        if _fits_user(mention, user):
            return user
    return None


def _fits_user(mention: Mention, user: UserFact) -> bool:
    if mention.entity is not Entity.USER and mention.entity.value != user.kind:
        return False
    if mention.side == "ahead" and not user.in_way:
        return False
    if mention.side in ("left", "right") and (user.y > 0) != (mention.side == "left"):
        return False
    if mention.motion and mention.motion != user.motion:
        return False
    if mention.speed is not None and abs(mention.speed - user.speed) > max(
        SPEED_MPS, SPEED_SHARE * user.speed
    ):
        return False
    away = math.hypot(user.x, user.y)
    return (
        mention.distance is None or near(mention.distance, user.x) or near(mention.distance, away)
    )


def fabricated(trace: Trace, facts: SceneFacts) -> list[Mention]:
    """Things that a trace names, or attributes that it gives them, which the scene does not have.

    What the source of the scene cannot tell ("signals" or "agents" unknown) is not counted.
    """
    return [m for m in _checkable(trace.mentions, facts) if m.present and _untrue(m, facts)]


def _untrue(mention: Mention, facts: SceneFacts) -> bool:
    if mention.entity.is_control:
        return true_signal(mention, facts) is None
    return true_user(mention, facts) is None


def _checkable(mentions: Iterable[Mention], facts: SceneFacts) -> list[Mention]:
    return [m for m in mentions if ("signals" if m.entity.is_control else "agents") in facts.known]

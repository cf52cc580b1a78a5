"""The four axes of CFS from facts: a turn-1 text held against what its scene holds.

* grounding: the governing signal and the nearest road user in the way are named truly, or truly said to be absent, as far as they
  demand something and the source knows of them;
* no_hallucination: nothing is named that is not there, nor given an attribute that it has not;
* specificity: something is located or told how it moves, or, in an empty scene, both findings are stated with a plan or a speed;
* coherence: there is a conclusion, it is one, and it does not go against the evidence as the text states it.
"""

from __future__ import annotations

from driveproof.evaluation.claims import Action, Entity, Mention, Trace
from driveproof.evaluation.facts import HORIZON_S, Demand, SceneFacts
from driveproof.evaluation.facts_match import actions_of, fabricated, near, true_user
from driveproof.evaluation.trace import read_trace
from driveproof.prompts import parse_decision
from driveproof.scene import Decision, Direction, SpeedChange

STRAIGHT_M = 2.5
"""A straight way may end so far beside the axis: half a lane, and positions are stated in whole metres."""
EVADE_M = 1.0
"""Who goes so far aside goes round what stands in the way."""


def offline_axes(text: str, facts: SceneFacts) -> dict[str, bool]:
    """Axis -> whether a normalised turn-1 text fulfils it; the decision may stand in the text. Never raises for any text."""
    trace = read_trace(text)
    return {
        "grounding": _grounded(trace, facts),
        "no_hallucination": not fabricated(trace, facts),
        "specificity": _specific(trace),
        "coherence": _coherent(trace, parse_decision(text), facts.speed),
    }


def _grounded(trace: Trace, facts: SceneFacts) -> bool:
    return _signal_grounded(trace, facts) and _way_grounded(trace, facts)


def _signal_grounded(trace: Trace, facts: SceneFacts) -> bool:
    if "signals" not in facts.known:
        return True
    said = [m for m in trace.mentions if m.entity.is_control]
    present = [m for m in said if m.present]
    signal = facts.signal
    if signal is None:
        # a light that governs somebody else may be named, but not as one to obey
        return not any(m.state in ("red", "yellow") or m.entity is Entity.STOP for m in present)
    named = [m for m in present if _is_signal(m, signal.name)]
    others = [m for m in present if m.state and m.state != signal.name]
    if facts.signal_demand is Demand.FREE and not present:
        # what asks for nothing need not be named, but must not be denied
        return not any(not m.present for m in said)
    return (
        any(m.distance is None or near(m.distance, signal.distance) for m in named) and not others
    )


def _is_signal(mention: Mention, name: str) -> bool:
    if name in ("stop", "yield"):
        return mention.entity.value == name
    return mention.entity is Entity.LIGHT and mention.state in ("", name)


def _way_grounded(trace: Trace, facts: SceneFacts) -> bool:
    if "agents" not in facts.known:
        return True
    said = [m for m in trace.mentions if not m.entity.is_control]
    present = [m for m in said if m.present and m.side not in ("left", "right")]
    user = facts.ahead
    if user is None:
        return not any(m.side == "ahead" and true_user(m, facts) is None for m in present)
    named = [m for m in present if m.entity.value == user.kind or m.entity is Entity.USER]
    if facts.ahead_demand is Demand.FREE and not named:
        return not any(not m.present for m in said)
    return any(m.distance is None or near(m.distance, user.x) for m in named)


def _specific(trace: Trace) -> bool:
    for mention in trace.mentions:
        if mention.present and (mention.distance is not None or mention.motion or mention.speed):
            return True
        if mention.present and mention.side in ("left", "right"):
            return True
    absent = [m.entity.is_control for m in trace.mentions if not m.present]
    return {True, False} <= set(absent) and (trace.plan is not None or trace.speed is not None)


_DONE = {
    SpeedChange.STOP: Action.STOP,
    SpeedChange.DECELERATE: Action.SLOW,
    SpeedChange.KEEP: Action.KEEP,
    SpeedChange.ACCELERATE: Action.ACCELERATE,
}
_SIDES = {
    Direction.LEFT: "left",
    Direction.SHIFT_LEFT: "left",
    Direction.RIGHT: "right",
    Direction.SHIFT_RIGHT: "right",
}
_BRAKING = frozenset({Action.STOP, Action.SLOW})
_OPPOSITE = (
    frozenset({Action.STOP, Action.ACCELERATE}),
    frozenset({Action.SLOW, Action.ACCELERATE}),
)


def _coherent(trace: Trace, decision: Decision | None, speed: float) -> bool:
    actions = actions_of(trace, speed)
    if decision is not None:
        actions |= {_DONE[decision.speed]}
    if not actions and not trace.denied:
        return False
    if any(pair <= actions for pair in _OPPOSITE) or trace.actions & trace.denied:
        return False
    if decision and trace.plan and not _same_way(trace.plan, decision.direction):
        return False
    if _stated_contradiction(trace):
        return False
    if not _stated_demand(trace, speed, evading=_evades(trace, decision)):
        return True
    # who brakes, or stands and does not set off, has concluded it
    return bool(actions & _BRAKING) or (speed < 1.0 and Action.ACCELERATE not in actions)


def _evades(trace: Trace, decision: Decision | None) -> bool:
    """Whether the text goes round something instead of stopping for it."""
    aside = trace.plan is not None and max(abs(y) for _, y in trace.plan) >= EVADE_M
    decided = decision is not None and decision.direction is not Direction.STRAIGHT
    return aside or decided or bool(trace.route & {"left", "right"})


def _same_way(plan: tuple[tuple[float, float], tuple[float, float]], direction: Direction) -> bool:
    """Whether a decided direction can be that of stated positions; a turn may just have begun."""
    beside = plan[1][1]
    side = _SIDES.get(direction)
    if side is None:
        return abs(beside) <= STRAIGHT_M
    return beside > -EVADE_M if side == "left" else beside < EVADE_M


def _stated_contradiction(trace: Trace) -> bool:
    """Whether one kind of thing ahead is named and denied, or one light has two colours."""
    controls = [m for m in trace.mentions if m.entity.is_control]
    colours = {m.state for m in controls if m.present and m.state}
    denied = any(not m.present and m.entity is Entity.CONTROL for m in controls)
    way = [m for m in trace.mentions if not m.entity.is_control]
    clear = any(not m.present and m.entity is Entity.USER for m in way)
    blocked = any(m.present and m.side == "ahead" for m in way)
    return len(colours) > 1 or (denied and any(m.present for m in controls)) or (clear and blocked)


def _stated_demand(trace: Trace, speed: float, *, evading: bool) -> bool:
    """Whether the evidence, as stated, forces the ego to brake within the horizon."""
    reach = speed * HORIZON_S + 5.0
    for mention in trace.mentions:
        distance = mention.distance
        red = mention.present and mention.entity is Entity.LIGHT and mention.state == "red"
        if red and (distance is None or distance <= reach):
            return True
        standing = mention.present and mention.motion == "standing" and mention.side == "ahead"
        if standing and not evading and distance is not None and distance <= 4.0 * speed:
            return True
    return False

"""Typed answers to every question of a moment, from the expert's facts and decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from driveproof.commenter.conflicts import Conflict
from driveproof.commenter.context import Context
from driveproof.commenter.decision import ExpertDecision
from driveproof.commenter.importance import Important, unranked
from driveproof.commenter.lateral import ENTER_HIGHWAY, LEAVE_HIGHWAY, Move
from driveproof.commenter.naming import kind_of
from driveproof.commenter.road import BEFORE_JUNCTION_M, Beside
from driveproof.commenter.signs import Signs, kind_of_signal
from driveproof.commenter.surroundings import Surroundings
from driveproof.commenter.traffic import Moving
from driveproof.maps import LaneKind
from driveproof.questions import (
    Answer,
    FactValue,
    ObjectFacts,
    ObjectKind,
    ObjectRef,
    QuestionKey,
)
from driveproof.questions import terms as t
from driveproof.scene import Command

PEDESTRIAN_M, PEDESTRIAN_POINTS = 30.0, 5
WAYPOINTS, WAYPOINT_S = 8, 0.5
OCCUPIED_AHEAD_M, OCCUPIED_BEHIND_M = 8.0, 8.0


@dataclass(frozen=True)
class Facts:
    """Everything that answers rest on."""

    context: Context
    signs: Signs
    surroundings: Surroundings
    moving: dict[int, Moving]
    conflicts: list[Conflict]
    decision: ExpertDecision
    important: Important


Item = tuple[QuestionKey, Answer]


def all_answers(facts: Facts) -> dict[QuestionKey, Answer]:
    """The answers to all questions that can be asked in this moment, by question and subject."""
    found = dict(_frame_answers(facts))
    found.update(_sign_answers(facts))
    found.update(_road_answers(facts))
    found.update(_vehicle_answers(facts))
    found.update(_waypoints(facts))
    return dict(sorted(found.items()))


def _frame(number: int, objects: Iterable[ObjectFacts] = (), /, **slots: FactValue) -> Item:
    return QuestionKey(number), Answer(slots, tuple(objects))


def _named(refs: Iterable[ObjectRef]) -> list[ObjectFacts]:
    return [ObjectFacts(ref) for ref in refs]


# --- decisions -----------------------------------------------------------------------------------------------------


def _frame_answers(facts: Facts) -> Iterator[Item]:
    context, decision = facts.context, facts.decision
    yield _frame(1, count=_pedestrians(context))
    brake = decision.brake
    because = [_ref(facts, row) for row in brake.rows]
    because += [context.sign_ref(s) for s in facts.signs.affecting if s.id == brake.signal]
    yield _frame(8, _named(because), braking=brake.level, reason=brake.reason)
    yield _frame(10, _about(facts, decision.around), **_need(decision.around))
    present = decision.obstruction is not None
    cause = decision.obstruction.cause if decision.obstruction else None
    rows = decision.obstruction.rows if decision.obstruction else ()
    yield _frame(11, _named(_ref(facts, row) for row in rows), present=present, cause=cause)
    yield _frame(12, (), **_need(decision.other))
    move = decision.move
    yield _frame(
        13,
        _about(facts, move),
        **_need(move),
        now=move.needed and move.now,
        postponed=move.postponed,
    )
    reasons: dict[str, FactValue] = {"keys": decision.keys}
    if move.needed:
        reasons["cause"] = move.cause
        reasons["postponed"] = move.postponed
    if brake.level is not t.Braking.NONE:
        reasons["reason"] = brake.reason
    yield QuestionKey(43), Answer(reasons)
    yield _frame(50, keys=decision.keys)
    around = facts.surroundings
    yield _frame(37, daytime=around.daytime, sky=around.sky)
    yield _frame(38, daytime=around.daytime, sky=around.sky, dangers=_set(around.dangers))
    yield _frame(
        39, daytime=around.daytime, sky=around.sky, strategies=_set(around.weather_strategies)
    )
    yield _frame(40, hazards=_set(around.hazards))
    yield _frame(41, hazards=_set(around.hazards), strategies=_set(around.hazard_strategies))


def _set(values: Iterable[object]) -> FactValue:
    return frozenset(values)  # type: ignore[arg-type]  # sets of terms, whose type a set does not vary in


def _need(move: Move) -> dict[str, FactValue]:
    return {"maneuver": move.maneuver, "cause": move.cause}


def _about(facts: Facts, move: Move) -> list[ObjectFacts]:
    return _named(_ref(facts, row) for row in move.rows)


def _ref(facts: Facts, row: int) -> ObjectRef:
    agent = facts.context.frame.agents[row]
    tag = f"c{agent.id}"
    known = next((ref for ref in facts.important.refs if ref.tag == tag), None)
    return known or facts.context.ref(agent)


def _pedestrians(context: Context) -> int:
    return sum(
        kind_of(agent) is ObjectKind.PEDESTRIAN
        and agent.points >= PEDESTRIAN_POINTS
        and 0.0 <= x <= PEDESTRIAN_M
        for agent, (x, _, _) in zip(context.frame.agents, context.local.tolist(), strict=True)
    )


# --- lights and signs ----------------------------------------------------------------------------------------------


def _sign_answers(facts: Facts) -> Iterator[Item]:
    context, signs = facts.context, facts.signs
    refs = [context.sign_ref(signal) for signal in signs.affecting]
    light = [context.sign_ref(signs.light)] if signs.light else []
    stop = [context.sign_ref(signs.stop)] if signs.stop else []
    ahead = [context.sign_ref(signs.sign_ahead)] if signs.sign_ahead else []
    yield _frame(2, _named(stop), stop_sign=signs.stop_state)
    yield _frame(3, _named(ahead), passed=signs.limit, ahead=signs.limit_ahead)
    yield _frame(4, _named(refs), passed_limit=signs.limit)
    yield _frame(5, _named(light), present=signs.light is not None)
    yield _frame(6, _named(light), light=signs.light_colour)
    yield _frame(7, limit=signs.limit, upcoming=signs.limit_ahead)
    advised = [
        ObjectFacts(ref, {"advice": _advice(facts, index)}) for index, ref in enumerate(refs)
    ]
    if advised:  # the question lists them
        yield _frame(14, advised)
    yield _frame(15, advised)
    seen: set[ObjectKind] = set()
    for index, signal in enumerate(signs.affecting):
        kind = kind_of_signal(signal)
        if kind not in seen:
            seen.add(kind)
            advice = _advice(facts, index)
            limit = signal.limit_kmh if advice is t.Advice.OBEY_LIMIT else None
            yield QuestionKey(9, kind.value), Answer({"advice": advice, "limit": limit})


def _advice(facts: Facts, index: int) -> t.Advice:
    signal = facts.signs.affecting[index]
    kind = kind_of_signal(signal)
    if kind is ObjectKind.TRAFFIC_LIGHT:
        colour = facts.signs.light_colour if signal is facts.signs.light else t.LightColour.NONE
        return {
            t.LightColour.RED: t.Advice.STOP_AND_WAIT,
            t.LightColour.YELLOW: t.Advice.SLOW_DOWN,
        }.get(colour, t.Advice.GO_ON)
    if kind is ObjectKind.STOP_SIGN:
        cleared = facts.signs.stop_state is t.SignState.CLEARED
        return t.Advice.GO_ON if cleared else t.Advice.STOP_THEN_GO
    if kind is ObjectKind.YIELD_SIGN:
        return t.Advice.GIVE_WAY
    return t.Advice.OBEY_LIMIT if kind is ObjectKind.SPEED_LIMIT_SIGN else t.Advice.BE_CAREFUL


# --- the road ------------------------------------------------------------------------------------------------------


def _road_answers(facts: Facts) -> Iterator[Item]:
    context, road = facts.context, facts.context.road
    left, right = _may_enter(road.left), _may_enter(road.right)
    inside = road.in_junction
    sides = {t.Side.LEFT: left or inside, t.Side.RIGHT: right or inside}
    parking = {
        side
        for side, beside in ((t.Side.LEFT, road.left), (t.Side.RIGHT, road.right))
        if beside.kind is LaneKind.PARKING
    }
    yield _frame(30, sides=_set(s for s, open_ in sides.items() if open_), parking=_set(parking))
    may = {t.Side.LEFT: left and not inside, t.Side.RIGHT: right and not inside}
    allowed = {side for side, open_ in may.items() if open_}
    occupied = {side for side in allowed if _occupied(context, 1 if side is t.Side.LEFT else -1)}
    yield _frame(31, sides=_set(allowed), occupied=_set(occupied))
    for side, beside in (("left", road.left), ("right", road.right)):
        marking = Answer({"marking": beside.marking, "colour": beside.colour})
        yield QuestionKey(32, side), marking
    yield _frame(33, index=road.index if road.on_road else None)
    yield QuestionKey(34, "same"), Answer({"count": road.same})
    yield QuestionKey(34, "opposite"), Answer({"count": road.opposite})
    yield _frame(35, junction=_junction(context))
    yield _frame(36, watch=_set(_watch(context)))
    yield _frame(44, bend=road.bend)


_CROSSABLE = {
    t.MarkingKind.NONE,
    t.MarkingKind.BROKEN,
    t.MarkingKind.BROKEN_BROKEN,
    t.MarkingKind.BOTTS_DOTS,
    t.MarkingKind.SOLID_BROKEN,
    t.MarkingKind.BROKEN_SOLID,
}


def _may_enter(beside: Beside) -> bool:
    """Whether vehicles may change between the ego's lane and the one beside."""
    return beside.drivable and beside.marking in _CROSSABLE


def _occupied(context: Context, side: int) -> bool:
    for row, agent in enumerate(context.frame.agents):
        x = float(context.local[row][0])
        offset = side * context.path_place(row)[1]
        room = (agent.length + context.frame.ego.length) / 2.0
        if (
            agent.kind == "vehicle"
            and 1.0 < offset < 5.3
            and -OCCUPIED_BEHIND_M - room < x < OCCUPIED_AHEAD_M + room
        ):
            return True
    return False


def _junction(context: Context) -> t.JunctionRelation:
    road, scenario = context.road, context.frame.scenario
    near = context.frame.near
    ramp = near is not None and float(np.hypot(*context.frame.local(*near))) < 30.0
    if ramp and scenario in ENTER_HIGHWAY:
        return t.JunctionRelation.HIGHWAY_ENTRY
    if ramp and scenario in LEAVE_HIGHWAY:
        return t.JunctionRelation.HIGHWAY_EXIT
    if road.in_junction:
        return t.JunctionRelation.INSIDE
    return (
        t.JunctionRelation.BEFORE
        if road.to_junction < BEFORE_JUNCTION_M
        else t.JunctionRelation.NONE
    )


def _watch(context: Context) -> set[t.Watch]:
    road, command = context.road, context.frame.command_near
    found: set[t.Watch] = set()
    at_junction = road.in_junction or road.to_junction < BEFORE_JUNCTION_M
    if command is Command.CHANGE_LEFT:
        found.add(t.Watch.LEFT_LANE)
    elif command is Command.CHANGE_RIGHT:
        found.add(t.Watch.RIGHT_LANE)
    elif at_junction and command is Command.LEFT:
        found |= {t.Watch.ONCOMING_LANE, t.Watch.FROM_LEFT, t.Watch.FROM_RIGHT}
    elif at_junction and command is Command.RIGHT:
        found |= {t.Watch.FROM_LEFT, t.Watch.ONCOMING_LANE}
    elif at_junction:
        found |= {t.Watch.FROM_LEFT, t.Watch.FROM_RIGHT, t.Watch.ONCOMING_LANE}
    else:
        found.add(t.Watch.OWN_LANE)
    if context.frame.scenario in ENTER_HIGHWAY | LEAVE_HIGHWAY:
        found.add(t.Watch.RAMP)
    if LaneKind.BIKING in (road.left.kind, road.right.kind):
        found.add(t.Watch.BIKE_LANE)
    return found


# --- other vehicles ------------------------------------------------------------------------------------------------


def _vehicle_answers(facts: Facts) -> Iterator[Item]:
    refs, rows = facts.important.refs, facts.important.rows
    vehicles = [
        ref for ref in facts.important.vehicles if ref.tag in rows and rows[ref.tag] in facts.moving
    ]
    yield _frame(18, _named(unranked(refs)))
    yield _frame(19, _named(refs))
    about = {ref.tag: facts.moving[rows[ref.tag]] for ref in vehicles}
    coarse = [ObjectFacts(ref, _coarse(about[ref.tag])) for ref in vehicles]
    exact = [ObjectFacts(ref, _exact(ref, about[ref.tag])) for ref in vehicles]
    places = [ObjectFacts(ref, _place(about[ref.tag])) for ref in vehicles]
    yield _frame(24, coarse)
    yield _frame(25, exact)
    yield _frame(26, places)
    if places:  # the question lists them
        yield _frame(27, places)
    meets = {f"c{facts.context.frame.agents[c.row].id}": c for c in facts.conflicts}
    crossing = [ref for ref in vehicles if ref.tag in meets]
    yield _frame(28, [ObjectFacts(r, {"reason": meets[r.tag].reason}) for r in crossing])
    yield _frame(29, _named(crossing))
    yield _frame(46, [ObjectFacts(r, {"ego_move": meets[r.tag].ego_move}) for r in crossing])
    both = [
        ObjectFacts(r, {"reason": meets[r.tag].reason, "ego_move": meets[r.tag].ego_move})
        for r in crossing
    ]
    yield _frame(47, both)
    for ref in vehicles:
        yield from _one(ref, about[ref.tag], meets.get(ref.tag))


def _one(ref: ObjectRef, about: Moving, conflict: Conflict | None) -> Iterator[Item]:
    coarse = _coarse(about)
    yield QuestionKey(16, ref.tag), Answer({k: coarse[k] for k in ("motion", "course")})
    yield QuestionKey(17, ref.tag), Answer({"intent": about.intent})
    yield QuestionKey(20, ref.tag), Answer(_place(about))
    yield QuestionKey(21, ref.tag), Answer(coarse)
    yield QuestionKey(22, ref.tag), Answer(_exact(ref, about))
    crosses = conflict is not None
    reason = conflict.reason if conflict else t.ConflictReason.NONE
    move = conflict.ego_move if conflict else t.EgoMove.NONE
    yield QuestionKey(23, ref.tag), Answer({"crosses": crosses, "reason": reason})
    yield QuestionKey(48, ref.tag), Answer({"crosses": crosses, "reason": reason, "ego_move": move})
    yield QuestionKey(49, ref.tag), Answer({"crosses": crosses, "ego_move": move})


def _coarse(about: Moving) -> dict[str, FactValue]:
    return {"motion": about.motion, "course": about.course, "intent": about.intent}


def _exact(ref: ObjectRef, about: Moving) -> dict[str, FactValue]:
    return {"speed": round(abs(ref.speed), 1), "intent": about.intent}


def _place(about: Moving) -> dict[str, FactValue]:
    beside = about.place in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE)
    return {
        "place": about.place,
        "lanes_over": (about.lanes_over or 1) if beside else None,
        "along": about.along,
    }


# --- what happened next --------------------------------------------------------------------------------------------


def _waypoints(facts: Facts) -> Iterator[Item]:
    """The ego's logged way of the next four seconds; only offline, and only where the log goes on so long."""
    window = facts.context.window
    points = []
    for step in range(1, WAYPOINTS + 1):
        frame = window.after(step * WAYPOINT_S)
        if frame is None:
            return
        x, y = window.now.local(frame.ego.x, frame.ego.y)
        points.append((round(x, 2), round(y, 2)))
    yield _frame(42, waypoints=tuple(points))

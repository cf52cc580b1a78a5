"""Random answers of every question, as the expert could give them."""

from __future__ import annotations

from enum import Enum
from typing import Any

from hypothesis import strategies as st

from driveproof.questions import (
    ActionKeys,
    Answer,
    Colour,
    DirectionKey,
    Kind,
    ObjectFacts,
    ObjectKind,
    ObjectRef,
    Question,
    Sector,
    Slot,
    SpeedKey,
)
from driveproof.questions import terms as t
from driveproof.questions.objects import SIGNS, VEHICLES

_NONE = "NONE"


@st.composite
def refs(draw: st.DrawFn, kinds: Any = None, count: int = 4) -> list[ObjectRef]:
    """Up to ``count`` things with different tags."""
    chosen = sorted(kinds or [k for k in ObjectKind if k is not ObjectKind.JUNCTION])
    n = draw(st.integers(0, count))
    found = []
    for number in range(n):
        kind = draw(st.sampled_from(chosen))
        colour = draw(st.sampled_from([None, *Colour])) if kind in VEHICLES else None
        found.append(
            ObjectRef(
                f"c{number + 10}",
                kind,
                colour,
                draw(st.sampled_from(Sector)),
                x=float(number),
                cameras=("CAM_FRONT",) if draw(st.booleans()) else (),
                is_role=draw(st.booleans()),
            )
        )
    return found


def value_of(slot: Slot) -> st.SearchStrategy[Any]:
    """Values that fit a slot."""
    match slot.type:
        case Kind.FLAG:
            return st.booleans()
        case Kind.COUNT:
            return st.integers(0, 12)
        case Kind.SPEED:
            return st.integers(0, 300).map(lambda v: v / 10)
        case Kind.LIMIT:
            return st.sampled_from([None, 30.0, 40.0, 60.0, 90.0])
        case Kind.KEYS:
            return st.builds(ActionKeys, st.sampled_from(DirectionKey), st.sampled_from(SpeedKey))
        case Kind.WAYPOINTS:
            place = st.integers(-2000, 6000).map(lambda v: v / 100)
            return st.lists(st.tuples(place, place), min_size=8, max_size=8).map(tuple)
    assert isinstance(slot.type, type)
    if slot.many:
        return st.frozensets(st.sampled_from(slot.type))
    return st.sampled_from(slot.type)


@st.composite
def facts_of(draw: st.DrawFn, slots: tuple[Slot, ...]) -> dict[str, Any]:
    """Facts of all slots that do not contradict each other."""
    facts = {slot.name: draw(value_of(slot)) for slot in slots}
    return consistent(facts)


def consistent(facts: dict[str, Any]) -> dict[str, Any]:
    """What depends on another fact is what it must be."""
    if "maneuver" in facts:
        none = facts["maneuver"] is t.Maneuver.NONE
        if none or facts["cause"] is t.ManeuverCause.NONE:
            facts |= {"maneuver": t.Maneuver.NONE, "cause": t.ManeuverCause.NONE}
            facts |= {"now": False, "postponed": None} if "now" in facts else {}
        elif "now" in facts:
            postponed = facts["postponed"]
            facts["now"] = facts["now"] or postponed is t.Postponement.NONE
            facts["postponed"] = None if facts["now"] else postponed
    if facts.get("braking") in (t.Braking.NONE, t.Braking.SPEED_UP):
        facts["reason"] = t.Reason.NONE
    elif "braking" in facts and facts["reason"] is t.Reason.NONE:
        facts["reason"] = t.Reason.RED_LIGHT
    if ("present" in facts and "cause" in facts and not facts["present"]) or (
        "present" in facts and facts.get("cause") is t.ManeuverCause.NONE
    ):
        facts["cause"] = None
    if "crosses" in facts:
        if not facts["crosses"]:
            facts |= {
                k: v
                for k, v in (("reason", t.ConflictReason.NONE), ("ego_move", t.EgoMove.NONE))
                if k in facts
            }
        elif facts.get("reason") is t.ConflictReason.NONE:
            facts["reason"] = t.ConflictReason.MERGING
    else:  # whoever is in a list of conflicts has one
        facts |= (
            {"reason": t.ConflictReason.MERGING}
            if facts.get("reason") is t.ConflictReason.NONE
            else {}
        )
        facts |= {"ego_move": t.EgoMove.GO_ON} if facts.get("ego_move") is t.EgoMove.NONE else {}
    if "place" in facts and "lanes_over" in facts:
        beside = facts["place"] in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE)
        facts["lanes_over"] = max(facts["lanes_over"], 1) if beside else None
    if (
        "marking" in facts
        and facts["marking"]
        in (
            t.MarkingKind.NONE,
            t.MarkingKind.CURB,
            t.MarkingKind.GRASS,
        )
    ) or facts.get("colour") is t.MarkingColour.NONE:
        facts["colour"] = None
    if "advice" in facts and facts["advice"] is not t.Advice.OBEY_LIMIT and "limit" in facts:
        facts["limit"] = None
    if facts.get("daytime") is t.Daytime.UNKNOWN or facts.get("sky") is t.Sky.UNKNOWN:
        facts |= {"daytime": t.Daytime.UNKNOWN, "sky": t.Sky.UNKNOWN}
    for name in ("parking", "occupied"):
        facts |= {name: facts[name] or frozenset()} if name in facts else {}
    return facts


@st.composite
def answers(draw: st.DrawFn, question: Question) -> Answer:
    """A consistent answer."""
    facts = draw(facts_of(question.slots))
    objects = []
    if question.names_objects and (question.object_slots or question.rule.value != "facts"):
        kinds = SIGNS if question.number in (4, 14, 15) else None
        kinds = VEHICLES if question.number in (24, 25, 26, 27, 28, 29, 46, 47) else kinds
        for ref in draw(refs(kinds)):
            objects.append(ObjectFacts(ref, draw(facts_of(question.object_slots))))
    return Answer(facts, tuple(objects))


def plain(facts: Any) -> dict[str, Any]:
    """Facts for comparison: enumerations by identity, numbers as floats."""
    return {
        k: float(v) if isinstance(v, int | float) and not isinstance(v, bool | Enum) else v
        for k, v in facts.items()
    }

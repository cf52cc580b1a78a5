"""Typed answers in words: one function a question, each a few lines.

Every term is written by its own vocabulary, so that :mod:`driveproof.questions.reading` gets the same answer back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from driveproof.questions import terms as t
from driveproof.questions.answers import Answer, FactValue, ObjectFacts
from driveproof.questions.keys import ActionKeys
from driveproof.questions.objects import ObjectRef
from driveproof.questions.wording.mention import enumerate_mentions, join, mention
from driveproof.questions.wording.words import says
from driveproof.questions.wording.words_action import DIRECTION_WORDS, SPEED_WORDS

EGO = "the ego vehicle"
WAYPOINT_TIMES = tuple(f"{0.5 * k:.1f}s" for k in range(1, 9))


class Sentences:
    """Writes answers.

    Parameters
    ----------
    references
        Whether things are named with their tags and cameras, too.
    """

    def __init__(self, *, references: bool = True) -> None:
        self._references = references

    def write(self, number: int, answer: Answer, subject: ObjectRef | None = None) -> str:
        """The answer to question ``number`` in words, about ``subject`` where it is asked of one thing.

        Raises
        ------
        KeyError
            If the question or a fact that it speaks of is missing.
        """
        if subject is not None and number in _OF_ONE:
            text = f"{self._name(subject)} {_OF_ONE[number](answer.facts)}"
        elif number in _OF_EACH:
            text = self._list(answer.objects, _OF_EACH[number], number in _RANKED)
            text += _remembered(answer)
        else:
            text = _OF_FRAME[number](answer.facts) + self._named(answer)
        return _sentence(text) if number not in (42, 50) else text

    def _name(self, ref: ObjectRef) -> str:
        return mention(ref, references=self._references)

    def _named(self, answer: Answer) -> str:
        return (
            f": {enumerate_mentions(answer.refs, references=self._references)}"
            if answer.objects
            else ""
        )

    def _list(self, objects: Iterable[ObjectFacts], facts: Facts, ranked: bool) -> str:
        items = []
        for place, item in enumerate(objects, start=1):
            said = facts(item.facts)
            number = f"{place}. " if ranked else ""
            items.append(f"{number}{self._name(item.object)}{f': {said}' if said else ''}")
        return "; ".join(items) if items else "there is none"


Facts = Callable[[Any], str]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _limit(value: FactValue) -> str:
    return f"{value:g} km/h" if isinstance(value, int | float) else "none"


def _all(values: FactValue, none: str) -> str:
    assert isinstance(values, frozenset)
    order = {member: place for value in values for place, member in enumerate(type(value))}
    return join([says(value) for value in sorted(values, key=order.__getitem__)]) or none


def _count(value: FactValue, one: str, many: str) -> str:
    if value == 1:
        return f"there is 1 {one}"
    return f"there are {value or 'no'} {many}"


def _remembered(answer: Answer) -> str:
    limit = answer.facts.get("passed_limit")
    return f"; the passed limit of {_limit(limit)} still holds" if limit is not None else ""


# --- questions about the frame ------------------------------------------------------------------------------------


def _limit_signs(facts: Any) -> str:
    passed, ahead = facts["passed"], facts["ahead"]
    first = (
        f"the limit passed is {_limit(passed)}"
        if passed is not None
        else "no limit sign was passed"
    )
    second = (
        f"the sign ahead says {_limit(ahead)}" if ahead is not None else "no limit sign is ahead"
    )
    return f"{first} and {second}"


def _current_limit(facts: Any) -> str:
    limit, upcoming = facts["limit"], facts.get("upcoming")
    now = f"the speed limit is {_limit(limit)}" if limit is not None else "there is no speed limit"
    return now if upcoming is None else f"{now}, and it will soon change to {_limit(upcoming)}"


def _light(facts: Any) -> str:
    light = facts["light"]
    return says(light) if light is t.LightColour.NONE else f"the traffic light is {says(light)}"


def _braking(facts: Any) -> str:
    braking, reason = facts["braking"], facts["reason"]
    if braking in (t.Braking.NONE, t.Braking.SPEED_UP):
        return f"{EGO} {says(braking)}"
    return f"{EGO} {says(braking)}, because {says(reason)}"


def _need(facts: Any) -> str:
    maneuver, cause = facts["maneuver"], facts["cause"]
    if maneuver is t.Maneuver.NONE:
        return f"no, {EGO} {says(maneuver)}"
    return f"yes, {EGO} must {says(maneuver)}, because {says(cause)}"


def _need_now(facts: Any) -> str:
    if facts["maneuver"] is t.Maneuver.NONE:
        return _need(facts)
    if facts["now"]:
        return f"{_need(facts)}, and it must do so now"
    return f"{_need(facts)}, but not now, because {says(facts['postponed'])}"


def _obstacle(facts: Any) -> str:
    if not facts["present"]:
        return "no, nothing obstructs the road"
    cause = facts.get("cause")
    return (
        "yes, there is an obstacle"
        if cause is None
        else f"yes, there is an obstacle: {says(cause)}"
    )


def _action(facts: Any) -> str:
    keys: ActionKeys = facts["keys"]
    assert keys.direction is not None
    assert keys.speed is not None
    text = f"{EGO} should {DIRECTION_WORDS.says(keys.direction)} and {SPEED_WORDS.says(keys.speed)}"
    reasons = [
        says(facts[name])
        for name in ("cause", "postponed", "reason")
        if isinstance(facts.get(name), Enum) and facts[name].name != "NONE"
    ]
    return f"{text}, because {join(list(dict.fromkeys(reasons)))}" if reasons else text


def _waypoints(facts: Any) -> str:
    points = {
        time: [round(x, 2), round(y, 2)]
        for time, (x, y) in zip(WAYPOINT_TIMES, facts["waypoints"], strict=True)
    }
    return json.dumps(points)


def _entering(facts: Any) -> str:
    parking = facts.get("parking") or frozenset()
    text = (
        f"others may enter from the {_all(facts['sides'], 'no')}"
        if facts["sides"]
        else "others may enter from no side"
    )
    return f"{text}; parked vehicles may start from the {_all(parking, '')}" if parking else text


def _changing(facts: Any) -> str:
    occupied = facts.get("occupied") or frozenset()
    text = (
        f"{EGO} may change lanes to the {_all(facts['sides'], '')}"
        if facts["sides"]
        else f"{EGO} may change lanes to no side"
    )
    return f"{text}; occupied at the moment is the {_all(occupied, '')}" if occupied else text


def _marking(facts: Any) -> str:
    kind, colour = facts["marking"], facts.get("colour")
    painted = colour is not None and colour is not t.MarkingColour.NONE
    return f"it is a {says(colour)} {says(kind)}" if painted else f"it is: {says(kind)}"


def _index(facts: Any) -> str:
    index = facts["index"]
    return "it cannot be told" if index is None else f"the index of its lane is {index}"


def _weather(facts: Any) -> str:
    return f"it is {says(facts['daytime'])} with {says(facts['sky'])}"


def _weather_dangers(facts: Any) -> str:
    return f"{_weather(facts)}; this brings {_all(facts['dangers'], 'no danger')}"


def _strategies(facts: Any) -> str:
    should = _all(facts["strategies"], "")
    return f"{EGO} should {should}" if should else f"{EGO} may drive as usual"


def _hazards(facts: Any) -> str:
    found = _all(facts["hazards"], "")
    return f"there are other hazards: {found}" if found else "there are no other hazards"


_OF_FRAME: dict[int, Facts] = {
    1: lambda f: _count(f["count"], "pedestrian", "pedestrians") + " within 30 m ahead",
    2: lambda f: says(f["stop_sign"]),
    3: _limit_signs,
    5: lambda f: "yes, a traffic light applies" if f["present"] else "no, no traffic light applies",
    6: _light,
    7: _current_limit,
    8: _braking,
    9: lambda f: (
        says(f["advice"]) + (f" of {_limit(f['limit'])}" if f.get("limit") is not None else "")
    ),
    10: _need,
    11: _obstacle,
    12: _need,
    13: _need_now,
    30: _entering,
    31: _changing,
    32: _marking,
    33: _index,
    34: lambda f: _count(f["count"], "lane", "lanes"),
    35: lambda f: f"{EGO} is {says(f['junction'])}",
    36: lambda f: f"{EGO} must watch {_all(f['watch'], 'nothing in particular')}",
    37: _weather,
    38: _weather_dangers,
    39: lambda f: f"{_weather(f)}; {_strategies(f)}",
    40: _hazards,
    41: lambda f: f"{_hazards(f)}; {_strategies(f)}",
    42: _waypoints,
    43: _action,
    44: lambda f: f"the lane {says(f['bend'])}",
    50: lambda f: f["keys"].text(),
}


# --- questions about one thing, or about each of several ----------------------------------------------------------


def _motion(facts: Any) -> str:
    return f"{says(facts['motion'])} {says(facts['course'])}"


def _coarse(facts: Any) -> str:
    return f"{_motion(facts)}, {says(facts['intent'])}"


def _exact(facts: Any) -> str:
    return f"moving at {facts['speed']:.1f} m/s, {says(facts['intent'])}"


def _place(facts: Any) -> str:
    over, along = facts.get("lanes_over"), facts.get("along")
    text = says(facts["place"])
    if over is not None and facts["place"] in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE) and over > 1:
        text += f" and {over} lanes over"
    return text if along is None else f"{text}, {says(along)}"


def _crossing(facts: Any) -> str:
    if not facts["crosses"]:
        return f"will not: no, {says(t.ConflictReason.NONE)}"
    return f"may: yes, {says(facts['reason'])}" if "reason" in facts else "may: yes"


def _crossing_move(facts: Any) -> str:
    text = _crossing(facts)
    return (
        f"{text}; the ego vehicle would meet it by {says(facts['ego_move'])}"
        if facts["crosses"]
        else text
    )


def _move(facts: Any) -> str:
    return f"by {says(facts['ego_move'])}"


_OF_ONE: dict[int, Facts] = {
    16: lambda f: f"is {_motion(f)}",
    17: lambda f: f"is {says(f['intent'])}",
    20: lambda f: f"is {_place(f)}",
    21: lambda f: f"is {_coarse(f)}",
    22: lambda f: f"is {_exact(f)}",
    23: _crossing,
    48: _crossing_move,
    49: _crossing_move,
}
_OF_EACH: dict[int, Facts] = {
    4: lambda f: "",
    14: lambda f: says(f["advice"]),
    15: lambda f: says(f["advice"]),
    18: lambda f: "",
    19: lambda f: "",
    24: _coarse,
    25: _exact,
    26: _place,
    27: _place,
    28: lambda f: says(f["reason"]),
    29: lambda f: "",
    46: _move,
    47: lambda f: f"{says(f['reason'])}, {_move(f)}",
}
_RANKED = frozenset({19, 26})

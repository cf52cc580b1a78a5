"""Typed answers as JSON and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from driveproof.questions import terms
from driveproof.questions.answers import Answer, FactValue, ObjectFacts
from driveproof.questions.keys import ActionKeys, DirectionKey, SpeedKey
from driveproof.questions.objects import Colour, ObjectKind, ObjectRef, Sector


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """``{"facts": {…}, "objects": [{"tag", "facts"}]}``; terms are "Class.MEMBER"."""
    return {
        "facts": _facts_to_json(answer.facts),
        "objects": [
            {"tag": item.object.tag, "facts": _facts_to_json(item.facts)} for item in answer.objects
        ],
    }


def answer_from_json(data: Mapping[str, Any], objects: Mapping[str, ObjectRef]) -> Answer:
    """The answer of :func:`answer_to_json`; ``objects`` by tag.

    Raises
    ------
    ValueError
        If a term, key or tag is unknown, or the structure is another.
    """
    try:
        named = tuple(
            ObjectFacts(objects[item["tag"]], _facts_from_json(item["facts"]))
            for item in data["objects"]
        )
        return Answer(_facts_from_json(data["facts"]), named)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"not an answer: {error}") from None


def _facts_to_json(facts: Mapping[str, FactValue]) -> dict[str, Any]:
    return {name: _to_json(value) for name, value in facts.items()}


def _to_json(value: FactValue) -> Any:
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, frozenset):
        return {"set": sorted(_to_json(item) for item in value)}
    if isinstance(value, ActionKeys):
        return {"direction": value.direction, "speed": value.speed}
    if isinstance(value, tuple):
        return {"points": [list(point) for point in value]}
    return value


def _facts_from_json(facts: Mapping[str, Any]) -> dict[str, FactValue]:
    return {name: _from_json(value) for name, value in facts.items()}


def _from_json(value: Any) -> FactValue:
    if isinstance(value, str):
        return _term(value)
    if isinstance(value, dict):
        if "set" in value:
            return frozenset(_term(item) for item in value["set"])
        if "points" in value:
            return tuple((float(x), float(y)) for x, y in value["points"])
        direction, speed = value["direction"], value["speed"]
        return ActionKeys(
            DirectionKey(direction) if direction else None, SpeedKey(speed) if speed else None
        )
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError(f"not a fact: {str(value)[:40]!r}")


def _term(text: str) -> Enum:
    name, _, member = text.partition(".")
    kind = getattr(terms, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Enum)) or member not in kind.__members__:
        raise ValueError(f"not a term: {text[:40]!r}")
    return kind[member]


def object_to_json(ref: ObjectRef) -> dict[str, Any]:
    """A thing as plain values."""
    return {
        "tag": ref.tag,
        "kind": ref.kind.value,
        "colour": ref.colour.value if ref.colour else None,
        "sector": ref.sector.value,
        "x": ref.x,
        "y": ref.y,
        "speed": ref.speed,
        "cameras": list(ref.cameras),
        "is_role": ref.is_role,
        "is_dangerous": ref.is_dangerous,
    }


def object_from_json(data: Mapping[str, Any]) -> ObjectRef:
    """The thing of :func:`object_to_json`; ValueError if it is none."""
    try:
        return ObjectRef(
            tag=str(data["tag"]),
            kind=ObjectKind(data["kind"]),
            colour=Colour(data["colour"]) if data["colour"] else None,
            sector=Sector(data["sector"]),
            x=float(data["x"]),
            y=float(data["y"]),
            speed=float(data["speed"]),
            cameras=tuple(data["cameras"]),
            is_role=bool(data["is_role"]),
            is_dangerous=bool(data["is_dangerous"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not an object: {error}") from None

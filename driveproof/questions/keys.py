"""The two keys of question 50, and the one parser that action and scoring share.

Source: Bench2Drive-VL, section on question generation (the eight direction and four speed keys) and on the action
module (the last key of each kind counts).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class DirectionKey(StrEnum):
    """Where to go."""

    FOLLOW_LANE = "FOLLOW_LANE"
    CHANGE_LANE_LEFT = "CHANGE_LANE_LEFT"
    CHANGE_LANE_RIGHT = "CHANGE_LANE_RIGHT"
    GO_STRAIGHT = "GO_STRAIGHT"
    TURN_LEFT = "TURN_LEFT"
    TURN_RIGHT = "TURN_RIGHT"
    DEVIATE_LEFT = "DEVIATE_LEFT"
    DEVIATE_RIGHT = "DEVIATE_RIGHT"


class SpeedKey(StrEnum):
    """How fast."""

    KEEP = "KEEP"
    ACCELERATE = "ACCELERATE"
    DECELERATE = "DECELERATE"
    STOP = "STOP"


JUNCTION_KEYS = frozenset(
    {DirectionKey.GO_STRAIGHT, DirectionKey.TURN_LEFT, DirectionKey.TURN_RIGHT}
)
"""Directions that name a way through a junction; the others name a lane."""


@dataclass(frozen=True)
class ActionKeys:
    """A direction and a speed; ``None`` where an answer names none of that kind."""

    direction: DirectionKey | None
    speed: SpeedKey | None

    def text(self) -> str:
        """``FOLLOW_LANE, KEEP``; an absent key is left out."""
        return ", ".join(key.value for key in (self.direction, self.speed) if key is not None)


def _pattern(keys: type[StrEnum]) -> re.Pattern[str]:
    # "CHANGE LANE LEFT" and "change_lane_left" are the key; models write it so. A word that a key only begins or
    # ends ("STOPPED", "NON_STOP") is none.
    names = sorted((key.value for key in keys), key=len, reverse=True)
    alternatives = "|".join(name.replace("_", "[ _]") for name in names)
    return re.compile(rf"(?<![A-Za-z0-9_])({alternatives})(?![A-Za-z0-9_])")


_DIRECTION, _SPEED = _pattern(DirectionKey), _pattern(SpeedKey)


def parse_keys(text: str) -> ActionKeys:
    """The last direction key and the last speed key of ``text``.

    Keys are written in capitals, so that "keep" and "stop" in the reasoning before them are ordinary words. Only
    where nothing but keys stands at the end (on the last line, or behind its colon) they may be in small letters.
    """
    direction, speed = _last(_DIRECTION, text), _last(_SPEED, text)
    final = text.strip().rsplit("\n", 1)[-1].rsplit(":", 1)[-1].upper()
    if not re.search(r"[^\W_]", _SPEED.sub("", _DIRECTION.sub("", final))):
        direction = direction or _last(_DIRECTION, final)
        speed = speed or _last(_SPEED, final)
    return ActionKeys(
        DirectionKey(direction) if direction else None, SpeedKey(speed) if speed else None
    )


def named_keys(text: str) -> tuple[frozenset[DirectionKey], frozenset[SpeedKey]]:
    """All keys in capitals that ``text`` names, in whatever order: alternatives that it weighs are among them."""
    directions = frozenset(DirectionKey(key.replace(" ", "_")) for key in _DIRECTION.findall(text))
    return directions, frozenset(SpeedKey(key) for key in _SPEED.findall(text))


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.findall(text)
    return found[-1].replace(" ", "_") if found else None

"""Claims: what a text about driving may state, and what stated positions imply."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

SHIFT_M = 1.75
"""Half a lane: a plan that ends so far beside the axis leaves it."""


class Entity(StrEnum):
    """What a trace may name."""

    LIGHT = "light"
    STOP = "stop"
    YIELD = "yield"
    CONTROL = "control"
    """Any light or sign."""
    VEHICLE = "vehicle"
    PEDESTRIAN = "pedestrian"
    CYCLIST = "cyclist"
    OBSTACLE = "obstacle"
    USER = "user"
    """Any road user or thing in the way."""
    EGO = "ego"

    @property
    def is_control(self) -> bool:
        """Whether it is a light or sign."""
        return self in (Entity.LIGHT, Entity.STOP, Entity.YIELD, Entity.CONTROL)


class Action(StrEnum):
    """What is to happen to the speed."""

    STOP = "stop"
    SLOW = "slow"
    KEEP = "keep"
    ACCELERATE = "accelerate"


@dataclass(frozen=True)
class Mention:
    """One thing that is named, or said to be absent.

    ``state`` is the colour of a light; ``distance`` in metres; ``motion`` "standing", "slower", "same" or "faster";
    ``speed`` in m/s; ``side`` "left", "right" or "ahead". Empty or None where nothing is said.
    """

    entity: Entity
    present: bool = True
    state: str = ""
    distance: float | None = None
    motion: str = ""
    speed: float | None = None
    side: str = ""


@dataclass(frozen=True)
class Trace:
    """What a text says.

    Attributes
    ----------
    mentions
        Things named or said to be absent, in order; the ego is not among them.
    actions, denied
        What is to happen to the speed, and what is said not to be needed or not to be done.
    speed
        Ego speed as stated, m/s; None if it is not.
    route
        Directions that the text takes: "left", "right", "straight", "follow".
    plan
        Stated ego positions after 2.5 and 5 s, metres.
    words
        Content words, for criteria about what this reader knows nothing of.
    """

    mentions: tuple[Mention, ...] = ()
    actions: frozenset[Action] = frozenset()
    denied: frozenset[Action] = frozenset()
    speed: float | None = None
    route: frozenset[str] = frozenset()
    plan: tuple[tuple[float, float], tuple[float, float]] | None = None
    words: frozenset[str] = field(default_factory=frozenset)


def plan_actions(
    plan: tuple[tuple[float, float], tuple[float, float]], speed: float | None
) -> frozenset[Action]:
    """What stated positions (metres, after 2.5 and 5 s) do to the speed; ``speed`` is the ego's now, m/s.

    The classes of :func:`driveproof.scene.decision_of`, with the mean speed of the second half as the final one. Without a
    known speed the first half stands for it.
    """
    (x1, y1), (x2, y2) = plan
    final = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 / 2.5
    begin = (x1**2 + y1**2) ** 0.5 / 2.5 if speed is None else speed
    if final < 0.7:
        return frozenset({Action.STOP})
    margin = max(1.0, 0.15 * begin)
    if final > begin + margin:
        return frozenset({Action.ACCELERATE})
    return frozenset({Action.SLOW if final < begin - margin else Action.KEEP})


def plan_route(plan: tuple[tuple[float, float], tuple[float, float]]) -> frozenset[str]:
    """Where stated positions go: "left", "right" or "straight", and "follow"."""
    beside = plan[1][1]
    if abs(beside) < SHIFT_M:
        return frozenset({"straight", "follow"})
    # a lane may bend, so every stated plan can be one that follows it
    return frozenset({"left" if beside > 0 else "right", "follow"})

"""Shapes that clients draw into the world; sensors that look from above show them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from driveproof.sim.engine import Pose3
from driveproof.sim.server.messages import BOX, LEVEL, ROTATION, VECTOR, Vector
from driveproof.sim.server.wire import (
    FLAG,
    REAL,
    TEXT,
    U8,
    Codec,
    mapped,
    row,
    variant,
)

#: The oldest shapes go when there are more.
MAX_SHAPES = 4096

Kind = Literal["point", "line", "arrow", "box", "string"]


@dataclass(frozen=True, slots=True)
class DebugShape:
    """A shape in the world's frame, metres.

    Parameters
    ----------
    points
        Its place, or begin and end; of a box its centre.
    colour
        Red, green, blue.
    life_time
        Seconds; 0 for one frame, negative for ever.
    thickness
        Line width or point size, in CARLA's unit (about metres for lines, decimetres for points).
    arrow_size
        Size of an arrow's head.
    half_extent, rotation
        Of a box.
    text
        Of a string.
    """

    kind: Kind
    points: tuple[Vector, ...]
    colour: tuple[int, int, int] = (255, 0, 0)
    life_time: float = -1.0
    thickness: float = 0.1
    arrow_size: float = 0.0
    half_extent: Vector = (0.0, 0.0, 0.0)
    rotation: Pose3 = LEVEL
    text: str = ""


_LINE = row(VECTOR, VECTOR, REAL)
_PRIMITIVES: tuple[Codec[Any], ...] = (
    row(VECTOR, REAL),
    _LINE,
    row(_LINE, REAL),
    row(BOX, ROTATION, REAL),
    row(VECTOR, TEXT, FLAG),
)


def _build(parts: tuple[Any, ...]) -> DebugShape:
    (index, fields), colour, life_time, _ = parts
    kinds: tuple[Kind, ...] = ("point", "line", "arrow", "box", "string")
    kind = kinds[index % len(kinds)]
    if kind == "point":
        return DebugShape(kind, fields[:1], colour, life_time, fields[1])
    if kind == "line":
        return DebugShape(kind, fields[:2], colour, life_time, fields[2])
    if kind == "arrow":
        (begin, end, thickness), head = fields
        return DebugShape(kind, (begin, end), colour, life_time, thickness, head)
    if kind == "string":
        return DebugShape(kind, fields[:1], colour, life_time, text=fields[1])
    box, rotation, thickness = fields
    return DebugShape(
        kind,
        (box.offset,),
        colour,
        life_time,
        thickness,
        half_extent=box.half_extent,
        rotation=rotation,
    )


def _no_answer(shape: DebugShape) -> tuple[Any, ...]:
    raise NotImplementedError("shapes are only received")


#: The shapes of the world, then the same for the head-up display, which has no strings.
DEBUG_SHAPE: Codec[DebugShape] = mapped(
    row(variant(*_PRIMITIVES, *_PRIMITIVES[:4]), row(U8, U8, U8), REAL, FLAG), _build, _no_answer
)


class DebugShapes:
    """The shapes that are to be seen now, oldest first."""

    def __init__(self) -> None:
        self._shapes: deque[tuple[float, DebugShape]] = deque(maxlen=MAX_SHAPES)

    def __iter__(self) -> Iterator[DebugShape]:
        return (shape for _, shape in self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def add(self, shape: DebugShape, now: float) -> None:
        """Show a shape from the simulated time ``now`` in seconds."""
        end = math.inf if shape.life_time < 0.0 else now + shape.life_time
        self._shapes.append((end, shape))

    def expire(self, now: float) -> None:
        """Take away what has been shown long enough; called after a frame was drawn, so each is seen once."""
        if self._shapes:
            kept = [entry for entry in self._shapes if entry[0] > now]
            self._shapes = deque(kept, maxlen=MAX_SHAPES)

    def clear(self) -> None:
        """Take away all."""
        self._shapes.clear()

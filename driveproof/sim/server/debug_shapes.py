"""Shapes that clients draw into the world; sensors that look from above show them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.render import DebugShape
from driveproof.sim.engine import Pose3
from driveproof.sim.server.messages import BOX, ROTATION, VECTOR, BoxMessage
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
#: Metres that a point of size 1 spans, and the width of what has none.
_POINT_SIZE, _THIN = 0.1, 0.1
_KINDS = ("point", "line", "arrow", "box", "string")


@dataclass(frozen=True, slots=True)
class TimedShape:
    """A shape, and how long to show it: seconds, 0 for one frame, negative for ever."""

    shape: DebugShape
    life_time: float


_LINE = row(VECTOR, VECTOR, REAL)
_PRIMITIVES: tuple[Codec[Any], ...] = (
    row(VECTOR, REAL),
    _LINE,
    row(_LINE, REAL),
    row(BOX, ROTATION, REAL),
    row(VECTOR, TEXT, FLAG),
)


def _build(parts: tuple[Any, ...]) -> TimedShape:
    (index, fields), colour, life_time, _ = parts
    kind = _KINDS[index % len(_KINDS)]
    thickness, text = _THIN, ""
    if kind == "point":
        points, thickness = fields[:1], fields[1] * _POINT_SIZE
    elif kind == "line":
        points, thickness = fields[:2], fields[2]
    elif kind == "arrow":
        points, thickness = fields[0][:2], fields[0][2]
    elif kind == "string":
        points, text = fields[:1], fields[1]
    else:
        points, thickness = _outline(*fields[:2]), fields[2]
    shape = DebugShape(kind, np.array(points, dtype=np.float64), colour, thickness, text)
    return TimedShape(shape, life_time)


def _outline(box: BoxMessage, rotation: Pose3) -> Float:
    """``[4, 3]`` the base of a box, which is what one sees of it from above."""
    x, y, z = box.half_extent
    corners = np.array([[x, y, -z], [-x, y, -z], [-x, -y, -z], [x, -y, -z]])
    turned = corners @ rotation.matrix()[:3, :3].T
    return np.asarray(turned + np.array(box.offset))


def _no_answer(shape: TimedShape) -> tuple[Any, ...]:
    raise NotImplementedError("shapes are only received")


#: The shapes of the world, then the same for the head-up display, which has no strings.
DEBUG_SHAPE: Codec[TimedShape] = mapped(
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

    def add(self, timed: TimedShape, now: float) -> None:
        """Show a shape from the simulated time ``now`` in seconds."""
        end = math.inf if timed.life_time < 0.0 else now + timed.life_time
        self._shapes.append((end, timed.shape))

    def expire(self, now: float) -> None:
        """Take away what has been shown long enough; called after a frame was drawn, so each is seen once."""
        if self._shapes:
            kept = [entry for entry in self._shapes if entry[0] > now]
            self._shapes = deque(kept, maxlen=MAX_SHAPES)

    def clear(self) -> None:
        """Take away all."""
        self._shapes.clear()

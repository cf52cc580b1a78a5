"""Structures of arrays: all actors as columns, so that a step is arithmetic on whole columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Bool, Float, Int

_FIRST_CAPACITY = 64

Column = tuple[type, tuple[int, ...]]


class Columns:
    """Rows that can be added and removed; every column is an attribute, an array view of the living rows.

    ``records`` is the same memory as one structured array, which compiled loops take.
    """

    COLUMNS: ClassVar[dict[str, Column]] = {}

    records: NDArray[Any]

    def __init__(self) -> None:
        self._count = 0
        layout = [(name, dtype, shape) for name, (dtype, shape) in self.COLUMNS.items()]
        self._store = np.zeros(_FIRST_CAPACITY, dtype=np.dtype(layout, align=True))
        self._expose()

    def __len__(self) -> int:
        return self._count

    def add(self, **values: object) -> int:
        """Append a row; columns not named are zero. Its number is the answer."""
        row = self._count
        if row == len(self._store):
            self._store = np.concatenate([self._store, np.zeros_like(self._store)])
        for name in self.COLUMNS:
            self._store[name][row] = values.get(name, 0)
        self._count += 1
        self._expose()
        return row

    def remove(self, row: int) -> None:
        """Take a row out; the rows behind it move up, so the order stays."""
        self._store[row : self._count - 1] = self._store[row + 1 : self._count].copy()
        self._count -= 1
        self._expose()

    def _expose(self) -> None:
        self.records = self._store[: self._count]
        for name in self.COLUMNS:
            setattr(self, name, self.records[name])


class ActorTable(Columns):
    """All living actors in the order of their birth.

    Attributes
    ----------
    id
        ``[N]`` actor ids, growing.
    position, velocity, acceleration
        ``[N, 3]`` world frame, metres and seconds.
    rotation
        ``[N, 3]`` roll, pitch, yaw in radians.
    angular_velocity
        ``[N, 3]`` rad/s about the world's axes.
    half_extent, box_offset
        ``[N, 3]`` half sizes and centre of the bounding box in the actor's frame; zeros without a body.
    kind
        ``[N]`` :class:`~driveproof.sim.engine.commands.ActorKind`.
    label
        ``[N]`` CARLA's semantic tag.
    foot
        ``[N]`` metres from the lowest point up to the actor's origin.
    reach
        ``[N]`` metres in the plane from the origin to the box's furthest corner.
    mass
        ``[N]`` kg; infinite for what cannot be moved.
    physics, gravity, solid, grounded
        ``[N]`` whether forces move it, whether it falls, whether others bump into it, whether it stands.
    """

    id: Int
    position: Float
    rotation: Float
    velocity: Float
    angular_velocity: Float
    acceleration: Float
    half_extent: Float
    box_offset: Float
    kind: Int
    label: Int
    foot: Float
    reach: Float
    mass: Float
    physics: Bool
    gravity: Bool
    solid: Bool
    grounded: Bool

    COLUMNS: ClassVar[dict[str, Column]] = {
        "id": (np.int64, ()),
        "position": (np.float64, (3,)),
        "rotation": (np.float64, (3,)),
        "velocity": (np.float64, (3,)),
        "angular_velocity": (np.float64, (3,)),
        "acceleration": (np.float64, (3,)),
        "half_extent": (np.float64, (3,)),
        "box_offset": (np.float64, (3,)),
        "kind": (np.int64, ()),
        "label": (np.int64, ()),
        "foot": (np.float64, ()),
        "reach": (np.float64, ()),
        "mass": (np.float64, ()),
        "physics": (np.bool_, ()),
        "gravity": (np.bool_, ()),
        "solid": (np.bool_, ()),
        "grounded": (np.bool_, ()),
    }

"""Walkers: pedestrians that go where their control says."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.actor import Actor, finite
from driveproof.sim.engine.commands import WalkerControl
from driveproof.sim.engine.table import ActorTable, Column, Columns

#: How fast a walker can change its velocity (m/s²) and turn (rad/s), and leave the ground (m/s).
_AGILITY, _TURN_RATE, _JUMP = 20.0, 7.0, 4.2
#: Nobody runs faster, whatever a client asks for (m/s).
_FASTEST = 15.0


class WalkerTable(Columns):
    """All walkers: ``row`` in the actor table, ``wish`` ``[W, 2]`` wanted velocity (m/s, world), ``jump`` ``[W]``."""

    row: Int
    wish: Float
    jump: Bool

    COLUMNS: ClassVar[dict[str, Column]] = {
        "row": (np.int64, ()),
        "wish": (np.float64, (2,)),
        "jump": (np.bool_, ()),
    }


class Walker(Actor):
    """A pedestrian; ``slot`` is its row in ``Engine.walkers``."""

    slot: int

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._control = WalkerControl()

    @property
    def walker_control(self) -> WalkerControl:
        """The control in force."""
        return self._control

    @walker_control.setter
    def walker_control(self, control: WalkerControl) -> None:
        direction = finite(control.direction)
        speed = float(np.clip(np.nan_to_num(control.speed), 0.0, _FASTEST))
        x, y, z = direction.tolist()
        self._control = WalkerControl((x, y, z), speed, bool(control.jump))
        length = math.hypot(x, y)
        walkers = self._engine.walkers
        walkers.wish[self.slot] = (
            (speed * x / length, speed * y / length) if length > 1e-6 else (0.0, 0.0)
        )
        walkers.jump[self.slot] = control.jump


def walk(table: ActorTable, walkers: WalkerTable, dt: float) -> None:
    """Change velocities and headings of the walkers that stand on the ground."""
    rows: Int = walkers.row
    able = table.physics[rows] & table.grounded[rows]
    moved = rows[able]
    if not len(moved):
        return
    wish = walkers.wish[able]
    change = wish - table.velocity[moved, :2]
    size = np.hypot(change[:, 0], change[:, 1])
    share = np.minimum(_AGILITY * dt / np.maximum(size, 1e-9), 1.0)
    table.velocity[moved, :2] += change * share[:, None]
    jumping = moved[walkers.jump[able]]
    table.velocity[jumping, 2] = _JUMP
    table.grounded[jumping] = False
    going = np.hypot(wish[:, 0], wish[:, 1]) > 0.05
    turned = moved[going]
    heading = np.arctan2(wish[going, 1], wish[going, 0])
    turn = wrap_angle(heading - table.rotation[turned, 2])
    most = _TURN_RATE * dt
    table.rotation[turned, 2] += np.clip(turn, -most, most)
    table.angular_velocity[moved, 2] = 0.0

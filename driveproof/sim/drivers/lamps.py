"""Lights of vehicles: brake lamps and indicators that go with what a driver does."""

from __future__ import annotations

from enum import IntFlag

from driveproof.scene import Command
from driveproof.sim.drivers.agents import STANDING, Vehicle

BRAKE_LAMP = -0.4
"""Acceleration (m/s²) below which brake lamps shine; they also do at a stand."""
ANNOUNCE = 30.0
"""Metres before a junction at which a turn is indicated."""
SIDEWAYS = 0.8
"""Metres aside from which a lateral plan is indicated."""


class Lamp(IntFlag):
    """Bits of ``carla.VehicleLightState``."""

    POSITION = 0x1
    LOW_BEAM = 0x2
    BRAKE = 0x8
    RIGHT_BLINKER = 0x10
    LEFT_BLINKER = 0x20


BLINKERS = {
    "left": Lamp.LEFT_BLINKER,
    "right": Lamp.RIGHT_BLINKER,
    "hazard": Lamp.LEFT_BLINKER | Lamp.RIGHT_BLINKER,
    "": Lamp(0),
}


def lamps_of(vehicle: Vehicle) -> int:
    """Which lights are on, as bits of ``carla.VehicleLightState``."""
    braking = vehicle.speed < STANDING or vehicle.command < BRAKE_LAMP
    lamps = BLINKERS[vehicle.indicator or indicator_of(vehicle)]
    return int(lamps | (Lamp.BRAKE if braking and not vehicle.parked else Lamp(0)))


def indicator_of(vehicle: Vehicle) -> str:
    """ "left", "right" or "": what the driver is about to do."""
    plan = vehicle.plan
    if plan is not None and abs(plan.offset) > SIDEWAYS:
        left = (plan.offset > 0.0) == (vehicle.s < plan.leave)
        return "left" if left else "right"
    for change in vehicle.path.changes:
        if change.begin - ANNOUNCE < vehicle.s_front < change.end:
            return "left" if change.shift > 0.0 else "right"
    for crossing in vehicle.path.crossings:
        if vehicle.s < crossing.end and vehicle.s_front > crossing.start - ANNOUNCE:
            return {Command.LEFT: "left", Command.RIGHT: "right"}.get(crossing.command, "")
    return ""

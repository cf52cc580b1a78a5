"""The two drivers of an ego: one with all care, one that ignores everybody."""

from __future__ import annotations

from typing import Any

from driveproof.maps import Route
from driveproof.sim.drivers.agents import EGO, OBLIVIOUS, DriverDecision, Vehicle
from driveproof.sim.drivers.drivers import Drivers
from driveproof.sim.drivers.idm import Style
from driveproof.sim.drivers.path import Path

EXPERT_STYLE = Style(
    accel=2.2, brake=2.4, headway=1.2, standstill=2.5, speed_factor=0.95, attentive=True
)
OBLIVIOUS_SPEED = 8.0
"""m/s."""


class ExpertDriver:
    """Follows a route through everything that happens on the way.

    It sees the truth about everybody (no sensors), but nothing of what a scenario has in store. Its
    control is among those of ``drivers.decide``; :attr:`decision` tells why.
    """

    def __init__(
        self, drivers: Drivers, ego: Any, route: Route | Path, style: Style = EXPERT_STYLE
    ) -> None:
        self.vehicle: Vehicle = drivers.add(ego, route, style, role=EGO)

    @property
    def decision(self) -> DriverDecision:
        """What it decided in the last step."""
        return self.vehicle.decision


class ObliviousDriver:
    """Keeps a constant speed along a route and ignores everyone, every light and every sign.

    What happens to it shows what a scenario is about.
    """

    def __init__(
        self, drivers: Drivers, ego: Any, route: Route | Path, speed: float = OBLIVIOUS_SPEED
    ) -> None:
        self.vehicle: Vehicle = drivers.add(ego, route, role=OBLIVIOUS)
        self.vehicle.cruise = speed

    @property
    def decision(self) -> DriverDecision:
        """What it decided in the last step."""
        return self.vehicle.decision

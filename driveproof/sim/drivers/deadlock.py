"""Getting out of a place that is too narrow to swerve: backing off from what stands right before the bumper."""

from __future__ import annotations

from collections.abc import Sequence

from driveproof.sim.drivers.agents import STANDING, Agent, Vehicle, stands
from driveproof.sim.drivers.footprints import around, footprints
from driveproof.sim.drivers.perception import LEVEL, Blocker

AFTER_S = 5.0
"""Seconds of waiting after which a driver backs off."""
TOO_CLOSE, ENOUGH = 7.0, 9.5
"""Metres to the thing ahead below which it does so, and at which it is done."""
BEHIND = 3.5
"""Metres kept to whoever is behind."""
MARGIN = 0.4
"""Free width wanted beside the body, m."""


def backs_off(driver: Vehicle, blockers: Sequence[Blocker], agents: Sequence[Agent]) -> bool:
    """Whether to drive backwards now: something that stands is too close to go around it, and nobody is behind."""
    ahead = next((b.gap for b in blockers if stands(b.agent)), None)
    if ahead is None or driver.plan is not None:
        return False
    waits = driver.stuck > AFTER_S and abs(driver.speed) < STANDING and ahead < TOO_CLOSE
    if not waits and not (driver.backing and ahead < ENOUGH):
        return False
    return _room_behind(driver, agents) > BEHIND


def _room_behind(driver: Vehicle, agents: Sequence[Agent]) -> float:
    others = around(driver, agents, LEVEL)
    half = driver.body.width / 2.0 + MARGIN
    rooms = [
        driver.s_back - place.s_high
        for place in footprints(driver, others)
        if place.beside(-half, half) and place.s_low < driver.s_back
    ]
    return min(rooms, default=ENOUGH)

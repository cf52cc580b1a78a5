"""Others in the coordinates of a driver's path: arc lengths and lateral offsets of their boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.geometry import box_corners
from driveproof.sim.drivers.agents import Agent, Vehicle
from driveproof.sim.drivers.path import STEP

BEHIND, AHEAD = 60.0, 110.0
"""Metres of the path around a driver in which others are placed."""
NEAR = 120.0
"""Metres (city blocks) beyond which nobody is placed."""


@dataclass(frozen=True)
class Footprint:
    """Extent of a thing along a path: arc lengths and lateral offsets (m), speed along the path (m/s)."""

    s_low: float
    s_high: float
    right: float
    left: float
    speed: float = 0.0

    def beside(self, low: float, high: float) -> bool:
        """Whether it reaches into the band of lateral offsets from ``low`` to ``high``."""
        return self.right < high and self.left > low


def footprints(driver: Vehicle, agents: Sequence[Agent]) -> list[Footprint]:
    """Where the boxes of agents lie along the driver's path."""
    if not agents:
        return []
    path = driver.path
    poses = np.array([[a.x, a.y, a.heading] for a in agents])
    sizes = np.array([[a.body.length, a.body.width] for a in agents])
    points = np.concatenate(
        [box_corners(poses, sizes[:, 0], sizes[:, 1]), poses[:, None, :2]], axis=1
    )
    low, high = path.index(driver.s - BEHIND), path.index(driver.s + AHEAD) + 1
    part = path.xy[low:high:2]
    relative = points[:, :, None] - part
    nearest = low + 2 * (relative**2).sum(-1).argmin(-1)
    delta = points - path.xy[nearest]
    course = path.heading[nearest]
    cos, sin = np.cos(course), np.sin(course)
    s = nearest * STEP + delta[..., 0] * cos + delta[..., 1] * sin
    lateral = delta[..., 1] * cos - delta[..., 0] * sin
    speed = np.array([a.speed for a in agents]) * np.cos(poses[:, 2] - course[:, 4])
    rows = np.stack([s.min(1), s.max(1), lateral.min(1), lateral.max(1), speed], axis=1)
    return [Footprint(*row) for row in rows.tolist()]


def footprint(driver: Vehicle, agent: Agent) -> Footprint:
    """Where one agent's box lies along the driver's path."""
    return footprints(driver, [agent])[0]


def around(driver: Vehicle, agents: Sequence[Agent], level: float) -> list[Agent]:
    """Those near enough to be placed, on the driver's level, without itself."""
    return [
        a
        for a in agents
        if a is not driver
        and abs(a.x - driver.x) + abs(a.y - driver.y) < NEAR
        and abs(a.z - driver.z) < level
    ]


def same_way(driver: Vehicle, agent: Agent) -> bool:
    """Whether an agent heads along the driver's path."""
    course = float(driver.path.heading[driver.path.index(driver.s)])
    return math.cos(agent.heading - course) > 0.3

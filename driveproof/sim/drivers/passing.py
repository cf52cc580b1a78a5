"""Going around what stands in the lane: how far to swerve, where, and whether the way is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.geometry import box_corners
from driveproof.geometry.arrays import Float
from driveproof.sim.drivers.agents import Agent, Vehicle, stands
from driveproof.sim.drivers.lateral import LateralPlan
from driveproof.sim.drivers.path import STEP
from driveproof.sim.drivers.perception import LEVEL, Blocker

CLEARANCE = 0.7
"""Metres wanted between the bodies while passing."""
SIGHT = 45.0
"""Metres within which things that stand are planned around."""
CLUSTER_GAP = 16.0
"""Things closer together than this are passed in one swerve, m."""
PASSING_SPEED = 6.5
"""m/s beside a standing thing."""


@dataclass(frozen=True)
class Footprint:
    """Extent of a thing in a path's coordinates: arc lengths and lateral offsets, m."""

    s_low: float
    s_high: float
    right: float
    left: float


def plan_pass(
    driver: Vehicle, blockers: Sequence[Blocker], agents: Sequence[Agent]
) -> LateralPlan | None:
    """A swerve around the nearest standing blocker and its neighbours; None if impossible or not free now."""
    first = next((b for b in blockers if b.gap < SIGHT and stands(b.agent)), None)
    if first is None:
        return None
    extent = _cluster(driver, first.agent, agents)
    for offset in _options(driver, extent):
        plan = _shape(driver, extent, offset, first.agent.agent_id)
        if plan is not None and _free(driver, plan, agents):
            return plan
    return None


def footprint(driver: Vehicle, agent: Agent) -> Footprint:
    """Where an agent's box lies along the driver's path (its nearest 90 m)."""
    pose = np.array([agent.x, agent.y, agent.heading])
    corners = box_corners(pose, agent.body.length, agent.body.width)
    s, lateral = _coordinates(driver, corners)
    return Footprint(float(s.min()), float(s.max()), float(lateral.min()), float(lateral.max()))


def _coordinates(driver: Vehicle, points: Float) -> tuple[Float, Float]:
    path = driver.path
    low, high = path.index(driver.s - 40.0), path.index(driver.s + 90.0) + 1
    relative = points[:, None] - path.xy[None, low:high]
    nearest = low + (relative**2).sum(-1).argmin(1)
    delta = points - path.xy[nearest]
    cos, sin = np.cos(path.heading[nearest]), np.sin(path.heading[nearest])
    along = delta[:, 0] * cos + delta[:, 1] * sin
    return nearest * STEP + along, delta[:, 1] * cos - delta[:, 0] * sin


def _cluster(driver: Vehicle, first: Agent, agents: Sequence[Agent]) -> Footprint:
    extent = footprint(driver, first)
    prints = [footprint(driver, a) for a in agents if stands(a) and a is not driver]
    for other in sorted(prints, key=lambda p: p.s_low):
        joins = extent.s_low - CLUSTER_GAP < other.s_low < extent.s_high + CLUSTER_GAP
        if joins and other.s_low > driver.s_front and abs(other.left + other.right) < 6.0:
            extent = Footprint(
                min(extent.s_low, other.s_low),
                max(extent.s_high, other.s_high),
                min(extent.right, other.right),
                max(extent.left, other.left),
            )
    return extent


def _options(driver: Vehicle, extent: Footprint) -> list[float]:
    """Offsets that clear the extent and stay on the road, the smallest first."""
    half = driver.body.width / 2.0
    i, j = driver.path.index(extent.s_low - 8.0), driver.path.index(extent.s_high + 4.0) + 1
    left_room = float(driver.path.left[i:j].min())
    right_room = float(driver.path.right[i:j].min())
    left = max(extent.left + CLEARANCE + half, 0.0)
    right = min(extent.right - CLEARANCE - half, 0.0)
    options = []
    if left + half <= left_room:
        options.append(left)
    if -right + half <= right_room:
        options.append(right)
    return sorted(options, key=abs)


def _shape(driver: Vehicle, extent: Footprint, offset: float, agent_id: int) -> LateralPlan | None:
    full = extent.s_low - driver.body.front - 0.5
    run = max(7.0, 1.6 * driver.speed) + 2.0 * abs(offset)
    begin = max(full - run, driver.s)
    if full - begin < 1.5 * abs(offset) + 1.5:
        return None  # too close to swerve
    leave = extent.s_high + 2.0
    end = leave + run
    stop = next((p.s for p in driver.path.stops if p.s > extent.s_high), np.inf)
    if stop < leave:
        return None
    return LateralPlan(offset, begin, full, leave, end, agent_id)


def _free(driver: Vehicle, plan: LateralPlan, agents: Sequence[Agent]) -> bool:
    half = driver.body.width / 2.0
    duration = (plan.end - driver.s) / min(max(driver.speed, 3.5), PASSING_SPEED)
    for agent in agents:
        if agent is driver or stands(agent) or abs(agent.z - driver.z) > LEVEL:
            continue
        if abs(agent.x - driver.x) + abs(agent.y - driver.y) > 130.0:
            continue
        extent = footprint(driver, agent)
        low, high = sorted((0.0, plan.offset))
        if extent.right > high + half + 0.5 or extent.left < low - half - 0.5:
            continue
        if extent.right < half and extent.left > -half and abs(plan.offset) > 0.5:
            in_own_lane = extent.s_low > plan.leave or extent.s_high < driver.s_front
            if in_own_lane and _same_way(driver, agent):
                continue
        reach = agent.speed * duration
        if _same_way(driver, agent):
            behind = (
                extent.s_high < driver.s
                and extent.s_high + 6.0 + 2.5 * max(0.0, agent.speed - driver.speed)
                < driver.s - 3.0
            )
            ahead = extent.s_low > plan.end or (
                extent.s_low > driver.s_front + 4.0 and agent.speed > driver.speed + 0.5
            )
            if not (behind or ahead):
                return False
        elif extent.s_high > driver.s and extent.s_low < plan.end + reach + 8.0:
            return False
    return True


def _same_way(driver: Vehicle, agent: Agent) -> bool:
    course = float(driver.path.heading[driver.path.index(driver.s)])
    return bool(np.cos(agent.heading - course) > 0.3)

"""Going around what stands or crawls in the lane: how far to swerve, where, and whether the way is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from driveproof.sim.drivers.agents import Agent, Vehicle, stands
from driveproof.sim.drivers.footprints import (
    Footprint,
    around,
    footprint,
    footprints,
    same_way,
)
from driveproof.sim.drivers.lateral import LateralPlan
from driveproof.sim.drivers.merging import gap_free
from driveproof.sim.drivers.perception import LEVEL, Blocker

CLEARANCE = 0.7
"""Metres wanted between the bodies while passing."""
SIGHT = 45.0
"""Metres within which things that stand are planned around."""
CLUSTER_GAP = 16.0
"""Things closer together than this are passed in one swerve, m."""
PASSING_SPEED = 6.5
"""m/s closely beside a standing thing."""
LANE = 3.5
"""Width of a lane, m."""
WIDE_SHARE = 0.8
"""Share of the speed limit that is driven when passing a whole lane aside."""
CRAWL_SHARE, CRAWL_TIME = 0.35, 5.0
"""A vehicle that crawls is passed if it has done so for some seconds, below a share of the speed limit."""
BICYCLE, BICYCLE_SHARE = 5.0, 0.6
JUNCTION_FREE = 35.0
"""Metres without a junction that passing a crawling one needs."""


def plan_pass(
    driver: Vehicle, blockers: Sequence[Blocker], agents: Sequence[Agent]
) -> LateralPlan | None:
    """A swerve around the nearest standing blocker and its neighbours; None if impossible or not free now."""
    first = next((b for b in blockers if b.gap < SIGHT and passable(driver, b.agent)), None)
    if first is None:
        return None
    extent = _cluster(driver, first.agent, agents, max(PASSING_SPEED, driver.speed))
    for offset in _options(driver, extent):
        plan = _shape(driver, extent, offset, first.agent.agent_id)
        if plan is not None and abs(offset) > 0.05 and _free(driver, plan, agents):
            return plan
    return None


def passable(driver: Vehicle, agent: Agent) -> bool:
    """Whether the agent stands, or crawls where an attentive driver may overtake."""
    if stands(agent):
        return True
    if not driver.style.attentive or not isinstance(agent, Vehicle) or agent.driven:
        return False
    cap = float(driver.path.limit[driver.path.index(driver.s_front)])
    if agent.body.base_type == "bicycle":
        crawls = -0.1 < agent.speed < min(BICYCLE, BICYCLE_SHARE * cap)
    else:
        crawls = 0.5 < agent.speed < CRAWL_SHARE * cap and agent.slow > CRAWL_TIME
    if not crawls or not same_way(driver, agent):
        return False
    end = driver.s_front + JUNCTION_FREE
    near = driver.path.in_junction[driver.path.index(driver.s) : driver.path.index(end)]
    return not near.any() and not any(driver.s < c.end < end for c in driver.path.changes)


def keep_passing(driver: Vehicle, plan: LateralPlan, agents: Sequence[Agent]) -> LateralPlan | None:
    """The plan after another look: prolonged while the way back is taken, dropped if it is not free any more."""
    if driver.s > plan.end:
        return None
    here = plan.at(driver.s)
    if abs(here) < 0.35 and driver.s < plan.full and not _free(driver, plan, agents):
        return None
    if driver.s > plan.leave:
        return plan
    run = plan.end - plan.leave
    beyond = _crawlers_end(driver, plan, agents)
    if beyond is not None and beyond > plan.leave - 4.0:
        return replace(plan, leave=beyond + 4.0, end=beyond + 4.0 + run)
    returns = driver.style.attentive and driver.s > max(plan.leave - 3.0, plan.full)
    if returns and not gap_free(driver, agents):
        return replace(plan, leave=driver.s + 4.0, end=driver.s + 4.0 + run)
    return plan


def _crawlers_end(driver: Vehicle, plan: LateralPlan, agents: Sequence[Agent]) -> float | None:
    """Arc length of the rear axle at which all that crawl in the own lane beside the plan are behind."""
    half = driver.body.width / 2.0 + 0.3
    movers = [a for a in around(driver, agents, LEVEL) if not stands(a) and passable(driver, a)]
    ends = [
        place.s_high + 3.0 + 0.6 * place.speed + driver.body.rear
        for place in footprints(driver, movers)
        if place.beside(-half, half) and driver.s_back < place.s_high < plan.leave + CLUSTER_GAP
    ]
    return max(ends, default=None)


def _cluster(driver: Vehicle, first: Agent, agents: Sequence[Agent], pace: float) -> Footprint:
    """The extent of all that stands or crawls close to the first one; who crawls moves on while it is passed."""
    others = [a for a in around(driver, agents, LEVEL) if passable(driver, a)]
    extent: Footprint | None = None
    for other, place in sorted(
        zip(others, footprints(driver, others), strict=True), key=lambda pair: pair[1].s_low
    ):
        if not stands(other):
            way = place.s_high - driver.s_back + 8.0
            place = replace(
                place, s_high=place.s_high + place.speed * way / max(pace - place.speed, 1.5)
            )
        if other is first and extent is None:
            extent = place
        elif extent is not None:
            joins = extent.s_low - CLUSTER_GAP < place.s_low < extent.s_high + CLUSTER_GAP
            if joins and place.s_low > driver.s_front and abs(place.left + place.right) < 6.0:
                extent = Footprint(
                    min(extent.s_low, place.s_low),
                    max(extent.s_high, place.s_high),
                    min(extent.right, place.right),
                    max(extent.left, place.left),
                )
    return extent if extent is not None else footprint(driver, first)


def _options(driver: Vehicle, extent: Footprint) -> list[float]:
    """Offsets that clear the extent and stay on the road, the smallest first."""
    half = driver.body.width / 2.0
    i, j = driver.path.index(extent.s_low - 8.0), driver.path.index(extent.s_high + 4.0) + 1
    left_room = float(driver.path.left[i:j].min())
    right_room = float(driver.path.right[i:j].min())
    left = max(extent.left + CLEARANCE + half, 0.0)
    right = min(extent.right - CLEARANCE - half, 0.0)
    own_left = float(driver.path.left_own[i:j].min())
    if LANE / 2.0 - half + 0.3 < left < LANE and own_left > 1.5 * LANE - 0.2:
        left = LANE  # rather the whole next lane than the line between two
    if LANE / 2.0 - half + 0.3 < -right < LANE and right_room > 1.5 * LANE - 0.2:
        right = -LANE
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
    half = driver.body.width / 2.0
    clear = max(offset - half - extent.left, extent.right - offset - half)
    limit = float(driver.path.limit[driver.path.index(extent.s_low)])
    wide = clear > CLEARANCE + 0.4
    speed = max(PASSING_SPEED, WIDE_SHARE * limit) if wide else PASSING_SPEED
    return LateralPlan(offset, begin, full, leave, end, agent_id, speed=speed)


def _free(driver: Vehicle, plan: LateralPlan, agents: Sequence[Agent]) -> bool:
    half = driver.body.width / 2.0
    duration = (plan.end - driver.s) / min(max(driver.speed, 3.5), plan.speed)
    others = [a for a in around(driver, agents, LEVEL) if not stands(a)]
    low, high = sorted((0.0, plan.offset))
    for agent, extent in zip(others, footprints(driver, others), strict=True):
        if not extent.beside(low - half - 0.5, high + half + 0.5):
            continue
        crawls = extent.s_low < plan.leave and extent.beside(-half, half)
        if crawls and passable(driver, agent):
            continue
        along = same_way(driver, agent)
        in_lane = extent.beside(-half, half) and abs(plan.offset) > 0.5 and along
        if in_lane and (extent.s_low > plan.leave or extent.s_high < driver.s_front):
            continue
        if along and not _keeps_clear(driver, plan, extent):
            return False
        reach = agent.speed * duration
        if not along and extent.s_high > driver.s and extent.s_low < plan.end + reach + 8.0:
            return False
    return True


def _keeps_clear(driver: Vehicle, plan: LateralPlan, extent: Footprint) -> bool:
    """Whether one that goes the same way stays behind or ahead."""
    closing = max(0.0, extent.speed - driver.speed)
    behind = extent.s_high < driver.s - 9.0 - 2.5 * closing
    faster = extent.s_low > driver.s_front + 4.0 and extent.speed > driver.speed + 0.5
    return behind or extent.s_low > plan.end or faster

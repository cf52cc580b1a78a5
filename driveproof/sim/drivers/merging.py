"""Changing lanes: holding the old lane, or the place at the kerb, until there is a gap in the new one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from driveproof.sim.drivers.agents import Agent, Vehicle, stands
from driveproof.sim.drivers.footprints import Footprint, around, footprints
from driveproof.sim.drivers.lateral import LateralPlan, Purpose, smoothstep
from driveproof.sim.drivers.perception import LEVEL

OFF_PATH = 0.9
"""Beside its path by more than this at the start, a driver first joins it, m."""
MARGIN = 0.45
"""Free width wanted beside the body in the new lane, m."""
BEHIND_GAP, AHEAD_GAP = 4.0, 2.5
"""Gaps wanted to the follower and the leader in the new lane at equal speeds, m."""
BEHIND_TIME, AHEAD_TIME = 2.4, 1.3
"""Seconds of closing speed added to them."""
HASTE = 0.6
"""What is left of the times after long waiting."""
LONG_WAIT = 12.0
"""Seconds."""
AHEAD = 12.0
"""Metres by which a plan to hold the lane is prolonged at a time."""
FAR = 1e4


def join_plan(driver: Vehicle) -> LateralPlan | None:
    """The plan of a driver who starts beside its path, as in a parking bay; None on the path."""
    x, y = driver.path.point(driver.s)
    course = float(driver.path.heading[driver.path.index(driver.s)])
    dx, dy = driver.state.x - x, driver.state.y - y
    aside = dy * math.cos(course) - dx * math.sin(course)
    if abs(aside) < OFF_PATH:
        return None
    limit = driver.s_front if driver.speed < 1.0 else math.inf
    return LateralPlan(
        offset=aside,
        begin=driver.s - 2.0,
        full=driver.s - 1.0,
        leave=FAR,
        end=FAR + 1.0,
        start=aside,
        purpose=Purpose.HOLD,
        limit=limit,
    )


def hold_plan(driver: Vehicle, agents: Sequence[Agent]) -> LateralPlan | None:
    """The plan to stay in the lane at a change of lanes that has no gap yet; None if there is none or it is free."""
    for change in driver.path.changes:
        at = change.begin - driver.s
        if change.begin in driver.changed or at > 1.0 + 0.3 * driver.speed:
            continue
        if at < -5.0 or gap_free(driver, agents, new_lane(change.shift, change.begin, change.end)):
            driver.changed.add(change.begin)
            continue
        driver.changed.add(change.begin)
        return LateralPlan(
            offset=-change.shift,
            begin=change.begin,
            full=change.end,
            leave=FAR,
            end=FAR + 1.0,
            purpose=Purpose.HOLD,
            limit=change.limit,
        )
    return None


def held(driver: Vehicle, plan: LateralPlan, agents: Sequence[Agent]) -> LateralPlan | None:
    """The plan after a look for a gap: go over now, hold on, or done (None)."""
    if driver.s > plan.end:
        return None
    if driver.s > plan.leave:
        return plan
    joins = plan.start != 0.0
    target = new_lane(0.0 if joins else -plan.offset, plan.begin, plan.full)
    free = gap_free(driver, agents, target)
    if driver.s < plan.full - 2.0 and not joins:
        return None if free and driver.s < plan.begin + 2.0 else plan
    if not free:
        return replace(plan, leave=FAR, end=FAR + 1.0)
    if plan.leave < FAR:
        return plan
    leave = driver.s + 0.3
    return replace(plan, leave=leave, end=leave + run_of(driver.speed))


def run_of(speed: float) -> float:
    """Metres over which a lane's width is crossed at a speed (m/s)."""
    return max(9.0, 2.6 * speed)


Lane = Callable[[float], float]
"""Where a lane lies beside a path: metres left of it at an arc length."""


def on_path(s: float) -> float:
    """The lane of the path itself."""
    return 0.0 * s


def new_lane(shift: float, begin: float, end: float) -> Lane:
    """The lane that a path takes ``shift`` metres to the left between two arc lengths, seen from the path."""
    return lambda s: shift * (1.0 - smoothstep(s, begin, end))


def gap_free(driver: Vehicle, agents: Sequence[Agent], lane: Lane = on_path) -> bool:
    """Whether a lane beside the path has room for the driver now and while it goes over."""
    others = around(driver, agents, LEVEL)
    return all(
        _clear(driver, place, stands(agent))
        for agent, place in zip(others, footprints(driver, others), strict=True)
        if _in_lane(driver, place, lane)
    )


def _in_lane(driver: Vehicle, place: Footprint, lane: Lane) -> bool:
    half = driver.body.width / 2.0 + MARGIN
    offset = lane((place.s_low + place.s_high) / 2.0)
    return place.beside(offset - half, offset + half)


def _clear(driver: Vehicle, place: Footprint, standing: bool) -> bool:
    patience = HASTE if driver.stuck > LONG_WAIT else 1.0
    speed = driver.speed
    if place.s_low > driver.s_front:
        closing = max(speed - place.speed, 0.0)
        room = place.s_low - driver.s_front
        needed = 0.6 * run_of(speed) + 4.0 if standing else AHEAD_GAP + AHEAD_TIME * closing
        if place.speed < -1.0:  # oncoming: gone before both meet
            needed = run_of(speed) + 8.0 + 5.0 * (max(speed, 4.0) - place.speed) * patience
        return room > needed
    if place.s_high < driver.s_back:
        closing = max(place.speed - speed, 0.0)
        return driver.s_back - place.s_high > BEHIND_GAP + BEHIND_TIME * closing * patience or (
            place.speed < -0.5
        )
    return False


def lane_speed(driver: Vehicle, agents: Sequence[Agent]) -> float | None:
    """Mean speed (m/s) of those in the lane that the driver wants to take; None if nobody is there."""
    others, plan = around(driver, agents, LEVEL), driver.plan
    lane: Lane = on_path
    if plan is not None and plan.start == 0.0:
        lane = new_lane(-plan.offset, plan.begin, plan.full)
    speeds = [
        place.speed
        for place in footprints(driver, others)
        if _in_lane(driver, place, lane)
        and place.s_high > driver.s_back - 25.0
        and place.s_low < driver.s_front + 25.0
    ]
    return sum(speeds) / len(speeds) if speeds else None

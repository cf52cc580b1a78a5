"""Moving aside: for emergency vehicles from behind and for oncoming ones that take a part of the lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from driveproof.sim.drivers.agents import Agent, Vehicle, stands
from driveproof.sim.drivers.fleet import is_emergency
from driveproof.sim.drivers.footprints import Footprint, around, footprints
from driveproof.sim.drivers.lateral import LateralPlan, Purpose
from driveproof.sim.drivers.merging import FAR, Lane, gap_free, run_of
from driveproof.sim.drivers.perception import LEVEL

HEARD = 55.0
"""Metres behind within which an emergency vehicle is let pass."""
PASSED = 6.0
"""Metres ahead at which it has passed."""
SEEN = 55.0
"""Metres ahead within which an oncoming vehicle in the lane is made room for."""
ROOM = 0.45
"""Metres wanted between the bodies."""
LANE = 3.5
"""Width of a lane, m."""
EMERGENCY_SHARE, INVADER_SPEED = 0.6, 6.0
"""Speeds beside them: a share of the emergency vehicle's, and m/s beside one that comes towards the ego."""
LEAST = 3.0
"""m/s that are driven on in any case."""
KERB = 0.15
"""Metres kept from the edge of what can be driven on."""


class Wish(NamedTuple):
    """To be ``offset`` metres left of the path because of somebody, and to drive at most ``speed`` there."""

    offset: float
    agent_id: int
    speed: float


def aside_plan(driver: Vehicle, agents: Sequence[Agent]) -> LateralPlan | None:
    """What to do about somebody to make room for: a new plan, the present one, or its end (None)."""
    plan = driver.plan
    others = [a for a in around(driver, agents, LEVEL) if isinstance(a, Vehicle) and a.speed > 0.5]
    places = footprints(driver, others)
    wish = _for_emergency(driver, others, places, agents) or _for_invader(driver, others, places)
    here = driver.offset_at(driver.s)
    if wish is None:
        if plan is None or driver.s > plan.end:
            return None
        if plan.leave < FAR:
            return plan
        if abs(here) > 1.5 and not gap_free(driver, agents):
            return plan
        leave = driver.s + 1.0
        return replace(plan, leave=leave, end=leave + run_of(driver.speed))
    offset, agent_id, speed = wish
    if plan is not None and plan.leave >= FAR and abs(plan.offset - offset) < 0.25:
        return plan
    run = max(7.0, 1.4 * driver.speed, 3.0 * abs(offset - here))
    return LateralPlan(
        offset=offset,
        begin=driver.s,
        full=driver.s + run,
        leave=FAR,
        end=FAR + 1.0,
        agent_id=agent_id,
        start=here,
        purpose=Purpose.ASIDE,
        speed=speed,
    )


def _for_emergency(
    driver: Vehicle,
    others: Sequence[Vehicle],
    places: Sequence[Footprint],
    agents: Sequence[Agent],
) -> Wish | None:
    half = driver.body.width / 2.0
    for other, place in zip(others, places, strict=True):
        near = driver.s_back - HEARD < place.s_high and place.s_low < driver.s_front + PASSED
        if not is_emergency(other.body.type_id) or not near or place.speed < 1.0:
            continue
        plan = driver.plan
        if plan is not None and plan.agent_id == other.agent_id and plan.leave >= FAR:
            return Wish(plan.offset, other.agent_id, plan.speed)
        if not place.beside(-half - ROOM, half + ROOM):
            continue  # it has its own lane
        speed = max(EMERGENCY_SHARE * other.speed, LEAST)
        i = driver.path.index(driver.s_front)
        right, left = float(driver.path.right[i]), float(driver.path.left_own[i])
        for room, side in ((right, -1.0), (left, 1.0)):
            if room > 1.5 * LANE - 0.3 and gap_free(driver, agents, _lane(side * LANE)):
                return Wish(side * LANE, other.agent_id, speed)
        edge = right + float(driver.path.verge[i]) - half - KERB
        if edge > 0.2 and place.s_high < driver.s_back:
            return Wish(-min(edge, LANE), other.agent_id, speed)
    return None


def _for_invader(
    driver: Vehicle, others: Sequence[Vehicle], places: Sequence[Footprint]
) -> Wish | None:
    half = driver.body.width / 2.0
    best: Wish | None = None
    for other, place in zip(others, places, strict=True):
        ahead = driver.s_back - 2.0 < place.s_high and place.s_low < driver.s_front + SEEN
        if place.speed > -1.0 or not ahead or stands(other):
            continue
        i = driver.path.index(place.s_low)
        if driver.path.in_junction[i] or driver.path.in_junction[driver.path.index(driver.s)]:
            continue
        if place.right > half + ROOM or place.left < 0.0:
            continue
        room = float(driver.path.right[i]) - half - KERB
        room += 0.5 * float(driver.path.verge[i])
        offset = max(place.right - ROOM - half, -max(room, 0.0))
        if best is None or offset < best.offset:
            best = Wish(offset, other.agent_id, INVADER_SPEED)
    return best


def _lane(offset: float) -> Lane:
    return lambda s: offset + 0.0 * s

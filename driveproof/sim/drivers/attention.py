"""Attention to who may cross the way: the acceleration that avoids meeting anybody in the next seconds.

The own way is laid over time with several accelerations and compared with where others are expected. The
wanted acceleration is kept if nobody is met; otherwise the gentlest braking that avoids a meeting is taken,
or, where braking comes too late, getting through quickly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.geometry.arrays import Bool, Float
from driveproof.scene import AgentKind
from driveproof.sim.drivers.agents import TWO_WHEELS, Agent, Vehicle, stands
from driveproof.sim.drivers.perception import LEVEL
from driveproof.sim.drivers.prediction import TIMES, expected, near_agents, own_positions
from driveproof.sim.drivers.yielding import Lights, gives_way

REACH = 110.0
"""Metres (city blocks) within which others are watched."""
BRAKES = (-1.5, -3.0, -5.0, -8.0)
"""Decelerations that are tried, m/s²."""
HURRY = 2.8
"""m/s² of getting through."""
ASIDE, BEFORE = 0.3, 1.2
"""Free room wanted beside and before the own box, m."""
WALKER_ROOM = 0.5
"""More of it for walkers and cyclists, m."""
MOVING = 0.3
"""m/s."""
STAYS = 0.3
"""Who drives less than this (m) does not drive into anybody."""
SAME_WAY = 0.7
"""Cosine of the angle up to which two go the same way."""
TEMPTED = 3.2
"""Metres beside the own body within which somebody who stands and faces the road may step onto it."""
SLOWEST = 3.0
"""m/s that caution leaves."""
FIRM = 5.5
"""Deceleration that caution counts on, m/s²."""
REACTION = 0.35
"""Seconds that pass before it is reached."""


@dataclass(frozen=True)
class Threat:
    """Somebody who would be met, and the acceleration (m/s²) that avoids it."""

    agent: Agent
    accel: float
    seconds: float


def threat(driver: Vehicle, agents: Sequence[Agent], lights: Lights, accel: float) -> Threat | None:
    """Who would be met at the wanted acceleration, and what to do about it; None if nobody."""
    others = [
        agent
        for agent in near_agents(driver, agents, REACH, LEVEL)
        if agent.speed > MOVING and not stands(agent) and _counts(driver, agent, lights)
    ]
    if not others:
        return None
    owners: list[Agent] = []
    poses: list[Float] = []
    for agent in others:
        for guess in expected(agent, lights):
            owners.append(agent)
            poses.append(guess)
    table = np.stack(poses)
    boxes, courses = _corners(owners, table), table[..., 2]
    top = max(float(driver.path.cap[driver.path.index(driver.s_front)]), driver.speed)
    first = _meeting(driver, owners, boxes, courses, min(accel, 3.0), top)
    if first is None:
        return None
    who, seconds = first
    for brake in BRAKES:
        if brake < accel and _meeting(driver, owners, boxes, courses, brake, top) is None:
            return Threat(who, brake, seconds)
    if seconds < 2.0 and _meeting(driver, owners, boxes, courses, HURRY, top + 3.0) is None:
        return Threat(who, HURRY, seconds)
    return Threat(who, BRAKES[-1], seconds)


def _counts(driver: Vehicle, agent: Agent, lights: Lights) -> bool:
    """Whether the agent is not one that follows the driver, leads it, or gives way to it anyway."""
    if not isinstance(agent, Vehicle):
        return True
    dx, dy = agent.x - driver.x, agent.y - driver.y
    cos, sin = math.cos(driver.heading), math.sin(driver.heading)
    ahead, aside = dx * cos + dy * sin, abs(dy * cos - dx * sin)
    same_way = math.cos(agent.heading - driver.heading) > 0.8
    if same_way and ahead < 0.0 and aside < (agent.body.width + driver.body.width) / 2.0:
        return False
    if same_way and ahead < -(agent.body.length + driver.body.length) / 2.0:
        return False
    if same_way and ahead > 0.0 and aside < 1.0:
        return False
    return not gives_way(agent, driver, lights)


def _corners(owners: Sequence[Agent], poses: Float) -> Float:
    """Corners ``[G, T, 4, 2]`` of boxes with the room that is wanted around them."""
    soft = [a.kind is AgentKind.PEDESTRIAN or a.body.base_type in TWO_WHEELS for a in owners]
    room = np.where(soft, 2.0 * WALKER_ROOM, 0.0)
    length = np.array([a.body.length for a in owners]) + room
    width = np.array([a.body.width for a in owners]) + room
    return box_corners(poses, length[:, None], width[:, None])


def _meeting(
    driver: Vehicle,
    owners: Sequence[Agent],
    boxes: Float,
    courses: Float,
    accel: float,
    top: float,
) -> tuple[Agent, float] | None:
    """Who is met first and in how many seconds, with a constant acceleration; None if nobody, or not by driving on."""
    poses, travel = own_positions(driver, accel, top)
    own = box_corners(poses, driver.body.length + 2.0 * BEFORE, driver.body.width + 2.0 * ASIDE)
    met: Bool = boxes_overlap(boxes, own[None]) & (travel > STAYS)
    met &= ~_from_behind(driver, poses, boxes, courses)
    when = np.where(met.any(1), met.argmax(1), len(TIMES))
    best = int(when.argmin())
    if when[best] == len(TIMES):
        return None
    return owners[best], float(TIMES[when[best]])


def _from_behind(driver: Vehicle, poses: Float, boxes: Float, courses: Float) -> Bool:
    """``[G, T]`` whether one that goes the same way runs into the own rear, which cannot be helped."""
    relative = boxes - poses[None, :, None, :2]
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    along = relative[..., 0] * cos[None, :, None] + relative[..., 1] * sin[None, :, None]
    same_way = np.cos(courses - poses[None, :, 2]) > SAME_WAY
    return np.asarray(same_way & (along.max(-1) < -0.2 * driver.body.length))


def careful_speed(driver: Vehicle, agents: Sequence[Agent]) -> tuple[float, Agent] | None:
    """Speed (m/s) from which one can stop for somebody who stands at the road and may step onto it."""
    best: tuple[float, Agent] | None = None
    for agent in near_agents(driver, agents, 60.0, LEVEL):
        soft = agent.kind is AgentKind.PEDESTRIAN or agent.body.base_type in TWO_WHEELS
        if not soft or agent.speed > MOVING:
            continue
        s = driver.path.project(agent.x, agent.y, near=driver.s_front + 20.0, around=26.0)
        gap = s - driver.s_front
        x, y = driver.path.point(s, driver.offset_at(s))
        course = float(driver.path.heading[driver.path.index(s)])
        aside = (agent.y - y) * math.cos(course) - (agent.x - x) * math.sin(course)
        beside = abs(aside) - driver.body.width / 2.0
        faces = -math.copysign(1.0, aside) * math.sin(agent.heading - course)
        if gap < 0.0 or gap > 45.0 or not 0.0 < beside < TEMPTED or faces < 0.3:
            continue
        room = max(gap - 2.0, 0.0)
        reach = FIRM * REACTION
        speed = max(math.sqrt(reach**2 + 2.0 * FIRM * room) - reach, SLOWEST)
        if best is None or speed < best[0]:
            best = (speed, agent)
    return best

"""Who is in whose way: swept paths against boxes, for all drivers at once.

For each driver the centre line of its swept path is sampled every metre ahead. An agent is in the way if
its box comes closer to a sample than half the driver's width plus a margin. Walkers are also looked for
where they will be in the next seconds, and vehicles going the same way where they will be in a second,
so that drivers react to who steps or cuts in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.scene import AgentKind
from driveproof.sim.drivers.agents import Agent, Vehicle
from driveproof.sim.drivers.path import STEP

LOOK_AHEAD = 70
"""Samples, one a metre."""
BEHIND = 4.0
"""Metres behind the rear axle at which a window starts."""
MARGIN = 0.35
"""Free width wanted beside the body, m."""
WALKER_TIMES = (0.7, 1.4, 2.1, 2.8)
"""Seconds ahead at which walkers are expected."""
LEVEL = 3.5
"""Agents with more than this difference in height are on another road, m."""
VEHICLE_TIMES = (0.6, 1.2, 2.0)
"""Seconds ahead at which vehicles going the same way are expected."""


@dataclass(frozen=True)
class Blocker:
    """Somebody in the way: bumper-to-box gap (m), speed along the path (m/s), seconds ahead it was seen."""

    agent: Agent
    gap: float
    speed: float
    ahead: float


@dataclass(frozen=True)
class Surroundings:
    """All boxes of a moment (present and expected), as arrays over M entries."""

    agents: tuple[Agent, ...]
    boxes: Float
    """``[M, 5]`` x, y, heading, half length, half width."""
    speed: Float
    ahead: Float
    walker: Float
    z: Float

    @classmethod
    def of(cls, agents: Sequence[Agent]) -> Surroundings:
        """Gather the agents and where they are expected."""
        owners: list[Agent] = []
        rows: list[tuple[float, ...]] = []
        for agent in agents:
            x, y, heading, speed = agent.x, agent.y, agent.heading, agent.speed
            half = (agent.body.length / 2.0, agent.body.width / 2.0)
            walker = 1.0 if agent.kind is AgentKind.PEDESTRIAN else 0.0
            times: tuple[float, ...] = (0.0,)
            if speed > 0.3:
                times = (0.0, *(WALKER_TIMES if walker else VEHICLE_TIMES))
            c, s = math.cos(heading), math.sin(heading)
            for ahead in times:
                move = speed * ahead
                px, py, ph = x + c * move, y + s * move, heading
                if ahead and isinstance(agent, Vehicle) and agent.driven:
                    at = agent.s + agent.body.rear + move
                    px, py = agent.path.point(at, agent.offset_at(at))
                    ph = float(agent.path.heading[agent.path.index(at)])
                owners.append(agent)
                rows.append((px, py, ph, *half, speed, ahead, walker, agent.z))
        table = np.array(rows, dtype=np.float64).reshape(-1, 9)
        return cls(tuple(owners), table[:, :5], *table[:, 5:].T)


def find_blockers(drivers: Sequence[Vehicle], around: Surroundings) -> list[list[Blocker]]:
    """For each driver, those in its way, nearest first."""
    if not drivers or not len(around.boxes):
        return [[] for _ in drivers]
    points, headings, starts = windows(drivers)
    first, blocked = _first_blocked(drivers, points, starts, around)
    boxes = around.boxes
    at = np.take_along_axis(points, first[..., None], axis=1)  # [V, M, 2]
    course = np.take_along_axis(headings, first, axis=1)
    turn = boxes[None, :, 2] - course
    cos, sin = np.cos(turn), np.sin(turn)
    reach = np.abs(cos) * boxes[:, 3] + np.abs(sin) * boxes[:, 4]
    relative = boxes[None, :, :2] - at
    along = relative[..., 0] * np.cos(course) + relative[..., 1] * np.sin(course)
    fronts = np.array([v.s_front for v in drivers])
    gap = starts[:, None] + first + along - reach - fronts[:, None]
    speed = around.speed * cos
    # an expected position counts for vehicles only if they go the same way and are already ahead,
    # for walkers only if the driver will not have passed by then
    expected, walker = around.ahead > 0.0, around.walker > 0.0
    blocked &= ~(expected & ~walker) | ((cos > 0.7) & (gap - speed * around.ahead > 0.3))
    own_speed = np.array([max(v.speed, 0.1) for v in drivers])[:, None]
    lengths = np.array([v.body.length for v in drivers])[:, None]
    passed = (gap + lengths + 1.0) / own_speed < around.ahead - 0.3
    blocked &= ~(expected & walker & passed)
    return [
        _sorted_blockers(np.flatnonzero(blocked[i]), around, gap[i], speed[i])
        for i in range(len(drivers))
    ]


def windows(drivers: Sequence[Vehicle]) -> tuple[Float, Float, Float]:
    """Samples ``[V, K, 2]`` ahead of each driver, headings ``[V, K]`` and arc length of the first ``[V]``."""
    stride, count = round(1.0 / STEP), LOOK_AHEAD
    points = np.empty((len(drivers), count, 2))
    headings = np.empty((len(drivers), count))
    starts = np.empty(len(drivers))
    for row, driver in enumerate(drivers):
        path = driver.path
        first = min(path.index(driver.s - BEHIND), len(path.xy) - stride * count)
        part = slice(first, first + stride * count, stride)
        points[row], headings[row] = path.xy[part], path.heading[part]
        starts[row] = first * STEP
        if driver.plan is not None:
            offset = driver.offsets(first * STEP + np.arange(count, dtype=np.float64))
            normal = np.stack([-np.sin(headings[row]), np.cos(headings[row])], axis=-1)
            points[row] += offset[:, None] * normal
    return points, headings, starts


def _first_blocked(
    drivers: Sequence[Vehicle], points: Float, starts: Float, around: Surroundings
) -> tuple[Int, Bool]:
    """Index ``[V, M]`` of the first sample that each box blocks, and whether it blocks any."""
    boxes = around.boxes
    first = np.zeros((len(drivers), len(boxes)), dtype=np.int64)
    blocked = np.zeros((len(drivers), len(boxes)), dtype=bool)
    rows, columns = np.nonzero(_close(drivers, points, around))
    box = boxes[columns]
    relative = points[rows] - box[:, None, :2]  # [P, K, 2]
    cos, sin = np.cos(box[:, 2])[:, None], np.sin(box[:, 2])[:, None]
    dx = np.abs(cos * relative[..., 0] + sin * relative[..., 1]) - box[:, 3, None]
    dy = np.abs(cos * relative[..., 1] - sin * relative[..., 0]) - box[:, 4, None]
    np.maximum(dx, 0.0, out=dx)
    np.maximum(dy, 0.0, out=dy)
    wide = np.array([v.body.width / 2.0 + MARGIN for v in drivers])
    near = dx * dx + dy * dy < (wide**2)[rows, None]
    # only what lies ahead of the driver's own middle
    middle = np.array([v.s + v.body.rear for v in drivers])
    arc = starts[:, None] + np.arange(points.shape[1])
    near &= (arc >= middle[:, None])[rows]
    blocked[rows, columns] = near.any(-1)
    first[rows, columns] = near.argmax(-1)
    return first, blocked


def _close(drivers: Sequence[Vehicle], points: Float, around: Surroundings) -> Bool:
    """Whether a box ``[V, M]`` is within the bounds of a driver's window; never its own."""
    boxes = around.boxes
    reach = np.hypot(boxes[:, 3], boxes[:, 4]) + 2.0
    low, high = points.min(1)[:, None], points.max(1)[:, None]  # [V, 1, 2]
    beyond = (boxes[:, :2] < low - reach[:, None]) | (boxes[:, :2] > high + reach[:, None])
    ids = np.array([agent.agent_id for agent in around.agents])
    own = np.array([v.agent_id for v in drivers])[:, None] == ids
    level = np.abs(np.array([v.z for v in drivers])[:, None] - around.z) < LEVEL
    return np.asarray(~beyond.any(-1) & ~own & level)


def _sorted_blockers(
    found: Int,
    around: Surroundings,
    gap: Float,
    speed: Float,
) -> list[Blocker]:
    blockers = [
        Blocker(around.agents[m], float(gap[m]), float(speed[m]), float(around.ahead[m]))
        for m in found.tolist()
    ]
    # where a vehicle will be says nothing new about one that is in the way already
    present = {b.agent.agent_id for b in blockers if b.ahead == 0.0}
    news = [
        b
        for b in blockers
        if b.ahead == 0.0 or b.agent.kind is AgentKind.PEDESTRIAN or b.agent.agent_id not in present
    ]
    return sorted(news, key=lambda b: (b.gap, b.agent.agent_id, b.ahead))

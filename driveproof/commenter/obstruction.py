"""What stands in the ego's lane and must be passed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.action.edits import DEVIATION_M
from driveproof.commenter.context import Context
from driveproof.commenter.frame import Agent
from driveproof.commenter.naming import kind_of
from driveproof.commenter.signs import Signs
from driveproof.questions import ObjectKind
from driveproof.questions import terms as t
from driveproof.questions.objects import EMERGENCY
from driveproof.scene import Command

MIN_REACH_M, REACH_S = 35.0, 3.5
STANDING_MPS = 0.3
SLOW_BICYCLE_MPS = 4.0
GROUP_M = 14.0
"""Things closer to each other along the way are passed together."""
CLEARANCE_M = 0.5
DEVIATION_CLEARANCE_M, OVER_LINE_M = 0.3, 0.1
"""Sideways distance of a deviating ego to what it passes, and how far it may reach over the line."""
WAITING_BRAKE = 0.3
"""Who stands on the brake is about to go on."""
QUEUE_M = 20.0
"""Vehicles that stand so near to a junction wait there."""
HAZARD_LAMPS = 0x10 | 0x20
CIRCUMVENT = (
    "Accident",
    "ConstructionObstacle",
    "HazardAtSideLane",
    "ParkedObstacle",
    "VehicleOpensDoor",
)
_BY_SCENARIO = {
    "Accident": t.ManeuverCause.ACCIDENT,
    "ConstructionObstacle": t.ManeuverCause.CONSTRUCTION,
    "HazardAtSideLane": t.ManeuverCause.HAZARD,
    "ParkedObstacle": t.ManeuverCause.PARKED_VEHICLE,
    "VehicleOpensDoor": t.ManeuverCause.OPEN_DOOR,
}
TURNS = (Command.LEFT, Command.RIGHT)
_WORKS = frozenset({ObjectKind.CONSTRUCTION_CONE, ObjectKind.CONSTRUCTION_WARNING})


@dataclass(frozen=True)
class Obstruction:
    """Things that block the lane ahead together.

    Attributes
    ----------
    rows
        Their rows in ``frame.agents``, the nearest first.
    cause
        What it is.
    begin, end
        Metres along the path from the ego's centre to its nearest and farthest side.
    low, high
        Right- and leftmost metres beside the path.
    """

    rows: tuple[int, ...]
    cause: t.ManeuverCause
    begin: float
    end: float
    low: float
    high: float

    def room(self, lane_width: float, ego_width: float) -> tuple[bool, bool]:
        """Whether a deviation inside the lane takes the ego past: on the left, on the right."""
        half = ego_width / 2.0
        inside = DEVIATION_M + half <= lane_width / 2.0 + OVER_LINE_M
        reach = DEVIATION_M - half - DEVIATION_CLEARANCE_M
        return inside and self.high <= reach, inside and self.low >= -reach

    def leaves_beside(self, side: int, lane_width: float, ego_width: float) -> bool:
        """Whether it leaves room for the ego in the lane beside (1: left, -1: right) of about the same width."""
        reach = self.high if side > 0 else -self.low
        return 1.5 * lane_width - reach >= ego_width + CLEARANCE_M


def find_obstruction(context: Context, signs: Signs) -> Obstruction | None:
    """The nearest group of things in the ego's lane that will not move out of the way."""
    ego = context.frame.ego
    reach = max(MIN_REACH_M, REACH_S * ego.speed)
    rows = [row for row in range(len(context.frame.agents)) if _blocks(context, row, reach, signs)]
    rows.sort(key=lambda row: context.lane_place(row)[0])
    group: list[int] = []
    end = -math.inf
    for row in rows:
        s, _ = context.lane_place(row)
        if group and s - context.frame.agents[row].length / 2.0 > end + GROUP_M:
            break
        group.append(row)
        end = max(end, s + context.frame.agents[row].length / 2.0)
    if not group:
        return None
    sides = [_extent(context, row) for row in group]
    return Obstruction(
        rows=tuple(group),
        cause=_cause(context, group),
        begin=min(s[0] for s in sides),
        end=max(s[1] for s in sides),
        low=min(s[2] for s in sides),
        high=max(s[3] for s in sides),
    )


def _extent(context: Context, row: int) -> tuple[float, float, float, float]:
    agent = context.frame.agents[row]
    s, lateral = context.lane_place(row)
    pieces = len(context.course.points) - 1
    index = min(max(int(s / max(context.course.length, 1e-6) * pieces), 0), pieces - 1)
    dx, dy = context.course.points[index + 1] - context.course.points[index]
    angle = agent.heading - math.atan2(dy, dx)
    along = abs(agent.length / 2 * math.cos(angle)) + abs(agent.width / 2 * math.sin(angle))
    across = abs(agent.length / 2 * math.sin(angle)) + abs(agent.width / 2 * math.cos(angle))
    return s - along, s + along, lateral - across, lateral + across


def _blocks(context: Context, row: int, reach: float, signs: Signs) -> bool:
    agent, ego = context.frame.agents[row], context.frame.ego
    s, _ = context.lane_place(row)
    if (
        agent.kind == "walker"
        or not -(ego.length + agent.length) / 2.0 < s < reach
        or abs(agent.z - ego.z) > 4.0
    ):
        return False
    if s - agent.length / 2.0 > context.road.to_junction and context.frame.command_near in TURNS:
        return False  # it stands behind a turn: nothing to pass before that
    _, _, low, high = _extent(context, row)
    half = ego.width / 2.0 + CLEARANCE_M / 2.0
    if low > half or high < -half:
        return False
    if agent.kind == "prop":
        return agent.height > 0.2 or kind_of(agent) in _WORKS
    if kind_of(agent) is ObjectKind.BICYCLE and context.frame.scenario.startswith(
        "HazardAtSideLane"
    ):
        return abs(agent.speed) < SLOW_BICYCLE_MPS
    if abs(agent.speed) > STANDING_MPS:
        return False
    return _stays(context, row, agent, signs)


def _stays(context: Context, row: int, agent: Agent, signs: Signs) -> bool:
    """Whether a standing vehicle stays, rather than waits for a light, at a junction or behind somebody."""
    if context.frame.scenario.startswith(CIRCUMVENT):
        if (
            agent.parked
            or agent.lamps & HAZARD_LAMPS == HAZARD_LAMPS
            or kind_of(agent) in EMERGENCY
        ):
            return True
        if agent.id in context.frame.roles.ids:
            return True
    elif agent.parked:
        return True
    s, _ = context.lane_place(row)
    waits = (
        signs.light_colour in (t.LightColour.RED, t.LightColour.YELLOW) or signs.stop is not None
    )
    if waits or context.road.in_junction or context.road.to_junction - s < QUEUE_M:
        return False
    before = context.window.ago(2.0)
    if before is None or agent.brake > WAITING_BRAKE:
        return False
    stood = next((a for a in before.agents if a.id == agent.id), None)
    return stood is not None and abs(stood.speed) < STANDING_MPS and not _led(context, row)


def _led(context: Context, row: int) -> bool:
    """Whether another vehicle is close before it in its lane: then it queues."""
    s, lateral = context.lane_place(row)
    return any(
        other != row
        and agent.kind == "vehicle"
        and 0.0 < context.lane_place(other)[0] - s < 15.0
        and abs(context.lane_place(other)[1] - lateral) < 1.5
        for other, agent in enumerate(context.frame.agents)
    )


def _cause(context: Context, rows: list[int]) -> t.ManeuverCause:
    kinds = {kind_of(context.frame.agents[row]) for row in rows}
    if kinds & _WORKS:
        return t.ManeuverCause.CONSTRUCTION
    if kinds & (EMERGENCY | {ObjectKind.ACCIDENT_WARNING}):
        return t.ManeuverCause.ACCIDENT
    for name, cause in _BY_SCENARIO.items():
        if context.frame.scenario.startswith(name):
            return cause
    if kinds <= {ObjectKind.BICYCLE, ObjectKind.DEBRIS}:
        return t.ManeuverCause.HAZARD
    return t.ManeuverCause.PARKED_VEHICLE

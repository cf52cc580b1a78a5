"""States that no recorded drive shows: off the road, turned away, on the wrong side. Every one gets an answer.

Source: Bench2Drive-VL, out-of-distribution handling. Road: unrecoverable (no lane near), recoverable (steer towards the
lane). Orientation: mild misalignment up to a U-turn. Side: against the traffic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.commenter.context import Context
from driveproof.questions import DirectionKey
from driveproof.questions import terms as t

LOST_M = 15.0
"""Farther from every lane nobody can tell the way back."""
ALIGN_RAD, U_TURN_RAD = math.radians(40.0), math.radians(120.0)
SLOW_MPS = 2.0


@dataclass(frozen=True)
class Recovery:
    """What to do in a state off the beaten track.

    Attributes
    ----------
    cause, maneuver
        What is wrong and what it takes.
    direction
        The key for it.
    hopeless
        Nothing can be done but to stop and wait for help.
    cautious
        The way back is to be driven slowly.
    """

    cause: t.ManeuverCause
    maneuver: t.Maneuver
    direction: DirectionKey
    hopeless: bool = False
    cautious: bool = True


def recovery_of(context: Context) -> Recovery | None:
    """The recovery that the ego's state asks for; None on the road and aligned."""
    road = context.road
    parked = context.frame.scenario.startswith("ParkingExit")
    if not road.on_road and not parked:
        return _back_to_the_road(context)
    error = road.heading_error
    if road.in_junction or parked:
        return None  # lane borders and headings are loose there
    if abs(error) > ALIGN_RAD and abs(error) <= U_TURN_RAD:
        left = error < 0.0  # turned to the right: steer left
        return Recovery(
            t.ManeuverCause.MISALIGNED,
            t.Maneuver.STEER_LEFT if left else t.Maneuver.STEER_RIGHT,
            DirectionKey.TURN_LEFT if left else DirectionKey.TURN_RIGHT,
        )
    if abs(error) > U_TURN_RAD and (road.opposite == 0 or _looks_back(context)):
        left = error < 0.0
        return Recovery(
            t.ManeuverCause.WRONG_WAY,
            t.Maneuver.TURN_AROUND,
            DirectionKey.TURN_LEFT if left else DirectionKey.TURN_RIGHT,
        )
    return None


def _looks_back(context: Context) -> bool:
    """Whether the navigator's next point lies behind: then the ego is turned around, not beside its lane."""
    near = context.frame.near
    return near is not None and context.frame.local(*near)[0] < 0.0


def _back_to_the_road(context: Context) -> Recovery:
    ego = context.frame.ego
    match = context.town.nearest_lane((ego.x, ego.y))
    if float(match.distance[0]) > LOST_M:
        return Recovery(
            t.ManeuverCause.OFF_ROAD,
            t.Maneuver.WAIT_FOR_HELP,
            DirectionKey.GO_STRAIGHT,
            hopeless=True,
        )
    lane = context.town.lanes.polyline(int(match.lane[0]))
    goal = lane.at(min(float(match.arc[0]) + 6.0, lane.length))
    _, y = context.frame.local(float(goal[0]), float(goal[1]))
    left = y > 0.0
    return Recovery(
        t.ManeuverCause.OFF_ROAD,
        t.Maneuver.STEER_LEFT if left else t.Maneuver.STEER_RIGHT,
        DirectionKey.TURN_LEFT if left else DirectionKey.TURN_RIGHT,
    )

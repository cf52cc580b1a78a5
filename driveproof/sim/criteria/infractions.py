"""What a drive did wrong, as typed facts; what each costs is decided elsewhere.

The kinds are those of the CARLA leaderboard 2.1 and Bench2Drive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class InfractionKind(StrEnum):
    """What went wrong."""

    COLLISION_VEHICLE = "collision_vehicle"
    COLLISION_PEDESTRIAN = "collision_pedestrian"
    COLLISION_STATIC = "collision_static"
    RED_LIGHT = "red_light"
    STOP_SIGN = "stop_sign"
    OFF_LANE = "off_lane"
    WRONG_WAY = "wrong_way"
    ROUTE_DEVIATION = "route_deviation"
    BLOCKED = "blocked"
    SCENARIO_TIMEOUT = "scenario_timeout"
    ROUTE_TIMEOUT = "route_timeout"
    MIN_SPEED = "min_speed"
    YIELD_EMERGENCY = "yield_emergency"


ENDING = frozenset(
    {InfractionKind.ROUTE_DEVIATION, InfractionKind.BLOCKED, InfractionKind.ROUTE_TIMEOUT}
)
"""Infractions that end a drive."""
HARMLESS = frozenset({InfractionKind.MIN_SPEED})
"""Infractions that are recorded but do not make a drive fail."""


@dataclass(frozen=True)
class Infraction:
    """One thing that went wrong.

    Attributes
    ----------
    kind
        What.
    time
        Simulated seconds since the drive began.
    place
        ``x, y`` of the ego's box centre then, right-handed, m.
    actor_id
        The other one of a collision, the emergency vehicle; None if there is none.
    text
        One line for people.
    share
        How much, where that is measured: share of the route driven off its lanes or against traffic
        (0 to 1), share of the wanted speed (0 to 1); NaN for the other kinds.
    signal_id
        The light or sign that was not obeyed, "" if none.
    actor_type
        CARLA's type of the other one of a collision, "" if there is none.
    bearing
        Where a collision met the ego (:func:`~driveproof.sim.criteria.contacts.bearing`): radians from its
        heading, left positive, corners of its box at 45 degrees; NaN if the other one has no box.
    """

    kind: InfractionKind
    time: float
    place: tuple[float, float]
    actor_id: int | None = None
    text: str = ""
    share: float = float("nan")
    signal_id: str = ""
    actor_type: str = ""
    bearing: float = float("nan")

"""Right of way at junctions: conflict zones of two paths, and who waits for whom.

A driver yields if the times at which both would occupy the zone overlap and the other one has priority:
whoever is already in the junction, then traffic without a stop or yield sign, then traffic that does not
turn left, then whoever arrives first. That is a total order, so that two drivers never wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from driveproof.scene import Command, LightState
from driveproof.sim.drivers.agents import Vehicle
from driveproof.sim.drivers.path import STEP, Crossing, Path

WIDTH = 2.4
"""Two centre lines closer than this conflict, m."""
ZONE = 10.0
"""Longest zone, m: beyond, two merging paths are one lane and the follower sees its leader."""
GAP_S = 1.3
"""Time wanted between the two occupations, s."""
STUCK_S = 7.0
"""Standing this long while yielding, a driver goes as far as it sees the way free."""
APPROACH, APPROACH_TIME = 30.0, 5.0
"""Metres before a junction, or seconds if that is more, from which right of way is judged."""


@dataclass(frozen=True)
class Conflict:
    """Arc lengths at which two paths enter and leave their common zone."""

    own_in: float
    own_out: float
    other_in: float
    other_out: float


CAN_STOP = 4.5
"""Whoever would need more deceleration (m/s²) to stop at a red light is expected to run it."""
WILL_STOP = 3.0
"""Deceleration (m/s²) up to which others are trusted to give way."""
Lights = Mapping[str, LightState]
"""What each light shows, by OpenDRIVE signal id."""
Meetings = dict[int, list[tuple[Vehicle, Crossing]]]
"""Junction -> the vehicles in it or near it, each with its way through."""


def meetings_of(vehicles: Sequence[Vehicle]) -> Meetings:
    """Who meets at which junction."""
    meetings: Meetings = {}
    for vehicle in vehicles:
        crossing = next_crossing(vehicle)
        if crossing is not None:
            meetings.setdefault(crossing.junction_id, []).append((vehicle, crossing))
    return meetings


@dataclass
class RightOfWay:
    """Finds who must be let pass; remembers conflict zones of pairs of paths."""

    _zones: dict[tuple[int, int, int], Conflict | None] = field(default_factory=dict)

    def yield_to(
        self, driver: Vehicle, meetings: Meetings, lights: Lights
    ) -> tuple[float, Vehicle] | None:
        """Arc length at which the front bumper must wait, and for whom; None if the way is free."""
        crossing = next_crossing(driver)
        if crossing is None or driver.stuck > STUCK_S:
            return None
        worst: tuple[float, Vehicle] | None = None
        for other, theirs in meetings[crossing.junction_id]:
            if other is driver:
                continue
            point = self._wait_point(driver, crossing, other, theirs, lights)
            if point is not None and (worst is None or point < worst[0]):
                worst = (point, other)
        return worst

    def _wait_point(
        self,
        driver: Vehicle,
        crossing: Crossing,
        other: Vehicle,
        theirs: Crossing,
        lights: Lights,
    ) -> float | None:
        zone = self._zone(driver.path, crossing, other.path, theirs)
        if zone is None or driver.s_front > zone.own_in or other.s_back > zone.other_out:
            return None
        if _held_by_light(other, lights) or not _has_priority(other, theirs, driver, crossing):
            return None
        own = _occupation(driver, zone.own_in, zone.own_out, accel=1.5)
        their = _occupation(other, zone.other_in, zone.other_out, accel=0.0)
        if own[0] > their[1] + GAP_S or their[0] > own[1] + GAP_S:
            return None
        inside = driver.s_front > crossing.start - 0.3
        waits_inside = crossing.control == "light" and crossing.command is Command.LEFT
        point = zone.own_in - 1.0 if inside or waits_inside else crossing.start - 0.5
        distance = point - driver.s_front
        if driver.speed**2 / (2.0 * max(distance, 0.1)) > 6.5 and distance < driver.speed:
            return None  # too late to stop: go through
        return point

    def _zone(
        self, own: Path, crossing: Crossing, other: Path, theirs: Crossing
    ) -> Conflict | None:
        key = (own.number, other.number, int(crossing.start))
        if key not in self._zones:
            self._zones[key] = find_conflict(own, crossing, other, theirs)
        return self._zones[key]


def find_conflict(own: Path, crossing: Crossing, other: Path, theirs: Crossing) -> Conflict | None:
    """The zone in which two ways through a junction meet; None if they do not, or start on one lane."""
    a0, b0 = own.index(crossing.start - 1.0), other.index(theirs.start - 1.0)
    a = own.xy[a0 : own.index(crossing.end + 4.0) : 2]
    b = other.xy[b0 : other.index(theirs.end + 4.0) : 2]
    if not len(a) or not len(b) or np.hypot(*(a[0] - b[0])) < 1.0:
        return None
    near = np.hypot(*np.moveaxis(a[:, None] - b[None], -1, 0)) < WIDTH
    if not near.any():
        return None
    rows, columns = np.flatnonzero(near.any(1)), np.flatnonzero(near.any(0))
    step = 2.0 * STEP
    own_in, other_in = a0 * STEP + rows[0] * step, b0 * STEP + columns[0] * step
    return Conflict(
        own_in,
        min(a0 * STEP + rows[-1] * step, own_in + ZONE),
        other_in,
        min(b0 * STEP + columns[-1] * step, other_in + ZONE),
    )


def next_crossing(vehicle: Vehicle) -> Crossing | None:
    """The junction the vehicle is in or approaches (:data:`APPROACH`)."""
    reach = max(APPROACH, APPROACH_TIME * vehicle.speed)
    for crossing in vehicle.path.crossings:
        if vehicle.s_back < crossing.end:
            return crossing if vehicle.s_front > crossing.start - reach else None
    return None


def _has_priority(other: Vehicle, theirs: Crossing, driver: Vehicle, crossing: Crossing) -> bool:
    def rank(vehicle: Vehicle, place: Crossing) -> tuple[int, int, int, float, int]:
        inside = vehicle.s_front > place.start + 0.5
        sign = place.control in ("stop", "yield")
        left = place.command is Command.LEFT
        eta = (place.start - vehicle.s_front) / max(vehicle.speed, 1.0)
        # a driver that waits inside the junction to turn left has not taken its way yet
        entered = inside and not (left and place.control == "light")
        return (not entered, sign, left, round(max(eta, 0.0), 1), vehicle.agent_id)

    return rank(other, theirs) < rank(driver, crossing)


def _held_by_light(vehicle: Vehicle, lights: Lights) -> bool:
    """Whether a red light stops the vehicle. Who is too fast to stop is expected to run it."""
    for stop in vehicle.path.stops:
        distance = stop.s - vehicle.s_front
        if stop.kind == "light" and distance > -1.0:
            can_stop = vehicle.speed**2 < 2.0 * CAN_STOP * max(distance, 0.3)
            red = lights.get(stop.signal_id) is LightState.RED
            return red and distance < 60.0 and can_stop
    return False


def gives_way(other: Vehicle, driver: Vehicle, lights: Lights) -> bool:
    """Whether ``other`` comes to a junction in which ``driver`` goes first, and can still stop before it."""
    here, there = next_crossing(driver), next_crossing(other)
    if here is None or there is None or here.junction_id != there.junction_id:
        return False
    distance = there.start - other.s_front
    if distance < 0.0 or other.speed**2 > 2.0 * WILL_STOP * max(distance, 0.1):
        return False
    return _held_by_light(other, lights) or not _has_priority(other, there, driver, here)


def _occupation(vehicle: Vehicle, enter: float, leave: float, accel: float) -> tuple[float, float]:
    """Seconds until the vehicle enters and has left the zone, at its speed or accelerating gently."""
    to_in, to_out = enter - vehicle.s_front, leave - vehicle.s_back
    return _time_to(to_in, vehicle.speed, accel), _time_to(to_out, vehicle.speed, accel)


def _time_to(distance: float, speed: float, accel: float) -> float:
    if distance <= 0.0:
        return 0.0
    if accel <= 0.0:
        return distance / max(speed, 1.0)
    top = max(speed, 7.0)
    to_top = (top - speed) / accel
    covered = 0.5 * (speed + top) * to_top
    if covered >= distance:
        return (-speed + math.sqrt(speed * speed + 2.0 * accel * distance)) / accel
    return to_top + (distance - covered) / top

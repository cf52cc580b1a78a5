"""Collisions: one infraction for each time that the ego comes to touch somebody."""

from __future__ import annotations

import math

import numpy as np
import shapely

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.sim.client.states import ActorState, Collision, WorldState
from driveproof.sim.criteria.ego import Moment
from driveproof.sim.criteria.infractions import Infraction, InfractionKind

APART_S = 2.0
"""Seconds without contact after which touching the same one again counts anew."""
TOUCH = 0.25
"""Metres between two boxes that still count as touching."""
STATIC = -1
"""Stands for all parts of the town, which have no ids of their own."""


def kind_of(other_type: str) -> InfractionKind:
    """The kind of a collision with something of this CARLA type."""
    if other_type.startswith("walker"):
        return InfractionKind.COLLISION_PEDESTRIAN
    if other_type.startswith("vehicle"):
        return InfractionKind.COLLISION_VEHICLE
    return InfractionKind.COLLISION_STATIC


class Contacts:
    """Turns the collision sensor's events into infractions.

    A sensor reports every tick in which bodies push each other. Events with the same other one are one
    collision until there has been no event, and a gap between the boxes, for :data:`APART_S` seconds.
    """

    def __init__(self) -> None:
        self._touched: dict[int, float] = {}

    def new_touch(self, state: WorldState, ego_id: int) -> bool:
        """Whether the ego touches an actor with whom no collision is counted yet: an event of it is due."""
        ego = state.actors.get(ego_id)
        return ego is not None and any(
            touch(ego, other)
            for other in state.actors.values()
            if other.id != ego_id and other.id not in self._touched
        )

    def update(self, now: Moment) -> list[Infraction]:
        """New collisions."""
        found = []
        for event in now.state.collisions:
            if event.actor_id != now.ego.id:
                continue
            kind = kind_of(event.other_type)
            key = STATIC if kind is InfractionKind.COLLISION_STATIC else event.other_id
            if event.other_id in now.state.actors:
                key = event.other_id
            if key not in self._touched:
                found.append(_infraction(now, event, kind))
            self._touched[key] = now.time
        for key, since in list(self._touched.items()):
            other = now.state.actors.get(key)
            if other is not None and touch(now.ego, other):
                self._touched[key] = now.time
            elif now.time - since > APART_S:
                del self._touched[key]
        return found


def touch(one: ActorState, other: ActorState) -> bool:
    """Whether two boxes are closer than :data:`TOUCH` in the plane."""
    if abs(one.x - other.x) + abs(one.y - other.y) > one.length + other.length + 2.0:
        return False
    poses = np.array([[a.x, a.y, a.heading] for a in (one, other)])
    lengths = np.array([one.length + 2.0 * TOUCH, other.length])
    widths = np.array([one.width + 2.0 * TOUCH, other.width])
    corners = box_corners(poses, lengths, widths)
    return bool(boxes_overlap(corners[0], corners[1]))


def bearing(one: ActorState, other: ActorState) -> float:
    """Direction of the nearest point of the other box from the middle of the first, radians, left positive.

    It is measured on the outline scaled to a square, so that corners of the first box lie at 45 degrees and
    its sides differ from its ends however long it is; NaN where the middle lies inside the other box.
    """
    poses = np.array([[other.x, other.y, other.heading]])
    corners = box_corners(poses, np.array([other.length]), np.array([other.width]))[0]
    nearest = shapely.Polygon(corners)
    middle = shapely.Point(one.x, one.y)
    if nearest.contains(middle):
        return math.nan
    point = shapely.shortest_line(middle, nearest).coords[1]
    dx, dy = point[0] - one.x, point[1] - one.y
    cos, sin = math.cos(one.heading), math.sin(one.heading)
    return math.atan2((dy * cos - dx * sin) / one.width, (dx * cos + dy * sin) / one.length)


def _infraction(now: Moment, event: Collision, kind: InfractionKind) -> Infraction:
    text = f"touched {event.other_type or 'something'} at {now.speed:.1f} m/s"
    other = (
        event.other_id if kind is not InfractionKind.COLLISION_STATIC or event.other_id else None
    )
    body = now.state.actors.get(event.other_id)
    met = math.nan if body is None else bearing(now.ego, body)
    return Infraction(
        kind, now.time, now.place, other, text, actor_type=event.other_type, bearing=met
    )

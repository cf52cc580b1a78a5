"""Collisions: one infraction for each time that the ego comes to touch somebody."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

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
LATE_S = 1.0
"""Seconds that an event may come late."""
REMEMBERED = 40
"""Moments that are kept for events that come late."""
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
    collision until there has been no event, and no touch of the boxes, for :data:`APART_S` seconds. Events travel on a
    socket of their own and may come ticks after the state they belong to: what is written about a collision is the moment
    of its event, so that it does not depend on how busy the machine was.
    """

    def __init__(self) -> None:
        self._touched: dict[int, float] = {}
        self._recent: deque[Moment] = deque(maxlen=REMEMBERED)

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
        self._recent.append(now)
        found = self.count(now.state.collisions)
        for key, since in list(self._touched.items()):
            other = now.state.actors.get(key)
            if now.time - since <= APART_S and other is not None and touch(now.ego, other):
                self._touched[key] = now.time
            elif now.time - since > APART_S + LATE_S:
                del self._touched[key]
        return found

    def count(self, events: Iterable[Collision]) -> list[Infraction]:
        """New collisions among these events, each at its own moment; none before the first :meth:`update`."""
        found: list[Infraction] = []
        for event in events:
            if not self._recent or event.actor_id != self._recent[-1].ego.id:
                continue
            then = self._moment(event.frame)
            static = kind_of(event.other_type) is InfractionKind.COLLISION_STATIC
            key = STATIC if static and event.other_id not in then.state.actors else event.other_id
            last = self._touched.get(key)
            if last is None or then.time - last > APART_S:
                found.append(_infraction(then, event, kind_of(event.other_type)))
            self._touched[key] = then.time if last is None else max(last, then.time)
        return found

    def _moment(self, frame: int) -> Moment:
        """The last one up to this tick that is remembered."""
        known = (one for one in reversed(self._recent) if one.state.frame <= frame)
        return next(known, self._recent[0])


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

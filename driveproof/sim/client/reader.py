"""From CARLA's snapshots to plain states, fast: what never changes about an actor is asked for once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from driveproof.scene import LightState
from driveproof.sim.client.states import ActorState, Kind

LIGHT_STATES = (
    LightState.RED,
    LightState.YELLOW,
    LightState.GREEN,
    LightState.OFF,
    LightState.UNKNOWN,
)
"""By CARLA's number."""
_KINDS: dict[str, Kind] = {"vehicle": "vehicle", "walker": "walker", "static": "prop"}


class _Facts(NamedTuple):
    """What stays: box centre ``forward, left, up`` of the actor's origin and sizes in m."""

    type_id: str
    kind: Kind
    role_name: str
    base_type: str
    forward: float
    left: float
    bottom: float
    length: float
    width: float
    height: float


class SnapshotReader:
    """Reads the snapshots of one ``carla.World``; a new world needs a new reader."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._known: set[int] = set()
        self._facts: dict[int, _Facts] = {}
        self.lights: dict[str, Any] = {}
        """Traffic light actors by OpenDRIVE signal id."""

    def actors(self, snapshot: Any) -> dict[int, ActorState]:
        """All road users and things of a snapshot, by id in ascending order."""
        self._follow(snapshot)
        return {
            actor_id: _state(actor_id, facts, snapshot.find(actor_id))
            for actor_id, facts in self._facts.items()
        }

    def light_states(self) -> dict[str, LightState]:
        """What the lights show; the client library answers from the last snapshot."""
        return {key: LIGHT_STATES[int(light.state)] for key, light in self.lights.items()}

    def _follow(self, snapshot: Any) -> None:
        """Learn who came and forget who left. Lights and signs stay, so equal numbers mean nobody did."""
        if len(snapshot) == len(self._known) and all(map(snapshot.has_actor, self._facts)):
            return
        present = {actor.id for actor in snapshot}
        new = sorted(present - self._known)
        for gone in self._known - present:
            self._facts.pop(gone, None)
        if new:
            self._learn(self._world.get_actors(new))
        self._known = present
        self._facts = dict(sorted(self._facts.items()))

    def _learn(self, actors: Iterable[Any]) -> None:
        for actor in actors:
            family = actor.type_id.partition(".")[0]
            if family in _KINDS:
                self._facts[actor.id] = _facts(actor, _KINDS[family])
            elif actor.type_id.startswith("traffic.traffic_light"):
                self.lights[actor.get_opendrive_id()] = actor


def _facts(actor: Any, kind: Kind) -> _Facts:
    attributes, box = actor.attributes, actor.bounding_box
    extent = box.extent
    return _Facts(
        type_id=actor.type_id,
        kind=kind,
        role_name=attributes.get("role_name", ""),
        base_type=attributes.get("base_type", ""),
        forward=box.location.x,
        left=-box.location.y,
        bottom=box.location.z - extent.z,
        length=2.0 * extent.x,
        width=2.0 * extent.y,
        height=2.0 * extent.z,
    )


def _state(actor_id: int, facts: _Facts, seen: Any) -> ActorState:
    transform = seen.get_transform()
    place = transform.location
    heading = math.remainder(-math.radians(transform.rotation.yaw), math.tau)
    cos, sin = math.cos(heading), math.sin(heading)
    velocity, acceleration = seen.get_velocity(), seen.get_acceleration()
    vx, vy = velocity.x, -velocity.y
    return ActorState(
        actor_id,
        facts.type_id,
        facts.kind,
        facts.role_name,
        place.x + facts.forward * cos - facts.left * sin,
        -place.y + facts.forward * sin + facts.left * cos,
        place.z + facts.bottom,
        heading,
        vx,
        vy,
        vx * cos + vy * sin,
        acceleration.x * cos - acceleration.y * sin,
        -math.radians(seen.get_angular_velocity().z),
        facts.length,
        facts.width,
        facts.height,
        facts.base_type,
    )

"""An episode: one town, its engine, and what clients know about its actors."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from driveproof.maps import TownMap
from driveproof.sim.blueprints import BlueprintLibrary
from driveproof.sim.engine import (
    Actor,
    ActorKind,
    Engine,
    LaneGround,
    Pose3,
    SpawnBlocked,
    TrafficLight,
    UnknownBlueprint,
    Vehicle,
    Walker,
)
from driveproof.sim.server.background import Deferred
from driveproof.sim.server.messages import ActorMessage, BoxMessage, Description, Vector
from driveproof.sim.server.physics import PhysicsBook
from driveproof.sim.server.registry import Refused
from driveproof.sim.server.scenery import Scenery
from driveproof.sim.server.sensing import SensorDeck
from driveproof.sim.server.snapshot import SnapshotPacker
from driveproof.sim.server.spawn_points import spawn_points
from driveproof.sim.server.streams import StreamHub
from driveproof.sim.server.versions import Version

#: Destroyed actors whose boxes are still told: a traffic manager asks for actors of a stale snapshot, and an
#: error there would end its process.
MAX_GRAVES = 4096
_STRING = 4
_BUILDING = bytes([3])
Kind = TypeVar("Kind", bound=Actor)


class Episode:
    """A loaded town.

    Parameters
    ----------
    key
        The episode number; clients load everything anew when it changes.
    map_name
        "Carla/Maps/Town10HD", as the client that loaded it has written it.

    Attributes
    ----------
    spawn_points
        Where vehicles may be born.
    scenery
        What stands in the town, and rays through it.
    wheel_angles
        Degrees that clients gave wheels of vehicles to be seen with, by actor and wheel number.
    """

    def __init__(
        self,
        key: int,
        map_name: str,
        engine: Engine,
        library: BlueprintLibrary,
        streams: StreamHub,
        version: Version,
    ) -> None:
        self.key = key
        self.map_name = map_name
        self.engine = engine
        self.library = library
        self.spawn_points = Deferred(lambda: spawn_points(engine.town))
        self.scenery = Deferred(lambda: _scenery(engine))
        self.physics = PhysicsBook()
        self.wheel_angles: dict[int, dict[int, float]] = {}
        self.packer = SnapshotPacker(engine)
        self.sensors = SensorDeck(engine, streams, version, self.message_of)
        self._streams = streams
        self._graves: OrderedDict[int, BoxMessage] = OrderedDict()

    @property
    def town(self) -> TownMap:
        """The town."""
        return self.engine.town

    def actor(self, actor_id: int) -> Actor:
        """The living actor of this id; Refused if there is none."""
        found = self.engine.actors.get(actor_id)
        if found is None:
            raise Refused(f"unable to find actor {actor_id}: actor not found")
        return found

    def vehicle(self, actor_id: int) -> Vehicle:
        """The living vehicle of this id; Refused if there is none."""
        return self._of(actor_id, Vehicle, "vehicle")

    def walker(self, actor_id: int) -> Walker:
        """The living walker of this id; Refused if there is none."""
        return self._of(actor_id, Walker, "walker")

    def light(self, actor_id: int) -> TrafficLight:
        """The traffic light of this id; Refused if there is none."""
        return self._of(actor_id, TrafficLight, "traffic light")

    def _of(self, actor_id: int, kind: type[Kind], name: str) -> Kind:
        found = self.actor(actor_id)
        if not isinstance(found, kind):
            raise Refused(f"actor {actor_id} ({found.type_id}) is no {name}")
        return found

    def spawn(
        self,
        description: Description,
        pose: Pose3,
        parent: int | None = None,
        attachment: int = 0,
    ) -> Actor:
        """Make an actor; Refused in CARLA's words if there is no room or no such blueprint."""
        if parent is not None:
            self.actor(parent)
        try:
            actor = self.engine.spawn(
                description.type_id, description.values, pose, parent, attachment
            )
        except SpawnBlocked as error:
            raise Refused("Spawn failed because of collision at spawn position") from error
        except UnknownBlueprint as error:
            raise Refused("Spawn failed because of invalid actor description") from error
        if actor.kind == ActorKind.SENSOR:
            self.sensors.add(actor)
        return actor

    def destroy(self, actor_id: int) -> bool:
        """Destroy an actor; False for parts of the town, Refused if there is none. What hangs on it stays."""
        box = self.box(self.actor(actor_id))
        if not self.engine.destroy(actor_id):
            return False
        self.sensors.remove(actor_id)
        self.physics.forget(actor_id)
        self.wheel_angles.pop(actor_id, None)
        self._graves[actor_id] = box
        if len(self._graves) > MAX_GRAVES:
            self._graves.popitem(last=False)
        return True

    def move(self, actor_id: int, pose: Pose3) -> None:
        """Set an actor's pose: in the world, or in its parent's frame if it is attached."""
        self.engine.set_relative_pose(self.actor(actor_id).id, pose)

    def place(self, actor_id: int, place: Vector) -> None:
        """Set an actor's place, in the world or in its parent's frame, and leave its attitude."""
        actor = self.actor(actor_id)
        frame = actor.pose if actor.parent is None else actor.relative
        self.move(actor_id, Pose3(*place, frame.roll, frame.pitch, frame.yaw))

    def close(self) -> None:
        """Close the streams of all sensors."""
        self.sensors.close()

    def box(self, actor: Actor) -> BoxMessage:
        """The bounding box of an actor."""
        box = actor.bounding_box
        roll, pitch, yaw = box.rotation
        return BoxMessage(
            box.offset, box.half_extent, Pose3(roll=roll, pitch=pitch, yaw=yaw), actor.id
        )

    def box_of(self, actor_id: int) -> BoxMessage:
        """The box of an actor, of one that was destroyed, or an empty one: this must never fail."""
        actor = self.engine.actors.get(actor_id)
        if actor is not None:
            return self.box(actor)
        return self._graves.get(actor_id) or BoxMessage((0.0,) * 3, (0.0,) * 3)

    def message(self, actor: Actor) -> ActorMessage:
        """What a client learns of an actor once."""
        stream = self.sensors.stream(actor.id)
        return ActorMessage(
            actor.id,
            actor.parent or 0,
            self._description(actor),
            self.box(actor),
            bytes(actor.tags),
            b"" if stream is None else self._streams.token(stream),
        )

    def message_of(self, actor_id: int) -> ActorMessage:
        """What a client learns of the actor of this id, or of a building if there is none (as CARLA names it)."""
        actor = self.engine.actors.get(actor_id)
        if actor is not None:
            return self.message(actor)
        nothing = BoxMessage((0.0,) * 3, (0.0,) * 3)
        return ActorMessage(0, 0, Description(0, "static.building", {}), nothing, _BUILDING, b"")

    def _description(self, actor: Actor) -> Description:
        blueprint = self.library.get(actor.type_id)
        uid = 0 if blueprint is None else self.library.uid(actor.type_id)
        kinds = {} if blueprint is None else {item.id: item.kind for item in blueprint.attributes}
        return Description(
            uid,
            actor.type_id,
            {key: (kinds.get(key, _STRING), value) for key, value in actor.attributes.items()},
        )


def _scenery(engine: Engine) -> Scenery:
    """The standing things of the engine's town; on a ground of their own, which may be built beside the engine's."""
    scenery = Scenery(engine, LaneGround(engine.town))
    scenery.prepare()
    return scenery

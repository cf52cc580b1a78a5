"""Questions about the town and the bodies in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from driveproof.sim.engine import Actor, ActorKind, Pose3
from driveproof.sim.server.bones import BONE_NAMES, bones
from driveproof.sim.server.boxes import ANY_LABEL, thing_box, world_box
from driveproof.sim.server.messages import (
    BOX,
    ENVIRONMENT_OBJECT,
    LABELLED_POINT,
    POSE,
    VECTOR,
    BoxMessage,
    EnvironmentObject,
    Vector,
)
from driveproof.sim.server.registry import Refused, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import FLAG, REAL, TEXT, U8, U32, U64, row, sequence

_ROOT = "root"
#: The names that engines usually give to the meshes of bodies.
_MESHES = {
    ActorKind.VEHICLE: "VehicleMesh",
    ActorKind.WALKER: "CharacterMesh0",
    ActorKind.PROP: "StaticMeshComponent0",
}
_BODIES = (ActorKind.VEHICLE, ActorKind.WALKER, ActorKind.PROP)


@rpc(VECTOR, VECTOR, REAL, returns=row(FLAG, LABELLED_POINT))
async def project_point(
    client: Client, place: Vector, direction: Vector, reach: float
) -> tuple[bool, tuple[Vector, int]]:
    """What a ray from a place meets first within ``reach`` metres."""
    scenery = await client.world.episode.scenery.get()
    hit = scenery.project(np.array(place), np.array(direction), reach)
    return (False, ((0.0, 0.0, 0.0), 0)) if hit is None else (True, (hit.point, hit.label))


@rpc(VECTOR, VECTOR, returns=sequence(LABELLED_POINT))
async def cast_ray(client: Client, start: Vector, end: Vector) -> list[tuple[Vector, int]]:
    """All that lies on a straight line, nearest first."""
    scenery = await client.world.episode.scenery.get()
    hits = scenery.cast(np.array(start), np.array(end))
    return [(hit.point, hit.label) for hit in hits]


@rpc(U8, returns=sequence(BOX))
async def get_all_level_BBs(client: Client, label: int) -> list[BoxMessage]:  # CARLA's name
    """Boxes in the world of everything with this label (255: any), bodies included."""
    episode = client.world.episode
    scenery = await episode.scenery.get()
    bodies = [
        world_box(actor)
        for actor in episode.engine.actors.values()
        if actor.kind in _BODIES and (label == ANY_LABEL or label in actor.tags)
    ]
    return [thing_box(thing) for thing in scenery.of_label(label)] + bodies


@rpc(U8, returns=sequence(ENVIRONMENT_OBJECT))
async def get_environment_objects(client: Client, label: int) -> list[EnvironmentObject]:
    """The parts of the town with this label (255: any)."""
    scenery = await client.world.episode.scenery.get()
    return [
        EnvironmentObject(thing.pose, thing_box(thing), thing.key, thing.name, thing.label)
        for thing in scenery.of_label(label)
    ]


@rpc(sequence(U64), FLAG)
def enable_environment_objects(client: Client, keys: list[int], enabled: bool) -> None:
    """Nothing: parts of the town cannot be taken away."""


@rpc(returns=sequence(TEXT))
async def get_names_of_all_objects(client: Client) -> list[str]:
    """Names of the town's parts; the first says what this server is."""
    world = client.world
    scenery = await world.episode.scenery.get()
    return [world.build_name, *(thing.name for thing in scenery.things)]


@rpc(U32, returns=sequence(TEXT))
def get_actor_component_names(client: Client, key: int) -> list[str]:
    """The components of an actor: its root, and the mesh of its body."""
    return _components(client.world.episode.actor(key))


def _components(actor: Actor) -> list[str]:
    return [_ROOT, *([_MESHES[actor.kind]] if actor.kind in _MESHES else [])]


def _component(client: Client, key: int, name: str) -> Actor:
    actor = client.world.episode.actor(key)
    if name not in _components(actor):
        raise Refused(f"component not found: {name[:80]}")
    return actor


@rpc(U32, TEXT, returns=POSE)
def get_actor_component_world_transform(client: Client, key: int, name: str) -> Pose3:
    """Where a component is."""
    return _component(client, key, name).pose


@rpc(U32, TEXT, returns=POSE)
def get_actor_component_relative_transform(client: Client, key: int, name: str) -> Pose3:
    """Where a component is in its actor."""
    _component(client, key, name)
    return Pose3()


def _bones(client: Client, key: int) -> list[tuple[str, Pose3, Pose3, Pose3]]:
    actor = client.world.episode.actor(key)
    return bones(actor) if actor.kind == ActorKind.WALKER else []


@rpc(U32, returns=sequence(TEXT))
def get_actor_bone_names(client: Client, key: int) -> list[str]:
    """The bones of a walker; other actors have none."""
    is_walker = client.world.episode.actor(key).kind == ActorKind.WALKER
    return list(BONE_NAMES) if is_walker else []


@rpc(U32, returns=sequence(POSE))
def get_actor_bone_world_transforms(client: Client, key: int) -> list[Pose3]:
    """Where the bones are."""
    return [world for _, world, _, _ in _bones(client, key)]


@rpc(U32, returns=sequence(POSE))
def get_actor_bone_relative_transforms(client: Client, key: int) -> list[Pose3]:
    """Where the bones are in their parent bones."""
    return [relative for _, _, _, relative in _bones(client, key)]


@rpc(U32, returns=sequence(TEXT))
def get_actor_socket_names(client: Client, key: int) -> list[str]:
    """No actor has sockets."""
    client.world.episode.actor(key)
    return []


@rpc(U32, returns=sequence(POSE))
def get_actor_socket_world_transforms(client: Client, key: int) -> list[Any]:
    """No actor has sockets."""
    client.world.episode.actor(key)
    return []


@rpc(U32, returns=sequence(POSE))
def get_actor_socket_relative_transforms(client: Client, key: int) -> list[Any]:
    """No actor has sockets."""
    client.world.episode.actor(key)
    return []

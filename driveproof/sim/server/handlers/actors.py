"""Blueprints; actors: finding, making, placing, destroying them."""

from __future__ import annotations

from typing import Any

from driveproof.sim.engine import Pose3
from driveproof.sim.server.messages import (
    ACTOR,
    BOX,
    DESCRIPTION,
    POSE,
    VECTOR,
    ActorMessage,
    BoxMessage,
    Description,
    Vector,
)
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import FLAG, TEXT, U8, U32, Codec, row, sequence

_ATTRIBUTE = row(TEXT, U8, TEXT, sequence(TEXT), FLAG, FLAG)
_DEFINITION: Codec[tuple[Any, ...]] = row(U32, TEXT, TEXT, sequence(_ATTRIBUTE))


@rpc(returns=sequence(_DEFINITION))
def get_actor_definitions(client: Client) -> list[tuple[Any, ...]]:
    """The blueprint library."""
    library = client.world.library
    return [
        (
            library.uid(key),
            key,
            ",".join(blueprint.tags),
            [
                (
                    item.id,
                    item.kind,
                    item.value,
                    item.recommended,
                    item.modifiable,
                    item.restricted,
                )
                for item in blueprint.attributes
            ],
        )
        for key, blueprint in library.items()
    ]


@rpc(returns=ACTOR)
def get_spectator(client: Client) -> ActorMessage:
    """The spectator."""
    episode = client.world.episode
    return episode.message(episode.engine.spectator)


@rpc(sequence(U32), returns=sequence(ACTOR))
def get_actors_by_id(client: Client, keys: list[int]) -> list[ActorMessage]:
    """The living ones of these actors."""
    episode = client.world.episode
    actors = episode.engine.actors
    return [episode.message(actors[key]) for key in keys if key in actors]


@rpc(DESCRIPTION, POSE, returns=ACTOR)
def spawn_actor(client: Client, description: Description, pose: Pose3) -> ActorMessage:
    """Make an actor in the world."""
    episode = client.world.episode
    return episode.message(episode.spawn(description, pose))


@rpc(DESCRIPTION, POSE, U32, U8, TEXT, returns=ACTOR)
def spawn_actor_with_parent(
    client: Client,
    description: Description,
    pose: Pose3,
    parent: int,
    attachment: int,
    socket: str,
) -> ActorMessage:
    """Make an actor attached to another; sockets are not modelled, the pose is relative to the parent."""
    episode = client.world.episode
    return episode.message(episode.spawn(description, pose, parent, attachment))


@rpc(U32, returns=FLAG)
def destroy_actor(client: Client, key: int) -> bool:
    """Destroy an actor."""
    return client.world.episode.destroy(key)


@rpc(U32, returns=BOX)
def get_actor_bounding_box(client: Client, key: int) -> BoxMessage:
    """The box of an actor; never an error."""
    return client.world.episode.box_of(key)


@rpc(U32, VECTOR)
def set_actor_location(client: Client, key: int, place: Vector) -> None:
    """Move an actor without turning it."""
    client.world.episode.place(key, place)


@rpc(U32, POSE)
def set_actor_transform(client: Client, key: int, pose: Pose3) -> None:
    """Move an actor; one that is attached moves relative to its parent."""
    client.world.episode.move(key, pose)

"""Walkers, their bones, and the controllers that walk for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driveproof.sim.engine import Pose3, WalkerControl
from driveproof.sim.server.bones import BONE_POSES, bones
from driveproof.sim.server.messages import BONES, WALKER_CONTROL
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import REAL, U32


@rpc(U32, WALKER_CONTROL)
def apply_control_to_walker(client: Client, key: int, control: WalkerControl) -> None:
    """Walk, until the next control."""
    client.world.episode.walker(key).walker_control = control


def set_walker_state(client: Client, key: int, pose: Pose3, speed: float) -> None:
    """Put a walker's feet somewhere as if it had walked there (what the client's walker controller does)."""
    walker = client.world.episode.walker(key)
    walker.pose = replace(pose, z=pose.z + walker.bounding_box.half_extent[2])
    x, y, z = walker.forward().tolist()
    walker.walker_control = WalkerControl((x, y, z), speed)
    walker.velocity = (x * speed, y * speed, z * speed)


@rpc(U32, returns=BONES)
def get_bones_transform(client: Client, key: int) -> tuple[list[Any]]:
    """The bones of a walker."""
    walker = client.world.episode.walker(key)
    return (bones(walker),)


@rpc(U32, BONE_POSES)
def set_bones_transform(client: Client, key: int, poses: list[Any]) -> None:
    """Nothing but a check: bodies are not animated."""
    client.world.episode.walker(key)


@rpc(U32, REAL)
def blend_pose(client: Client, key: int, share: float) -> None:
    """Nothing but a check: bodies are not animated."""
    client.world.episode.walker(key)


@rpc(U32)
def get_pose_from_animation(client: Client, key: int) -> None:
    """Nothing but a check: bodies are not animated."""
    client.world.episode.walker(key)

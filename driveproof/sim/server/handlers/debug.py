"""Shapes for the eye."""

from __future__ import annotations

from driveproof.sim.server.debug_shapes import DEBUG_SHAPE, TimedShape
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client


@rpc(DEBUG_SHAPE)
def draw_debug_shape(client: Client, shape: TimedShape) -> None:
    """Show a shape."""
    world = client.world
    world.debug.add(shape, world.episode.engine.time)

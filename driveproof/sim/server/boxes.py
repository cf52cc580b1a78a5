"""Boxes in the world's frame, for messages."""

from __future__ import annotations

import numpy as np

from driveproof.sim.engine import Actor, Pose3
from driveproof.sim.server.messages import BoxMessage
from driveproof.sim.server.scenery import Thing

#: The label that stands for any.
ANY_LABEL = 255


def thing_box(thing: Thing) -> BoxMessage:
    """The box of a part of the town."""
    pose = thing.pose
    return BoxMessage(
        (pose.x, pose.y, pose.z),
        thing.half_extent,
        Pose3(roll=pose.roll, pitch=pose.pitch, yaw=pose.yaw),
    )


def world_box(actor: Actor) -> BoxMessage:
    """The box of an actor where it is now."""
    box, pose = actor.bounding_box, actor.pose
    x, y, z = (pose.matrix() @ np.array([*box.offset, 1.0]))[:3].tolist()
    attitude = Pose3(roll=pose.roll, pitch=pose.pitch, yaw=pose.yaw)
    return BoxMessage((x, y, z), box.half_extent, attitude, actor.id)

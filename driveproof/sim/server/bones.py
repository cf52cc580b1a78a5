"""Bones of walkers: a standing skeleton, enough to place joints on a body that is not animated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from driveproof.sim.engine import Actor, Pose3
from driveproof.sim.server.messages import POSE
from driveproof.sim.server.wire import TEXT, Codec, row, sequence

#: Bone, its parent, and its place as shares of the body's height: left of the middle, and above the ground.
_SKELETON = (
    ("crl_root", "", 0.0, 0.0),
    ("crl_hips__C", "crl_root", 0.0, 0.53),
    ("crl_spine__C", "crl_hips__C", 0.0, 0.60),
    ("crl_spine01__C", "crl_spine__C", 0.0, 0.70),
    ("crl_neck__C", "crl_spine01__C", 0.0, 0.84),
    ("crl_Head__C", "crl_neck__C", 0.0, 0.90),
    ("crl_shoulder__L", "crl_spine01__C", 0.05, 0.82),
    ("crl_arm__L", "crl_shoulder__L", 0.11, 0.81),
    ("crl_foreArm__L", "crl_arm__L", 0.13, 0.63),
    ("crl_hand__L", "crl_foreArm__L", 0.14, 0.48),
    ("crl_shoulder__R", "crl_spine01__C", -0.05, 0.82),
    ("crl_arm__R", "crl_shoulder__R", -0.11, 0.81),
    ("crl_foreArm__R", "crl_arm__R", -0.13, 0.63),
    ("crl_hand__R", "crl_foreArm__R", -0.14, 0.48),
    ("crl_thigh__L", "crl_hips__C", 0.06, 0.51),
    ("crl_leg__L", "crl_thigh__L", 0.06, 0.28),
    ("crl_foot__L", "crl_leg__L", 0.06, 0.05),
    ("crl_thigh__R", "crl_hips__C", -0.06, 0.51),
    ("crl_leg__R", "crl_thigh__R", -0.06, 0.28),
    ("crl_foot__R", "crl_leg__R", -0.06, 0.05),
)
#: Fingers, their joints, and how far left of the hand's middle they grow, as shares of the height.
_FINGERS = {"Thumb": 0.012, "Index": 0.008, "Middle": 0.003, "Ring": -0.003, "Pinky": -0.008}
_JOINTS = ("", "01", "02", "End")


def _details() -> Iterator[tuple[str, str, float, float]]:
    """Eyes, toes and fingers of both sides, as rows of the skeleton."""
    for side, sign in (("L", 1.0), ("R", -1.0)):
        yield f"crl_eye__{side}", "crl_Head__C", sign * 0.02, 0.94
        yield f"crl_toe__{side}", f"crl_foot__{side}", sign * 0.06, 0.01
        yield f"crl_toeEnd__{side}", f"crl_toe__{side}", sign * 0.06, 0.01
        for finger, across in _FINGERS.items():
            parent = f"crl_hand__{side}"
            for number, joint in enumerate(_JOINTS, 1):
                name = f"crl_hand{finger}{joint}__{side}"
                yield name, parent, sign * (0.14 + across), 0.48 - 0.015 * number
                parent = name


_BONES = (*_SKELETON, *_details())
BONE_NAMES = tuple(name for name, *_ in _BONES)

#: What a client sends to pose a walker.
BONE_POSES: Codec[list[Any]] = sequence(row(TEXT, POSE))


def bones(actor: Actor) -> list[tuple[str, Pose3, Pose3, Pose3]]:
    """Name, pose in the world, in the actor's frame, and in the parent bone's, of each bone of a walker."""
    box, pose = actor.bounding_box, actor.pose
    bottom, height = box.offset[2] - box.half_extent[2], 2.0 * box.half_extent[2]
    places = {"": (0.0, 0.0)}
    found = []
    for name, parent, left, up in _BONES:
        here = places[name] = (left * height, bottom + up * height)
        there = places[parent]
        local = Pose3(0.0, *here)
        found.append(
            (name, pose.compose(local), local, Pose3(0.0, here[0] - there[0], here[1] - there[1]))
        )
    return found

"""Plane geometry of driving: poses, boxes, polylines, kinematics.

Frame: right-handed, x forward, y left; metres, seconds, radians. A pose is ``[x, y, heading]``.
"""

from driveproof.geometry.boxes import box_corners, boxes_overlap
from driveproof.geometry.carla_frame import (
    from_carla_points,
    from_carla_yaw,
    to_carla_points,
    to_carla_yaw,
)
from driveproof.geometry.kinematics import (
    constant_velocity,
    differentiate,
    net_heading_change,
    path_length,
)
from driveproof.geometry.polyline import Polyline
from driveproof.geometry.se2 import (
    compose,
    inverse,
    points_to_local,
    points_to_world,
    poses_to_local,
    poses_to_world,
    rotate,
    wrap_angle,
)

__all__ = [
    "Polyline",
    "box_corners",
    "boxes_overlap",
    "compose",
    "constant_velocity",
    "differentiate",
    "from_carla_points",
    "from_carla_yaw",
    "inverse",
    "net_heading_change",
    "path_length",
    "points_to_local",
    "points_to_world",
    "poses_to_local",
    "poses_to_world",
    "rotate",
    "to_carla_points",
    "to_carla_yaw",
    "wrap_angle",
]

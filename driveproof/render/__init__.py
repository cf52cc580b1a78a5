"""Pictures of a town and what moves in it: camera views and bird's-eye views, drawn with OpenCV.

No files and no world logic: a :class:`View` (flat, seen from an ego) or a :class:`Scene` (in space) goes in,
pictures come out, the same for the same view. One raster draws all of them.
"""

from driveproof.render.bev import render_bev
from driveproof.render.camera import BENCH2DRIVE_CAMERAS, Camera
from driveproof.render.overlay import draw_trajectory
from driveproof.render.street import render_camera
from driveproof.render.view import (
    Box,
    DebugShape,
    LightView,
    SignView,
    View,
    Weather,
    lights_of,
    signs_of,
)

__all__ = [
    "BENCH2DRIVE_CAMERAS",
    "Box",
    "Camera",
    "DebugShape",
    "LightView",
    "SignView",
    "View",
    "Weather",
    "draw_trajectory",
    "lights_of",
    "render_bev",
    "render_camera",
    "signs_of",
]

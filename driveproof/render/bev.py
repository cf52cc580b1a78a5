"""The bird's-eye view: the ego in the middle, looking up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry import box_corners, points_to_local
from driveproof.geometry.arrays import Float, as_float
from driveproof.render.furniture import LAMP_ROLES
from driveproof.render.light import Light
from driveproof.render.mesh import join
from driveproof.render.picture import Image
from driveproof.render.raster import Lens, Raster
from driveproof.render.scenery import scenery_of
from driveproof.render.shading import Looks, shade
from driveproof.render.sketch import sketch
from driveproof.render.terrain import GRASS
from driveproof.render.things import SHINE
from driveproof.render.view import View

_SHIFT = 4
EGO_COLOUR = (64, 132, 255)
EGO_SIZE = (4.9, 2.1)
_PALETTE = ((60, 220, 120), (255, 150, 40), (200, 90, 255), (60, 200, 255), (255, 90, 120))
#: The ground is seen from so far above that it hardly has a perspective, metres.
_ABOVE_M = 3000.0
_SAMPLES = 2
_NOON = Light((0, 0, 0), GRASS, (1.0, 1.0, 1.0), 1e9, 0.0, (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class _Frame:
    """Ego-frame metres to picture pixels: forward is up, left is left."""

    px: int
    scale: float

    def pixels(self, points: Float) -> Float:
        """Pixels ``[..., 2]`` (u right, v down) of ego-frame points ``[..., 2]``."""
        return np.asarray(self.px / 2.0 - self.scale * points[..., ::-1], dtype=np.float64)

    def fixed(self, points: Float) -> NDArray[np.int32]:
        """The same as OpenCV's fixed-point coordinates."""
        scaled = np.clip((self.pixels(points) - 0.5) * 2**_SHIFT, -(2**24), 2**24)
        return np.asarray(np.round(scaled), dtype=np.int32)


def render_bev(
    view: View,
    range_m: float = 40.0,
    px: int = 256,
    trajectories: Sequence[Float] = (),
    colours: Sequence[tuple[int, int, int]] = _PALETTE,
) -> Image:
    """RGB uint8 ``[px, px, 3]`` from above, the ego in the middle and heading up.

    Parameters
    ----------
    range_m
        Metres from the middle to the border.
    trajectories
        Ego-frame waypoints ``[T, 2]`` each, drawn from the ego on in ``colours`` (repeated).
    """
    frame = _Frame(px, px / (2.0 * range_m))
    image = _ground_from_above(view, frame, range_m)
    for box in view.boxes:
        pose = np.array([box.x, box.y, box.heading])
        corners = points_to_local(box_corners(pose, box.length, box.width), view.ego)
        _fill(image, frame.fixed(corners), box.colour)
        if box.brake:
            tail = frame.fixed(corners[1:3])
            cv2.polylines(image, [tail], False, (255, 30, 20), 2, cv2.LINE_AA, _SHIFT)
    for light in view.lights:
        if light.state in LAMP_ROLES:
            at = points_to_local(light.position[:2], view.ego)
            centre = tuple(frame.fixed(at).tolist())
            radius = round(max(2.0, 0.7 * frame.scale) * 2**_SHIFT)
            colour = tuple(SHINE[LAMP_ROLES[light.state][0]].tolist())
            cv2.circle(image, centre, radius, colour, -1, cv2.LINE_AA, _SHIFT)
    _fill(image, frame.fixed(box_corners(np.zeros(3), *EGO_SIZE)), EGO_COLOUR)
    for number, waypoints in enumerate(trajectories):
        points = np.concatenate([np.zeros((1, 2)), as_float(waypoints, (None, 2), "trajectory")])
        colour = colours[number % len(colours)]
        cv2.polylines(image, [frame.fixed(points)], False, colour, 2, cv2.LINE_AA, _SHIFT)
        for point in frame.fixed(points[1:]).tolist():
            cv2.circle(image, tuple(point), 2 << _SHIFT, colour, -1, cv2.LINE_AA, _SHIFT)
    sketch(
        image,
        view.shapes,
        lambda points: frame.pixels(points_to_local(points[:, :2], view.ego)),
        frame.scale,
    )
    return image


def _fill(image: Image, ring: NDArray[np.int32], colour: tuple[int, int, int]) -> None:
    cv2.fillConvexPoly(image, ring, colour, cv2.LINE_AA, _SHIFT)
    cv2.polylines(image, [ring], True, (24, 24, 26), 1, cv2.LINE_AA, _SHIFT)


def _ground_from_above(view: View, frame: _Frame, range_m: float) -> Image:
    if view.town is None:
        plain: Image = np.empty((frame.px, frame.px, 3), dtype=np.uint8)
        plain[:] = GRASS
        return plain
    scenery = scenery_of(view.town)
    x, y, heading = (float(value) for value in view.ego)
    z = view.ego_z
    if z is None:
        z = float(scenery.road_heights(np.array([[x, y]]))[0])
    cos, sin = np.cos(heading), np.sin(heading)
    # Looking down (forward is -z), the picture's up is the ego's forward, its left the ego's left.
    axes = np.array([[0.0, -sin, cos], [0.0, cos, sin], [-1.0, 0.0, 0.0]])
    side = frame.px * _SAMPLES
    lens = Lens(np.array([x, y, z + _ABOVE_M]), axes, frame.scale * _SAMPLES * _ABOVE_M, side, side)
    mesh = join(scenery.ground_around(x, y, range_m * 1.5, z))
    raster = Raster(lens)
    raster.draw(mesh)
    colours = _NOON.lit(mesh.colour, mesh.normals, mesh.shines)
    looks = Looks(colours, mesh.texture, mesh.shines, mesh.anchor)
    image = shade(raster, looks, _NOON)
    size = (frame.px, frame.px)
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(small[..., 2::-1])

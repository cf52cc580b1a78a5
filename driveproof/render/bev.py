"""The bird's-eye view: the ego in the middle, looking up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry import box_corners, points_to_local
from driveproof.geometry.arrays import Float, as_float
from driveproof.render.ground import GRASS, LEVELS, PX_PER_M, Image
from driveproof.render.street import ground_of
from driveproof.render.things import LAMP_COLOURS
from driveproof.render.view import View

_SHIFT = 4
EGO_COLOUR = (64, 132, 255)
EGO_SIZE = (4.9, 2.1)
_PALETTE = ((60, 220, 120), (255, 150, 40), (200, 90, 255), (60, 200, 255), (255, 90, 120))


@dataclass(frozen=True)
class _Frame:
    """Ego-frame metres to picture pixels: forward is up, left is left."""

    px: int
    scale: float

    def pixels(self, points: Float) -> Float:
        """Pixels ``[..., 2]`` (u right, v down) of ego-frame points ``[..., 2]``."""
        return np.asarray(self.px / 2.0 - self.scale * points[..., ::-1], dtype=np.float64)

    def fixed(self, points: Float) -> Float:
        """The same as OpenCV's fixed-point coordinates."""
        return np.round((self.pixels(points) - 0.5) * 2**_SHIFT).astype(np.int32)  # type: ignore[no-any-return]


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
        Metres from the middle to the border; at most 90 (beyond, the ground is not drawn).
    trajectories
        Ego-frame waypoints ``[T, 2]`` each, drawn from the ego on in ``colours`` (repeated).
    """
    frame = _Frame(px, px / (2.0 * range_m))
    image = _ground_from_above(view, frame)
    for box in view.boxes:
        pose = np.array([box.x, box.y, box.heading])
        corners = points_to_local(box_corners(pose, box.length, box.width), view.ego)
        _fill(image, frame.fixed(corners), box.colour)
        if box.brake:
            tail = frame.fixed(corners[1:3])
            cv2.polylines(image, [tail], False, (255, 30, 20), 2, cv2.LINE_AA, _SHIFT)
    for light in view.lights:
        if light.state in LAMP_COLOURS:
            at = points_to_local(light.position[:2], view.ego)
            centre = tuple(frame.fixed(at).tolist())
            radius = round(max(2.0, 0.7 * frame.scale) * 2**_SHIFT)
            cv2.circle(image, centre, radius, LAMP_COLOURS[light.state], -1, cv2.LINE_AA, _SHIFT)
    _fill(image, frame.fixed(box_corners(np.zeros(3), *EGO_SIZE)), EGO_COLOUR)
    for number, waypoints in enumerate(trajectories):
        points = np.concatenate([np.zeros((1, 2)), as_float(waypoints, (None, 2), "trajectory")])
        colour = colours[number % len(colours)]
        cv2.polylines(image, [frame.fixed(points)], False, colour, 2, cv2.LINE_AA, _SHIFT)
        for point in frame.fixed(points[1:]).tolist():
            cv2.circle(image, tuple(point), 2 << _SHIFT, colour, -1, cv2.LINE_AA, _SHIFT)
    return image


def _fill(image: Image, ring: Float, colour: tuple[int, int, int]) -> None:
    cv2.fillConvexPoly(image, ring, colour, cv2.LINE_AA, _SHIFT)
    cv2.polylines(image, [ring], True, (24, 24, 26), 1, cv2.LINE_AA, _SHIFT)


def _ground_from_above(view: View, frame: _Frame) -> Image:
    image: Image = np.empty((frame.px, frame.px, 3), dtype=np.uint8)
    image[:] = GRASS
    ground = ground_of(view)
    if ground is None:
        return image
    x, y, heading = (float(value) for value in view.ego)
    canvas = ground.around(x, y, view.ego_z)
    level = int(np.clip(np.floor(np.log2(PX_PER_M / frame.scale)), 0, LEVELS - 1))
    # Pixel (u, v) → ego: x = (middle - v) / scale, y = (middle - u) / scale → world → canvas.
    middle, step = frame.px / 2.0 - 0.5, 1.0 / frame.scale
    to_ego = np.array([[0.0, -step, middle * step], [-step, 0.0, middle * step], [0.0, 0.0, 1.0]])
    cos, sin = np.cos(heading), np.sin(heading)
    to_world = np.array([[cos, -sin, x], [sin, cos, y], [0.0, 0.0, 1.0]])
    matrix = (canvas.from_world(level) @ to_world @ to_ego)[:2]
    cv2.warpAffine(
        canvas.levels[level],
        matrix,
        (frame.px, frame.px),
        dst=image,
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=GRASS,
    )
    return image

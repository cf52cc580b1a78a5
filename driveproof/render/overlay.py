"""Trajectories on camera pictures."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import as_float
from driveproof.render.camera import Camera
from driveproof.render.picture import Image

_NEAR_M = 0.5


def draw_trajectory(
    image: Image,
    camera: Camera,
    waypoints: ArrayLike,
    colour: tuple[int, int, int] = (60, 220, 120),
    width_m: float = 1.0,
    opacity: float = 0.55,
) -> Image:
    """A copy of ``image`` with a ribbon along ego-frame ``waypoints`` ``[T, 2]`` (from the ego on) on the road."""
    points = np.concatenate([np.zeros((1, 2)), as_float(waypoints, (None, 2), "waypoints")])
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.append(True, steps > 1e-3)]
    if len(points) < 2:
        return image.copy()
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    fine = np.linspace(0.0, arc[-1], max(2, int(arc[-1] / 0.5)))
    line = np.stack([np.interp(fine, arc, points[:, k]) for k in (0, 1)], axis=1)
    tangent = np.gradient(line, axis=0)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    normal *= width_m / 2.0 / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    borders = [np.column_stack([line + side * normal, np.zeros(len(line))]) for side in (1, -1)]
    left, right = (camera.project(border) for border in borders)
    drawn = image.copy()
    ahead = (left[1] > _NEAR_M) & (right[1] > _NEAR_M)
    for index in np.flatnonzero(ahead[:-1] & ahead[1:])[::-1].tolist():
        ring = np.stack([left[0][index], left[0][index + 1], right[0][index + 1], right[0][index]])
        pixels = np.round(np.clip((ring - 0.5) * 16.0, -(2**24), 2**24)).astype(np.int32)
        cv2.fillConvexPoly(drawn, pixels, colour, cv2.LINE_AA, 4)
    return np.asarray(cv2.addWeighted(drawn, opacity, image, 1.0 - opacity, 0.0), dtype=np.uint8)

"""What a camera on the ego vehicle sees."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap
from driveproof.render.camera import Camera
from driveproof.render.faces import paint, visible_faces
from driveproof.render.ground import GRASS, LEVELS, PX_PER_M, Canvas, Ground, Image
from driveproof.render.light import LIGHTS, Light
from driveproof.render.things import REACH_M, glows_of, things_of
from driveproof.render.view import View

#: Rows of ground are drawn this many times and averaged: far rows span metres.
_ROW_SAMPLES = 3
_BEAM_M = 14.0  # headlights fade to 1/e over this, metres


def render_camera(view: View, camera: Camera, supersample: int = 1) -> Image:
    """RGB uint8 ``[H, W, 3]`` of what ``camera`` sees.

    Parameters
    ----------
    supersample
        Draw this many times as many pixels a side and average them.
    """
    if supersample > 1:
        large = render_camera(view, camera.scaled(supersample))
        size = (camera.width, camera.height)
        return np.asarray(cv2.resize(large, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    light = LIGHTS[view.weather]
    image = _sky(camera, light).copy()
    ground = ground_of(view)
    _draw_ground(image, view, ground, camera, light)
    azimuth, elevation = view.sun[0] - float(view.ego[2]), view.sun[1]
    sun = np.array([np.cos(azimuth), np.sin(azimuth), 0.0]) * np.cos(elevation)
    sun[2] = np.sin(elevation)
    things = things_of(view, ground)
    things = things.where(things.in_sight(camera))
    faces = visible_faces(things, camera, light, sun)
    paint(image, camera, faces, glows_of(view, things, camera), light)
    return image


def ground_of(view: View) -> Ground | None:
    """The ground of the view's town. A :class:`TownMap` keeps its ground, so that it is drawn once."""
    if isinstance(view.town, TownMap):
        return _ground(view.town)
    return view.town


_GROUNDS: dict[int, Ground] = {}


def _ground(town: TownMap) -> Ground:
    ground = _GROUNDS.get(id(town))
    if ground is None or ground.town is not town:
        if len(_GROUNDS) >= 2:
            _GROUNDS.pop(next(iter(_GROUNDS)))
        ground = _GROUNDS[id(town)] = Ground(town)
    return ground


@lru_cache(maxsize=16)
def _sky(camera: Camera, light: Light) -> Image:
    rows = np.arange(camera.height) + 0.5
    rise = np.arctan((camera.height / 2.0 - rows) / camera.focal) + camera.pitch
    share = np.clip(rise / np.radians(35.0), 0.0, 1.0)[:, None] ** 0.7
    zenith, horizon = np.array(light.zenith, float), np.array(light.horizon, float)
    column = np.round(horizon + share * (zenith - horizon)).astype(np.uint8)
    return np.repeat(column[:, None, :], camera.width, axis=1)


def _draw_ground(
    image: Image, view: View, ground: Ground | None, camera: Camera, light: Light
) -> None:
    distance = _row_distance(camera)
    below = np.flatnonzero(distance < REACH_M)
    if len(below) == 0:
        return
    rows: Image = np.empty((len(below), camera.width, 3), dtype=np.uint8)
    rows[:] = GRASS
    if ground is not None:
        canvas = ground.around(float(view.ego[0]), float(view.ego[1]), view.ego_z)
        # The finest level whose pixels are not smaller than those of the image.
        footprint = distance[below] / camera.focal * PX_PER_M
        level = np.clip(np.floor(np.log2(np.maximum(footprint, 1e-6))), 0, LEVELS - 1).astype(int)
        for number in np.unique(level).tolist():
            band = np.flatnonzero(level == number)
            rows[band[0] : band[-1] + 1] = _warp(
                canvas, number, view, camera, int(below[band[0]]), len(band)
            )
    # Light and fog are the same along a row: one factor and one summand each.
    beam = light.headlights * np.exp(-distance[below] / _BEAM_M)[:, None]
    black = light.veil(np.zeros(3), distance[below])
    factor = (np.array(light.ambient) + beam) * (light.veil(np.ones(3), distance[below]) - black)
    lit = rows * factor[:, None].astype(np.float32) + (black[:, None] + 0.5).astype(np.float32)
    image[below] = np.clip(lit, 0, 255).astype(np.uint8)


@lru_cache(maxsize=16)
def _row_distance(camera: Camera) -> Float:
    """``[H]`` depth of the ground in each pixel row, infinite above the horizon."""
    rows = np.arange(camera.height) + 0.5
    fall = np.arctan((rows - camera.height / 2.0) / camera.focal) - camera.pitch
    with np.errstate(divide="ignore"):
        return np.where(fall > 1e-3, camera.z / np.tan(np.maximum(fall, 1e-3)), np.inf)


def _warp(canvas: Canvas, level: int, view: View, camera: Camera, first: int, count: int) -> Image:
    """Rows ``first`` to ``first + count`` of the picture, looked up in a canvas."""
    # Pixel (column, sampled row) → ray in the camera frame → ground point in the ego frame.
    samples = _ROW_SAMPLES
    to_ray = np.array(
        [
            [0.0, 0.0, 1.0],
            [-1.0 / camera.focal, 0.0, (camera.width / 2.0 - 0.5) / camera.focal],
            [
                0.0,
                -1.0 / samples / camera.focal,
                (camera.height / 2.0 - first - 0.5 / samples) / camera.focal,
            ],
        ]
    )
    ray = camera.rotation @ to_ray
    to_ground = np.stack(
        [camera.z * ray[0] - camera.x * ray[2], camera.z * ray[1] - camera.y * ray[2], -ray[2]]
    )
    x, y, heading = view.ego
    cos, sin = np.cos(heading), np.sin(heading)
    to_world = np.array([[cos, -sin, x], [sin, cos, y], [0.0, 0.0, 1.0]])
    warped = cv2.warpPerspective(
        canvas.levels[level],
        canvas.from_world(level) @ to_world @ to_ground,
        (camera.width, count * samples),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=GRASS,
    )
    size = (camera.width, count)
    return np.asarray(cv2.resize(warped, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)

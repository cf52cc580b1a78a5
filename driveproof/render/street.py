"""What a camera on the ego vehicle sees."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from driveproof.geometry import poses_to_local
from driveproof.geometry.arrays import Bool, Float
from driveproof.maps import TownMap
from driveproof.render.camera import Camera
from driveproof.render.faces import Faces, Glow, Things, paint, visible_faces
from driveproof.render.ground import GRASS, LEVELS, PX_PER_M, Canvas, Ground, Image
from driveproof.render.light import LIGHTS, Light
from driveproof.render.shapes import SHAPES, Role, shape_name
from driveproof.render.view import Box, View
from driveproof.scene import LightState

#: Nothing beyond this is drawn, metres; the ground ends in haze there.
REACH_M = 85.0
#: Lamps spread over at least this radius (pixels): within NEAR_LAMP_M, and beyond.
LEAST_LAMP_PX, LEAST_FAR_LAMP_PX, NEAR_LAMP_M = 1.7, 1.1, 55.0
#: Rows of ground are drawn this many times and averaged: far rows span metres.
_ROW_SAMPLES = 4
_BEAM_M = 14.0  # headlights fade to 1/e over this, metres

_LIGHT_SIZE = np.array([0.42, 0.46, 1.2])
_LAMPS = {
    LightState.RED: (0.83, (255, 44, 34)),
    LightState.YELLOW: (0.5, (255, 196, 40)),
    LightState.GREEN: (0.17, (40, 244, 120)),
}
_PLATE_M, _POLE_M = 0.8, 0.12


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
    things, glows = _furniture(view, camera)
    things += _traffic(view, camera, glows)
    if ground is not None:
        things += _blocks(view, ground, camera)
    faces: list[Faces] = [visible_faces(thing, camera, light, sun) for thing in things]
    paint(image, camera, faces, glows, light)
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


def _in_sight(poses: Float, radius: Float, camera: Camera) -> Bool:
    """Whether things at ego-frame ``poses`` ``[N, 3]`` of a ``radius`` ``[N]`` may be in the picture."""
    forward, left = _axes(poses, camera)
    half = camera.fov / 2.0
    outside = np.abs(left) * np.cos(half) - forward * np.sin(half)
    near = np.hypot(forward, left) < REACH_M
    return np.asarray(near & (forward > -radius) & (outside < radius))


def _axes(poses: Float, camera: Camera) -> tuple[Float, Float]:
    cos, sin = np.cos(camera.yaw), np.sin(camera.yaw)
    x, y = poses[:, 0] - camera.x, poses[:, 1] - camera.y
    return cos * x + sin * y, cos * y - sin * x


def _depth(poses: Float, camera: Camera) -> Float:
    return np.asarray(np.hypot(poses[:, 0] - camera.x, poses[:, 1] - camera.y))


def _traffic(view: View, camera: Camera, glows: list[Glow]) -> list[Things]:
    """The boxes in sight, grouped by shape; brake lights are added to ``glows``."""
    if not view.boxes:
        return []
    poses = poses_to_local([[b.x, b.y, b.heading] for b in view.boxes], view.ego)
    sizes = np.array([[b.length, b.width, b.height] for b in view.boxes])
    seen = _in_sight(poses, np.hypot(sizes[:, 0], sizes[:, 1]) / 2.0, camera)
    groups: dict[str, list[int]] = {}
    for index in np.flatnonzero(seen).tolist():
        box = view.boxes[index]
        groups.setdefault(shape_name(box.kind, box.length), []).append(index)
    things = []
    for name, members in sorted(groups.items()):
        boxes = [view.boxes[index] for index in members]
        depth = _depth(poses[members], camera)
        thing = Things(
            shape=SHAPES[name],
            poses=poses[members],
            base=np.zeros(len(members)),
            sizes=sizes[members],
            colours=np.array([box.colour for box in boxes], dtype=np.float64),
            depth=depth,
            lit={
                Role.BRAKE: np.array([box.brake for box in boxes]),
                Role.LEFT: np.array([box.indicator in {"left", "both"} for box in boxes]),
                Role.RIGHT: np.array([box.indicator in {"right", "both"} for box in boxes]),
            },
        )
        things.append(thing)
        if name in {"car", "truck"}:
            for box, pose, far in zip(boxes, poses[members], depth, strict=True):
                glows += _brake_glows(box, pose, camera, float(far), name == "truck")
    return things


def _brake_glows(box: Box, pose: Float, camera: Camera, depth: float, truck: bool) -> list[Glow]:
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    rear = pose[:2] - np.array([cos, sin]) * box.length / 2.0
    behind = (camera.position[:2] - rear) @ [cos, sin] < 0.0
    if not (box.brake and behind):
        return []
    height = box.height * (0.24 if truck else 0.44)
    aside = np.array([-sin, cos]) * 0.34 * box.width
    return [
        Glow(np.append(rear + side * aside, height), (255, 40, 28), 0.12, 0.9, depth - 0.01)
        for side in (1.0, -1.0)
    ]


def _furniture(view: View, camera: Camera) -> tuple[list[Things], list[Glow]]:
    """Traffic lights and signs in sight with their poles, and the lamps that shine."""
    glows: list[Glow] = []
    stands = [(light.position, light.heading, "light") for light in view.lights]
    stands += [(sign.position, sign.heading, sign.kind.value) for sign in view.signs]
    if not stands:
        return [], []
    poses = poses_to_local([[*at[:2], heading] for at, heading, _ in stands], view.ego)
    heights = np.array([at[2] for at, _, _ in stands])
    groups: dict[str, list[int]] = {}
    for index in np.flatnonzero(_in_sight(poses, np.ones(len(poses)), camera)).tolist():
        groups.setdefault(stands[index][2], []).append(index)
        if index < len(view.lights):
            state = view.lights[index].state
            glows += _lamp(state, poses[index], float(heights[index]), camera)
    things = []
    for name, members in sorted(groups.items()):
        size = _LIGHT_SIZE if name == "light" else np.full(3, _PLATE_M)
        foot = heights[members] - size[2] / 2.0
        pole = np.column_stack([np.full((len(members), 2), _POLE_M), foot])
        things.append(_still(name, poses[members], foot, np.tile(size, (len(members), 1)), camera))
        things.append(_still("pole", poses[members], np.zeros(len(members)), pole, camera))
    return things, glows


def _lamp(state: LightState, pose: Float, height: float, camera: Camera) -> list[Glow]:
    facing = np.array([np.cos(pose[2]), np.sin(pose[2])])
    if state not in _LAMPS or (camera.position[:2] - pose[:2]) @ facing <= 0.0:
        return []
    share, colour = _LAMPS[state]
    z = height + (share - 0.5) * _LIGHT_SIZE[2]
    at = np.append(pose[:2] + facing * _LIGHT_SIZE[0] / 2.0, z)
    depth = float(np.hypot(*(pose[:2] - camera.position[:2])))
    least = LEAST_LAMP_PX if depth < NEAR_LAMP_M else LEAST_FAR_LAMP_PX
    return [Glow(at, colour, 0.15, least, depth - 0.01)]


def _still(name: str, poses: Float, base: Float, sizes: Float, camera: Camera) -> Things:
    colours = np.full((len(poses), 3), 150.0)
    return Things(SHAPES[name], poses, base, sizes, colours, _depth(poses, camera), {})


def _blocks(view: View, ground: Ground, camera: Camera) -> list[Things]:
    blocks = ground.buildings
    near = blocks.near(float(view.ego[0]), float(view.ego[1]), REACH_M)
    poses = poses_to_local(blocks.poses[near], view.ego)
    sizes = blocks.sizes[near]
    seen = _in_sight(poses, np.hypot(sizes[:, 0], sizes[:, 1]) / 2.0, camera)
    if not seen.any():
        return []
    poses, sizes, near = poses[seen], sizes[seen], near[seen]
    # A block stands behind everything on the street beside it: it counts with its far end.
    depth = _depth(poses, camera) + 0.4 * sizes[:, 0]
    base = np.zeros(len(near))
    return [Things(SHAPES["building"], poses, base, sizes, blocks.colours[near], depth, {})]

"""From a view to things that have a shape, a place and a colour, and to the lamps that glow."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from driveproof.geometry import poses_to_local
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.camera import Camera
from driveproof.render.ground import Ground
from driveproof.render.shapes import NAMES, Role, shape_name
from driveproof.render.view import View
from driveproof.scene import LightState

#: Nothing beyond this is drawn, metres.
REACH_M = 85.0
#: Lamps spread over at least this radius (pixels): within NEAR_LAMP_M, and beyond.
LEAST_LAMP_PX, LEAST_FAR_LAMP_PX, NEAR_LAMP_M = 1.7, 1.1, 55.0

LAMP_COLOURS = {
    LightState.RED: (255, 44, 34),
    LightState.YELLOW: (255, 196, 40),
    LightState.GREEN: (40, 244, 120),
}
_LAMP_SHARE = {LightState.RED: 0.83, LightState.YELLOW: 0.5, LightState.GREEN: 0.17}
_HEAD_SIZE = (0.42, 0.46, 1.2)
_PLATE_M, _POLE_M = 0.8, 0.12
_BRAKE_COLOUR = (255, 40, 28)
# Height of the brake lamps as a share of the vehicle's.
_BRAKE_SHARE = {"car": 0.44, "truck": 0.24}


@dataclass(frozen=True)
class Things:
    """N things in the ego frame.

    Parameters
    ----------
    shape
        ``[N]`` numbers of :data:`driveproof.render.shapes.NAMES`.
    poses
        ``[N, 3]`` x, y, heading.
    base
        ``[N]`` height of their lower end above the road, metres.
    sizes
        ``[N, 3]`` length, width, height, metres.
    colours
        ``[N, 3]`` RGB.
    lit
        ``[N, 5]`` whether their faces of each :class:`~driveproof.render.shapes.Role` shine.
    """

    shape: Int
    poses: Float
    base: Float
    sizes: Float
    colours: Float
    lit: Bool

    def where(self, mask: Bool) -> Things:
        """Only the things that ``mask`` ``[N]`` selects."""
        return Things(*(getattr(self, item.name)[mask] for item in fields(self)))

    def in_sight(self, camera: Camera) -> Bool:
        """``[N]`` whether a thing may be in the picture."""
        radius = np.hypot(self.sizes[:, 0], self.sizes[:, 1]) / 2.0
        x, y = self.poses[:, 0] - camera.x, self.poses[:, 1] - camera.y
        cos, sin = np.cos(camera.yaw), np.sin(camera.yaw)
        forward, left = cos * x + sin * y, cos * y - sin * x
        outside = np.abs(left) * np.cos(camera.fov / 2.0) - forward * np.sin(camera.fov / 2.0)
        near = np.hypot(forward, left) < REACH_M
        return np.asarray(near & (forward > -radius) & (outside < radius))

    def depth(self, camera: Camera) -> Float:
        """``[N]`` what the painter sorts by: the distance, of a building that of its far end.

        So a building stands behind everything on the street beside it.
        """
        distance = np.hypot(self.poses[:, 0] - camera.x, self.poses[:, 1] - camera.y)
        return np.asarray(distance + np.where(self.shape == _BUILDING, 0.4 * self.sizes[:, 0], 0.0))


_BUILDING = NAMES.index("building")


@dataclass(frozen=True)
class Glow:
    """A lamp that shines: ``at`` ``[3]`` in the ego frame, radius in metres, least radius in pixels."""

    at: Float
    colour: tuple[int, int, int]
    radius: float
    least: float
    depth: float


def things_of(view: View, ground: Ground | None) -> Things:
    """Everything that stands on the ground near the ego."""
    parts = [_traffic(view), _furniture(view), _blocks(view, ground)]
    return Things(
        *(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Things))
    )


def _things(rows: list[tuple[int, Float, float, tuple[float, ...]]]) -> Things:
    """Grey things from (shape, pose, base, size)."""
    shape, poses, base, sizes = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Things(
        np.array(shape, dtype=np.int64),
        np.array(poses, dtype=np.float64).reshape(-1, 3),
        np.array(base, dtype=np.float64),
        np.array(sizes, dtype=np.float64).reshape(-1, 3),
        np.full((len(rows), 3), 150.0),
        np.zeros((len(rows), len(Role)), dtype=bool),
    )


def _traffic(view: View) -> Things:
    if not view.boxes:
        return _things([])
    boxes = view.boxes
    lit = np.zeros((len(boxes), len(Role)), dtype=bool)
    lit[:, Role.BRAKE] = [box.brake for box in boxes]
    lit[:, Role.LEFT] = [box.indicator in {"left", "both"} for box in boxes]
    lit[:, Role.RIGHT] = [box.indicator in {"right", "both"} for box in boxes]
    return Things(
        np.array([NAMES.index(shape_name(box.kind, box.length)) for box in boxes]),
        poses_to_local([[box.x, box.y, box.heading] for box in boxes], view.ego),
        np.zeros(len(boxes)),
        np.array([[box.length, box.width, box.height] for box in boxes], dtype=np.float64),
        np.array([box.colour for box in boxes], dtype=np.float64),
        lit,
    )


def _furniture(view: View) -> Things:
    """Traffic lights and signs with their poles."""
    stands = [(light.position, light.heading, "light") for light in view.lights]
    stands += [(sign.position, sign.heading, sign.kind.value) for sign in view.signs]
    if not stands:
        return _things([])
    poses = poses_to_local([[at[0], at[1], heading] for at, heading, _ in stands], view.ego)
    near = np.hypot(poses[:, 0], poses[:, 1]) < REACH_M + 2.0
    rows: list[tuple[int, Float, float, tuple[float, ...]]] = []
    for index in np.flatnonzero(near).tolist():
        position, _, name = stands[index]
        size = _HEAD_SIZE if name == "light" else (_PLATE_M, _PLATE_M, _PLATE_M)
        foot = float(position[2]) - size[2] / 2.0
        rows.append((NAMES.index("pole"), poses[index], 0.0, (_POLE_M, _POLE_M, foot)))
        rows.append((NAMES.index(name), poses[index], foot, size))
    return _things(rows)


def _blocks(view: View, ground: Ground | None) -> Things:
    if ground is None:
        return _things([])
    blocks = ground.buildings
    near = blocks.near(float(view.ego[0]), float(view.ego[1]), REACH_M)
    return Things(
        np.full(len(near), _BUILDING),
        poses_to_local(blocks.poses[near], view.ego),
        np.zeros(len(near)),
        blocks.sizes[near],
        blocks.colours[near],
        np.zeros((len(near), len(Role)), dtype=bool),
    )


def glows_of(view: View, things: Things, camera: Camera) -> list[Glow]:
    """Brake lights of ``things`` and the lamps of the view's traffic lights that face the camera."""
    glows = []
    depth = things.depth(camera)
    for index in np.flatnonzero(things.lit[:, Role.BRAKE]).tolist():
        name = NAMES[int(things.shape[index])]
        if name in _BRAKE_SHARE:
            glows += _brake_glows(
                things.poses[index], things.sizes[index], _BRAKE_SHARE[name], camera, depth[index]
            )
    lit = [light for light in view.lights if light.state in LAMP_COLOURS]
    if lit:
        poses = poses_to_local([[*light.position[:2], light.heading] for light in lit], view.ego)
        near = np.hypot(poses[:, 0], poses[:, 1]) < REACH_M
        for index in np.flatnonzero(near).tolist():
            height = float(lit[index].position[2])
            glows += _lamp_glow(lit[index].state, poses[index], height, camera)
    return glows


def _brake_glows(
    pose: Float, size: Float, share: float, camera: Camera, depth: float
) -> list[Glow]:
    forward = np.array([np.cos(pose[2]), np.sin(pose[2])])
    rear = pose[:2] - forward * size[0] / 2.0
    if (camera.position[:2] - rear) @ forward >= 0.0:
        return []
    aside = np.array([-forward[1], forward[0]]) * 0.34 * size[1]
    return [
        Glow(
            np.append(rear + side * aside, share * size[2]), _BRAKE_COLOUR, 0.12, 0.9, depth - 0.01
        )
        for side in (1.0, -1.0)
    ]


def _lamp_glow(state: LightState, pose: Float, height: float, camera: Camera) -> list[Glow]:
    facing = np.array([np.cos(pose[2]), np.sin(pose[2])])
    if (camera.position[:2] - pose[:2]) @ facing <= 0.0:
        return []
    z = height + (_LAMP_SHARE[state] - 0.5) * _HEAD_SIZE[2]
    at = np.append(pose[:2] + facing * _HEAD_SIZE[0] / 2.0, z)
    depth = float(np.hypot(*(pose[:2] - camera.position[:2])))
    least = LEAST_LAMP_PX if depth < NEAR_LAMP_M else LEAST_FAR_LAMP_PX
    return [Glow(at, LAMP_COLOURS[state], 0.15, least, depth - 0.01)]

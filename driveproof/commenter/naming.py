"""How things are named: kind, colour, position, cameras.

Source: Bench2Drive-VL's conventions (types by blueprint, the seventeen CSS colours, eight sectors).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from driveproof.commenter.frame import Agent, CameraPose, Frame, Signal
from driveproof.geometry.arrays import Float, Int
from driveproof.questions import Colour, ObjectKind, ObjectRef, Sector

_BY_NAME: tuple[tuple[str, ObjectKind], ...] = (
    ("firetruck", ObjectKind.FIRETRUCK),
    ("police", ObjectKind.POLICE),
    ("ambulance", ObjectKind.AMBULANCE),
    ("jeep", ObjectKind.JEEP),
    ("micro", ObjectKind.SMALL_CAR),
    ("nissan.patrol", ObjectKind.SUV),
    ("european_hgv", ObjectKind.HGV),
    ("sprinter", ObjectKind.SPRINTER),
    ("fusorosa", ObjectKind.BUS),
    ("warningconstruction", ObjectKind.CONSTRUCTION_WARNING),
    ("warningaccident", ObjectKind.ACCIDENT_WARNING),
    ("trafficwarning", ObjectKind.TRAFFIC_WARNING),
    ("cone", ObjectKind.CONSTRUCTION_CONE),
    ("debris", ObjectKind.DEBRIS),
)
_BY_BASE = {
    "car": ObjectKind.CAR,
    "truck": ObjectKind.TRUCK,
    "van": ObjectKind.VAN,
    "bus": ObjectKind.BUS,
    "motorcycle": ObjectKind.MOTORCYCLE,
    "bicycle": ObjectKind.BICYCLE,
}
_SIGNALS = {
    "traffic.traffic_light": ObjectKind.TRAFFIC_LIGHT,
    "traffic.stop": ObjectKind.STOP_SIGN,
    "traffic.yield": ObjectKind.YIELD_SIGN,
}
_PAINT: dict[Colour, tuple[int, int, int]] = {
    Colour.MAROON: (128, 0, 0),
    Colour.RED: (255, 0, 0),
    Colour.ORANGE: (255, 165, 0),
    Colour.YELLOW: (255, 255, 0),
    Colour.OLIVE: (128, 128, 0),
    Colour.PURPLE: (128, 0, 128),
    Colour.FUCHSIA: (255, 0, 255),
    Colour.WHITE: (255, 255, 255),
    Colour.LIME: (0, 255, 0),
    Colour.GREEN: (0, 128, 0),
    Colour.NAVY: (0, 0, 128),
    Colour.BLUE: (0, 0, 255),
    Colour.AQUA: (0, 255, 255),
    Colour.TEAL: (0, 128, 128),
    Colour.BLACK: (0, 0, 0),
    Colour.SILVER: (192, 192, 192),
    Colour.GRAY: (128, 128, 128),
}
_PAINT_RGB = np.array(list(_PAINT.values()), dtype=float)
STRAIGHT_RAD, STRAIGHT_M = math.radians(15.0), 1.5
"""Front, rear, left and right only within 15 degrees of the axis and 1.5 m beside it."""


def kind_of(agent: Agent) -> ObjectKind:
    """What an agent is called."""
    name = agent.type_id.lower()
    for part, kind in _BY_NAME:
        if part in name:
            return kind
    if agent.kind == "walker":
        return ObjectKind.PEDESTRIAN
    if agent.kind == "prop":
        return ObjectKind.OBSTACLE
    return _BY_BASE.get(agent.base_type.lower(), ObjectKind.CAR)


@lru_cache(maxsize=4096)
def colour_of(rgb: tuple[int, int, int]) -> Colour:
    """The nearest of the seventeen colours; dark paint of one clear hue is named by the hue."""
    r, g, b = rgb
    high = max(rgb)
    if 40 <= high < 110 and high >= 2 * sorted(rgb)[1]:
        return {r: Colour.MAROON, g: Colour.GREEN, b: Colour.NAVY}[high]
    distance = ((_PAINT_RGB - np.array(rgb, dtype=float)) ** 2).sum(1)
    return tuple(_PAINT)[int(distance.argmin())]


def sector_of(x: float, y: float) -> Sector:
    """The sector of a point in the ego frame (x forward, y left, metres)."""
    angle = math.atan2(y, x)
    if abs(angle) < STRAIGHT_RAD and abs(y) < STRAIGHT_M:
        return Sector.FRONT
    if abs(angle) > math.pi - STRAIGHT_RAD and abs(y) < STRAIGHT_M:
        return Sector.REAR
    if abs(abs(angle) - math.pi / 2) < STRAIGHT_RAD and abs(x) < STRAIGHT_M:
        return Sector.LEFT if y > 0 else Sector.RIGHT
    if x >= 0:
        return Sector.FRONT_LEFT if y >= 0 else Sector.FRONT_RIGHT
    return Sector.REAR_LEFT if y >= 0 else Sector.REAR_RIGHT


def name_agent(
    frame: Frame, agent: Agent, *, role: bool = False, dangerous: bool = False
) -> ObjectRef:
    """The name of an agent as seen from the ego."""
    x, y = frame.local(agent.x, agent.y)
    coloured = agent.kind == "vehicle" and agent.colour is not None
    return ObjectRef(
        tag=f"c{agent.id}",
        kind=kind_of(agent),
        colour=colour_of(agent.colour) if coloured and agent.colour else None,
        sector=sector_of(x, y),
        x=round(x, 3),
        y=round(y, 3),
        speed=round(agent.speed, 3),
        cameras=cameras_of(frame, agent),
        is_role=role,
        is_dangerous=dangerous,
    )


def name_signal(frame: Frame, signal: Signal, *, dangerous: bool = False) -> ObjectRef:
    """The name of a light or sign as seen from the ego."""
    x, y = frame.local(signal.x, signal.y)
    kind = (
        ObjectKind.SPEED_LIMIT_SIGN
        if signal.limit_kmh is not None
        else _SIGNALS.get(signal.type_id, ObjectKind.TRAFFIC_WARNING)
    )
    return ObjectRef(
        tag=f"c{signal.id}",
        kind=kind,
        sector=sector_of(x, y),
        x=round(x, 3),
        y=round(y, 3),
        cameras=_seeing(frame, np.array([[signal.x, signal.y, frame.ego.z + 1.5]])),
        is_dangerous=dangerous,
    )


def corners(agent: Agent) -> Float:
    """``[8, 3]`` corners of an agent's box, world frame."""
    cos, sin = math.cos(agent.heading), math.sin(agent.heading)
    half = np.array([agent.length, agent.width, agent.height]) / 2.0
    signs = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)], dtype=float)
    x, y, z = (signs * half).T
    return np.stack([agent.x + x * cos - y * sin, agent.y + x * sin + y * cos, agent.z + z], axis=1)


def cameras_of(frame: Frame, agent: Agent) -> tuple[str, ...]:
    """Names of the cameras that see an agent's box, the one with most corners first."""
    return _seeing(frame, corners(agent))


def _seeing(frame: Frame, points: Float) -> tuple[str, ...]:
    if not frame.cameras:
        return ()
    names = [camera.name for camera in frame.cameras]
    counts = sorted(zip((-_counts(frame, points)).tolist(), names, strict=True))
    return tuple(name for count, name in counts if count < 0)


def _counts(frame: Frame, points: Float) -> Int:
    """``[C]`` how many of the world points ``[N, 3]`` fall into the picture of each camera."""
    world2cam, intrinsic, size = frame.lenses
    carla = points * np.array([1.0, -1.0, 1.0])
    local = carla @ world2cam[:, :3, :3].swapaxes(1, 2) + world2cam[:, None, :3, 3]
    depth = np.maximum(local[..., 0], 1e-6)
    u = intrinsic[:, 0, 2, None] + intrinsic[:, 0, 0, None] * local[..., 1] / depth
    v = intrinsic[:, 1, 2, None] - intrinsic[:, 1, 1, None] * local[..., 2] / depth
    inside = (local[..., 0] > 0.1) & (u >= 0) & (v >= 0)
    inside &= (u < size[:, 0, None]) & (v < size[:, 1, None])
    return np.asarray(inside.sum(1))


def project(camera: CameraPose, points: Float) -> tuple[Float, Float]:
    """Pixels ``[N, 2]`` and depth ``[N]`` (metres) of world points ``[N, 3]``, right-handed."""
    carla = points * np.array([1.0, -1.0, 1.0])
    local = carla @ camera.world2cam[:3, :3].T + camera.world2cam[:3, 3]
    depth = local[:, 0]
    safe = np.where(np.abs(depth) > 1e-6, depth, 1e-6)
    u = camera.intrinsic[0, 2] + camera.intrinsic[0, 0] * local[:, 1] / safe
    v = camera.intrinsic[1, 2] - camera.intrinsic[1, 1] * local[:, 2] / safe
    return np.stack([u, v], axis=1), depth


def visible(camera: CameraPose, points: Float) -> int:
    """How many of the world points ``[N, 3]`` fall into the picture."""
    pixels, depth = project(camera, points)
    inside = (
        (depth > 0.1)
        & (pixels >= 0).all(1)
        & (pixels[:, 0] < camera.width)
        & (pixels[:, 1] < camera.height)
    )
    return int(inside.sum())

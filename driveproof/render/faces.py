"""From boxes to coloured polygons in a camera, and the painter that puts them into a picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.camera import Camera
from driveproof.render.ground import Image
from driveproof.render.light import Light
from driveproof.render.shapes import CORNERS, Role, Shape

NEAR_M = 0.15
_SHIFT = 4
_LIT = {Role.BRAKE: (255, 40, 28), Role.LEFT: (255, 176, 36), Role.RIGHT: (255, 176, 36)}
_SHADOW_SHARE = 0.97


@dataclass(frozen=True)
class Things:
    """N things of one shape, in the ego frame.

    Parameters
    ----------
    shape
        Their common shape.
    poses
        ``[N, 3]`` x, y, heading.
    base
        ``[N]`` height of their lower end above the road, metres.
    sizes
        ``[N, 3]`` length, width, height, metres.
    colours
        ``[N, 3]`` RGB.
    depth
        ``[N]`` what the painter sorts by, metres.
    lit
        Which of them shine, by role: ``[N]`` each.
    """

    shape: Shape
    poses: Float
    base: Float
    sizes: Float
    colours: Float
    depth: Float
    lit: dict[Role, Bool]


@dataclass(frozen=True)
class Faces:
    """M visible faces: ``corners`` ``[M, 8, 3]`` in the camera frame, ``colours`` ``[M, 3]``, ``depth`` ``[M]``."""

    corners: Float
    colours: Float
    depth: Float


@dataclass(frozen=True)
class Glow:
    """A lamp that shines: ``at`` ``[3]`` in the ego frame, radius in metres, least radius in pixels."""

    at: Float
    colour: tuple[int, int, int]
    radius: float
    least: float
    depth: float


def visible_faces(things: Things, camera: Camera, light: Light, sun: Float) -> Faces:
    """Faces that look at the camera, shaded by the sun's direction ``[3]`` (ego frame)."""
    shape, n = things.shape, len(things.poses)
    local = (shape.corners[None] * things.sizes[:, None, None, :]).reshape(n, -1, 3)
    origin = camera.to_camera(np.column_stack([things.poses[:, :2], things.base]))
    turned = local @ (_box_axes(things.poses[:, 2]) @ camera.rotation) + origin[:, None, :]
    corners = turned.reshape(n, -1, CORNERS, 3)
    ax, ay, az = np.moveaxis(corners[..., 1, :] - corners[..., 0, :], -1, 0)
    bx, by, bz = np.moveaxis(corners[..., 2, :] - corners[..., 0, :], -1, 0)
    normal = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
    normal /= np.sqrt((normal**2).sum(-1, keepdims=True)) + 1e-12
    seen = ((normal * corners[..., 0, :]).sum(-1) < 0.0) & (corners[..., 0] > NEAR_M).any(-1)
    colours = shape.paint[None, :, None] * things.colours[:, None, :] + shape.fixed[None]
    facing = np.clip(normal @ (sun @ camera.rotation), 0.0, 1.0)
    shade = np.where(shape.flat[None], 1.0, 1.0 - light.contrast + light.contrast * facing)
    colours = colours * shade[..., None] * np.array(light.ambient)
    for role, on in things.lit.items():
        shining = on[:, None] & (shape.role == role)[None]
        colours = np.where(shining[..., None], _LIT[role], colours)
    depth = np.broadcast_to(things.depth[:, None], (n, len(shape.paint)))
    colours = light.veil(colours, depth)
    # Shadows lie on the road: they are painted before everything else.
    depth = np.where((shape.role == Role.SHADOW)[None], 1e4 + depth, depth)
    return Faces(corners[seen], colours[seen], depth[seen])


def _box_axes(heading: Float) -> Float:
    """``[N, 3, 3]`` that turn row vectors of a box by its heading."""
    axes = np.zeros((len(heading), 3, 3))
    axes[:, 0, 0] = axes[:, 1, 1] = np.cos(heading)
    axes[:, 0, 1] = np.sin(heading)
    axes[:, 1, 0] = -axes[:, 0, 1]
    axes[:, 2, 2] = 1.0
    return axes


def paint(
    image: Image, camera: Camera, parts: list[Faces], glows: list[Glow], light: Light
) -> None:
    """Draw faces and glows onto ``image``, the farthest first; equal depths in the given order."""
    if parts:
        corners = np.concatenate([part.corners for part in parts])
        colours = np.concatenate([part.colours for part in parts])
        depth = np.concatenate([part.depth for part in parts])
    else:
        corners, colours, depth = np.zeros((0, CORNERS, 3)), np.zeros((0, 3)), np.zeros(0)
    order = np.argsort(-depth, kind="stable")
    whole = np.asarray((corners[..., 0] > NEAR_M).all(-1))
    pixels = np.zeros((len(corners), CORNERS, 2), dtype=np.int32)
    pixels[whole] = _fixed_point(camera.to_pixels(corners[whole]))
    low, high = pixels.min(axis=1) >> _SHIFT, pixels.max(axis=1) >> _SHIFT
    inside = np.asarray(
        (high >= 0).all(1) & (low[:, 0] < camera.width) & (low[:, 1] < camera.height)
    )
    paints = np.clip(np.round(colours), 0, 255).astype(int).tolist()
    waiting = sorted(glows, key=lambda glow: glow.depth)
    for index in order[(inside | ~whole)[order]].tolist():
        while waiting and waiting[-1].depth > depth[index]:
            _shine(image, camera, waiting.pop(), light)
        ring = pixels[index] if whole[index] else _clipped(corners[index], camera)
        if len(ring):
            cv2.fillConvexPoly(image, ring, paints[index], cv2.LINE_AA, _SHIFT)
    while waiting:
        _shine(image, camera, waiting.pop(), light)


def _fixed_point(pixels: Float) -> Int:
    # OpenCV's pixel centres are whole numbers; ours are at .5. Far outside is cut to stay in int32.
    scaled = np.clip((pixels - 0.5) * 2**_SHIFT, -(2**24), 2**24)
    return np.asarray(np.round(scaled).astype(np.int32))


def _clipped(ring: Float, camera: Camera) -> Int:
    """The pixels of a face that reaches behind the camera, cut at the near plane (Sutherland-Hodgman)."""
    following = np.roll(ring, -1, axis=0)
    kept = []
    for a, b in zip(ring, following, strict=True):
        if a[0] >= NEAR_M:
            kept.append(a)
        if (a[0] >= NEAR_M) != (b[0] >= NEAR_M):
            kept.append(a + (NEAR_M - a[0]) / (b[0] - a[0]) * (b - a))
    if len(kept) < 3:
        return np.zeros((0, 2), dtype=np.int32)
    return _fixed_point(camera.to_pixels(np.array(kept)))


def _shine(image: Image, camera: Camera, glow: Glow, light: Light) -> None:
    """Blend a lamp and its bloom: as cameras do, small lamps spread over a few pixels."""
    local = camera.to_camera(glow.at)
    if local[0] <= NEAR_M:
        return
    u, v = camera.to_pixels(local)
    core = max(glow.least, camera.focal * glow.radius / float(local[0]))
    reach = 2.2 * core + 1.0
    left, top = max(0, int(u - reach)), max(0, int(v - reach))
    right, bottom = min(camera.width, int(u + reach) + 2), min(camera.height, int(v + reach) + 2)
    if left >= right or top >= bottom:
        return
    dx = np.arange(left, right) + 0.5 - u
    dy = np.arange(top, bottom) + 0.5 - v
    distance = np.sqrt(dx[None, :] ** 2 + dy[:, None] ** 2)
    halo = 0.55 * np.exp(-2.0 * (np.maximum(distance - core, 0.0) / core) ** 2)
    share = np.where(distance <= core, 1.0, halo)[..., None]
    # Lamps pierce fog better than surfaces do.
    colour = light.veil(np.array(glow.colour), glow.depth / 3.0)
    patch = image[top:bottom, left:right]
    patch[:] = np.round(patch + share * (colour - patch)).astype(np.uint8)

"""From boxes to coloured polygons in a camera, and the painter that puts them into a picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.render.camera import Camera
from driveproof.render.ground import Image
from driveproof.render.light import Light
from driveproof.render.shapes import CATALOGUE, CORNERS, FIRST, Role
from driveproof.render.things import Glow, Things

NEAR_M = 0.15
_SHIFT = 4
# The colour in which the faces of each role shine.
_LIT = np.zeros((len(Role), 3))
_LIT[Role.BRAKE] = 255, 40, 28
_LIT[Role.LEFT] = _LIT[Role.RIGHT] = 255, 176, 36


@dataclass(frozen=True)
class Faces:
    """M visible faces: ``corners`` ``[M, 8, 3]`` in the camera frame, ``colours`` ``[M, 3]``, ``depth`` ``[M]``."""

    corners: Float
    colours: Float
    depth: Float


def visible_faces(things: Things, camera: Camera, light: Light, sun: Float) -> Faces:
    """Faces that look at the camera, shaded by the sun's direction ``[3]`` (ego frame)."""
    count = FIRST[things.shape + 1] - FIRST[things.shape]
    owner = np.repeat(np.arange(len(count)), count)
    row = np.arange(len(owner)) + np.repeat(FIRST[things.shape] - (np.cumsum(count) - count), count)
    origin = camera.to_camera(np.column_stack([things.poses[:, :2], things.base]))
    axes = _box_axes(things.poses[:, 2]) @ camera.rotation
    corners = (CATALOGUE.corners[row] * things.sizes[owner, None]) @ axes[owner]
    corners += origin[owner, None]
    ax, ay, az = (corners[:, 1] - corners[:, 0]).T
    bx, by, bz = (corners[:, 2] - corners[:, 0]).T
    normal = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)
    seen = ((normal * corners[:, 0]).sum(1) < 0.0) & (corners[..., 0] > NEAR_M).any(1)
    corners, normal, owner, row = corners[seen], normal[seen], owner[seen], row[seen]
    facing = normal @ (sun @ camera.rotation) / (np.sqrt((normal**2).sum(1)) + 1e-12)
    shade = 1.0 - light.contrast + light.contrast * np.maximum(facing, 0.0)
    shade[CATALOGUE.flat[row]] = 1.0
    colours = CATALOGUE.paint[row, None] * things.colours[owner] + CATALOGUE.fixed[row]
    colours *= shade[:, None] * np.array(light.ambient)
    role = CATALOGUE.role[row]
    shining = things.lit[owner, role]
    colours[shining] = _LIT[role[shining]]
    depth = things.depth(camera)[owner]
    colours = light.veil(colours, depth)
    # Shadows lie on the road: they are painted before everything else.
    return Faces(corners, colours, np.where(role == Role.SHADOW, 1e4 + depth, depth))


def _box_axes(heading: Float) -> Float:
    """``[N, 3, 3]`` that turn row vectors of a box by its heading."""
    axes = np.zeros((len(heading), 3, 3))
    axes[:, 0, 0] = axes[:, 1, 1] = np.cos(heading)
    axes[:, 0, 1] = np.sin(heading)
    axes[:, 1, 0] = -axes[:, 0, 1]
    axes[:, 2, 2] = 1.0
    return axes


def paint(image: Image, camera: Camera, faces: Faces, glows: list[Glow], light: Light) -> None:
    """Draw faces and glows onto ``image``, the farthest first; equal depths in the given order."""
    corners, depth = faces.corners, faces.depth
    order = np.argsort(-depth, kind="stable")
    whole = np.asarray((corners[..., 0] > NEAR_M).all(-1))
    pixels = np.zeros((len(corners), CORNERS, 2), dtype=np.int32)
    pixels[whole] = _fixed_point(camera.to_pixels(corners[whole]))
    low, high = pixels.min(axis=1) >> _SHIFT, pixels.max(axis=1) >> _SHIFT
    inside = np.asarray(
        (high >= 0).all(1) & (low[:, 0] < camera.width) & (low[:, 1] < camera.height)
    )
    paints = np.clip(np.round(faces.colours), 0, 255).astype(int).tolist()
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

"""What a camera on the ego vehicle sees of a view."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.render.camera import Camera
from driveproof.render.furniture import light_glow, light_rows, numbers_of, sign_rows
from driveproof.render.labels import Label
from driveproof.render.light import named_light
from driveproof.render.mesh import Mesh, mesh_of
from driveproof.render.picture import Glow, Image, Picture, Scene
from driveproof.render.raster import Lens
from driveproof.render.scenery import Scenery, scenery_of
from driveproof.render.shapes import NAMES, Role, shape_name
from driveproof.render.things import SHINE, Things, things_of, upright
from driveproof.render.view import Box, View

_LABELS = {
    "pedestrian": Label.PEDESTRIAN,
    "cyclist": Label.BICYCLE,
    "motorcycle": Label.MOTORCYCLE,
    "truck": Label.TRUCK,
    "bus": Label.BUS,
    "cone": Label.DYNAMIC,
    "barrier": Label.DYNAMIC,
    "warning": Label.DYNAMIC,
    "box": Label.DYNAMIC,
}
_BEAM_M = (3.0, 26.0, 1.0, 3.6)


def render_camera(view: View, camera: Camera, supersample: int = 2) -> Image:
    """RGB uint8 ``[H, W, 3]`` of what ``camera`` sees.

    Parameters
    ----------
    supersample
        Draw this many times as many pixels a side and average them: smooth edges.
    """
    scene, lens = scene_of(view), lens_of(view, camera.scaled(supersample))
    image = Picture(scene, lens).bgra(named_light(view.weather, view.sun), supersample)
    if supersample > 1:
        size = (camera.width, camera.height)
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return np.ascontiguousarray(image[..., 2::-1])


def lens_of(view: View, camera: Camera) -> Lens:
    """Where a camera on the view's ego is, and how it looks; the ego is as steep as the road below it."""
    body, foot = _ego_axes(view)
    origin = foot + body @ camera.position
    return Lens(origin, body @ camera.rotation, camera.focal, camera.width, camera.height)


def _ego_axes(view: View) -> tuple[Float, Float]:
    heading = float(view.ego[2])
    level = upright(np.array(heading))
    scenery = None if view.town is None else scenery_of(view.town)
    if scenery is None:
        return level, np.array([view.ego[0], view.ego[1], view.ego_z or 0.0])
    ahead = 2.0 * level[:2, 0]
    places = np.stack([view.ego[:2], view.ego[:2] + ahead, view.ego[:2] - ahead])
    here, front, rear = scenery.road_heights(places, view.ego_z).tolist()
    pitch = float(np.arctan2(front - rear, 4.0))
    cos, sin = np.cos(pitch), np.sin(pitch)
    tilt = np.array([[cos, 0.0, -sin], [0.0, 1.0, 0.0], [sin, 0.0, cos]])
    z = here if view.ego_z is None else view.ego_z
    return level @ tilt, np.array([view.ego[0], view.ego[1], z])


def scene_of(view: View) -> Scene:
    """A view as a scene in space."""
    scenery = None if view.town is None else scenery_of(view.town)
    rows = _traffic(view, scenery)
    count = len(rows)
    for light in view.lights:
        rows += light_rows(light)
    for sign in view.signs:
        rows += sign_rows(sign)
    things = things_of(rows)
    glows = [glow for light in view.lights if (glow := light_glow(light)) is not None]
    body, foot = _ego_axes(view)
    return Scene(
        scenery,
        things,
        np.arange(len(rows)) < count,
        (*glows, *brake_glows(things)),
        beams=beam(foot, body),
        extra=numbers_of((sign, 0) for sign in view.signs),
    )


def _traffic(view: View, scenery: Scenery | None) -> list[tuple[Any, ...]]:
    if not view.boxes:
        return []
    places = np.array([[box.x, box.y] for box in view.boxes])
    ground = np.zeros(len(places))
    if scenery is not None:
        level = view.ego_z
        if level is None:
            level = float(scenery.road_heights(view.ego[None, :2])[0])
        ground = scenery.road_heights(places, level)
    heights = [z if box.z is None else box.z for box, z in zip(view.boxes, ground, strict=True)]
    return [_row(box, float(z)) for box, z in zip(view.boxes, heights, strict=True)]


def _row(box: Box, z: float) -> tuple[Any, ...]:
    name = shape_name(box.kind, box.length)
    lit = np.zeros(len(Role), dtype=bool)
    lit[Role.BRAKE] = box.brake
    lit[Role.LEFT] = box.indicator in {"left", "both"}
    lit[Role.RIGHT] = box.indicator in {"right", "both"}
    size = (box.length, box.width, box.height)
    axes = upright(np.array(box.heading))
    label = _LABELS.get(name, Label.CAR)
    return (NAMES.index(name), (box.x, box.y, z), axes, size, box.colour, lit, label, 0)


def brake_glows(things: Things) -> list[Glow]:
    """Brake lamps of cars and trucks, so that they are seen from afar."""
    glows = []
    r, g, b = (int(value) for value in SHINE[Role.BRAKE])
    for n in np.flatnonzero(things.lit[:, Role.BRAKE]).tolist():
        share = _BRAKE_HEIGHT.get(NAMES[int(things.shape[n])])
        if share is None:
            continue
        length, width, height = things.sizes[n]
        for side in (1.0, -1.0):
            local = np.array([-length / 2.0, 0.32 * side * width, share * height])
            at = things.place[n] + things.axes[n] @ local
            glows.append(Glow(at, -things.axes[n][:, 0], (r, g, b), 0.09, 0.9))
    return glows


_BRAKE_HEIGHT = {"car": 0.45, "police": 0.45, "van": 0.33, "truck": 0.245, "bus": 0.25}


def beam(foot: Float, axes: Float) -> Mesh:
    """The ground that the headlights of a vehicle reach that stands at ``foot`` ``[3]``."""
    near, far, narrow, wide = _BEAM_M
    ring = np.array([[near, -narrow, 0], [far, -wide, 0], [far, wide, 0], [near, narrow, 0]])
    return mesh_of((ring @ axes.T + foot)[None], (0, 0, 0), 0)

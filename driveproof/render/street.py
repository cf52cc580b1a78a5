"""What a camera on the ego vehicle sees of a view."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.render.camera import Camera
from driveproof.render.furniture import (
    LAMP_ROLES,
    Lettering,
    lamp_glows,
    lamp_places,
    light_rows,
    sign_rows,
)
from driveproof.render.labels import Label
from driveproof.render.lamps import beams, brake_glows, together
from driveproof.render.light import named_light
from driveproof.render.picture import Image, Picture, Scene
from driveproof.render.raster import Lens
from driveproof.render.scenery import Scenery, scenery_of
from driveproof.render.shapes import NAMES, Role, shape_name
from driveproof.render.things import things_of, upright
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
    rows: list[tuple[Any, ...]] = []
    for light in view.lights:
        rows += light_rows(light)
    for sign in view.signs:
        rows += sign_rows(sign)
    things = things_of(_traffic(view, scenery))
    order = list(LAMP_ROLES)
    shown = [order.index(light.state) if light.state in order else -1 for light in view.lights]
    lamps = lamp_glows(*lamp_places(view.lights), np.array(shown, dtype=np.int64))
    body, foot = _ego_axes(view)
    return Scene(
        scenery,
        things,
        (things_of(rows),),
        Lettering(view.signs, [0] * len(view.signs)),
        together([lamps, brake_glows(things)]),
        beams(foot[None], body[None]),
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

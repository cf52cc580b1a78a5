"""Pictures of a drive: the rig's cameras and the view from above, as JPEG."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.collect.rig import Mount
from driveproof.collect.weather import Weather
from driveproof.config.collect import CollectParams
from driveproof.render import (
    Box,
    Camera,
    LightView,
    View,
    lights_of,
    render_bev,
    render_camera,
    signs_of,
)
from driveproof.render import Weather as Sky
from driveproof.scene import LightState
from driveproof.sim.world import AgentState, WorldSnapshot
from driveproof.sim.world.perception import LEVEL
from driveproof.sim.world.roads import Roads

VISOR_COS = 0.5
"""Lamps are seen by who drives towards them within 60 degrees: cross traffic's green must not mislead."""
BLINK_HZ = 1.5
"""Indicators flash so often a second."""


@dataclass
class Painter:
    """Paints the snapshots of one drive."""

    roads: Roads
    mounts: tuple[Mount, ...]
    weather: Weather
    params: CollectParams
    _cameras: dict[str, Camera] = field(init=False)

    def __post_init__(self) -> None:
        self._cameras = {mount.folder: camera_of(mount) for mount in self.mounts}

    def paint(self, snapshot: WorldSnapshot, frame: int) -> dict[str, bytes]:
        """Folder -> JPEG for the pictures due in ``frame``; empty in between."""
        every, above = self.params.image_every, self.params.bev_every
        if frame % every and (not above or frame % above):
            return {}
        view = self.view(snapshot)
        pictures = {}
        if frame % every == 0:
            for folder, camera in self._cameras.items():
                pictures[folder] = self._jpeg(render_camera(view, camera))
        if above and frame % above == 0:
            pixels = self.params.bev_pixels
            pictures["rgb_top_down"] = self._jpeg(render_bev(view, px=pixels))
        return pictures

    def view(self, snapshot: WorldSnapshot) -> View:
        """What is drawn of a snapshot."""
        ego = snapshot.ego
        others = [a for a in snapshot.agents[1:] if abs(a.z - ego.z) < LEVEL]
        town, here = self.roads.town, np.array([ego.x, ego.y])
        return View(
            town=town,
            ego=np.array([ego.x, ego.y, ego.heading]),
            boxes=tuple(_box(agent, snapshot.time) for agent in others),
            lights=tuple(_shaded(light, ego) for light in lights_of(town, snapshot.lights, here)),
            signs=signs_of(town, here),
            weather=sky_of(self.weather),
            ego_z=ego.z,
        )

    def _jpeg(self, pixels: NDArray[np.uint8]) -> bytes:
        quality = [cv2.IMWRITE_JPEG_QUALITY, self.params.jpeg_quality]
        done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), quality)
        assert done  # an 8-bit picture always encodes
        return data.tobytes()


def camera_of(mount: Mount) -> Camera:
    """The camera of a mount: CARLA's y and yaw point right, ours left."""
    return Camera(
        x=mount.x,
        y=-mount.y,
        z=mount.z,
        yaw=-math.radians(mount.yaw),
        fov=math.radians(mount.fov),
        width=mount.width,
        height=mount.height,
    )


def sky_of(weather: Weather) -> Sky:
    """The sky that comes closest to the numbers of a weather."""
    if weather.sun_altitude_angle < 0.0:
        return Sky.NIGHT
    if weather.precipitation >= 20.0:
        return Sky.RAIN
    if weather.fog_density >= 40.0:
        return Sky.FOG
    return Sky.CLOUDY if weather.cloudiness >= 40.0 else Sky.CLEAR


def _shaded(light: LightView, ego: AgentState) -> LightView:
    """The light as its visor lets the ego see it: dark if it faces another street."""
    facing = math.cos(light.heading - ego.heading)
    return light if facing < -VISOR_COS else replace(light, state=LightState.OFF)


def _box(agent: AgentState, time: float) -> Box:
    body = agent.body
    lit = (time * BLINK_HZ) % 1.0 < 0.6
    shown = {"hazard": "both"}.get(agent.indicator, agent.indicator)
    return Box(
        x=agent.x,
        y=agent.y,
        heading=agent.heading,
        length=body.length,
        width=body.width,
        height=body.height,
        kind=_kind(agent),
        colour=body.colour,
        brake=agent.braking,
        indicator=shown if lit else "",
    )


def _kind(agent: AgentState) -> str:
    if agent.body.base_type in ("car", "truck"):
        return agent.body.base_type
    if "cone" in agent.body.type_id:
        return "cone"
    return "barrier" if agent.body.base_type == "prop" else agent.kind.value

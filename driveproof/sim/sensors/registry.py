"""From blueprint ids to sensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from driveproof.render.light import light_of
from driveproof.render.picture import Picture
from driveproof.render.raster import Lens
from driveproof.sim.sensors.base import Sensor, UnmodelledSensor
from driveproof.sim.sensors.cameras import (
    DepthCamera,
    InstanceCamera,
    NormalsCamera,
    RgbCamera,
    SemanticCamera,
    encode_depth,
)
from driveproof.sim.sensors.casting import compile_casting
from driveproof.sim.sensors.dvs import EventCamera
from driveproof.sim.sensors.events import CollisionSensor, ObstacleSensor
from driveproof.sim.sensors.flow import OpticalFlowCamera, compile_flow
from driveproof.sim.sensors.inertial import GnssSensor, ImuSensor
from driveproof.sim.sensors.lidar import Lidar, SemanticLidar
from driveproof.sim.sensors.radar import Radar
from driveproof.sim.sensors.stage import scene_of

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

SENSORS: dict[str, Callable[[Actor], Sensor]] = {
    "sensor.camera.rgb": RgbCamera,
    "sensor.camera.depth": DepthCamera,
    "sensor.camera.semantic_segmentation": SemanticCamera,
    "sensor.camera.instance_segmentation": InstanceCamera,
    "sensor.camera.normals": NormalsCamera,
    "sensor.camera.optical_flow": OpticalFlowCamera,
    "sensor.camera.dvs": EventCamera,
    # the picture that steers a generator of videos: labels, as the semantic camera has them
    "sensor.camera.cosmos_visualization": SemanticCamera,
    "sensor.lidar.ray_cast": Lidar,
    "sensor.lidar.ray_cast_semantic": SemanticLidar,
    "sensor.other.collision": CollisionSensor,
    "sensor.other.obstacle": ObstacleSensor,
    "sensor.other.imu": ImuSensor,
    "sensor.other.gnss": GnssSensor,
    "sensor.other.radar": Radar,
}


def is_modelled(blueprint_id: str) -> bool:
    """Whether :func:`make_sensor` knows this blueprint (lane invasion is computed by the client)."""
    return blueprint_id in SENSORS


def make_sensor(engine: Engine, actor: Actor) -> Sensor:
    """The sensor that an actor is.

    Raises
    ------
    UnmodelledSensor
        If the embedded simulator does not have this sensor.
    """
    factory = SENSORS.get(actor.type_id)
    if factory is None:
        raise UnmodelledSensor(
            f"{actor.type_id} is not modelled by the embedded simulator",
            hint="it has " + ", ".join(name.removeprefix("sensor.") for name in SENSORS),
        )
    return factory(actor)


def prepare(engine: Engine) -> None:
    """Compile what cameras and lidars need (seconds on a machine's first time, then from the cache).

    A server calls this before it answers clients, so that no first picture outlasts their patience.
    """
    scene = scene_of(engine)
    lens = Lens(np.array([0.0, 0.0, 2.0]), np.eye(3), 8.0, 16, 16)
    picture = Picture(scene, lens)
    picture.bgra(light_of(engine.weather))
    encode_depth(picture.raster.inverse, np.empty((16, 16), dtype=np.uint32))
    compile_flow(picture)
    compile_casting()

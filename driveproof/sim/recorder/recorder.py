"""Records a drive through a session's sensors: annotations and pictures, frame by frame, ready for a clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from driveproof.sim.client import SensorQueue, Session, WorldState
from driveproof.sim.drivers import DriverDecision, Vehicle
from driveproof.sim.recorder.annotation import Annotator, Moment, Pedals
from driveproof.sim.recorder.lidar import LidarCounter
from driveproof.sim.recorder.rig import Mount

FRAME_S = 0.1
"""Seconds between frames of a clip."""

Sink = Callable[[dict[str, Any], dict[str, bytes]], None]


class Recorder:
    """Records the ego of a session at 10 Hz.

    Attach it before the tick that gives the first frame; then call :meth:`record` with the first state and
    with every one that is a multiple of 0.1 s later. Cameras measure only in frames that are kept.

    Parameters
    ----------
    session
        Its step must divide 0.1 s.
    ego
        The ``carla.Vehicle`` that carries the sensors.
    annotator
        Makes the annotations; its mounts are the cameras.
    sink
        Takes each frame: annotation, and pictures (folder -> JPEG), such as ``ClipWriter.add_frame``.
    lidar_points
        Rays of a lidar revolution for the points on each object; 0 estimates them.
    jpeg_quality
        1 to 100.
    pictures
        False leaves the pictures out; the annotations tell where the cameras would be.
    """

    def __init__(
        self,
        session: Session,
        ego: Any,
        annotator: Annotator,
        sink: Sink,
        lidar_points: int = 0,
        jpeg_quality: int = 80,
        pictures: bool = True,
    ) -> None:
        self._session, self._ego = session, ego
        self._annotator, self._sink = annotator, sink
        self._quality = [cv2.IMWRITE_JPEG_QUALITY, jpeg_quality]
        mounts = annotator.mounts if pictures else ()
        self._cameras = [(mount, self._attach(mount)) for mount in mounts]
        self._lidar = (
            LidarCounter(session, ego, lidar_points, FRAME_S) if lidar_points > 0 else None
        )
        self._vehicles: dict[int, Any] = {}
        self._colours: dict[int, str] = {}
        self.frames = 0

    def _attach(self, mount: Mount) -> SensorQueue:
        attributes = {
            "image_size_x": mount.width,
            "image_size_y": mount.height,
            "fov": mount.fov,
            "sensor_tick": mount.every * FRAME_S,
        }
        yaw, pitch = -np.radians(mount.yaw), np.radians(mount.pitch)
        pose = (mount.x, -mount.y, mount.z, float(yaw), float(pitch))
        return self._session.attach_sensor("sensor.camera.rgb", attributes, pose, self._ego)

    def record(
        self,
        state: WorldState,
        vehicle: Vehicle,
        decision: DriverDecision | None = None,
        roles: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """Record a state; ``vehicle`` is the ego as its driver knows it (place on its path).

        ``roles`` are actor ids by the role that a scenario gives them.
        """
        pictures = {
            mount.folder: self._jpeg(queue.get(state.frame))
            for mount, queue in self._cameras
            if self.frames % mount.every == 0
        }
        points = self._lidar.count(state.frame) if self._lidar is not None else None
        pedals = self._pedals(state)
        moment = Moment(
            state=state,
            ego_id=self._ego.id,
            ego_pose=np.array(self._ego.get_transform().get_matrix()),
            s=vehicle.s,
            front=vehicle.s_front,
            pedals=pedals,
            lamps=self._session.lamps(),
            colours=self._colours,
            points=points,
            decision=decision,
            roles=roles or {},
        )
        self._sink(self._annotator.annotate(moment), pictures)
        self.frames += 1

    def _pedals(self, state: WorldState) -> Mapping[int, Pedals]:
        """What every vehicle is told, as the last snapshot has it."""
        pedals = {}
        for actor in state.of_kind("vehicle"):
            if actor.id not in self._vehicles:
                self._vehicles[actor.id] = self._session.actor(actor.id)
                self._colours[actor.id] = self._vehicles[actor.id].attributes.get("color", "")
            told = self._vehicles[actor.id].get_control()
            pedals[actor.id] = Pedals(
                told.throttle, told.steer, told.brake, told.hand_brake, told.reverse
            )
        return pedals

    def _jpeg(self, image: Any) -> bytes:
        pixels = np.frombuffer(image.raw_data, dtype=np.uint8)
        bgr = pixels.reshape(image.height, image.width, 4)[..., :3]
        done, data = cv2.imencode(".jpg", np.ascontiguousarray(bgr), self._quality)
        assert done  # an 8-bit picture always encodes
        return bytes(data.tobytes())

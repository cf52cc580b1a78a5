"""The cameras that a policy asked for, on the ego: their pictures at the moments of decision."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driveproof.drive.plan import Pictures
from driveproof.errors import BadInput
from driveproof.scene.images import Pixels
from driveproof.sim.client import SensorQueue, Session
from driveproof.sim.recorder import CAMERAS, Mount

MOUNTS = {mount.sensor: mount for mount in CAMERAS.values()}


def mounts_of(views: Sequence[str], sizes: Pictures) -> list[Mount]:
    """The mounts of cameras by name (``CAM_FRONT`` …); BadInput for a name that the rig has not."""
    unknown = [name for name in views if name not in MOUNTS]
    if unknown:
        raise BadInput(f"no such camera: {unknown[0][:40]}", hint="one of " + ", ".join(MOUNTS))
    found = []
    for name in views:
        front = name == "CAM_FRONT"
        width = sizes.front_width if front else sizes.side_width
        height = sizes.front_height if front else sizes.side_height
        found.append(MOUNTS[name].resized(width, height, 1))
    return found


class Eyes:
    """Cameras that measure every ``period_s`` from the next tick on, and the last ``history`` pictures of each.

    Without cameras nothing is attached, and nothing is rendered.
    """

    def __init__(
        self,
        session: Session,
        ego: Any,
        mounts: Sequence[Mount],
        period_s: float,
        history: int = 1,
    ) -> None:
        self._queues: dict[str, SensorQueue] = {
            mount.sensor: _attach(session, ego, mount, period_s) for mount in mounts
        }
        self._seen: dict[str, deque[Pixels]] = {
            name: deque(maxlen=max(history, 1)) for name in self._queues
        }
        self._history = max(history, 1)

    def look(self, frame: int) -> Mapping[str, Sequence[Pixels]]:
        """The pictures of a frame and those before, the oldest first, always ``history`` of them.

        At the beginning the first stands for those that would lie before it.

        Raises
        ------
        ServerLost
            If the simulator does not deliver.
        """
        for name, queue in self._queues.items():
            seen = self._seen[name]
            seen.append(_pixels(queue.get(frame)))
            while len(seen) < self._history:
                seen.appendleft(seen[0])
        return {name: tuple(seen) for name, seen in self._seen.items()}


def _attach(session: Session, ego: Any, mount: Mount, period_s: float) -> SensorQueue:
    attributes = {
        "image_size_x": mount.width,
        "image_size_y": mount.height,
        "fov": mount.fov,
        "sensor_tick": period_s,
    }
    yaw, pitch = -np.radians(mount.yaw), np.radians(mount.pitch)
    pose = (mount.x, -mount.y, mount.z, float(yaw), float(pitch))
    return session.attach_sensor("sensor.camera.rgb", attributes, pose, ego)


def _pixels(image: Any) -> Pixels:
    """RGB ``[H, W, 3]`` of a ``carla.Image``, which is BGRA."""
    pixels = np.frombuffer(image.raw_data, dtype=np.uint8)
    return np.ascontiguousarray(pixels.reshape(image.height, image.width, 4)[..., 2::-1])

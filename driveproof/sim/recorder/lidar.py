"""How many lidar points fall on each actor, with what hides behind what."""

from __future__ import annotations

from typing import Any

import numpy as np

from driveproof.sim.client import SensorQueue, Session
from driveproof.sim.recorder.rig import LIDAR

FULL = 60_000
"""Points of one revolution of Bench2Drive's lidar."""
_POINT = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("cos", "<f4"), ("id", "<u4"), ("label", "<u4")]
)


class LidarCounter:
    """A semantic lidar on the ego.

    Parameters
    ----------
    points
        Rays of a revolution. Counts are scaled to those of the full lidar, so that thresholds on them keep
        their meaning; fewer rays are quicker and coarser.
    period_s
        Seconds from one revolution to the next.
    """

    def __init__(self, session: Session, ego: Any, points: int, period_s: float) -> None:
        turns_hz = 1.0 / session.delta_s  # a whole revolution in every measurement
        attributes = {
            "channels": 64 if points >= FULL else 32,
            "range": 85.0,
            "points_per_second": round(points * turns_hz),
            "rotation_frequency": turns_hz,
            "upper_fov": 10.0,
            "lower_fov": -30.0,
            "sensor_tick": period_s,
        }
        forward, right, up = LIDAR
        self._scale = FULL / points
        self._queue: SensorQueue = session.attach_sensor(
            "sensor.lidar.ray_cast_semantic", attributes, (forward, -right, up), ego
        )

    def count(self, frame: int) -> dict[int, int]:
        """Points by actor id in the measurement of ``frame``; actors without any are left out."""
        data = np.frombuffer(self._queue.get(frame).raw_data, dtype=_POINT)
        ids, counts = np.unique(data["id"], return_counts=True)
        scaled = np.round(counts * self._scale).astype(int).tolist()
        return dict(zip(ids.tolist(), scaled, strict=True))

"""Sensors whose measurements are taken frame by frame, and which are closed without losing one.

Closing a sensor while one of its messages is under way can abort the client's process (a fault of the
``carla`` library), so the message of the last tick is awaited first.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from driveproof.sim.client.failures import ServerLost

EVENT_SENSORS = ("sensor.other.collision", "sensor.other.obstacle", "sensor.other.lane_invasion")
"""These send only when something happens."""
KEPT, KEPT_EVENTS = 64, 10_000
"""Measurements kept when nobody takes them; the oldest are dropped."""
DRAIN_S = 2.0
SETTLE_S = 0.02
"""Seconds given to a message of an event or slow sensor that may be under way."""


class SensorQueue:
    """A listening ``carla.Sensor`` and its measurements in order of arrival.

    Parameters
    ----------
    sensor
        The actor; it starts to listen here.
    frame
        The present frame: measurements begin after it.
    """

    def __init__(self, sensor: Any, frame: int) -> None:
        self.sensor = sensor
        self.id: int = sensor.id
        self.type_id: str = sensor.type_id
        attributes = sensor.attributes
        self.parent_id: int | None = sensor.parent.id if sensor.parent is not None else None
        self._every_tick = (
            self.type_id not in EVENT_SENSORS and float(attributes.get("sensor_tick", 0.0)) <= 0.0
        )
        self._last = frame
        kept = KEPT_EVENTS if self.type_id in EVENT_SENSORS else KEPT
        self._arrived: deque[Any] = deque(maxlen=kept)
        self._news = threading.Condition()
        sensor.listen(self._put)

    def _put(self, data: Any) -> None:
        with self._news:
            self._arrived.append(data)
            self._last = max(self._last, data.frame)
            self._news.notify_all()

    def get(self, frame: int, timeout_s: float = 5.0) -> Any:
        """The measurement of ``frame`` as the ``carla`` class has it; older ones are dropped.

        Raises
        ------
        ServerLost
            If it does not arrive in time.
        """
        deadline = time.monotonic() + timeout_s
        with self._news:
            while True:
                while self._arrived and self._arrived[0].frame < frame:
                    self._arrived.popleft()
                if self._arrived and self._arrived[0].frame == frame:
                    return self._arrived.popleft()
                left = deadline - time.monotonic()
                if self._arrived or (not self._news.wait(max(left, 0.0)) and left <= 0.0):
                    raise ServerLost(f"{self.type_id}: no measurement of frame {frame}")

    def take(self) -> list[Any]:
        """Everything that has arrived and was not taken yet, in order."""
        with self._news:
            arrived = list(self._arrived)
            self._arrived.clear()
        return arrived

    def close(self, frame: int, alive: bool = True) -> None:
        """Wait for the measurement of the last tick ``frame``, then stop listening.

        ``alive`` False says that the server is gone and nothing will come.
        """
        if alive:
            self._drain(frame)
        self.sensor.stop()

    def _drain(self, frame: int) -> None:
        if not self._every_tick:
            time.sleep(SETTLE_S)
            return
        with self._news:
            self._news.wait_for(lambda: self._last >= frame, timeout=DRAIN_S)

"""Equal steps are equal for sensors, whenever the episode began."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from driveproof.sim.sensors.base import Sensor


class Clock(Sensor):
    """A sensor that measures nothing."""

    def measure(self, engine: object) -> bytes:
        return b""


@pytest.mark.parametrize("begin", [0.0, 0.1, 1.0 / 3.0, 12.345678, 1e4 + 0.7])
def test_steps_do_not_depend_on_the_time_of_day(begin: float) -> None:
    clock = Clock(SimpleNamespace(id=1, attributes={}, type_id="sensor.other.imu"))
    clock.elapsed(SimpleNamespace(time=begin))
    time, seen = begin, set()
    for _ in range(50):
        time += 0.05
        seen.add(clock.elapsed(SimpleNamespace(time=time)))
    assert seen == {0.05}

"""Lights of a staged drive."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driveproof.collect.clips import roads_of
from driveproof.collect.lights import LightCycle, random_lights
from driveproof.scene import LightState

CYCLE = LightCycle((("a", "c"), ("b",)), green=8.0, yellow=3.0, all_red=2.0)


@given(st.floats(0.0, 1e4), st.floats(0.0, 30.0))
def test_two_phases_are_never_open_together(time: float, offset: float) -> None:
    cycle = LightCycle(CYCLE.phases, offset=offset)
    states = cycle.states(time)
    assert states["a"] is states["c"]
    assert LightState.RED in (states["a"], states["b"])


def test_a_phase_is_green_then_yellow_then_red() -> None:
    cycle = LightCycle(CYCLE.phases, 8.0, 3.0, 2.0)
    cycle.set_phase("b", -5.0, 0.0)  # green in five seconds
    shown = [cycle.states(t)["b"] for t in (4.9, 5.1, 12.9, 13.1, 15.9, 16.1, 30.9, 31.1)]
    red, yellow, green = LightState.RED, LightState.YELLOW, LightState.GREEN
    assert shown == [red, green, green, yellow, yellow, red, red, green]


def test_opposite_approaches_are_green_together() -> None:
    town = roads_of("Town01").town
    lights = random_lights(town, np.random.default_rng(0))
    assert lights.cycles
    course = {
        s.key: float(town.lanes.heading[town.lanes.points(s.lanes[0])][-1])
        for s in town.signals
        if s.kind == "traffic_light"
    }
    for cycle in lights.cycles.values():
        for phase in cycle.phases:
            axes = np.array([2.0 * course[key] for key in phase])
            assert np.cos(axes - axes[0]).min() > np.cos(np.radians(70.0))
    assert set(lights.states(0.0)) == set(course)
    assert lights.cycle_of(next(iter(course))) is not None
    assert lights.cycle_of("no light") is None

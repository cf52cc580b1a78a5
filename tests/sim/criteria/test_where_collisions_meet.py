"""A collision says where on the ego's outline it happened, and with what."""

from __future__ import annotations

import math

import pytest

from driveproof.sim.client import ActorState
from driveproof.sim.criteria.contacts import bearing

LENGTH, WIDTH = 4.6, 1.8


def car(x: float, y: float, heading: float = 0.0) -> ActorState:
    """A car with its box centre at (x, y)."""
    return ActorState(
        1, "vehicle.a.b", "vehicle", "", x, y, 0.0, heading, length=LENGTH, width=WIDTH, height=1.5
    )


def seen(x: float, y: float, heading: float = 0.0, turned: float = 0.0) -> float:
    """Degrees at which another car, given in the ego's frame, meets an ego that is turned in the world."""
    cos, sin = math.cos(turned), math.sin(turned)
    other = car(10.0 + x * cos - y * sin, -5.0 + x * sin + y * cos, heading + turned)
    return math.degrees(bearing(car(10.0, -5.0, turned), other))


@pytest.mark.parametrize("turned", [0.0, 1.0, -2.5, math.pi])
@pytest.mark.parametrize(
    ("x", "y", "heading", "low", "high"),
    [
        (4.7, 0.0, 0.0, -1.0, 1.0),  # bumper to bumper
        (4.7, 1.5, 0.0, 0.0, 45.0),  # offset to the left, still its front
        (3.3, 0.0, math.pi / 2.0, -45.0, 45.0),  # into the side of a crossing car
        (0.0, 1.9, 0.0, 46.0, 134.0),  # a car beside it on the left
        (0.0, -1.9, 0.0, -134.0, -46.0),  # on the right
        (1.0, 3.3, -math.pi / 2.0, 46.0, 134.0),  # somebody drove into its left side
    ],
)
def test_front_and_sides_are_told_apart(
    x: float, y: float, heading: float, low: float, high: float, turned: float
) -> None:
    assert low <= seen(x, y, heading, turned) <= high


def test_the_rear_is_behind() -> None:
    assert abs(seen(-4.7, 0.0)) > 135.0
    assert abs(seen(-4.7, 0.5)) > 135.0


def test_boxes_that_lie_over_each_other_say_nothing() -> None:
    assert math.isnan(seen(0.5, 0.0))

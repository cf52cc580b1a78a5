"""Sensors whose messages name actors, and sensors that the client computes itself."""

from __future__ import annotations

import queue
from typing import Any

import pytest

carla = pytest.importorskip("carla")


def attach(world: Any, type_id: str, parent: Any, **attributes: str) -> tuple[Any, Any]:
    blueprint = world.get_blueprint_library().find(type_id)
    for key, value in attributes.items():
        blueprint.set_attribute(key, value)
    sensor = world.spawn_actor(blueprint, carla.Transform(carla.Location(x=2.5, z=0.7)), parent)
    events: queue.Queue[Any] = queue.Queue()
    sensor.listen(events.put)
    return sensor, events


@pytest.fixture
def pair(world: Any) -> tuple[Any, Any]:
    """A car, and another one 10 m before it."""
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    behind = world.spawn_actor(library.find("vehicle.tesla.model3"), point)
    place = point.location + point.get_forward_vector() * 10.0
    before = world.spawn_actor(
        library.find("vehicle.audi.tt"), carla.Transform(place, point.rotation)
    )
    for _ in range(12):
        world.tick()
    return behind, before


def test_a_collision_names_both_and_pushes_back(world: Any, pair: tuple[Any, Any]) -> None:
    behind, before = pair
    sensor, events = attach(world, "sensor.other.collision", behind)
    behind.apply_control(carla.VehicleControl(throttle=1.0))
    for _ in range(100):
        frame = world.tick()
        if not events.empty():
            break
    hit = events.get(timeout=5.0)
    assert hit.frame <= frame
    assert (hit.actor.id, hit.other_actor.id) == (behind.id, before.id)
    assert hit.other_actor.type_id == "vehicle.audi.tt"
    assert hit.normal_impulse.length() > 100.0
    assert hit.normal_impulse.dot(behind.get_transform().get_forward_vector()) < 0.0
    sensor.stop()
    sensor.destroy()


def test_an_obstacle_is_as_far_as_it_is(world: Any, pair: tuple[Any, Any]) -> None:
    behind, before = pair
    sensor, events = attach(world, "sensor.other.obstacle", behind, distance="20")
    world.tick()
    seen = events.get(timeout=5.0)
    assert (seen.actor.id, seen.other_actor.id) == (behind.id, before.id)
    gap = 10.0 - 2.5 - before.bounding_box.extent.x
    assert seen.distance == pytest.approx(gap, abs=0.7)
    sensor.stop()
    sensor.destroy()


def test_lane_invasion_is_seen_by_the_client(world: Any, pair: tuple[Any, Any]) -> None:
    behind, before = pair
    before.destroy()
    sensor, events = attach(world, "sensor.other.lane_invasion", behind)
    behind.apply_control(carla.VehicleControl(throttle=0.7, steer=-0.2))
    for _ in range(80):
        world.tick()
    assert not events.empty()
    sensor.stop()
    sensor.destroy()


@pytest.mark.parametrize("kind", ["gnss", "imu", "radar"])
def test_other_sensors_send_every_tick(world: Any, pair: tuple[Any, Any], kind: str) -> None:
    sensor, events = attach(world, f"sensor.other.{kind}", pair[0])
    frames = [world.tick() for _ in range(3)]
    assert [events.get(timeout=5.0).frame for _ in frames] == frames
    sensor.stop()
    sensor.destroy()


def test_an_unmodelled_sensor_is_silent_and_harmless(world: Any, pair: tuple[Any, Any]) -> None:
    sensor, events = attach(world, "sensor.other.v2x", pair[0])
    for _ in range(3):
        world.tick()
    assert events.empty()
    sensor.stop()
    sensor.destroy()

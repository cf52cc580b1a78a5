"""Sensors lose no frame and crash nothing, however often they come and go."""

from __future__ import annotations

import math

import carla
import numpy as np
import pytest

from driveproof.sim.client import ServerLost, Session

MKZ = "vehicle.lincoln.mkz_2020"
SMALL = {"image_size_x": 64, "image_size_y": 36}


def place(session: Session, number: int, ahead: float = 0.0) -> tuple[float, float, float]:
    point = session.carla_map.get_spawn_points()[number]
    heading = -math.radians(point.rotation.yaw)
    x, y = point.location.x, -point.location.y
    return x + ahead * math.cos(heading), y + ahead * math.sin(heading), heading


def cycles(session: Session, count: int) -> int:
    """How many frames arrive in ``count`` rounds of create, listen, tick, drain, destroy."""
    car = session.spawn_vehicle(MKZ, place(session, 0))
    session.tick()
    taken = 0
    for _ in range(count):
        camera = session.attach_sensor("sensor.camera.rgb", SMALL, (1.0, 0.0, 1.6), car)
        state = session.tick()
        taken += camera.get(state.frame).width == 64
        session.destroy([camera.id])
    return taken


def test_cameras_that_come_and_go_lose_no_frame(session: Session) -> None:
    assert cycles(session, 40) == 40


@pytest.mark.slow
def test_three_hundred_cameras_lose_no_frame(session: Session) -> None:
    assert cycles(session, 300) == 300


def test_every_frame_arrives_once_and_in_order(session: Session) -> None:
    camera = session.attach_sensor("sensor.camera.rgb", SMALL, (0.0, 0.0, 30.0))
    frames = [session.tick().frame for _ in range(5)]
    assert [camera.get(frame).frame for frame in frames] == frames
    assert camera.take() == []
    later = [session.tick().frame for _ in range(3)]
    assert camera.get(later[-1]).frame == later[-1]  # the two before it are dropped
    with pytest.raises(ServerLost, match="no measurement"):
        camera.get(later[-1] + 1, timeout_s=0.2)


def test_a_slow_camera_measures_at_its_own_pace(session: Session) -> None:
    camera = session.attach_sensor(
        "sensor.camera.rgb", {**SMALL, "sensor_tick": 0.5}, (0.0, 0.0, 30.0)
    )
    frames = [session.tick().frame for _ in range(21)]
    assert [camera.get(frame).frame for frame in frames[::10]] == frames[::10]


def test_a_camera_sits_where_it_was_mounted(session: Session) -> None:
    car = session.spawn_vehicle(MKZ, place(session, 2))
    session.tick()
    yaw = math.radians(90.0)  # to the left
    camera = session.attach_sensor("sensor.camera.rgb", SMALL, (1.0, 2.0, 1.5, yaw), car)
    pose = camera.get(session.tick().frame).transform
    inverse = np.array(car.get_transform().get_inverse_matrix())
    local = inverse @ [pose.location.x, pose.location.y, pose.location.z, 1.0]
    assert local[:3] == pytest.approx([1.0, -2.0, 1.5], abs=0.02)
    turned = pose.rotation.yaw - car.get_transform().rotation.yaw
    assert math.cos(math.radians(turned + 90.0)) == pytest.approx(1.0, abs=1e-3)


def test_a_crash_is_reported_with_who_was_hit(session: Session) -> None:
    car = session.spawn_vehicle(MKZ, place(session, 1), speed=10.0)
    other = session.spawn_vehicle(MKZ, place(session, 1, ahead=9.0))
    session.watch_collisions(car)
    session.tick()
    session.apply({other.id: carla.VehicleControl(brake=1.0, hand_brake=True)})
    session.apply({car.id: carla.VehicleControl(throttle=1.0)})
    found = [c for _ in range(30) for c in session.tick().collisions]
    assert found
    assert {c.actor_id for c in found} == {car.id}
    assert found[0].other_id == other.id
    assert found[0].other_type == MKZ
    assert found[0].impulse > 100.0


def test_destroying_a_vehicle_closes_the_sensors_on_it(session: Session) -> None:
    car = session.spawn_vehicle(MKZ, place(session, 0))
    camera = session.attach_sensor("sensor.camera.rgb", SMALL, (1.0, 0.0, 1.6), car)
    session.tick()
    session.destroy([car.id])
    state = session.tick()
    assert car.id not in state.actors
    assert not session.world.get_snapshot().has_actor(camera.id)

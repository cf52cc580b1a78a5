"""A session speaks right-handed metres and radians, and leaves the server as it found it."""

from __future__ import annotations

import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import carla
import msgpack
import numpy as np
import pytest

from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.scene import LightState
from driveproof.sim.client import (
    ServerHandle,
    Session,
    SimulatorUnreachable,
    SpawnBlocked,
    UnknownBlueprint,
    WrongVersion,
)

MKZ = "vehicle.lincoln.mkz_2020"


def straight_place(session: Session, number: int = 0) -> tuple[float, float, float]:
    """The pose of a spawn point, right-handed."""
    point = session.carla_map.get_spawn_points()[number]
    return point.location.x, -point.location.y, -math.radians(point.rotation.yaw)


def test_a_vehicle_appears_where_and_as_it_was_put_down(session: Session) -> None:
    x, y, heading = straight_place(session)
    car = session.spawn_vehicle(MKZ, (x, y, heading), role_name="hero", colour=(1, 2, 3), speed=5.0)
    state = session.tick().actors[car.id]
    assert (state.kind, state.type_id, state.role_name) == ("vehicle", MKZ, "hero")
    assert state.base_type == "car"
    assert math.hypot(state.x - x, state.y - y) < 0.4
    assert math.cos(state.heading - heading) == pytest.approx(1.0, abs=1e-3)
    assert state.speed == pytest.approx(5.0, abs=0.3)
    assert (state.length, state.width) == pytest.approx((4.89, 1.84), abs=0.05)
    assert state.z == pytest.approx(session.ground(x, y), abs=0.3)
    assert car.attributes["color"] == "1,2,3"


def test_states_move_as_their_velocity_says(session: Session) -> None:
    place = straight_place(session, 3)
    car = session.spawn_vehicle(MKZ, place, speed=8.0)
    states = [session.tick().actors[car.id] for _ in range(21)]
    before, after = states[0], states[-1]
    moved = np.array([after.x - before.x, after.y - before.y])
    ahead = np.array([math.cos(place[2]), math.sin(place[2])])
    way = np.trapezoid([state.speed for state in states], dx=0.05)
    assert moved @ ahead == pytest.approx(way, abs=0.2)
    assert after.vx * ahead[0] + after.vy * ahead[1] == pytest.approx(after.speed, abs=0.1)


def test_steering_left_turns_left(session: Session) -> None:
    car = session.spawn_vehicle(MKZ, straight_place(session, 5), speed=5.0)
    heading = session.tick().actors[car.id].heading
    session.apply({car.id: carla.VehicleControl(throttle=0.4, steer=-0.4)})
    for _ in range(10):
        state = session.tick().actors[car.id]
    assert math.remainder(state.heading - heading, math.tau) > 0.05
    assert state.yaw_rate > 0.05


def test_the_clock_counts_ticks_from_its_restart(session: Session) -> None:
    session.restart_clock()
    times = [session.tick().time for _ in range(4)]
    assert times == pytest.approx([0.0, 0.05, 0.1, 0.15])
    assert session.state.frame > 4


def test_where_something_stands_nothing_is_put_down(session: Session) -> None:
    session.spawn_vehicle(MKZ, straight_place(session))
    with pytest.raises(SpawnBlocked):
        session.spawn_vehicle(MKZ, straight_place(session))


def test_walkers_and_things_have_their_own_kinds(session: Session) -> None:
    x, y, heading = straight_place(session)
    walker = session.spawn_walker("walker.pedestrian.0001", (x, y + 3.0, heading))
    cone = session.spawn_prop("static.prop.constructioncone", (x + 4.0, y, 0.0))
    state = session.tick()
    assert [a.id for a in state.of_kind("walker")] == [walker.id]
    assert [a.id for a in state.of_kind("prop")] == [cone.id]
    assert state.actors[walker.id].z == pytest.approx(session.ground(x, y), abs=0.35)


def test_unknown_blueprints_towns_and_steps_are_the_users_errors(session: Session) -> None:
    with pytest.raises(UnknownBlueprint, match=r"vehicle\.no\.where"):
        session.spawn_vehicle("vehicle.no.where", straight_place(session))
    with pytest.raises(UnknownBlueprint, match="wings"):
        session.attach_sensor("sensor.camera.rgb", {"wings": 2})
    with pytest.raises(BadInput, match="no town Atlantis"):
        session.load_town("Atlantis")
    with pytest.raises(BadInput, match="no weather parameter"):
        session.set_weather({"frogs": 1.0})
    with pytest.raises(BadInput, match="delta_s"):
        Session.open(port=1, delta_s=0.5)
    assert session.tick().frame > 0  # it goes on


def test_lights_show_what_they_are_told(session: Session) -> None:
    session.freeze_lights()
    key = next(iter(session.state.lights))
    for wanted in (LightState.GREEN, LightState.YELLOW, LightState.RED):
        session.set_lights({key: wanted, "no such light": wanted})
        assert session.tick().lights[key] is wanted
    session.freeze_lights(False)


def test_the_lights_of_the_states_are_signals_of_the_town(session: Session) -> None:
    keys = {signal.key for signal in session.town.signals if signal.kind == "traffic_light"}
    assert keys
    assert set(session.state.lights) == keys


def test_lamps_are_read_as_they_were_set(session: Session) -> None:
    car = session.spawn_vehicle(MKZ, straight_place(session))
    session.tick()
    session.set_lamps({car.id: 0x8 | 0x20})
    assert session.lamps()[car.id] == 0x28


def test_a_session_leaves_the_server_as_it_found_it(carla_server: ServerHandle) -> None:
    other = carla.Client(carla_server.host, carla_server.port)
    other.set_timeout(10.0)
    before = other.get_world().get_settings()
    with Session.open(carla_server.host, carla_server.port, delta_s=0.1, town="Town01") as session:
        assert other.get_world().get_settings().fixed_delta_seconds == pytest.approx(0.1)
        car = session.spawn_vehicle(MKZ, straight_place(session))
        session.attach_sensor("sensor.other.imu", parent=car)
        session.tick()
    world = other.get_world()
    after = world.get_settings()
    assert after.synchronous_mode == before.synchronous_mode
    assert after.fixed_delta_seconds == before.fixed_delta_seconds
    world.wait_for_tick(5.0)
    assert not world.get_actors().filter("vehicle.*")
    assert not world.get_actors().filter("sensor.*")


@pytest.mark.slow
def test_a_map_without_a_town_file_is_read_from_the_server(carla_server: ServerHandle) -> None:
    client = carla.Client(carla_server.host, carla_server.port)
    client.set_timeout(30.0)
    town = load_town("Town02")
    client.generate_opendrive_world(town.opendrive)
    with Session.open(carla_server.host, carla_server.port) as session:
        assert session.town.name == "OpenDriveMap"
        assert len(session.town.lanes) == len(town.lanes)
        session.load_town("Town01")
        assert session.town.name == "Town01"
        assert session.state.frame > 0


def test_a_town_loaded_afresh_has_nobody_in_it(session: Session) -> None:
    session.spawn_vehicle(MKZ, straight_place(session))
    assert len(session.tick().actors) == 1
    session.load_town("Town01")
    assert not session.state.actors
    assert session.spawn_vehicle(MKZ, straight_place(session)).id > 0


FORGETFUL = """
import sys
from driveproof.sim.client import Session
session = Session.open(port=int(sys.argv[1]))
point = session.carla_map.get_spawn_points()[0]
car = session.spawn_vehicle(
    "vehicle.lincoln.mkz_2020", (point.location.x, -point.location.y, 0.0)
)
session.attach_sensor("sensor.camera.rgb", {"image_size_x": 64, "image_size_y": 36}, parent=car)
for _ in range(5):
    session.tick()
"""


@pytest.mark.slow
def test_a_program_that_forgets_to_close_ends_well(carla_server: ServerHandle, root: Path) -> None:
    command = [sys.executable, "-c", FORGETFUL, str(carla_server.port)]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    with Session.open(carla_server.host, carla_server.port, town="Town01") as session:
        assert not session.state.actors


def test_ten_clients_come_and_go(carla_server: ServerHandle, session: Session) -> None:
    for _ in range(10):
        client = carla.Client(carla_server.host, carla_server.port)
        client.set_timeout(10.0)
        assert client.get_world().get_map().name.endswith("Town01")
        session.tick()
        del client
    assert session.tick().frame > 10


@pytest.mark.slow
def test_nobody_there_is_said_in_time() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(SimulatorUnreachable, match="sim serve"):
        Session.open(port=port, timeout_s=0.5)
    assert time.monotonic() - started < 5.0


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port at which somebody answers every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(link,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def mute(link: socket.socket) -> None:
    time.sleep(5.0)
    link.close()


def old_version(link: socket.socket) -> None:
    unpacker = msgpack.Unpacker()
    with link:
        while data := link.recv(4096):
            unpacker.feed(data)
            for _, number, _, _ in unpacker:
                link.sendall(msgpack.packb([1, number, None, [[1, "0.9.13"]]]))


@pytest.mark.slow
def test_who_does_not_answer_is_no_simulator() -> None:
    with answering(mute) as port, pytest.raises(SimulatorUnreachable, match="does not answer"):
        Session.open(port=port, timeout_s=1.0)


def test_another_version_is_refused_with_what_to_install() -> None:
    with answering(old_version) as port, pytest.raises(WrongVersion, match=r"carla==0\.9\.13"):
        Session.open(port=port, timeout_s=2.0)

"""Ticks a second of the embedded server with the real client, both on the same machine.

Run with ``pytest -n 0 benchmarks/test_sim_server.py --benchmark-only``. Every round is ``TICKS`` synchronous ticks.
``test_client_alone`` is the client's own share: a tick of a world without vehicles, where the server has next to
nothing to do. Compare the others with it; a client spins while it waits, so on two cores it competes with the server.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from driveproof.sim.client import ServerHandle, start_server

TICKS = 500
VEHICLES = 50
#: Megabytes that 2,000 ticks with 50 vehicles may add.
GROWTH_MB = 20.0
CYCLES = 300


@pytest.fixture(scope="module")
def server() -> Iterator[ServerHandle]:
    handle = start_server("Town10HD", seed=0)
    yield handle
    handle.stop()


@pytest.fixture
def world(server: ServerHandle) -> Any:
    import carla

    client = carla.Client(server.host, server.port)
    client.set_timeout(60.0)
    fresh = client.reload_world()
    settings = fresh.get_settings()
    settings.synchronous_mode = True
    settings.fixed_delta_seconds = 0.05
    fresh.apply_settings(settings)
    return fresh


def drive(world: Any, count: int) -> list[Any]:
    """Vehicles on the first spawn points, in circles."""
    import carla

    blueprint = world.get_blueprint_library().find("vehicle.audi.tt")
    points = world.get_map().get_spawn_points()[:count]
    cars = [world.spawn_actor(blueprint, point) for point in points]
    for car in cars:
        car.apply_control(carla.VehicleControl(throttle=0.3, steer=0.3))
    tick(world, 20)
    return cars


def processes(server: ServerHandle) -> list[psutil.Process]:
    """The server's process and what it has started (it may stand behind a guard)."""
    first = psutil.Process(server.process.pid)
    return [first, *first.children(recursive=True)]


def cpu_s(server: ServerHandle) -> float:
    return float(sum(sum(process.cpu_times()[:2]) for process in processes(server)))


def memory_mb(server: ServerHandle) -> float:
    return float(sum(process.memory_info().rss for process in processes(server))) / 2**20


def tick(world: Any, count: int = TICKS) -> None:
    for _ in range(count):
        world.tick()


@pytest.mark.benchmark(group=f"{TICKS} ticks")
def test_client_alone(benchmark: Any, world: Any) -> None:
    benchmark.pedantic(tick, (world,), rounds=5, warmup_rounds=1)
    benchmark.extra_info["ticks_per_s"] = TICKS / benchmark.stats.stats.median


@pytest.mark.benchmark(group=f"{TICKS} ticks")
def test_moving_vehicles(benchmark: Any, world: Any, server: ServerHandle) -> None:
    drive(world, VEHICLES)
    before = cpu_s(server)
    benchmark.pedantic(tick, (world,), rounds=5, warmup_rounds=1)
    used = cpu_s(server) - before
    benchmark.extra_info["ticks_per_s"] = TICKS / benchmark.stats.stats.median
    benchmark.extra_info["server_cpu_ms_per_tick"] = used / (6 * TICKS) * 1e3


@pytest.mark.benchmark(group=f"{TICKS} ticks")
def test_memory_of_2000_ticks(benchmark: Any, world: Any, server: ServerHandle) -> None:
    drive(world, VEHICLES)
    before = memory_mb(server)
    benchmark.pedantic(tick, (world,), rounds=4)
    growth = memory_mb(server) - before
    benchmark.extra_info["growth_mb"] = growth
    assert growth < GROWTH_MB


@pytest.mark.benchmark(group="cameras")
def test_camera_cycles(benchmark: Any, world: Any) -> None:
    """Create, listen, tick, drain, destroy: no frame may be lost."""
    import carla

    blueprint = world.get_blueprint_library().find("sensor.camera.rgb")
    blueprint.set_attribute("image_size_x", "640")
    blueprint.set_attribute("image_size_y", "480")
    place = carla.Transform(carla.Location(z=3.0))

    def cycles() -> None:
        for _ in range(CYCLES):
            camera = world.spawn_actor(blueprint, place)
            frames: queue.Queue[Any] = queue.Queue()
            camera.listen(frames.put)
            frame = world.tick()
            assert frames.get(timeout=10.0).frame == frame
            camera.stop()
            camera.destroy()

    benchmark.pedantic(cycles, rounds=1)

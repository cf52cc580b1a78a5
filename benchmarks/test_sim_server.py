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

TICKS = 200
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
def client(server: ServerHandle) -> Any:
    import carla

    connected = carla.Client(server.host, server.port)
    connected.set_timeout(60.0)
    return connected


@pytest.fixture
def world(client: Any) -> Any:
    fresh = client.reload_world()
    settings = fresh.get_settings()
    settings.synchronous_mode = True
    settings.fixed_delta_seconds = 0.05
    fresh.apply_settings(settings)
    return fresh


class Traffic:
    """Vehicles that drive off from the first spawn points, again and again: what stands in a pile is no traffic."""

    def __init__(self, world: Any, client: Any, count: int) -> None:
        import carla

        blueprint = world.get_blueprint_library().find("vehicle.audi.tt")
        self._client = client
        self._points = world.get_map().get_spawn_points()[:count]
        self._cars = [world.spawn_actor(blueprint, point) for point in self._points]
        self._still = carla.Vector3D()
        for car in self._cars:
            car.apply_control(carla.VehicleControl(throttle=0.25))

    def restart(self) -> None:
        """Everybody back to the start."""
        from carla import command

        places = zip(self._cars, self._points, strict=True)
        batch = [command.ApplyTransform(car.id, point) for car, point in places]
        batch += [command.ApplyTargetVelocity(car.id, self._still) for car in self._cars]
        self._client.apply_batch_sync(batch, True)


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
    benchmark.pedantic(tick, (world,), rounds=10, warmup_rounds=1)
    benchmark.extra_info["ticks_per_s"] = TICKS / benchmark.stats.stats.median


@pytest.mark.benchmark(group=f"{TICKS} ticks")
def test_moving_vehicles(benchmark: Any, client: Any, world: Any, server: ServerHandle) -> None:
    traffic = Traffic(world, client, VEHICLES)
    used: list[float] = []

    def timed() -> None:
        before = cpu_s(server)
        tick(world)
        used.append(cpu_s(server) - before)

    benchmark.pedantic(timed, setup=traffic.restart, rounds=10, warmup_rounds=1)
    benchmark.extra_info["ticks_per_s"] = TICKS / benchmark.stats.stats.median
    benchmark.extra_info["server_cpu_ms_per_tick"] = min(used) / TICKS * 1e3


@pytest.mark.benchmark(group=f"{TICKS} ticks")
def test_memory_of_2000_ticks(
    benchmark: Any, client: Any, world: Any, server: ServerHandle
) -> None:
    traffic = Traffic(world, client, VEHICLES)
    tick(world)
    before = memory_mb(server)
    benchmark.pedantic(tick, (world,), setup=traffic.restart, rounds=2000 // TICKS)
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

"""The leaderboard's agent drives a route to its end by measurements alone, and leaves traces."""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from leaderboard_world import DT, Follower, Gps, World, leaderboard_gps, load_agent

from driveproof.drive.leaderboard import LeaderboardDriver
from driveproof.drive.leaderboard_plan import route_of
from driveproof.drive.leaderboard_serve import bridge
from driveproof.drive.localisation import Earth, Localiser
from driveproof.drive.plan import DriveSettings
from driveproof.errors import BadInput
from driveproof.evaluation.driving.decisions import read_decisions
from driveproof.evaluation.driving.motion import read_motion
from driveproof.maps import Route, TownMap, load_town
from driveproof.sim.sensors.geodesy import Geodesy

AGENT = Path(__file__).parents[2] / "driveproof/sim/leaderboard/driveproof_agent.py"


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town01")


@pytest.fixture(scope="module")
def route(town: TownMap) -> Route:
    return town.random_route(np.random.default_rng(4), 150.0)


@contextmanager
def served(spec: str, out: Path | None) -> Iterator[str]:
    """A bridge in a thread, with a policy of this folder."""
    driver = LeaderboardDriver(f"leaderboard_world:{spec}", DriveSettings(), out)
    server = bridge(driver, 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def made_agent(tmp_path: Path, url: str, world: World, episode: str = "") -> Any:
    """The agent in the leaderboard's order: made, given the plan, set up."""
    module = load_agent(AGENT)
    agent = getattr(module, module.get_entry_point())("127.0.0.1", 2000)
    agent.set_global_plan(*world.plan())
    config = tmp_path / "agent.json"
    config.write_text(json.dumps({"bridge": url, "timeout_s": 20}))
    agent.setup(f"{config}+{episode}" if episode else str(config))
    return agent


def geodesy(x: float, y: float) -> tuple[float, float]:
    """CARLA 0.9.16: latitude grows to the south."""
    return Geodesy(42.0, 2.0).locate(x, y, 0.0)[:2]


@pytest.mark.slow
@pytest.mark.parametrize("gps", [leaderboard_gps(0.0, 0.0), leaderboard_gps(48.99, 8.0), geodesy])
def test_a_route_is_driven_to_its_end(
    tmp_path: Path, town: TownMap, route: Route, gps: Gps
) -> None:
    world = World(town, route, gps)
    with served("Follower", tmp_path / "traces") as url:
        agent = made_agent(tmp_path, url, world, "RouteScenario_7_rep0_Town01")
        cameras = [one for one in agent.sensors() if one["type"] == "sensor.camera.rgb"]
        off = []
        while world.time < 60.0:
            control = agent.run_step(world.sense(cameras, first=world.time == 0.0), world.time)
            world.tick(control)
            off.append(abs(float(route.line.project([world.ego.x, world.ego.y])[1])))
            if math.dist((world.ego.x, world.ego.y), route.line.points[-1]) < 5.0:
                break
        agent.destroy()
    assert world.time < 60.0, "it never arrived"
    assert max(off) < 1.2, "it left its lane"
    folder = tmp_path / "traces" / "RouteScenario_7_rep0_Town01"
    decisions, motion = read_decisions(folder), read_motion(folder / "motion.parquet")
    assert len(motion) == round(world.time / DT)
    assert len(decisions) == pytest.approx(world.time * 2.0, abs=1)  # twice a second
    assert decisions[0].keys == "FOLLOW_LANE, ACCELERATE"
    assert decisions[0].trace == {"steps": []}
    assert motion.completion[-1] > 0.9
    estimate = (motion.x[-1], motion.y[-1])
    assert math.dist(estimate, (world.ego.x, world.ego.y)) < 1.0
    policy = Follower.made[-1]
    seen = policy.seen
    assert [len(one.pictures["CAM_FRONT"]) for one in seen[:2]] == [2, 2]
    assert tuple(seen[0].pictures["CAM_FRONT"][0][0, 0]) == (10, 0, 200)  # RGB
    assert policy.begun == ["RouteScenario_7_rep0_Town01"]


def test_sensors_are_the_leaderboards(tmp_path: Path, town: TownMap, route: Route) -> None:
    with served("Follower", None) as url:
        agent = made_agent(tmp_path, url, World(town, route, leaderboard_gps(0.0, 0.0)))
        assert agent.track.value == "MAP"
        sensors = {one["id"]: one for one in agent.sensors()}
    assert set(sensors) == {"CAM_FRONT", "GNSS", "IMU", "SPEED", "MAP"}
    keys = {"type", "id", "x", "y", "z", "roll", "pitch", "yaw", "width", "height", "fov"}
    assert set(sensors["CAM_FRONT"]) == keys
    assert sensors["SPEED"]["type"] == "sensor.speedometer"


def test_an_error_of_the_policy_is_noted_and_the_last_keys_hold(
    tmp_path: Path, town: TownMap, route: Route
) -> None:
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    with served("Breaks", tmp_path / "traces") as url:
        agent = made_agent(tmp_path, url, world)
        cameras = [one for one in agent.sensors() if one["type"] == "sensor.camera.rgb"]
        for _ in range(30):
            world.tick(agent.run_step(world.sense(cameras, first=False), world.time))
        agent.destroy()
    first, *rest = read_decisions(tmp_path / "traces" / "drive_0001")
    assert first.error == ""
    assert all("out of memory" in one.error for one in rest)
    assert world.ego.speed > 2.0  # ACCELERATE of the first decision


def test_whatever_a_policy_raises_or_returns_is_its_error(
    tmp_path: Path, town: TownMap, route: Route
) -> None:
    class Odd:
        def __getattr__(self, name: str) -> Any:
            return getattr(Follower(), name)

        def decide(self, _: object) -> Any:
            if len(told) > 10:
                return None
            raise ZeroDivisionError("by hand")

    told: list[Any] = []
    driver = LeaderboardDriver("leaderboard_world:Follower", DriveSettings(), tmp_path)
    driver.policy = cast(Any, Odd())
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    begun(driver, world)
    for _ in range(25):
        told.append(stepped(driver, world))
        world.time += DT
    driver.end()
    errors = [one.error for one in read_decisions(tmp_path / "drive_0001")]
    assert errors[0] == "ZeroDivisionError: by hand"
    assert errors[-1] == "the policy gave no decision: NoneType"


def begun(driver: LeaderboardDriver, world: World, episode: str = "") -> str:
    """Begin a drive without the agent."""
    gps, plan = world.plan()
    content = {
        "episode": episode,
        "plan": [[p.location.x, p.location.y, p.location.z] for p, _ in plan],
        "gps": [[g["lat"], g["lon"]] for g, _ in gps],
        "opendrive": world.town.opendrive,
        "time": world.time,
    }
    return str(driver.begin(json.dumps(content).encode())["drive"])


def stepped(driver: LeaderboardDriver, world: World) -> Any:
    """A tick with a picture."""
    sensed = world.sense([], first=False)
    pictures = [[mount.sensor, mount.height, mount.width] for mount in driver.mounts]
    content = {
        "time": world.time,
        "gnss": [float(v) for v in sensed["GNSS"][1][:3]],
        "imu": [None if np.isnan(v) else float(v) for v in sensed["IMU"][1][:7]],
        "speed": float(sensed["SPEED"][1]["speed"]),
        "pictures": pictures,
    }
    pixels = b"".join(bytes(4 * height * width) for _, height, width in pictures)
    return driver.step(json.dumps(content).encode() + b"\n" + pixels)


def test_no_folder_is_written_into_twice(tmp_path: Path, town: TownMap, route: Route) -> None:
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    seeds: list[int] = []
    for _ in range(2):  # the bridge is started again
        driver = LeaderboardDriver("leaderboard_world:Follower", DriveSettings(), tmp_path)
        made = driver.policy.begin
        driver.policy.begin = lambda name, seed, made=made: (seeds.append(seed), made(name, seed))  # type: ignore[method-assign]
        for episode in ("", "RouteScenario_7_rep0", "RouteScenario_7_rep0"):
            begun(driver, world, episode)
            stepped(driver, world)
            world.time += DT
        driver.end()
    names = [f"RouteScenario_7_rep0{end}" for end in ("", "_2", "_3", "_4")]
    assert sorted(one.name for one in tmp_path.iterdir()) == [*names, "drive_0001", "drive_0002"]
    assert all((one / "motion.parquet").is_file() for one in tmp_path.iterdir())
    assert seeds[:3] == seeds[3:]  # of the route, not of how many came before
    assert seeds[0] != seeds[1] == seeds[2]


@pytest.mark.slow
def test_a_polite_end_writes_what_was_driven(
    tmp_path: Path, town: TownMap, route: Route, root: Path
) -> None:
    words = ["leaderboard", "--policy", "leaderboard_world:Follower", "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "driveproof", *words, "--out", str(tmp_path / "traces")],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}:{Path(__file__).parent}"},
    )
    try:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        world = World(town, route, leaderboard_gps(0.0, 0.0))
        agent = made_agent(tmp_path, url, world)
        cameras = [one for one in agent.sensors() if one["type"] == "sensor.camera.rgb"]
        for _ in range(5):
            world.tick(agent.run_step(world.sense(cameras, first=False), world.time))
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.wait()
    assert len(read_motion(tmp_path / "traces" / "drive_0001" / "motion.parquet")) == 5


def test_a_lost_model_server_is_a_crash_of_the_agent(
    tmp_path: Path, town: TownMap, route: Route
) -> None:
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    with served("LosesItsServer", None) as url:
        agent = made_agent(tmp_path, url, world)
        cameras = [one for one in agent.sensors() if one["type"] == "sensor.camera.rgb"]
        with pytest.raises(RuntimeError, match="model server: gone"):
            agent.run_step(world.sense(cameras, first=True), world.time)


def test_a_plan_through_junctions_is_the_way_it_came_from(town: TownMap) -> None:
    for seed in range(12):
        route = town.random_route(np.random.default_rng(seed), 300.0)
        plan = np.column_stack([route.line.points, route.z])
        found = route_of(plan, town)
        off = [abs(float(route.line.project(point)[1])) for point in found.line.points[::5]]
        assert max(off) < 0.6
        assert found.length == pytest.approx(route.length, abs=30.0)  # less an end in a junction
        assert found.length < route.length + 3.0


def test_a_plan_of_another_map_is_refused(town: TownMap, route: Route) -> None:
    plan = np.column_stack([route.line.points, route.z])
    plan[len(plan) // 2 :] += [0.0, 150.0, 0.0]
    with pytest.raises(BadInput):
        route_of(plan, town)


def test_without_a_bridge_the_agent_says_so(tmp_path: Path, town: TownMap, route: Route) -> None:
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    with pytest.raises(RuntimeError, match=r"http://127\.0\.0\.1:9"):
        made_agent(tmp_path, "http://127.0.0.1:9", world)


def test_the_agent_file_stands_alone_in_old_pythons() -> None:
    tree = ast.parse(AGENT.read_text(), feature_version=(3, 7))
    names = [node.names[0].name for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    outside = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    assert outside == {"carla", "numpy", "leaderboard"}


@pytest.mark.parametrize(
    ("call", "body", "said"),
    [
        ("begin", b"{}", "not a message of the agent"),
        (
            "begin",
            b'{"plan": [[0,0,0],[1,0,0]], "gps": [], "opendrive": "", "time": 0}',
            "0 places",
        ),
        ("step", b"{}\n", "no drive has begun"),
    ],
)
def test_what_is_no_call_is_refused(call: str, body: bytes, said: str) -> None:
    driver = LeaderboardDriver("leaderboard_world:Follower", DriveSettings())
    with pytest.raises(BadInput, match=said):
        getattr(driver, call)(body)


def test_pictures_that_are_not_there_are_refused(town: TownMap, route: Route) -> None:
    driver = LeaderboardDriver("leaderboard_world:Follower", DriveSettings())
    world = World(town, route, leaderboard_gps(0.0, 0.0))
    gps, plan = world.plan()
    begin = {
        "plan": [[p.location.x, p.location.y, 0.0] for p, _ in plan],
        "gps": [[g["lat"], g["lon"]] for g, _ in gps],
        "opendrive": town.opendrive,
        "time": 0.0,
    }
    driver.begin(json.dumps(begin).encode())
    step = {"time": 0.0, "gnss": [0.0, 0.0, 0.0], "imu": [0.0] * 7, "speed": 0.0}
    listed = {**step, "pictures": [["CAM_FRONT", 4, 4]]}
    with pytest.raises(BadInput, match="CAM_FRONT: its pixels are missing"):
        driver.step(json.dumps(listed).encode() + b"\n" + bytes(63))
    with pytest.raises(BadInput, match="more than the pictures"):
        driver.step(json.dumps(listed).encode() + b"\n" + bytes(65))
    with pytest.raises(BadInput, match="the picture of this camera is missing"):
        driver.step(json.dumps(step).encode() + b"\n")


@given(st.floats(-60.0, 60.0), st.floats(-170.0, 170.0), st.integers(0, 1000))
def test_a_plan_tells_how_the_earth_lies(latitude: float, longitude: float, seed: int) -> None:
    # A walk of 300 m from a place within 2 km of the map's reference; every place on it is found again.
    rng = np.random.default_rng(seed)
    plan = rng.uniform(-2000.0, 2000.0, 2) + np.cumsum(rng.uniform(-1.0, 2.0, (300, 2)), axis=0)
    for gps in (
        leaderboard_gps(latitude, longitude),
        lambda x, y: Geodesy(latitude, longitude).locate(x, y, 0.0)[:2],
    ):
        where = np.array([gps(x, y) for x, y in plan.tolist()])
        earth = Earth.of(where, plan)
        found = np.array([earth.locate(lat, lon) for lat, lon in where.tolist()])
        assert np.abs(found - plan).max() < 0.5


def test_a_straight_plan_along_an_axis_is_enough() -> None:
    plan = np.stack([np.linspace(0.0, 200.0, 50), np.full(50, 3.0)], axis=1)
    gps = leaderboard_gps(49.0, 8.0)
    where = np.array([gps(x, y) for x, y in plan.tolist()])
    beside = Earth.of(where, plan).locate(*gps(100.0, 8.0))
    assert beside == pytest.approx((100.0, 8.0), abs=0.05)


def test_noise_of_half_a_metre_becomes_a_few_decimetres() -> None:
    gps = leaderboard_gps(0.0, 0.0)
    plan = np.array([[0.0, 0.0], [200.0, 200.0]])
    where = np.array([gps(x, y) for x, y in plan.tolist()])
    localiser, rng = Localiser(Earth.of(where, plan), 0.0), np.random.default_rng(1)
    errors = []
    for tick in range(400):
        x = 8.0 * DT * tick
        lat, lon = np.array(gps(x, 0.0)) + 0.000005 * rng.standard_normal(2)
        compass = math.nan if tick == 0 else math.pi / 2.0
        ego = localiser.update(lat, lon, compass, 8.0, DT if tick else 0.0)
        errors.append(math.dist((ego.x, ego.y), (x, 0.0)))
    assert np.sqrt(np.mean(np.square(errors[60:]))) < 0.2

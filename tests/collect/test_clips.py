"""Clips of real drives on a real town: readable, reproducible, and without accidents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import psutil
import pytest

from driveproof.collect.campaign import Simulator, collect
from driveproof.collect.clips import ClipRecord, ClipTask, roads_of
from driveproof.collect.episode import Drive, Episode, Spoiled, plan
from driveproof.collect.situations import SITUATIONS, shares
from driveproof.collect.staging import NoPlace, seeded
from driveproof.config.collect import CollectParams
from driveproof.datasets import open_logs
from driveproof.errors import BadInput
from driveproof.scene import Command, LightState, Log, WindowReport, WindowRules, scenes_of
from driveproof.sim.client import ServerLost
from driveproof.sim.drivers import Crossing, LaneChange, Reason
from driveproof.sim.drivers import Path as Way
from driveproof.sim.recorder import commands

pytestmark = pytest.mark.slow

TINY = CollectParams(
    towns=("Town01",), clips=3, seconds=8.0, workers=1, traffic=5, front_width=64, front_height=36,
    side_width=32, side_height=18, bev_pixels=32, weathers=(0, 14),
)  # fmt: skip


def one_log(path: Path) -> Log:
    (log,) = open_logs("bench2drive", [path])
    assert isinstance(log, Log)
    return log


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as opened:
        yield opened


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, simulator: Simulator) -> Path:
    folder = tmp_path_factory.mktemp("clip")
    record = simulator.record(ClipTask(0, "RedLight", 3, TINY, folder))
    assert record.clip
    return folder / f"{record.clip}.tar"


def test_a_clip_reads_back_as_a_drive_with_pictures_lights_and_commands(clip: Path) -> None:
    log = one_log(clip)
    assert log.town == "Town01"
    assert log.situation == "RedLight"
    assert len(log.times) == 80
    assert {k: len(v[1]) for k, v in log.images.items()} == dict.fromkeys(
        ("front", "front_left", "front_right"), 16
    )
    step = np.hypot(*np.diff(log.poses[:, :2], axis=0).T)
    assert log.velocity is not None
    assert step.sum() == pytest.approx(np.trapezoid(log.velocity[:, 0], log.times), rel=0.02)
    affecting = [s for row in log.signals.values() for s in row if s.affects_ego]
    assert {s.kind for s in affecting} == {"traffic_light"}
    assert {s.state for s in affecting} >= {LightState.RED}
    assert log.agents is not None
    assert len(log.agents) > 0
    report = WindowReport()
    scenes = list(scenes_of(log, WindowRules(), report))
    assert len(scenes) == 3  # 8 s minus 1.5 s of history and 5 s of future
    assert not scenes[0].missing


def test_the_ego_stands_where_its_pose_says(clip: Path) -> None:
    log = one_log(clip)
    roads = roads_of("Town01")
    match = roads.town.nearest_lane(log.poses[:, :2], log.poses[:, 2])
    assert np.abs(match.lateral).max() < 1.2
    assert np.abs(match.heading_error).max() < 0.9


def kill_a_worker(record: ClipRecord, killed: list[int]) -> None:
    """Once, as a crash of the client library does."""
    workers = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
    if workers and not killed:
        killed.append(workers[0].pid)
        workers[0].kill()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_however_many_workers_and_whoever_dies(
    tmp_path: Path,
) -> None:
    killed: list[int] = []
    collect(TINY, 5, tmp_path / "one")
    two = TINY.model_copy(update={"workers": 2})
    collect(two, 5, tmp_path / "two", lambda record: kill_a_worker(record, killed))
    assert killed
    names = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert names == sorted(p.name for p in (tmp_path / "two").iterdir())
    assert len(names) == 4
    for name in names:
        first, second = (tmp_path / folder / name for folder in ("one", "two"))
        assert first.read_bytes() == second.read_bytes(), name
    index = json.loads((tmp_path / "one" / "index.json").read_text())
    assert sum(index["situations"].values()) == 3


def drive(
    simulator: Simulator,
    situation: str,
    town: str,
    seed: int,
    key: str,
    seconds: float,
    traffic: int,
) -> Episode:
    """One drive without a recorder."""
    staged = plan(situation, roads_of(town), seed, key, traffic)
    simulator.session.enter_town(town)
    return Drive(simulator.session, roads_of(town), staged, seeded(seed, key)).run(seconds)


def outcomes_of(
    simulator: Simulator, situations: Iterable[str], towns: Iterable[str], seeds: int
) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for situation, town, seed in product(situations, towns, range(seeds)):
        try:
            drive(simulator, situation, town, seed, f"{situation}/{town}", 8.0, 10)
            outcomes["driven"] += 1
        except NoPlace:
            outcomes["no_place"] += 1
        except Spoiled as reason:
            outcomes[str(reason)] += 1
    return outcomes


def test_the_expert_neither_collides_nor_runs_red_lights(simulator: Simulator) -> None:
    outcomes = outcomes_of(simulator, SITUATIONS, ["Town03"], 1)
    assert outcomes["driven"] >= 7
    assert outcomes["collision"] == outcomes["red_light"] == outcomes["off_path"] == 0


@pytest.mark.slow
def test_over_many_drives_the_expert_collides_in_at_most_one_of_fifty(
    simulator: Simulator,
) -> None:
    towns = ["Town01", "Town03", "Town05", "Town10HD"]
    outcomes = outcomes_of(simulator, SITUATIONS, towns, 2)
    assert outcomes["driven"] >= 60
    assert outcomes["red_light"] == 0
    assert outcomes["collision"] <= 0.02 * outcomes["driven"]


@pytest.mark.slow
def test_a_server_that_dies_costs_time_but_no_clip(simulator: Simulator, tmp_path: Path) -> None:
    task = ClipTask(1, "TurnLeft", 4, TINY, tmp_path)
    first = simulator.record(task)
    data = (tmp_path / f"{first.clip}.tar").read_bytes()
    simulator.session  # noqa: B018 (it runs)
    simulator.server.kill()
    with pytest.raises(ServerLost):
        simulator.session.tick()
    second = simulator.record(task)
    assert second == first
    assert (tmp_path / f"{second.clip}.tar").read_bytes() == data


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        ("RedLight", Reason.RED_LIGHT),
        ("LeadBrakes", Reason.LEAD),
        ("PedestrianCrossing", Reason.PEDESTRIAN),
        ("ParkedCar", Reason.PASSING),
    ],
)
def test_a_situation_makes_the_expert_do_what_it_is_named_for(
    simulator: Simulator, situation: str, reason: Reason
) -> None:
    found: Counter[bool] = Counter()
    for seed in range(12):
        try:
            episode = drive(simulator, situation, "Town03", seed, situation, 10.0, 4)
        except (NoPlace, Spoiled):
            continue
        found[any(m.decision.reason is reason for m in episode.moments)] += 1
        if found[True] >= 2:
            break
    assert found[True] > found[False]


def test_the_navigator_speaks_before_the_junction_and_until_its_end() -> None:
    x = np.arange(300.0)
    crossings = [
        Crossing(100.0, 120.0, 1, Command.LEFT),
        Crossing(200.0, 215.0, 2, Command.RIGHT),
    ]
    path = Way.of(np.stack([x, np.zeros_like(x)], 1), crossings=crossings)
    spoken = [commands(path, s + 3.9, s) for s in (40.0, 70.0, 119.0, 121.0, 170.0)]
    assert [near for near, _ in spoken] == [
        Command.FOLLOW, Command.LEFT, Command.LEFT, Command.FOLLOW, Command.RIGHT,
    ]  # fmt: skip
    assert spoken[1][1] is Command.FOLLOW  # the second junction is too far to be spoken of
    assert spoken[2][1] is Command.RIGHT


def test_a_lane_change_is_spoken_of_as_such() -> None:
    x = np.arange(300.0)
    changes = [LaneChange(100.0, 125.0, -3.5, 150.0)]
    path = Way.of(np.stack([x, np.zeros_like(x)], 1), changes=changes)
    assert commands(path, 60.0, 56.0) == (Command.FOLLOW, Command.CHANGE_RIGHT)
    assert commands(path, 95.0, 91.0) == (Command.CHANGE_RIGHT, Command.FOLLOW)
    assert commands(path, 130.0, 126.0) == (Command.FOLLOW, Command.FOLLOW)


def test_shares_add_up_and_follow_the_weights() -> None:
    names = Counter(shares({}, 145))
    assert sum(names.values()) == 145
    assert names["TurnLeft"] > names["FreeDrive"]
    only = shares({name: float(name == "CutIn") for name in SITUATIONS}, 7)
    assert only == ["CutIn"] * 7


def test_unknown_names_are_the_users_errors(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no situation 'Flying'"):
        shares({"Flying": 1.0}, 3)
    with pytest.raises(BadInput, match="no weather 99"):
        collect(TINY.model_copy(update={"weathers": (99,)}), 0, tmp_path / "raw")
    assert not (tmp_path / "raw").exists()

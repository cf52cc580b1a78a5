"""Places, the registry, puppets, pictures, tables and route files on the stage."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from typer.testing import CliRunner

from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.scene import Command
from driveproof.sim.client import ServerHandle, Session
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Path, Roads
from driveproof.sim.routes import ABILITIES, Ability, parse_routes
from driveproof.sim.scenarios import (
    OPEN,
    SCENARIOS,
    Moments,
    NoPlace,
    NoStage,
    Places,
    Row,
    Stage,
    Task,
    contact_sheet,
    perform_task,
    run_route,
    run_scenario,
    scenario_class,
    scenario_type,
    start_route,
    summarise,
    write_report,
)
from driveproof.sim.scenarios.cast import Puppet
from driveproof.sim.scenarios.places import conflicts, crossing_at

SMALL = ("Town01", "Town02", "Town03", "Town04", "Town05", "Town06", "Town07", "Town10HD")
LARGE = ("Town11", "Town12", "Town13", "Town15")


@pytest.fixture
def world(carla_server: ServerHandle) -> Iterator[Session]:
    with Session.open(carla_server.host, carla_server.port) as session:
        yield session


@pytest.fixture(scope="module")
def roads() -> Roads:
    return Roads(load_town("Town03"))


def places(roads: Roads, seed: int) -> Places:
    return Places(roads, np.random.default_rng(seed))


def test_every_type_is_written_or_open_and_each_ability_has_some() -> None:
    assert set(SCENARIOS) == set(ABILITIES)
    assert set(OPEN) == {"CutIn", "EnterActorFlowV2", "PriorityAtJunction"}
    written = {ability for name in SCENARIOS for ability in ABILITIES[name]}
    assert written == set(Ability)
    assert scenario_type("TJunction") == "T_Junction"
    assert scenario_class("LaneChange") is SCENARIOS["SequentialLaneChange"]


@pytest.mark.parametrize("name", OPEN)
def test_open_types_are_refused_by_name(name) -> None:
    with pytest.raises(BadInput, match=f"{name} is not written yet"):
        scenario_type(name)


def test_unknown_types_and_drivers_are_refused(world) -> None:
    with pytest.raises(BadInput, match=r"did you mean ParkingCutIn\?"):
        run_scenario(world, "ParkingCutin2")
    with pytest.raises(BadInput, match="expert or oblivious"):
        run_scenario(world, "ParkingCutIn", "careless")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_town_without_a_fitting_place_says_so(world) -> None:
    with pytest.raises(NoStage, match="MergerIntoSlowTraffic finds no place in Town01"):
        run_scenario(world, "MergerIntoSlowTraffic", town="Town01")


def test_runs_have_neither_junctions_nor_stop_lines(roads) -> None:
    for seed in range(5):
        route = places(roads, seed).run(90.0)
        path = roads.route_path(route)
        assert route.length == pytest.approx(150.0, abs=25.0)
        assert not path.in_junction[: path.index(88.0)].any()
        assert not path.stops
        assert abs(path.curvature[: path.index(88.0)]).max() < 0.02


@pytest.mark.parametrize("command", [Command.LEFT, Command.RIGHT])
def test_junction_routes_turn_where_they_should(roads, command) -> None:
    route = places(roads, 1).junction(40.0, controls=("light",), commands=(command,))
    path = roads.route_path(route)
    crossing = crossing_at(path, 0.0)
    assert crossing.command is command
    assert crossing.control == "light"
    assert crossing.start == pytest.approx(40.0, abs=1.5)
    turned = float(path.heading[path.index(crossing.end)] - path.heading[0])
    assert math.copysign(1.0, math.remainder(turned, math.tau)) == (
        1.0 if command is Command.LEFT else -1.0
    )


def test_who_comes_from_the_left_comes_from_the_left(roads) -> None:
    seen = set()
    for seed in range(6):
        route = places(roads, seed).junction(40.0, controls=("light",), commands=(Command.LEFT,))
        path = roads.route_path(route)
        crossing = crossing_at(path, 0.0)
        found = conflicts(roads, path, crossing.start, crossing.end, crossing.junction_id)
        x, y, heading = path.pose(crossing.start - 15.0).tolist()
        for conflict in found:
            far = conflict.path.point(conflict.start - 15.0)
            left = math.cos(heading) * (far[1] - y) - math.sin(heading) * (far[0] - x)
            meets = np.hypot(
                *np.subtract(conflict.path.point(conflict.s), path.point(conflict.ego_s))
            )
            assert meets < 1.6
            assert conflict.side == "oncoming" or (left > 0.0) == (conflict.side == "left")
            seen.add(conflict.side)
    assert seen == {"left", "right", "oncoming"}


def test_no_place_is_said_when_nothing_fits(roads) -> None:
    with pytest.raises(NoPlace):
        places(roads, 0).run(50.0, fits=lambda path, s: False)
    with pytest.raises(NoPlace):
        places(roads, 0).junction(40.0, fits=lambda path, s, maneuver: False)


@pytest.mark.slow
def test_a_careful_puppet_stops_behind_who_stands_and_not_for_who_crosses(world) -> None:
    if world.town.name != "Town01":
        world.load_town("Town01")
    route = Places(Roads(world.town), np.random.default_rng(3)).run(90.0)
    path = Roads(world.town).route_path(route)
    for turned, stops in ((0.0, True), (math.pi / 2.0, False)):
        pose = path.pose(60.0, 0.0 if stops else 1.9)
        pose[2] += turned
        standing = world.spawn_vehicle("vehicle.audi.a2", pose.tolist())
        moving = world.spawn_vehicle("vehicle.audi.tt", path.pose(10.0).tolist(), speed=8.0)
        world.tick()
        puppet = Puppet(_vehicle(path, moving.id), 8.0, careful=True)
        for _ in range(200):
            world.apply({moving.id: puppet.control(world.state, world.delta_s)})
            world.tick()
        state = world.state.actors
        gap = (
            math.hypot(
                state[moving.id].x - state[standing.id].x, state[moving.id].y - state[standing.id].y
            )
            - (state[moving.id].length + state[standing.id].length) / 2.0
        )
        if stops:
            assert state[moving.id].speed < 0.3
            assert 1.0 < gap < 5.0
        world.destroy([standing.id, moving.id])


def _vehicle(path: Path, number: int):
    from driveproof.sim.drivers import Vehicle

    return Vehicle.on(path, number)


@pytest.mark.slow
def test_a_task_gives_a_row_and_a_sheet(world, tmp_path) -> None:
    row = perform_task(world, Task("ParkedObstacle", "oblivious", (0, 1)), tmp_path)
    assert (row.done, row.good, row.lost) == (2, 2, {})
    assert row.fails == "collision_vehicle"
    assert row.abilities == ("Overtaking",)
    assert row.runs[0]["roles"] == {"parked": 1}
    assert (tmp_path / "ParkedObstacle_oblivious.jpg").stat().st_size > 10_000
    expert = Row("ParkedObstacle", "expert", row.abilities, row.fails, 2, 1, {7: "no"}, ())
    summary = write_report([row, expert], tmp_path)
    assert summary == summarise([row, expert])
    assert summary["expert_below_90_percent"] == ["ParkedObstacle"]
    content = json.loads((tmp_path / "scenarios.json").read_text())
    assert content["rows"][1]["lost"] == {"7": "no"}
    text = (tmp_path / "index.md").read_text()
    assert "| ParkedObstacle | Overtaking | collision_vehicle | 1 of 2 | 2 of 2 | 1 |" in text


@pytest.mark.slow
def test_a_sheet_shows_eight_moments(world) -> None:
    moments = Moments()
    run_scenario(world, "HardBreakRoute", "oblivious", 0, "Town03", moments)
    gaps = np.diff([state.time for state in moments.states])
    assert gaps.min() == pytest.approx(0.25)
    sheet = contact_sheet(moments, world.town, "a title")
    assert sheet.shape == (28 + 2 * 244, 4 * 244, 3)
    tiles = [
        sheet[28 + 244 * r : 268 + 244 * r, 244 * c : 240 + 244 * c]
        for r in (0, 1)
        for c in range(4)
    ]
    assert all((a[:20, :150] != b[:20, :150]).any() for a, b in itertools.pairwise(tiles)), "times"
    assert (tiles[0] != tiles[-1]).mean() > 0.01


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    "town", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]
)
def test_a_route_of_each_town_starts(town, world, shared_dir) -> None:
    routes = parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml")
    spec = next(route for route in routes if route.town == town)
    if world.town.name != town:
        world.load_town(town)
    stage = Stage(world, "expert")
    try:
        route = start_route(stage, spec)
        ego = world.tick().actors[stage.ego_id]
        assert math.dist((ego.x, ego.y), spec.positions[0, :2]) < 2.0
        assert abs(ego.z - spec.positions[0, 2]) < 3.0
        assert route.length > 50.0
    finally:
        stage.clear()


@pytest.mark.shared
@pytest.mark.slow
def test_all_routes_start(world, shared_dir) -> None:
    routes = parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml")
    started = []
    for spec in sorted(routes, key=lambda route: route.town):
        if world.town.name != spec.town:
            world.load_town(spec.town)
        stage = Stage(world, "expert")
        try:
            start_route(stage, spec)
            ego = world.tick().actors[stage.ego_id]
            assert math.dist((ego.x, ego.y), spec.positions[0, :2]) < 2.0, spec.key
            started.append(spec.key)
        finally:
            stage.clear()
    assert len(started) == 220


@pytest.mark.slow
@pytest.mark.shared
def test_the_expert_drives_a_route_of_the_file_through_its_scenario(world, shared_dir) -> None:
    routes = {
        r.key: r for r in parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml")
    }
    result = run_route(world, routes["24816"], "expert")
    assert (result.completion, result.infractions) == (1.0, ())
    assert result.performed == ("Accident_1",)
    assert run_route(world, routes["24816"], "oblivious").infractions[0].kind is (
        InfractionKind.COLLISION_VEHICLE
    )


@pytest.mark.slow
def test_the_command_lists_and_performs(carla_server, tmp_path) -> None:
    from driveproof.cli.scenarios import app

    runner = CliRunner()
    listed = json.loads(runner.invoke(app, ["list", "--json"]).stdout)
    assert [row["scenario"] for row in listed] == list(ABILITIES)
    assert {row["scenario"] for row in listed if row["written"]} == set(SCENARIOS)
    where = ["--host", carla_server.host, "--port", str(carla_server.port), "--town", "Town03"]
    args = ["run", "ParkedObstacle", "--driver", "oblivious", "--json", *where]
    done = runner.invoke(app, [*args, "--frames", str(tmp_path / "sheets")])
    assert done.exit_code == 1, done.output
    facts = json.loads(done.stdout)
    assert facts["infractions"][0]["kind"] == "collision_vehicle"
    assert (tmp_path / "sheets" / "ParkedObstacle_oblivious_0.jpg").is_file()
    assert runner.invoke(app, ["run", "ParkedObstacle", *where]).exit_code == 0

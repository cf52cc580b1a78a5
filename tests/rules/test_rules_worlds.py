"""Scenes on a real town, and the PDM-style reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rules_examples import car, cruise, read, street, with_plans

from driveproof.geometry import poses_to_local
from driveproof.maps import TownMap, load_town
from driveproof.rules import Batch, World, plan_poses, score_plans
from driveproof.rules.reference import candidates, forecast, reference_plan
from driveproof.rules.scenes import plans_in, world_of
from driveproof.rules.town_roads import way_through
from driveproof.scene import AgentKind, AgentTracks, LightState, Scene, TrafficSignal
from driveproof.scene.types import FUTURE_TIMES, HISTORY_TIMES


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town01")


def _start(town: TownMap) -> tuple[int, float]:
    """A straight driving lane of 100 m outside junctions, and where on it to start."""
    lanes = town.lanes
    for lane in np.flatnonzero((lanes.kind == 1) & ~lanes.is_junction & (lanes.length > 100.0)):
        heading = lanes.heading[lanes.points(int(lane))]
        if np.ptp(np.unwrap(heading)) < 1e-3:
            return int(lane), 30.0
    raise AssertionError("Town01 has no straight road")


def _scene(town: TownMap, speed: float = 6.0, **changes: object) -> Scene:
    """The ego's rear axle drives along the centre of a straight lane."""
    lane, arc = _start(town)
    line = town.lanes.polyline(lane)
    pose = np.append(line.at(arc), line.heading(arc))
    times = np.concatenate([HISTORY_TIMES, FUTURE_TIMES])
    driven = np.stack([speed * times, np.zeros(len(times)), np.zeros(len(times))], -1)
    fields: dict[str, object] = {
        "record_key": "t/1/0",
        "scene_key": "t/1",
        "source": "t",
        "timestamp_s": 10.0,
        "history": driven[:4],
        "future": driven[4:],
        "velocity": np.array([speed, 0.0]),
        "acceleration": np.zeros(2),
        "town": town.name,
        "world_pose": pose,
    }
    return Scene(**{**fields, **changes})  # type: ignore[arg-type]


def test_driving_along_a_lane_of_a_town_breaks_nothing(town: TownMap) -> None:
    made = world_of(_scene(town), town)
    row = score_plans(made.world, made.human[None]).row(0)
    assert row.pop("EC") is None
    assert set(row.values()) == {1.0}
    assert score_plans(made.world, made.human[None], variant="corrected").row(0)["DDC"] == 1.0


def test_leaving_the_road_and_the_lane_of_a_town(town: TownMap) -> None:
    made = world_of(_scene(town), town)
    times = np.arange(1, 9) * 0.5
    right = np.stack([6.0 * times, -2.0 * times, np.zeros(8)], -1)
    left = np.stack([6.0 * times, np.minimum(2.0 * times, 4.0), np.zeros(8)], -1)
    scores = score_plans(made.world, plans_in(made.world, np.array([right, left]), 0.5))
    assert scores.row(0)["DAC"] == 0.0
    # Town01 has one lane each way: to the left runs the traffic that comes against us.
    assert scores.row(1)["DDC"] == 0.0
    repaired = score_plans(
        made.world, plans_in(made.world, np.array([left]), 0.5), variant="corrected"
    )
    assert repaired.row(0)["DDC"] == 0.0


def test_the_way_begins_behind_the_ego_and_follows_its_lane(town: TownMap) -> None:
    scene = _scene(town)
    lane, arc = _start(town)
    poses = np.array(
        [scene.world_pose, [*town.lanes.polyline(lane).at(arc + 30.0), scene.world_pose[2]]]
    )
    way = way_through(town, poses)
    assert lane in way.lanes
    local = poses_to_local(np.column_stack([way.line, np.zeros(len(way.line))]), scene.world_pose)
    assert local[0, 0] < -5.0
    assert np.hypot(*np.diff(way.line, axis=0).T).sum() > 100.0
    near = np.abs(local[:, 0]) < 30.0
    assert np.abs(local[near, 1]).max() < 0.1


def test_poses_of_the_box_centre_are_moved_to_the_rear_axle(town: TownMap) -> None:
    made = world_of(_scene(town), town, rear_axle=False)
    assert made.world.ego[0] == pytest.approx(-1.461)
    states = score_plans(made.world, made.human[None]).states
    centers = Batch(made.world, states).centers[0]
    assert centers[:, 0] == pytest.approx(6.0 * np.arange(41) * 0.1, abs=1e-6)


def test_without_a_town_the_map_rules_stay_unjudged(town: TownMap) -> None:
    made = world_of(_scene(town))
    row = score_plans(made.world, made.human[None]).row(0)
    assert [row[code] for code in ("DAC", "DDC", "EP", "LK", "EPDMS_raw")] == [None] * 5
    assert row["NC"] == row["HC"] == 1.0
    assert any("no map" in note for note in made.notes)


def test_tracks_are_interpolated_and_end(town: TownMap) -> None:
    times = np.arange(-3, 11) * 0.5
    states = np.zeros((2, len(times), 5))
    states[0, :, 0], states[0, :, 3] = 20.0 + 4.0 * times, 4.0
    states[1, :, 0] = 60.0
    valid = np.ones((2, len(times)), bool)
    valid[0] = (times >= 1.0) & (times <= 3.0)
    agents = AgentTracks(
        ("moving", "flat"),
        (AgentKind.CYCLIST, AgentKind.VEHICLE),
        times,
        np.array([[1.8, 0.6, 1.7], [0.0, 0.0, 0.0]]),
        np.where(valid[..., None], states, np.nan),
        valid,
    )
    made = world_of(_scene(town, agents=agents), town)
    traffic = made.world.traffic
    assert traffic.tokens == ("moving",)
    assert traffic.types == ("bicycle",)
    assert np.flatnonzero(traffic.present[0]).tolist() == list(range(10, 31))
    assert traffic.pose[0, 23, 0] == pytest.approx(20.0 + 4.0 * 2.3)
    assert any("without a size" in note for note in made.notes)


def test_a_red_light_governs_the_next_connector(town: TownMap) -> None:
    lane, _ = _start(town)
    light = TrafficSignal("1", "traffic_light", (9.0, 0.0), LightState.RED, affects_ego=True)
    speed, length = 15.0, float(town.lanes.length[lane])
    line = town.lanes.polyline(lane)
    pose = np.append(line.at(length - 20.0), line.heading(length - 20.0))
    scene = _scene(town, speed, world_pose=pose, signals=(light,))
    made = world_of(scene, town)
    assert made.world.signals.red.all()
    assert score_plans(made.world, made.human[None]).row(0)["TLC"] == 0.0
    green = replace(scene, timestamp_s=10.5, signals=())
    made = world_of(scene, town, later=[green])
    assert made.world.signals.red[0].tolist() == [k < 5 for k in range(41)]
    assert score_plans(made.world, made.human[None]).row(0)["TLC"] == 1.0


def _world(*agents: dict, speed: float = 8.0) -> World:
    doc = with_plans(street(speed), p=cruise(speed))
    doc["agents"] = list(agents)
    return read(doc).world


def test_the_reference_speeds_up_on_a_free_road() -> None:
    world = _world()
    plan = reference_plan(world, 10.0)
    assert plan.shape == (41, 3)
    assert plan[0] == pytest.approx(world.ego[:3])
    assert 33.0 < plan[-1, 0] < 40.0
    assert np.abs(plan[:, 1]).max() < 1.1


def test_the_reference_stops_behind_a_standing_car() -> None:
    world = _world(car("parked", 30.0, 0.0))
    plan = reference_plan(world, 10.0)
    scores = score_plans(world, plan[None])
    assert scores.row(0)["NC"] == scores.row(0)["TTC"] == 1.0
    # Its rear is at 27.7 m, the ego's front 4.049 m before its axle.
    assert plan[-1, 0] + 4.049 < 27.7
    assert plan[-1, 0] > 12.0


def test_candidates_differ_in_speed_and_offset() -> None:
    plans = candidates(_world(), 10.0)
    assert plans.shape == (15, 41, 3)
    ends = plans[:, -1, 0].reshape(3, 5)
    assert (np.diff(ends, axis=1) >= -1e-9).all()
    assert plans[[0, 5, 10], -1, 1] == pytest.approx([-1.0, 0.0, 1.0], abs=1e-6)


def test_the_forecast_is_constant_velocity() -> None:
    agent = car("mover", 10.0, 3.0, vx=2.0)
    for k in range(5, 41):
        agent["states"][k] = [10.0, 3.0, 0.0, 0.0, 0.0]
    guess = forecast(_world(agent).others)
    assert guess.pose[0, 40, 0] == pytest.approx(18.0)


def test_a_reference_needs_a_route() -> None:
    world = _world()
    bare = replace(world, roads=replace(world.roads, route=np.zeros((0, 2))))
    with pytest.raises(ValueError, match="centreline"):
        reference_plan(bare)
    assert plan_poses(world.ego[:3], np.zeros((8, 3)), 0.5).shape == (41, 3)

"""Closed-form driving scenes: what an expert must do in front of a light, a lead, a truck, a walker."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.scene import Command, LightState
from driveproof.sim.world import (
    Body,
    Crossing,
    LightCycle,
    Obstacle,
    Path,
    Reason,
    SpeedPhase,
    SpeedScript,
    StopPoint,
    TrafficLights,
    Vehicle,
    Walker,
    World,
)

CAR = Body(4.9, 1.85, 1.5, 2.85, "vehicle.lincoln.mkz_2020", "car")
TRUCK = Body(8.0, 2.4, 3.0, 5.0, "vehicle.carlamotors.carlacola", "truck")
PERSON = Body(0.4, 0.45, 1.75, 0.0, "walker.pedestrian.0001", "walker")


def straight(length: float = 600.0, **road: object) -> Path:
    x = np.arange(length)
    return Path.of(np.stack([x, np.zeros_like(x)], 1), **{"limit": 13.9, **road})  # type: ignore[arg-type]


def lights(state_first: str, at: float) -> TrafficLights:
    """Light "a" that is red for ``at`` seconds and then green ("red"), or the other way round."""
    cycle = LightCycle((("a",), ("b",)), green=at - 3.0 if state_first == "green" else 30.0)
    if state_first == "red":
        cycle.set_phase("a", -at, 0.0)
    return TrafficLights({1: cycle})


@pytest.mark.parametrize("speed", [4.0, 8.0, 13.0])
@pytest.mark.parametrize("distance", [60.0, 90.0])
def test_red_light_stops_before_the_line_within_comfort(speed: float, distance: float) -> None:
    path = straight(stops=[StopPoint(10.0 + distance, "light", "a")])
    ego = Vehicle.on_path(1, CAR, path, 10.0 - CAR.front, speed)
    world = World(ego, lights=lights("red", 25.0))
    hardest = 0.0
    for _ in range(240):
        world.step(0.1)
        hardest = min(hardest, ego.state.accel)
        assert ego.s_front < 10.0 + distance
    assert ego.speed < 0.05
    assert 0.0 < 10.0 + distance - ego.s_front < 2.0
    assert hardest > -3.0
    assert ego.decision.reason is Reason.RED_LIGHT
    assert ego.decision.signal_id == "a"
    for _ in range(60):
        world.step(0.1)
    assert ego.speed > 5.0


@pytest.mark.parametrize("distance", np.arange(5.0, 80.0, 6.0).tolist())
def test_yellow_is_obeyed_exactly_if_comfortably_possible(distance: float) -> None:
    path = straight(stops=[StopPoint(100.0, "light", "a")])
    ego = Vehicle.on_path(1, CAR, path, 100.0 - distance - CAR.front, 10.0)
    world = World(ego, lights=lights("green", 3.0))
    world.step(0.1)
    assert world.lights.state("a") is LightState.YELLOW
    for _ in range(100):
        before = ego.s_front
        world.step(0.1)
        crossed = before <= 100.0 < ego.s_front
        assert not (crossed and world.lights.state("a") is LightState.RED)
    # 10 m/s stop in 15.6 m at 3.2 m/s²; who is nearer goes on
    assert (ego.s_front > 100.0) == (distance < 16.5)


@pytest.mark.parametrize("brake", [3.0, 5.0, 8.0])
@pytest.mark.parametrize("gap", [12.0, 20.0, 35.0])
def test_follower_never_hits_a_lead_that_brakes(brake: float, gap: float) -> None:
    path = straight()
    ego = Vehicle.on_path(1, CAR, path, 10.0, 11.0)
    lead = Vehicle.on_path(2, CAR, path, 10.0 + CAR.length + gap, 11.0)
    lead.script = SpeedScript(1.0, (SpeedPhase(30.0, 0.0, brake),))
    world = World(ego, [lead])
    for _ in range(250):
        world.step(0.1)
        assert lead.s_back - ego.s_front > 0.5
    assert ego.speed < 0.1
    assert not world.collisions
    assert (ego.decision.reason, ego.decision.agent_id) == (Reason.LEAD, 2)


def test_a_truck_that_merges_closely_is_met_by_braking_before_contact() -> None:
    path = straight()
    s = np.arange(0.0, 600.0, 1.0)
    t = np.clip((s - 45.0) / 25.0, 0.0, 1.0)
    merging = Path.of(np.stack([s, 3.5 * (1.0 - t * t * (3 - 2 * t))], 1), limit=7.0)
    ego = Vehicle.on_path(1, CAR, path, 10.0, 11.0)
    truck = Vehicle.on_path(2, TRUCK, merging, 28.0, 8.0)
    world = World(ego, [truck])
    seen: list[Reason] = []
    for _ in range(120):
        world.step(0.1)
        seen.append(ego.decision.reason)
    assert not world.collisions
    assert Reason.CUT_IN in seen or Reason.LEAD in seen
    assert ego.speed == pytest.approx(truck.speed, abs=1.0)
    # braking began while the truck was still beside the lane's own width
    first = next(i for i, reason in enumerate(seen) if reason in (Reason.CUT_IN, Reason.LEAD))
    assert first * 0.1 < 3.5


@pytest.mark.parametrize("speed", [5.0, 9.0, 12.0])
@pytest.mark.parametrize("eta", [3.0, 4.0])
def test_a_pedestrian_who_crosses_is_stopped_for(speed: float, eta: float) -> None:
    ego = Vehicle.on_path(1, CAR, straight(), 10.0, speed)
    walker = Walker(2, PERSON, [(70.0, -3.2), (70.0, 3.5)], pace=1.3, trigger_eta=eta)
    world = World(ego, walkers=[walker])
    reasons = set()
    for _ in range(200):
        world.step(0.1)
        reasons.add(ego.decision.reason)
    assert not world.collisions
    assert Reason.PEDESTRIAN in reasons
    assert walker.done
    assert ego.s > 75.0  # and then goes on


def test_a_parked_car_is_passed_on_the_free_side_and_the_lane_taken_again() -> None:
    path = straight(left=5.25, left_own=1.75)
    ego = Vehicle.on_path(1, CAR, path, 10.0, 10.0)
    parked = Vehicle.on_path(2, CAR, path, 90.0, 0.0)
    parked.parked = True
    world = World(ego, [parked])
    widest = 0.0
    for _ in range(200):
        world.step(0.1)
        widest = max(widest, ego.y)
    assert not world.collisions
    assert 2.0 < widest < 5.25 - CAR.width / 2.0
    assert ego.s > 120.0
    assert abs(ego.y) < 0.2


def test_without_room_the_ego_waits_behind_an_obstacle() -> None:
    path = straight()
    ego = Vehicle.on_path(1, CAR, path, 10.0, 10.0)
    world = World(ego, obstacles=[Obstacle(2, Body(0.4, 1.5, 1.0), 90.0, 0.0)])
    for _ in range(200):
        world.step(0.1)
    assert not world.collisions
    assert ego.speed < 0.05
    assert ego.decision.reason is Reason.OBSTACLE


def test_oncoming_traffic_is_let_pass_before_a_swerve() -> None:
    path = straight(left=5.25, left_own=1.75)
    ego = Vehicle.on_path(1, CAR, path, 10.0, 10.0)
    parked = Vehicle.on_path(2, CAR, path, 90.0, 0.0)
    parked.parked = True
    back = Path.of(np.stack([np.arange(600.0, 0.0, -1.0), np.full(600, 3.5)], 1), limit=10.0)
    oncoming = Vehicle.on_path(3, CAR, back, 600.0 - 170.0, 9.0)
    world = World(ego, [parked, oncoming])
    for _ in range(250):
        world.step(0.1)
        beside = abs(oncoming.x - ego.x) < 12.0
        assert not (beside and ego.y > 0.8)
    assert not world.collisions
    assert ego.s > 110.0


def test_a_stop_sign_means_a_full_stop_then_go() -> None:
    path = straight(stops=[StopPoint(80.0, "stop", "s")])
    ego = Vehicle.on_path(1, CAR, path, 10.0, 9.0)
    world = World(ego)
    stood_at = None
    for _ in range(250):
        world.step(0.1)
        if ego.speed < 0.1 and stood_at is None:
            stood_at = ego.s_front
    assert stood_at is not None
    assert 77.0 < stood_at < 80.0
    assert ego.s_front > 100.0


def test_a_left_turn_lets_oncoming_traffic_pass_and_then_goes() -> None:
    turn = np.linspace(0.0, np.pi / 2.0, 20)
    arc = np.stack([60.0 + 10.0 * np.sin(turn), 10.0 - 10.0 * np.cos(turn)], 1)
    into = np.stack([np.full(80, 70.0), np.arange(11.0, 91.0)], 1)
    approach = np.stack([np.arange(60.0), np.zeros(60)], 1)
    crossing = Crossing(60.0, 76.0, 7, Command.LEFT, "light")
    path = Path.of(np.concatenate([approach, arc, into]), limit=11.0, crossings=[crossing])
    back = Path.of(
        np.stack([np.arange(200.0, -200.0, -1.0), np.full(400, 3.5)], 1),
        limit=11.0,
        crossings=[Crossing(120.0, 150.0, 7, Command.STRAIGHT, "light")],
    )
    ego = Vehicle.on_path(1, CAR, path, 20.0, 8.0)
    oncoming = Vehicle.on_path(2, CAR, back, 75.0, 10.0)
    world = World(ego, [oncoming])
    reasons = set()
    for _ in range(200):
        world.step(0.1)
        reasons.add(ego.decision.reason)
    assert not world.collisions
    assert Reason.YIELD in reasons
    assert ego.s > 90.0


def test_the_same_scene_gives_the_same_states_bit_for_bit() -> None:
    def run() -> list[object]:
        path = straight(left=5.25, left_own=1.75, stops=[StopPoint(150.0, "light", "a")])
        parked = Vehicle.on_path(2, CAR, path, 80.0, 0.0)
        parked.parked = True
        walker = Walker(3, PERSON, [(120.0, -3.0), (120.0, 4.0)], trigger_eta=3.0)
        ego = Vehicle.on_path(1, CAR, path, 5.0, 9.0)
        world = World(ego, [parked], [walker], lights=lights("red", 20.0))
        keys = []
        for _ in range(150):
            world.step(0.1)
            keys.append(world.snapshot().key())
        return keys

    assert run() == run()

"""Closed-form driving scenes: what a driver must do in front of a light, a lead, a truck, a walker."""

from __future__ import annotations

import numpy as np
import pytest
from driving_plain import AWAY, Plain, straight

from driveproof.scene import Command, LightState
from driveproof.sim.drivers import (
    Crossing,
    Path,
    Reason,
    SpeedPhase,
    SpeedScript,
    StopPoint,
    Style,
)
from driveproof.sim.drivers.idm import equilibrium_gap

RED, YELLOW, GREEN = LightState.RED, LightState.YELLOW, LightState.GREEN
TRUCK = "vehicle.carlamotors.carlacola"


@pytest.mark.parametrize("expert", [False, True])
@pytest.mark.parametrize(("speed", "distance"), [(4.0, 60.0), (8.0, 60.0), (13.0, 90.0)])
def test_red_light_stops_before_the_line_within_comfort(
    plain: Plain, speed: float, distance: float, expert: bool
) -> None:
    line = 10.0 + distance
    plain.lights = lambda time: {"a": RED if time < 25.0 else GREEN}
    ego = plain.car(straight(stops=[StopPoint(line, "light", "a")]), 10.0, speed, expert=expert)
    hardest = 0.0
    for _ in range(480):
        state = plain.step()
        hardest = min(hardest, state.actors[ego.agent_id].accel)
        assert plain.front(ego) < line
    assert ego.speed < 0.1
    assert 0.0 < line - plain.front(ego) < 2.0
    assert hardest > -4.0  # the gearbox shifts down on the way and brakes a little itself
    assert ego.decision.reason is Reason.RED_LIGHT
    assert ego.decision.signal_id == "a"
    plain.run(6.0)
    assert ego.speed > 5.0


@pytest.mark.parametrize("distance", [5.0, 13.0, 21.0, 37.0, 70.0])
def test_yellow_is_obeyed_exactly_if_comfortably_possible(plain: Plain, distance: float) -> None:
    plain.lights = lambda time: {"a": YELLOW if time < 3.0 else RED}
    ego = plain.car(straight(stops=[StopPoint(100.0, "light", "a")]), 100.0 - distance, 10.0)
    crossed = None
    for _ in range(160):
        before = plain.front(ego) if plain.state.frame else 100.0 - distance
        state = plain.step()
        if before <= 100.0 < plain.front(ego):
            crossed = state.time
    # 10 m/s stop in 15.6 m at 3.2 m/s²; who is nearer goes on
    assert (crossed is not None) == (distance < 16.5)
    assert crossed is None or crossed < 3.0


@pytest.mark.parametrize("brake", [3.0, 8.0])
@pytest.mark.parametrize("gap", [12.0, 35.0])
@pytest.mark.parametrize("expert", [False, True])
def test_follower_never_hits_a_lead_that_brakes(
    plain: Plain, brake: float, gap: float, expert: bool
) -> None:
    path = straight()
    ego = plain.car(path, 10.0, 11.0, expert=expert)
    lead = plain.car(path, 10.0 + 4.89 + gap, 11.0)
    lead.script = SpeedScript(1.0, (SpeedPhase(30.0, 0.0, brake),))
    for _ in range(400):
        plain.step()
        assert plain.front(lead) - 4.89 - plain.front(ego) > 0.4
    assert ego.speed < 0.1
    assert not plain.hits
    assert (ego.decision.reason, ego.decision.agent_id) == (Reason.LEAD, lead.agent_id)


@pytest.mark.slow
def test_follower_settles_at_the_equilibrium_gap_of_the_closed_form(plain: Plain) -> None:
    path = straight(2000.0, limit=15.0)
    lead = plain.car(path, 70.0, 8.0, style=Style(speed_factor=8.0 / 15.0))
    ego = plain.car(path, 20.0, 8.0)
    plain.run(35.0)
    expected = equilibrium_gap(lead.speed, 15.0 * Style().speed_factor, Style())
    assert ego.speed == pytest.approx(lead.speed, abs=0.05)
    assert plain.front(lead) - 4.89 - plain.front(ego) == pytest.approx(expected, abs=0.4)


def test_a_truck_that_merges_closely_is_met_by_braking_before_contact(plain: Plain) -> None:
    s = np.arange(0.0, 600.0, 1.0)
    t = np.clip((s - 45.0) / 25.0, 0.0, 1.0)
    y = 3.5 * (1.0 - t * t * (3 - 2 * t)) + AWAY
    ego = plain.car(straight(), 12.5, 11.0)
    truck = plain.car(Path.of(np.stack([s, y], 1), limit=7.0), 33.0, 8.0, type_id=TRUCK)
    seen: list[Reason] = []
    for _ in range(240):
        plain.step()
        seen.append(ego.decision.reason)
    assert not plain.hits
    assert ego.speed == pytest.approx(truck.speed, abs=1.0)
    first = next(i for i, reason in enumerate(seen) if reason in (Reason.CUT_IN, Reason.LEAD))
    assert first * 0.05 < 3.5  # while the truck was still beside the lane's own width


@pytest.mark.parametrize("expert", [False, True])
@pytest.mark.parametrize("speed", [5.0, 12.0])
@pytest.mark.parametrize("eta", [3.0])
def test_a_pedestrian_who_crosses_is_stopped_for(
    plain: Plain, speed: float, eta: float, expert: bool
) -> None:
    ego = plain.car(straight(), 12.0, speed, expert=expert)
    walk = plain.walker([(70.0, -3.2), (70.0, 3.5)], pace=1.3, trigger_eta=eta)
    reasons = set()
    for _ in range(400):
        plain.step(ego)
        reasons.add(ego.decision.reason)
    assert not plain.hits
    assert Reason.PEDESTRIAN in reasons
    assert walk.done
    assert plain.front(ego) > 77.0  # and then goes on


@pytest.mark.parametrize("expert", [False, True])
def test_a_parked_car_is_passed_on_the_free_side_and_the_lane_taken_again(
    plain: Plain, expert: bool
) -> None:
    ego = plain.car(straight(left=5.25, left_own=1.75), 12.0, 10.0, expert=expert)
    plain.thing(90.0, 0.0)
    widest = 0.0
    for _ in range(400):
        plain.step()
        widest = max(widest, plain.side(ego))
    assert not plain.hits
    assert 2.0 < widest < 5.25 - 0.9
    assert plain.front(ego) > 120.0
    assert abs(plain.side(ego)) < 0.2


@pytest.mark.parametrize("expert", [False, True])
def test_without_room_the_driver_waits_behind_an_obstacle(plain: Plain, expert: bool) -> None:
    ego = plain.car(straight(), 12.0, 10.0, expert=expert)
    plain.thing(90.0, 0.0, type_id="static.prop.streetbarrier")
    plain.run(20.0)
    assert not plain.hits
    assert ego.speed < 0.1
    assert ego.decision.reason is Reason.OBSTACLE


@pytest.mark.slow
@pytest.mark.parametrize("expert", [False, True])
def test_oncoming_traffic_is_let_pass_before_a_swerve(plain: Plain, expert: bool) -> None:
    ego = plain.car(straight(left=5.25, left_own=1.75), 12.0, 10.0, expert=expert)
    plain.thing(90.0, 0.0)
    oncoming = plain.car(straight(y=3.5, back=True, limit=10.0), 600.0 - 170.0, 9.0)
    for _ in range(500):
        state = plain.step()
        apart = abs(state.actors[oncoming.agent_id].x - state.actors[ego.agent_id].x)
        assert apart > 12.0 or plain.side(ego) < 0.8
    assert not plain.hits
    assert plain.front(ego) > 112.0


@pytest.mark.slow
def test_a_stop_sign_means_a_full_stop_then_go(plain: Plain) -> None:
    ego = plain.car(straight(stops=[StopPoint(80.0, "stop", "s")]), 12.0, 9.0)
    stood_at = None
    for _ in range(500):
        plain.step()
        if ego.speed < 0.1 and stood_at is None:
            stood_at = plain.front(ego)
    assert stood_at is not None
    assert 77.0 < stood_at < 80.0
    assert plain.front(ego) > 100.0


def left_turn() -> tuple[Path, Path]:
    """A left turn across a straight road of the other direction, both under one light."""
    turn = np.linspace(0.0, np.pi / 2.0, 20)
    arc = np.stack([60.0 + 10.0 * np.sin(turn), 10.0 - 10.0 * np.cos(turn)], 1)
    into = np.stack([np.full(80, 70.0), np.arange(11.0, 91.0)], 1)
    approach = np.stack([np.arange(60.0), np.zeros(60)], 1)
    crossing = Crossing(60.0, 76.0, 7, Command.LEFT, "light")
    points = np.concatenate([approach, arc, into]) + np.array([0.0, AWAY])
    back = Path.of(
        np.stack([np.arange(200.0, -200.0, -1.0), np.full(400, AWAY + 3.5)], 1),
        limit=11.0,
        crossings=[Crossing(120.0, 150.0, 7, Command.STRAIGHT, "light")],
    )
    return Path.of(points, limit=11.0, crossings=[crossing]), back


@pytest.mark.slow
@pytest.mark.parametrize("expert", [False, True])
def test_a_left_turn_lets_oncoming_traffic_pass_and_then_goes(plain: Plain, expert: bool) -> None:
    path, back = left_turn()
    ego = plain.car(path, 22.0, 8.0, expert=expert)
    plain.car(back, 75.0, 10.0)
    reasons = set()
    for _ in range(400):
        plain.step()
        reasons.add(ego.decision.reason)
    assert not plain.hits
    assert Reason.YIELD in reasons
    assert ego.s > 90.0


@pytest.mark.slow
def test_the_same_scene_gives_the_same_states_bit_for_bit(town01: object) -> None:
    def run() -> list[object]:
        plain = Plain(town01)
        plain.lights = lambda time: {"a": RED if time < 12.0 else GREEN}
        path = straight(left=5.25, left_own=1.75, stops=[StopPoint(150.0, "light", "a")])
        ego = plain.car(path, 7.0, 9.0, expert=True)
        plain.thing(80.0, 0.0)
        plain.walker([(120.0, -3.0), (120.0, 4.0)], trigger_eta=3.0)
        return plain.run(15.0, ego)

    assert run() == run()

"""What only the attentive driver does: look out, hold its lane, make room."""

from __future__ import annotations

import numpy as np
import pytest
from driving_plain import AWAY, Plain, straight

from driveproof.scene import LightState
from driveproof.sim.drivers import LaneChange, Path, Reason, StopPoint
from driveproof.sim.drivers.lateral import Purpose

AMBULANCE = "vehicle.ford.ambulance"
BICYCLE = "vehicle.bh.crossbike"


def crossing_path(x: float, south: float = -120.0) -> Path:
    """A straight way northwards over the road at ``x``."""
    y = np.arange(south, 200.0)
    return Path.of(np.stack([np.full_like(y, x), y + AWAY], 1), limit=12.0)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [6.0, 12.0])
@pytest.mark.parametrize("far", [30.0, 55.0])
def test_who_crosses_without_stopping_is_let_pass(plain: Plain, speed: float, far: float) -> None:
    ego = plain.car(straight(), 12.0, 10.0, expert=True)
    plain.thing(70.0, -far, np.pi / 2.0, speed=speed)
    plain.run(14.0)
    assert not plain.hits
    assert plain.front(ego) > 90.0


def test_somebody_who_stands_at_the_kerb_and_faces_the_road_is_passed_slowly(
    plain: Plain,
) -> None:
    ego = plain.car(straight(), 12.0, 12.0, expert=True)
    walk = plain.walker([(80.0, -3.0), (80.0, 3.0)], delay=1e9)
    slowest = 99.0
    for _ in range(400):
        plain.step(ego)
        slowest = min(slowest, ego.speed)
    assert not walk.started
    assert 2.0 < slowest < 6.0
    assert plain.front(ego) > 90.0


@pytest.mark.slow
@pytest.mark.parametrize("step_out", [4.0, 8.0, 14.0])
def test_whoever_steps_out_at_the_last_moment_is_not_hit(plain: Plain, step_out: float) -> None:
    ego = plain.car(straight(), 12.0, 12.0, expert=True)
    walk = plain.walker([(80.0, -2.6), (80.0, 4.0)], delay=1e9, pace=2.0, polite=False)
    for _ in range(500):
        if plain.state.frame and 80.0 - plain.front(ego) < step_out:
            walk.delay = 0.0
        plain.step(ego)
    assert walk.done
    assert not plain.hits


def change_path(begin: float = 60.0, end: float = 90.0, limit: float = 200.0) -> Path:
    """A way that changes to the lane on the left."""
    x = np.arange(500.0)
    t = np.clip((x - begin) / (end - begin), 0.0, 1.0)
    y = 3.5 * t * t * (3.0 - 2.0 * t) + AWAY
    change = LaneChange(begin, end, 3.5, limit)
    return Path.of(np.stack([x, y], 1), limit=12.0, left=5.0, right=5.0, changes=[change])


@pytest.mark.slow
def test_a_lane_change_waits_for_a_gap_and_then_happens(plain: Plain) -> None:
    ego = plain.car(change_path(), 12.0, 8.0, expert=True)
    for x in (-25.0, -12.0, 1.0, 14.0, 27.0):
        plain.thing(x, 3.5, speed=11.0)
    held = False
    for _ in range(600):
        plain.step()
        held = held or (ego.plan is not None and ego.plan.purpose is Purpose.HOLD)
    assert held
    assert not plain.hits
    assert plain.side(ego) == pytest.approx(3.5, abs=0.2)


def test_a_free_lane_is_taken_where_the_route_says(plain: Plain) -> None:
    ego = plain.car(change_path(), 12.0, 8.0, expert=True)
    while plain.front(ego) < 95.0 if plain.state.frame else True:
        plain.step()
    assert plain.side(ego) == pytest.approx(3.5, abs=0.3)


@pytest.mark.slow
def test_without_a_gap_the_change_waits_where_the_lane_ends(plain: Plain) -> None:
    ego = plain.car(change_path(limit=110.0), 12.0, 8.0, expert=True)
    for x in np.arange(-160.0, 40.0, 8.0).tolist():
        plain.thing(x, 3.5, speed=5.0)
    reasons = set()
    for _ in range(400):
        plain.step()
        reasons.add(ego.decision.reason)
        assert plain.front(ego) < 110.0 or plain.side(ego) > 2.5
    assert not plain.hits
    assert Reason.MERGE in reasons


@pytest.mark.slow
def test_a_parking_place_is_left_behind_the_last_that_passes(plain: Plain) -> None:
    path = straight(verge=2.5)
    ego = plain.car(path, 60.0, 0.0, offset=-2.8, expert=True)
    plain.thing(69.0, -2.8)
    plain.thing(48.0, -2.8)
    others = [plain.thing(x, 0.0, speed=7.0) for x in (45.0, 33.0, 21.0)]
    for _ in range(400):
        state = plain.step()
        near = min(abs(state.actors[o].x - state.actors[ego.agent_id].x) for o in others)
        assert near > 5.0 or plain.side(ego) < -2.0
    assert not plain.hits
    assert abs(plain.side(ego)) < 0.3


def test_an_ambulance_from_behind_gets_the_lane(plain: Plain) -> None:
    ego = plain.car(straight(left=5.25, left_own=5.25), 62.0, 8.0, expert=True)
    plain.thing(20.0, 0.0, type_id=AMBULANCE, speed=12.0)
    widest = 0.0
    for _ in range(400):
        plain.step()
        widest = max(widest, plain.side(ego))
    assert not plain.hits
    assert widest > 3.0
    assert abs(plain.side(ego)) < 0.3  # and back again


@pytest.mark.slow
def test_oncoming_that_takes_a_part_of_the_lane_gets_it(plain: Plain) -> None:
    ego = plain.car(straight(limit=9.0, verge=1.2), 12.0, 8.0, expert=True)
    plain.thing(150.0, 1.6, np.pi, speed=7.0)
    lowest = 0.0
    for _ in range(400):
        plain.step()
        lowest = min(lowest, plain.side(ego))
    assert not plain.hits
    assert lowest < -0.4


@pytest.mark.slow
def test_bicycles_that_crawl_are_overtaken(plain: Plain) -> None:
    ego = plain.car(straight(left=5.25, left_own=5.25), 12.0, 10.0, expert=True)
    ahead = [plain.thing(x, -0.6, type_id=BICYCLE, speed=2.5) for x in (70.0, 76.0)]
    plain.run(25.0)
    assert not plain.hits
    assert plain.front(ego) > max(plain.state.actors[number].x for number in ahead) + 20.0


def test_a_queue_at_a_red_light_is_not_overtaken(plain: Plain) -> None:
    plain.lights = lambda time: {"a": LightState.RED}
    path = straight(left=5.25, left_own=5.25, stops=[StopPoint(120.0, "light", "a")])
    plain.car(path, 118.0, 0.0)
    ego = plain.car(path, 40.0, 8.0, expert=True)
    plain.run(20.0)
    assert abs(plain.side(ego)) < 0.2
    assert ego.speed < 0.1


def test_debris_is_driven_over(plain: Plain) -> None:
    ego = plain.car(straight(), 12.0, 8.0, expert=True)
    number = plain.thing(60.0, 0.0, type_id="static.prop.dirtdebris01")
    plain.world.engine.actors[number].collisions_enabled = False
    plain.run(10.0)
    assert plain.front(ego) > 80.0


def test_what_throws_the_car_aside_is_steered_out(plain: Plain) -> None:
    ego = plain.car(straight(), 12.0, 10.0, expert=True)
    widest = 0.0
    for n in range(300):
        plain.step()
        if n == 60:
            actor = plain.world.engine.actors[ego.agent_id]
            actor.velocity = actor.velocity + np.array([0.0, -2.0, 0.0])
            actor.angular_velocity = (0.0, 0.0, -0.5)
        widest = max(widest, abs(plain.side(ego)))
    assert 0.05 < widest < 1.0
    assert abs(plain.side(ego)) < 0.1


@pytest.mark.slow
def test_who_stands_too_close_to_swerve_backs_off_and_goes_around(plain: Plain) -> None:
    ego = plain.car(straight(left=5.25), 86.0, 0.0, expert=True)
    plain.thing(90.0, 0.0)
    backwards = 0.0
    for _ in range(700):
        plain.step()
        backwards = min(backwards, ego.speed)
    assert -2.0 < backwards < -0.5
    assert not plain.hits
    assert plain.front(ego) > 110.0


def test_nobody_backs_off_into_who_is_behind(plain: Plain) -> None:
    ego = plain.car(straight(left=5.25), 86.0, 0.0, expert=True)
    plain.thing(90.0, 0.0)
    plain.thing(76.0, 0.0)
    for _ in range(300):
        plain.step()
        assert ego.speed > -0.1
    assert not plain.hits

"""Keys drive: the way bends, the speed follows, the vehicle stays on it. Scenes on a real town, a bicycle as plant."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.action import ActionModule, Ego, Way
from driveproof.action.control import LateralMemory, aim_error, steer_for, wanted_acceleration
from driveproof.action.speed import target_speed
from driveproof.action.way import STEP_M, blend
from driveproof.geometry import Polyline, wrap_angle
from driveproof.maps import LaneKind, Route, TownMap, load_town
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.scene import Command
from driveproof.sim.drivers.control import THROTTLES, Plant, throttle_curve

D, S = DirectionKey, SpeedKey
DT = 0.05
WHEELBASE = 2.9


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town05")


def _straight(town: TownMap, side: int) -> tuple[Route, int]:
    """A route along a straight lane of at least 45 m that has a neighbour of the same direction on ``side``."""
    lanes = town.lanes
    for lane in np.flatnonzero((lanes.junction < 0) & (lanes.length > 45.0)).tolist():
        beside = int((lanes.left if side > 0 else lanes.right)[lane])
        same = bool((lanes.left_same if side > 0 else lanes.right_same)[lane])
        heading = lanes.heading[lanes.points(lane)]
        if lanes.kind[lane] != 1 or beside < 0 or not same or lanes.kind[beside] != 1:
            continue
        if np.ptp(np.unwrap(heading)) < 0.03:
            line = lanes.polyline(lane)
            start = (*line.at(1.0), float(line.heading(1.0)))
            return town.route(start, line.at(line.length - 1.0)), beside
    raise AssertionError("no such lane in the town")


def _ego_at(way: Way, metres: float, speed: float) -> Ego:
    index = round(metres / STEP_M)
    x, y = way.points[index]
    return Ego(float(x), float(y), float(way.headings[index]), speed)


def _drive(module: ActionModule, ego: Ego, seconds: float) -> list[Ego]:
    """A kinematic bicycle with the plant's own pedals."""
    trace, plant = [ego], Plant()
    for _ in range(round(seconds / DT)):
        control = module.control(ego)
        push = float(np.interp(control.throttle, THROTTLES, throttle_curve(ego.speed, plant)))
        accel = push - control.brake * plant.brake
        speed = max(ego.speed + accel * DT, 0.0)
        turn = -math.tan(control.steer * plant.max_wheel) * speed / WHEELBASE
        heading = ego.heading + turn * DT
        ego = Ego(
            ego.x + speed * math.cos(heading) * DT,
            ego.y + speed * math.sin(heading) * DT,
            heading,
            speed,
        )
        trace.append(ego)
    return trace


def _offset(way: Way, ego: Ego) -> float:
    return way.lateral(ego.x, ego.y, way.nearest(ego.x, ego.y))


def test_keep_holds_lane_and_speed(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 5.0, 8.0)
    module.decide(ActionKeys(D.FOLLOW_LANE, S.KEEP), ego)
    trace = _drive(module, ego, 5.0)
    assert max(abs(_offset(module.way, e)) for e in trace) < 0.2
    assert trace[-1].speed == pytest.approx(8.0, abs=0.3)


@pytest.mark.parametrize(("key", "side"), [(D.CHANGE_LANE_LEFT, 1), (D.CHANGE_LANE_RIGHT, -1)])
def test_a_lane_change_ends_in_the_neighbour_lane(town: TownMap, key: D, side: int) -> None:
    route, beside = _straight(town, side)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 5.0, 8.0)
    module.decide(ActionKeys(key, S.KEEP), ego)
    end = _drive(module, ego, 4.0)[-1]
    _, lateral = town.lanes.polyline(beside).project((end.x, end.y))
    assert abs(float(lateral)) < 0.4


@pytest.mark.parametrize(("key", "offset"), [(D.DEVIATE_LEFT, 0.8), (D.DEVIATE_RIGHT, -0.8)])
def test_a_deviation_stays_in_the_lane(town: TownMap, key: D, offset: float) -> None:
    route, _ = _straight(town, 1)
    original = Way.of(route, town.lanes.junction)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 5.0, 6.0)
    module.decide(ActionKeys(key, S.KEEP), ego)
    assert _offset(original, _drive(module, ego, 4.0)[-1]) == pytest.approx(offset, abs=0.2)


def test_following_the_lane_undoes_a_deviation(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    original = Way.of(route, town.lanes.junction)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 3.0, 6.0)
    module.decide(ActionKeys(D.DEVIATE_RIGHT, S.KEEP), ego)
    ego = _drive(module, ego, 3.0)[-1]
    module.decide(ActionKeys(D.FOLLOW_LANE, S.KEEP), ego)
    assert _offset(original, _drive(module, ego, 3.5)[-1]) == pytest.approx(0.0, abs=0.2)


def test_follow_lane_takes_the_lane_that_the_ego_is_in(town: TownMap) -> None:
    route, beside = _straight(town, -1)
    module = ActionModule.on_route(town, route)
    line = town.lanes.polyline(beside)
    ego = Ego(*map(float, line.at(8.0)), float(line.heading(8.0)), 6.0)
    module.decide(ActionKeys(D.FOLLOW_LANE, S.KEEP), ego)
    _, lateral = line.project(np.array([[e.x, e.y] for e in _drive(module, ego, 4.0)]))
    assert np.abs(lateral).max() < 0.4


def _fork(town: TownMap) -> tuple[Route, int]:
    """A route along a lane, and the lane beside it that leads elsewhere behind a fork."""
    lanes = town.lanes
    for lane in np.flatnonzero((lanes.junction < 0) & (lanes.length > 45.0)).tolist():
        for beside, same in ((lanes.left, lanes.left_same), (lanes.right, lanes.right_same)):
            other = int(beside[lane])
            if other < 0 or not same[lane] or {lanes.kind[lane], lanes.kind[other]} != {1}:
                continue
            ways = [_straight_on(town, one, 150.0) for one in (lane, other)]
            ends = [lanes.centre[lanes.points(way[-1]).stop - 1, :2] for way in ways]
            if (
                min(map(len, ways)) > 2
                and 15.0 < math.dist(*ends) < 80.0
                and lanes.junction[ways[0][1]] >= 0
            ):
                line = lanes.polyline(lane)
                start = (*line.at(line.length - 40.0), float(line.heading(line.length - 40.0)))
                return town.route(start, ends[0]), other
    raise AssertionError("no fork in the town")


def _straight_on(town: TownMap, lane: int, least: float) -> list[int]:
    """The lanes that follow a lane with hardly a turn, as far as there are any."""
    way, length = [lane], 0.0
    while length < least:
        following = [
            n for n in town.lanes.successors(way[-1]).tolist() if abs(_turn(town, n)) < 0.34
        ]
        if not following:
            break
        way.append(int(following[0]))
        length += float(town.lanes.length[way[-1]])
    return way


def test_where_the_lane_leads_elsewhere_the_way_returns_to_the_route() -> None:
    town = load_town("Town04")
    route, beside = _fork(town)
    module = ActionModule.on_route(town, route)
    original = module.way
    line = town.lanes.polyline(beside)
    s, _ = line.project(original.points[20])
    ego = Ego(*map(float, line.at(float(s))), float(line.heading(float(s))), 8.0)
    for _ in range(3):  # as often as one decides in a second and a half
        module.decide(ActionKeys(D.FOLLOW_LANE, S.KEEP), ego)
    apart = np.hypot(*(module.way.points - original.points).T)
    assert 2.0 < apart[200] < 5.0, "in the lane beside at first"
    assert apart.max() < 13.0
    assert apart[-50:].max() < 0.01, "and back on the route behind the fork"
    steps = np.diff(module.way.points[module.index :], axis=0)
    assert np.hypot(*steps[1:].T).max() < 0.6, "without a jump ahead of the ego"


def test_stop_brakes_as_hard_as_the_law_says(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 3.0, 10.0)
    module.decide(ActionKeys(D.FOLLOW_LANE, S.STOP), ego)
    end = _drive(module, ego, 6.0)[-1]
    way = math.hypot(end.x - ego.x, end.y - ego.y)
    assert end.speed == 0.0
    assert way == pytest.approx(10.0**2 / (2 * 6.0), rel=0.15)  # v² / 2a


def test_without_keys_the_way_stays_and_the_speed_is_kept(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 5.0, 7.0)
    before = module.way
    executed = module.decide(ActionKeys(None, None), ego)
    assert module.way is before
    assert (executed.direction, executed.speed, executed.target) == (None, S.KEEP, 7.0)


def test_between_decisions_the_speed_key_holds(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 3.0, 4.0)
    module.decide(ActionKeys(D.FOLLOW_LANE, S.ACCELERATE), ego)
    assert _drive(module, ego, 5.0)[-1].speed == pytest.approx(10.0, abs=0.4)


def test_going_straight_outside_a_junction_follows_the_lane(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    ego = _ego_at(module.way, 5.0, 4.0)
    executed = module.decide(ActionKeys(D.GO_STRAIGHT, S.KEEP), ego)
    assert executed.direction is D.FOLLOW_LANE


@pytest.mark.parametrize(
    ("key", "steer"), [(D.TURN_LEFT, -1.0), (D.TURN_RIGHT, 1.0), (D.GO_STRAIGHT, 0.0)]
)
def test_a_turn_that_the_route_does_not_take_is_steered(
    town: TownMap, key: D, steer: float
) -> None:
    route, _ = _straight(town, 1)
    way = Way.of(route, town.lanes.junction)
    other = Command.RIGHT if key is D.TURN_LEFT else Command.LEFT
    inside = replace(
        way, commands=np.full(len(way), int(other)), in_junction=np.ones(len(way), dtype=int)
    )
    module = ActionModule(town, inside)
    ego = _ego_at(inside, 5.0, 4.0)
    module.decide(ActionKeys(key, S.KEEP), ego)
    assert module.control(ego).steer == pytest.approx(steer, abs=0.02)
    agrees = {Command.LEFT: D.TURN_LEFT, Command.RIGHT: D.TURN_RIGHT}[other]
    module.decide(ActionKeys(agrees, S.KEEP), ego)
    assert abs(module.control(ego).steer) < 0.2


@pytest.mark.parametrize(("turned", "key"), [(2.5, D.TURN_RIGHT), (-2.5, D.TURN_LEFT), (1.2, D.TURN_RIGHT)])  # fmt: skip
def test_an_ego_that_is_astray_turns_as_told_until_the_way_lies_ahead(
    town: TownMap, turned: float, key: D
) -> None:
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    there = _ego_at(module.way, 15.0, 2.0)
    ego = replace(there, y=there.y - 1.0, heading=there.heading + turned)
    module.decide(ActionKeys(key, S.KEEP), ego)
    assert module.control(ego).steer == (1.0 if key is D.TURN_RIGHT else -1.0)
    end = _drive(module, ego, 8.0)[-1]
    index = module.way.nearest(end.x, end.y)
    assert abs(module.way.heading_error(end.heading, index)) < 0.2
    assert abs(_offset(module.way, end)) < 0.3


def test_who_stands_beside_a_lane_changes_onto_it(town: TownMap) -> None:
    """Out of a parking place the lane to the left is the one beside, not the next but one."""
    route, _ = _straight(town, 1)
    module = ActionModule.on_route(town, route)
    original = module.way
    there = _ego_at(module.way, 5.0, 0.0)
    left = np.array([-math.sin(there.heading), math.cos(there.heading)])
    x, y = np.array([there.x, there.y]) - 2.8 * left
    ego = replace(there, x=float(x), y=float(y))
    module.decide(ActionKeys(D.CHANGE_LANE_LEFT, S.ACCELERATE), ego)
    end = _drive(module, ego, 4.0)[-1]
    assert abs(_offset(original, end)) < 0.4


def test_at_the_end_of_a_turn_going_straight_is_the_way(town: TownMap) -> None:
    lanes = town.lanes
    lane = next(
        int(lane)
        for lane in lanes.of_kind(LaneKind.DRIVING)
        if lanes.junction[lane] >= 0 and _turn(town, int(lane)) > 1.3 and lanes.length[lane] > 12.0
    )
    after = int(lanes.successors(lane)[0])
    before = int(lanes.predecessors(lane)[0])
    points = [lanes.centre[lanes.points(i), :2] for i in (before, lane, after)]
    line = Polyline(np.concatenate(points))
    s = np.arange(0.0, line.length, STEP_M)
    begin, end = float(lanes.length[before]), float(lanes.length[before] + lanes.length[lane])
    inside = ((s >= begin) & (s < end)).astype(int)
    commands = np.where(inside > 0, int(Command.LEFT), int(Command.FOLLOW))
    module = ActionModule(town, Way(line.at(s), commands, inside))
    middle, late = (
        _ego_at(module.way, begin + share * (end - begin), 4.0) for share in (0.1, 0.95)
    )
    module.decide(ActionKeys(D.GO_STRAIGHT, S.KEEP), late)
    followed = module.control(late).steer
    module.decide(ActionKeys(D.TURN_LEFT, S.KEEP), late)
    assert module.control(late).steer == pytest.approx(followed, abs=0.1)
    module.index = None
    module.decide(ActionKeys(D.GO_STRAIGHT, S.KEEP), middle)
    assert module.control(middle).steer == 0.0  # straight on where the route turns


def _turn(town: TownMap, lane: int) -> float:
    part = town.lanes.points(lane)
    return float(wrap_angle(town.lanes.heading[part.stop - 1] - town.lanes.heading[part.start]))


def test_a_gentle_bend_through_a_junction_may_be_called_a_turn(town: TownMap) -> None:
    """A ramp: straight for a while, then 23 degrees to the left; the route calls it straight on."""
    s = np.arange(0.0, 90.0, STEP_M)
    headings = np.radians(23.0) * np.clip((s - 35.0) / 40.0, 0.0, 1.0)
    steps = STEP_M * np.stack([np.cos(headings), np.sin(headings)], axis=1)
    way = Way(
        np.cumsum(steps, axis=0), np.full(len(s), int(Command.STRAIGHT)), (s < 80.0).astype(int)
    )
    module = ActionModule(town, way)
    ego = _ego_at(way, 15.0, 8.0)
    module.decide(ActionKeys(D.TURN_LEFT, S.KEEP), ego)
    assert abs(module.control(ego).steer) < 0.1
    module.decide(ActionKeys(D.TURN_RIGHT, S.KEEP), ego)
    assert module.control(ego).steer == 1.0


def test_a_change_that_the_map_does_not_know_goes_a_lane_sideways(town: TownMap) -> None:
    route, _ = _straight(town, 1)
    way = Way.of(route, town.lanes.junction)
    module = ActionModule(town, way)
    far = way.points + np.array([0.0, 4000.0])  # off every road
    module.way = way.moved(far)
    ego = _ego_at(module.way, 5.0, 5.0)
    module.decide(ActionKeys(D.CHANGE_LANE_LEFT, S.KEEP), ego)
    index = way.nearest(*way.points[300])
    moved = module.way.points[index] - far[index]
    normal = (-math.sin(way.headings[index]), math.cos(way.headings[index]))
    assert float(moved @ normal) == pytest.approx(3.5, abs=0.1)


@pytest.mark.parametrize(
    ("key", "speed", "flags", "target"),
    [
        (S.KEEP, 7.0, {}, 7.0),
        (None, 7.0, {}, 7.0),
        (S.ACCELERATE, 7.0, {}, 13.0),
        (S.DECELERATE, 12.0, {}, 5.0),
        (S.DECELERATE, 8.0, {}, 2.0),  # not below a crawl
        (S.DECELERATE, 8.0, {"flowing": True}, 3.0),
        (S.DECELERATE, 1.0, {}, 1.0),  # and never faster
        (S.STOP, 15.0, {"changing": True}, 0.0),
        (S.KEEP, 3.0, {"changing": True}, 8.0),
        (S.KEEP, 3.0, {"changing": True, "flowing": True}, 3.0),
        (S.ACCELERATE, 9.0, {"turning": True}, 6.0),
    ],
)
def test_target_speeds(key: S | None, speed: float, flags: dict[str, bool], target: float) -> None:
    assert target_speed(key, speed, **flags) == target


@pytest.mark.slow
@given(st.floats(-math.pi, math.pi), st.floats(-3.0, 3.0), st.floats(0.5, 20.0))
def test_the_aim_error_is_the_angle_to_the_aim(heading: float, angle: float, away: float) -> None:
    dx, dy = away * math.cos(heading + angle), away * math.sin(heading + angle)
    assert aim_error(dx, dy, heading) == pytest.approx(angle / (math.pi / 2), abs=1e-6)


@given(st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=20))
def test_steer_is_bounded_and_mirrors(errors: list[float]) -> None:
    memory, mirrored = LateralMemory(), LateralMemory()
    for error in errors:
        steer, memory = steer_for(error, memory)
        opposite, mirrored = steer_for(-error, mirrored)
        assert -1.0 <= steer <= 1.0
        assert steer == pytest.approx(-opposite)
    assert len(memory.errors) <= 6


def test_a_constant_error_is_steered_by_p_and_i_alone() -> None:
    memory = LateralMemory()
    for _ in range(7):
        steer, memory = steer_for(0.05, memory)
    assert steer == pytest.approx(-0.05 * (3.118357 + 0.640607))


@given(st.floats(0.0, 30.0), st.floats(0.0, 30.0))
def test_acceleration_has_the_sign_of_the_gap(target: float, speed: float) -> None:
    accel = wanted_acceleration(target, speed)
    assert -6.0 <= accel <= 3.5
    assert accel * (target - speed) >= 0.0


@given(st.integers(2, 300), st.integers(0, 200), st.integers(1, 80))
def test_a_blend_moves_nothing_outside_and_reaches_the_target(
    count: int, begin: int, over: int
) -> None:
    points = np.stack([np.arange(600) * STEP_M, np.zeros(600)], axis=1)
    way = Way(points, np.full(600, 4), np.zeros(600, dtype=int))
    end = begin + count
    target = points[begin:end] + np.array([0.0, 2.0])
    bent = blend(way, target, begin, end, over).points[:, 1]
    assert not bent[:begin].any()
    assert not bent[end:].any()
    assert bent.max() <= 2.0
    assert (count <= 2 * over) or bent[begin + count // 2] == pytest.approx(2.0)

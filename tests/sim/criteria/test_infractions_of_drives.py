"""Criteria in driving terms: what a car does by a metre too much is an infraction, a metre less is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from driven_states import DT, EGO, LENGTH, car, drive, on_route, route_over, stand, states
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driveproof.maps import Route, SignalKind, TownMap, load_town
from driveproof.scene import LightState
from driveproof.sim.client import ActorState, Collision, WorldState
from driveproof.sim.criteria import ENDING, HARMLESS, Criteria, Infraction, InfractionKind

Kind = InfractionKind


@dataclass
class Place:
    """Something with a town."""

    town: TownMap


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town03")


@pytest.fixture(scope="module")
def lit(town: TownMap) -> tuple[Route, float, str]:
    return route_over(town, SignalKind.TRAFFIC_LIGHT)


@pytest.fixture(scope="module")
def signed(town: TownMap) -> tuple[Route, float, str]:
    return route_over(town, SignalKind.STOP)


def judge(town: TownMap, route: Route, seen: list[WorldState], **more: float) -> Criteria:
    criteria = Criteria(Place(town), EGO, route, **more)  # type: ignore[arg-type]
    for state in seen:
        criteria.update(state)
    return criteria


def kinds(criteria: Criteria) -> list[Kind]:
    return [one.kind for one in criteria.infractions if one.kind is not Kind.MIN_SPEED]


@pytest.mark.parametrize("beyond", [-1.0, 1.0])
@pytest.mark.parametrize("light", [LightState.RED, LightState.YELLOW, LightState.GREEN])
def test_a_red_light_is_run_when_the_front_is_past_its_line(
    town: TownMap, lit: tuple[Route, float, str], beyond: float, light: LightState
) -> None:
    route, line, key = lit
    seen = states(drive(route, line - 20.0, line + beyond), lights={key: light})
    found = judge(town, route, seen).infractions
    ran = light is LightState.RED and beyond > 0.0
    assert [one.kind for one in found] == [Kind.RED_LIGHT] * ran
    if ran:
        assert found[0].signal_id == key
        assert found[0].time == pytest.approx(20.0 / 8.0, abs=2 * DT)


def test_a_light_that_turns_red_behind_the_front_is_not_run(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, line, key = lit
    before = states(drive(route, line - 20.0, line + 1.0), lights={key: LightState.GREEN})
    after = states(drive(route, line + 1.0, line + 8.0), lights={key: LightState.RED})
    assert kinds(judge(town, route, [*before, *after])) == []


@pytest.mark.parametrize(
    ("halt", "ran"), [(None, True), (-1.0, False), (-5.0, False), (-9.0, True)]
)
def test_a_stop_sign_wants_a_stand_close_before_its_line(
    town: TownMap, signed: tuple[Route, float, str], halt: float | None, ran: bool
) -> None:
    route, line, _ = signed
    if halt is None:
        egos = drive(route, line - 20.0, line + 6.0, 3.0)
    else:
        at = line + halt
        egos = drive(route, line - 20.0, at, 3.0) + stand(route, at, 0.5)
        egos += drive(route, at, line + 6.0, 3.0)
    assert kinds(judge(town, route, states(egos))) == [Kind.STOP_SIGN] * ran


def test_rolling_over_a_stop_line_slowly_is_no_stop(
    town: TownMap, signed: tuple[Route, float, str]
) -> None:
    route, line, _ = signed
    egos = drive(route, line - 6.0, line + 1.0, 0.5)
    assert kinds(judge(town, route, states(egos))) == [Kind.STOP_SIGN]


def touches(frames: range, other: int, kind: str) -> dict[int, tuple[Collision, ...]]:
    return {n: (Collision(n, EGO, other, kind, 100.0),) for n in frames}


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ("vehicle.audi.tt", Kind.COLLISION_VEHICLE),
        ("walker.pedestrian.0001", Kind.COLLISION_PEDESTRIAN),
        ("static.prop.streetbarrier", Kind.COLLISION_STATIC),
        ("traffic.unknown", Kind.COLLISION_STATIC),
    ],
)
def test_pushing_somebody_for_a_second_is_one_collision(
    town: TownMap, lit: tuple[Route, float, str], other: str, kind: Kind
) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 8.0)
    hits = touches(range(10, 20), 42, other)
    assert kinds(judge(town, route, states(egos, collisions=hits))) == [kind]


def test_touching_the_same_one_again_later_is_another_collision(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 8.0)
    hits = touches(range(10, 12), 42, "vehicle.audi.tt") | touches(
        range(50, 52), 42, "vehicle.audi.tt"
    )
    assert kinds(judge(town, route, states(egos, collisions=hits))) == [Kind.COLLISION_VEHICLE] * 2


def test_resting_against_somebody_stays_one_collision(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 8.0)
    ego = egos[0]
    ahead = LENGTH + 0.05
    x, y = ego.x + ahead * math.cos(ego.heading), ego.y + ahead * math.sin(ego.heading)
    hits = touches(range(10, 12), 42, "vehicle.audi.tt") | touches(
        range(60, 62), 42, "vehicle.audi.tt"
    )
    seen = states(egos, others=[car(42, x, y, ego.heading, 0.0)], collisions=hits)
    assert kinds(judge(town, route, seen)) == [Kind.COLLISION_VEHICLE]


def test_an_event_is_due_until_the_contact_is_counted(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 2.0)
    ahead = LENGTH + 0.05
    x, y = (
        egos[0].x + ahead * math.cos(egos[0].heading),
        egos[0].y + ahead * math.sin(egos[0].heading),
    )
    close, far = car(42, x, y, egos[0].heading, 0.0), car(43, x + 90.0, y, 0.0, 0.0)
    seen = states(
        egos, others=[close, far], collisions=touches(range(10, 12), 42, "vehicle.audi.tt")
    )
    criteria = judge(town, route, seen[:10])
    assert criteria.contacts.new_touch(seen[10], EGO)
    assert not criteria.contacts.new_touch(seen[10], 99), "an ego that is gone touches nobody"
    for state in seen[10:12]:
        criteria.update(state)
    assert not criteria.contacts.new_touch(seen[12], EGO), "pushing on says nothing new"


@pytest.mark.slow
@given(late=st.lists(st.integers(0, 12), min_size=6, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_event_counts_at_its_own_moment_however_late_it_comes(
    town: TownMap, lit: tuple[Route, float, str], late: list[int]
) -> None:
    """Two touches of a fence and one of a car, the last at the very end; some events come up to 12 ticks late."""
    route, line, _ = lit
    egos = drive(route, line - 60.0, line - 12.0)
    last = len(egos) - 1
    touched = [(5, "static.fence"), (6, "static.fence"), (8, "vehicle.audi.tt"), (50, "static.fence"), (52, "static.fence"), (last, "vehicle.audi.tt")]  # fmt: skip
    events = [
        Collision(n, EGO, 42 if kind.startswith("vehicle") else 0, kind, 9.0) for n, kind in touched
    ]

    def run(delays: list[int]) -> list[Infraction]:
        arriving: dict[int, tuple[Collision, ...]] = {}
        at = 0
        for event, delay in zip(events, delays, strict=True):
            at = max(at, event.frame + delay)  # a socket keeps the order
            arriving[at] = tuple(sorted((*arriving.get(at, ()), event)))
        criteria = judge(town, route, states(egos, collisions=arriving))
        criteria.finish([e for n in sorted(arriving) if n > last for e in arriving[n]])
        return criteria.infractions

    punctual = run([0] * len(events))
    touches = [one for one in punctual if one.kind in (Kind.COLLISION_STATIC, Kind.COLLISION_VEHICLE)]  # fmt: skip
    assert [round(one.time / DT) for one in touches] == [5, 8, 50, last]
    assert repr(run(late)) == repr(punctual)  # a bearing may be NaN


def test_collisions_of_others_are_not_those_of_the_ego(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, line, _ = lit
    hits = {3: (Collision(3, 42, 43, "vehicle.audi.tt", 10.0),)}
    seen = states(stand(route, line - 20.0, 1.0), collisions=hits)
    assert kinds(judge(town, route, seen)) == []


@pytest.mark.parametrize(("seconds", "blocked"), [(59.0, False), (61.5, True)])
def test_standing_for_a_minute_is_blocked_and_ends_the_drive(
    town: TownMap, lit: tuple[Route, float, str], seconds: float, blocked: bool
) -> None:
    route, line, _ = lit
    egos = drive(route, line - 30.0, line - 20.0) + stand(route, line - 20.0, seconds)
    criteria = judge(town, route, states(egos))
    assert kinds(criteria) == [Kind.BLOCKED] * blocked
    assert criteria.ended == blocked
    assert {Kind.BLOCKED, Kind.ROUTE_TIMEOUT, Kind.ROUTE_DEVIATION} == ENDING


def test_moving_in_between_is_not_blocked(town: TownMap, lit: tuple[Route, float, str]) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 40.0) + drive(route, line - 20.0, line - 15.0)
    egos += stand(route, line - 15.0, 40.0)
    assert kinds(judge(town, route, states(egos))) == []


def test_a_route_has_its_time(town: TownMap, lit: tuple[Route, float, str]) -> None:
    route, line, _ = lit
    egos = stand(route, line - 20.0, 12.0)
    assert kinds(judge(town, route, states(egos), route_timeout_s=10.0)) == [Kind.ROUTE_TIMEOUT]


def test_completion_is_the_share_of_the_way_and_whole_at_its_end(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    route, _, _ = lit
    middle = judge(town, route, states(drive(route, 4.0, route.length / 2.0 + LENGTH / 2.0)))
    assert middle.completion == pytest.approx(0.5, abs=0.02)
    assert not middle.ended
    end = judge(town, route, states(drive(route, 4.0, route.length)))
    assert end.completion == 1.0
    assert end.ended


def straight_lane(town: TownMap) -> Route:
    """A straight lane with one lane in each direction, as a route."""
    lanes = town.lanes
    for lane in np.flatnonzero((lanes.kind == 1) & ~lanes.is_junction & (lanes.length > 80.0)):
        other = int(lanes.left[lane])
        lone = other >= 0 and not lanes.left_same[lane] and lanes.kind[other] == 1
        if lone and np.ptp(np.unwrap(lanes.heading[lanes.points(int(lane))])) < 0.01:
            line = lanes.polyline(int(lane))
            heading = float(line.heading(1.0))
            return town.route([*line.at(1.0), heading], [*line.at(line.length - 1.0), heading])
    raise AssertionError("no straight lane")


def beside(route: Route, aside: float, low: float, high: float) -> list[ActorState]:
    return [on_route(route, front, 8.0, aside) for front in np.arange(low, high, 0.8)]


def test_driving_against_traffic_counts_the_metres(town: TownMap) -> None:
    town = load_town("Town01")
    route = straight_lane(town)
    egos = [*drive(route, 10.0, 30.0), *beside(route, 4.0, 30.0, 50.0), *drive(route, 50.0, 70.0)]
    found = judge(town, route, states(egos)).infractions
    assert [one.kind for one in found] == [Kind.WRONG_WAY]
    assert found[0].share * route.length == pytest.approx(20.0 + 4.0, abs=3.0)


def test_the_opposite_lane_is_free_while_a_scenario_allows_it() -> None:
    town = load_town("Town01")
    route = straight_lane(town)
    criteria = Criteria(Place(town), EGO, route)
    criteria.allow_wrong_way()
    for state in states([*drive(route, 10.0, 30.0), *beside(route, 4.0, 30.0, 50.0)]):
        criteria.update(state)
    assert criteria.infractions == []


@pytest.mark.parametrize(("aside", "off"), [(-1.0, False), (-2.1, False), (-3.2, True)])
def test_beyond_the_edge_of_the_lane_is_off_it(aside: float, off: bool) -> None:
    town = load_town("Town01")  # lanes of 4 m with nothing to drive on beside them
    route = straight_lane(town)
    egos = [*drive(route, 10.0, 30.0), *beside(route, aside, 30.0, 50.0)]
    assert kinds(judge(town, route, states(egos))) == [Kind.OFF_LANE] * off


def test_far_from_the_route_is_a_deviation_once() -> None:
    town = load_town("Town01")
    route = straight_lane(town)
    egos = [*drive(route, 10.0, 30.0), *beside(route, -31.0, 30.0, 40.0)]
    assert kinds(judge(town, route, states(egos))).count(Kind.ROUTE_DEVIATION) == 1


@pytest.mark.parametrize(("speed", "slow"), [(4.0, True), (8.5, False)])
def test_speed_is_compared_with_the_traffic_around(speed: float, slow: bool) -> None:
    town = load_town("Town01")
    route = straight_lane(town)
    criteria = Criteria(Place(town), EGO, route)
    egos = drive(route, 3.0, route.length / 20.0 + 4.0, speed)
    for state in states(egos, others=[on_route(route, 30.0, 8.0)._replace(id=9)]):
        criteria.update(state)
    found = [one for one in criteria.infractions if one.kind is Kind.MIN_SPEED]
    assert bool(found) == slow
    assert criteria.speed_shares == [pytest.approx(speed / 8.0)]
    assert criteria.failures == []


@pytest.mark.parametrize(("speed", "held"), [(3.0, True), (9.0, False)])
def test_an_emergency_vehicle_behind_wants_to_get_on(speed: float, held: bool) -> None:
    town = load_town("Town01")
    route = straight_lane(town)
    criteria = Criteria(Place(town), EGO, route)
    criteria.watch_emergency(9, wanted_speed=10.0)
    ego = on_route(route, 40.0, 0.0)
    behind = [on_route(route, front, speed)._replace(id=9) for front in np.arange(10.0, 34.0, 1.0)]
    passed = [on_route(route, front, speed)._replace(id=9) for front in np.arange(48.0, 60.0, 1.0)]
    found: list[Infraction] = []
    for n, other in enumerate([*behind, *passed]):
        found += criteria.update(WorldState(n, n * DT, {EGO: ego, 9: other}))
    found = [one for one in found if one.kind not in HARMLESS]
    assert [one.kind for one in found] == [Kind.YIELD_EMERGENCY] * held
    if held:
        assert found[0].share == pytest.approx(0.3)


def test_an_ego_that_is_not_there_yet_changes_nothing(
    town: TownMap, lit: tuple[Route, float, str]
) -> None:
    criteria = Criteria(Place(town), EGO, lit[0])
    assert criteria.update(WorldState(0, 0.0)) == []
    assert criteria.completion == 0.0

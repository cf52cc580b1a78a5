"""Driving score, success, efficiency and abilities against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import Kind, infraction, record

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteState, Status
from driveproof.evaluation.driving.route_score import Variant, penalty_of, score_record
from driveproof.evaluation.driving.scores import driving_scores
from driveproof.evaluation.driving.suite import BENCH2DRIVE_ROUTES, ExpectedRoute, Loss

PEER, CORRECTED = Variant.BENCH2DRIVE, Variant.CORRECTED


@pytest.mark.parametrize(
    ("kinds", "left"),
    [
        ([], 1.0),
        ([Kind.COLLISION_PEDESTRIAN], 0.5),
        ([Kind.COLLISION_VEHICLE], 0.6),
        ([Kind.COLLISION_STATIC], 0.65),
        ([Kind.RED_LIGHT], 0.7),
        ([Kind.STOP_SIGN], 0.8),
        ([Kind.SCENARIO_TIMEOUT], 0.7),
        ([Kind.YIELD_EMERGENCY], 0.7),
        ([Kind.MIN_SPEED, Kind.BLOCKED, Kind.ROUTE_DEVIATION, Kind.ROUTE_TIMEOUT], 1.0),
        ([Kind.COLLISION_VEHICLE, Kind.COLLISION_VEHICLE], 0.36),  # 0.6 x 0.6
        ([Kind.COLLISION_PEDESTRIAN, Kind.RED_LIGHT], 0.35),  # 0.5 x 0.7
        ([infraction(Kind.OFF_LANE, 0.25)], 0.75),  # a quarter of the way beside the lanes
        ([infraction(Kind.OFF_LANE, 0.25), infraction(Kind.WRONG_WAY, 0.15)], 0.6),  # 1 - 0.4
        ([infraction(Kind.OFF_LANE, 0.25), Kind.STOP_SIGN], 0.6),  # 0.75 x 0.8
        ([infraction(Kind.OFF_LANE, 0.8), infraction(Kind.WRONG_WAY, 0.9)], 0.0),  # never negative
    ],
)
def test_every_infraction_leaves_its_factor(kinds: list[Kind], left: float) -> None:
    assert penalty_of(record("1", *kinds)) == pytest.approx(left)


def test_the_driving_score_of_half_a_route_with_a_collision() -> None:
    half = record("1", Kind.COLLISION_VEHICLE, completion=0.5, status=Status.BLOCKED)
    scored = score_record(half, PEER)
    assert (scored.route, scored.penalty) == (50.0, 0.6)
    assert scored.composed == pytest.approx(30.0)  # 50 % x 0.6
    assert scored.success is False


def suite(*routes: str) -> tuple[ExpectedRoute, ...]:
    return tuple(ExpectedRoute(route, ("Accident",), "Town12") for route in routes)


def test_missing_routes_are_silent_zeros_there_and_named_here() -> None:
    # Three of four routes: 100, 60 and 0 (nothing driven); the fourth has no record.
    there = [
        record("1"),
        record("2", Kind.COLLISION_VEHICLE),
        record("3", completion=0.0, status=Status.BLOCKED),
    ]
    peer = driving_scores(there, suite("1", "2", "3", "4"), PEER)
    assert peer.driving_score.mean == pytest.approx(40.0)  # 160 / 4
    assert peer.success_rate.mean == pytest.approx(25.0)  # 1 / 4
    assert (peer.driving_score.n, peer.driving_score.lost) == (4, 1)

    ours = driving_scores(there, suite("1", "2", "3", "4"), CORRECTED)
    assert ours.driving_score.mean == pytest.approx(160.0 / 3.0)
    assert (ours.driving_score.n, ours.driving_score.lost) == (3, 1)
    assert ours.driving_score_lost_as_zero.mean == pytest.approx(40.0)
    assert ours.success_rate.mean == pytest.approx(100.0 / 3.0)
    assert [(one.route_id, one.lost) for one in ours.lost] == [
        ("4", "queued: there is no record of it")
    ]


def test_without_a_suite_the_published_sum_is_over_its_220_routes() -> None:
    scores = driving_scores([record("1"), record("2")], None, PEER)
    assert scores.driving_score.mean == pytest.approx(200.0 / BENCH2DRIVE_ROUTES)
    assert scores.driving_score.lost == 218
    assert any("218 of 220" in note for note in scores.notes)
    assert driving_scores([record("1"), record("2")]).driving_score.mean == 100.0


def test_a_crash_is_no_zero_of_the_model() -> None:
    crashed = record(
        "2", completion=0.1, state=RouteState.FAILED_BY_SIMULATOR, status=Status.SIMULATION
    )
    peer = driving_scores([record("1"), crashed], suite("1", "2"), PEER)
    ours = driving_scores([record("1"), crashed], suite("1", "2"), CORRECTED)
    assert peer.driving_score.mean == pytest.approx(55.0)  # (100 + 10) / 2
    assert ours.driving_score.mean == 100.0
    assert ours.lost[0].lost == "failed_by_simulator: Failed - Simulation crashed"


def test_a_policy_that_breaks_is_worth_nothing_and_is_not_lost() -> None:
    broke = Loss("2", 0, RouteState.FAILED_BY_POLICY, "it raised")
    ours = driving_scores([record("1")], suite("1", "2"), CORRECTED, losses=[broke])
    assert ours.driving_score.mean == 50.0
    assert ours.driving_score.lost == 0
    quarantined = Loss("2", 0, RouteState.QUARANTINED, "3 crashes")
    ours = driving_scores([record("1")], suite("1", "2"), CORRECTED, losses=[quarantined])
    assert ours.driving_score.mean == 100.0
    assert ours.lost[0].lost == "quarantined: 3 crashes"


@pytest.mark.parametrize(
    ("one", "success"),
    [
        (record("1"), True),
        (record("1", status=Status.PERFECT), True),
        (record("1", infraction(Kind.MIN_SPEED, 0.4)), True),  # recorded, harmless
        (record("1", Kind.STOP_SIGN), False),
        (record("1", infraction(Kind.OFF_LANE, 0.001)), False),
        (record("1", status=Status.TICKS, completion=0.9), False),
    ],
)
def test_success_is_a_whole_route_without_an_infraction(one: object, success: bool) -> None:
    assert one.success is success  # type: ignore[attr-defined]


def test_efficiency_averages_checkpoints_then_routes() -> None:
    # 50 % and 100 % -> 75; 120 % -> 120; the third met nobody. Mean of two routes 97.5.
    there = [
        record("1", speed_shares=(0.5, 1.0)),
        record("2", speed_shares=(1.2,)),
        record("3"),
    ]
    for variant in Variant:
        found = driving_scores(there, suite("1", "2", "3"), variant).efficiency
        assert found.mean == pytest.approx(97.5)
        assert (found.n, found.lost) == (2, 1)


def test_efficiency_drops_what_exceeds_1000_percent() -> None:
    scored = score_record(record("1", speed_shares=(0.8, 10.01)), PEER)
    assert scored.efficiency == pytest.approx(80.0)
    exact = score_record(record("1", speed_shares=(0.8, 10.0)), PEER)
    assert exact.efficiency == pytest.approx(540.0)  # 1000 % itself stays: (80 + 1000) / 2


def test_efficiency_reads_texts_of_two_decimals_there_and_numbers_here() -> None:
    one = record("1", speed_shares=(1.0 / 3.0,))
    assert score_record(one, PEER).efficiency == 33.33
    assert score_record(one, CORRECTED).efficiency == pytest.approx(100.0 / 3.0)


def test_efficiency_divides_by_zero_there_and_loses_one_route_here() -> None:
    there = [record("1", speed_shares=(0.5,)), record("2", speed_shares=(20.0,))]
    peer = driving_scores(there, suite("1", "2"), PEER)
    assert peer.efficiency.mean is None
    assert any("divides by zero" in note and "route 2" in note for note in peer.notes)
    ours = driving_scores(there, suite("1", "2"), CORRECTED).efficiency
    assert ours.mean == 50.0
    assert ours.lost == 1


ROUTES = (
    ExpectedRoute("1", ("Accident",), "Town12"),  # overtaking
    ExpectedRoute("2", ("HighwayExit",), "Town12"),  # merging
    ExpectedRoute("3", ("HighwayCutIn",), "Town06"),  # merging
    ExpectedRoute("4", ("HardBreakRoute",), "Town06"),  # emergency brake
    ExpectedRoute("5", ("InvadingTurn",), "Town06"),  # give way
    ExpectedRoute("6", ("BlockedIntersection",), "Town06"),  # emergency brake and traffic signs
)


def driven(route: ExpectedRoute, *kinds: Kind, **more: object) -> object:
    return record(route.route_id, *kinds, scenarios=route.scenarios, town=route.town, **more)


def test_abilities_by_hand() -> None:
    # Fails: 2 (collision) and 6 (collision, first junction at 30 to 50 m passed: it counts for the signs).
    bad = {"2", "6"}
    there = [
        driven(
            route,
            *([Kind.COLLISION_VEHICLE] if route.route_id in bad else []),
            first_junction=(30.0, 50.0),
        )
        for route in ROUTES
    ]
    for variant in Variant:
        scores = driving_scores(there, ROUTES, variant)  # type: ignore[arg-type]
        means = {name: found.mean for name, found in scores.abilities.items()}
        assert means == {
            "Overtaking": 100.0,
            "Merging": 50.0,
            "Emergency_Brake": 50.0,
            "Give_Way": 100.0,
            "Traffic_Signs": 100.0,
        }
        assert scores.ability_mean.mean == pytest.approx(80.0)  # 400 / 5
        assert scores.by_town["Town06"].success_rate.mean == pytest.approx(75.0)  # 3 of 4
        assert scores.by_scenario["HighwayExit"].driving_score.mean == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("kind", "completion", "junction", "counts"),
    [
        (Kind.COLLISION_VEHICLE, 0.59, (30.0, 50.0), True),  # 59 m > 50 + 8
        (Kind.COLLISION_VEHICLE, 0.57, (30.0, 50.0), False),  # 57 m < 58
        (Kind.RED_LIGHT, 1.0, (30.0, 50.0), False),
        (Kind.STOP_SIGN, 1.0, (30.0, 50.0), False),
        (Kind.COLLISION_VEHICLE, 1.0, None, False),  # nobody knows where it is
    ],
)
def test_traffic_signs_count_once_the_first_junction_is_passed(
    kind: Kind, completion: float, junction: tuple[float, float] | None, counts: bool
) -> None:
    status = Status.COMPLETED if completion == 1.0 else Status.BLOCKED
    one = driven(ROUTES[5], kind, completion=completion, first_junction=junction, status=status)
    scores = driving_scores([one], [ROUTES[5]])  # type: ignore[list-item]
    assert scores.abilities["Traffic_Signs"].mean == 100.0 * counts
    assert scores.abilities["Emergency_Brake"].mean == 0.0
    assert any("first junction" in note for note in scores.notes) is (junction is None)


def test_a_missing_route_raises_an_ability_there_and_not_here() -> None:
    # Merging: route 2 is missing, route 3 a success: 100 % there; here 100 without, 50 with the lost one.
    there = [driven(route) for route in ROUTES if route.route_id != "2"]
    peer = driving_scores(there, ROUTES, PEER)  # type: ignore[arg-type]
    assert peer.abilities["Merging"].mean == 100.0
    assert peer.driving_score.mean == pytest.approx(500.0 / 6.0)
    ours = driving_scores(there, ROUTES, CORRECTED)  # type: ignore[arg-type]
    assert ours.abilities["Merging"].mean == 100.0
    assert ours.abilities["Merging"].lost == 1
    assert ours.abilities_lost_as_zero["Merging"].mean == 50.0


def test_an_ability_without_a_route_divides_by_zero_there_and_is_named_here() -> None:
    there = [driven(ROUTES[0])]
    peer = driving_scores(there, ROUTES[:1], PEER)  # type: ignore[arg-type]
    assert peer.ability_mean.mean is None
    ours = driving_scores(there, ROUTES[:1], CORRECTED)  # type: ignore[arg-type]
    assert ours.ability_mean.mean == 100.0
    assert ours.abilities["Give_Way"].mean is None
    assert any("Give_Way" in note for note in ours.notes)


def test_a_route_with_two_scenarios_shows_the_abilities_of_both_here() -> None:
    both = ExpectedRoute("1", ("Accident", "InvadingTurn"))
    one = record("1", scenarios=both.scenarios)
    assert driving_scores([one], [both], PEER).abilities["Give_Way"].mean is None
    assert driving_scores([one], [both], CORRECTED).abilities["Give_Way"].mean == 100.0


def test_unknown_scenarios_are_named() -> None:
    odd = ExpectedRoute("1", ("Accidnet",))
    assert any("Accidnet" in note for note in driving_scores([], [odd]).notes)


def test_repeats_are_one_cluster_and_each_counts() -> None:
    there = [record("1", repeat=0), record("1", Kind.COLLISION_VEHICLE, repeat=1)]
    found = driving_scores(there, suite("1"), CORRECTED).driving_score
    assert (found.mean, found.n) == (80.0, 2)
    assert (found.low, found.high) == (None, None)  # one route: nothing is known about the spread


def test_foreign_and_double_records_are_refused() -> None:
    with pytest.raises(BadInput, match="route 2, repeat 0: the suite has no such drive"):
        driving_scores([record("2")], suite("1"))
    with pytest.raises(BadInput, match="two records"):
        driving_scores([record("1"), record("1")], suite("1"))


def test_nothing_at_all_is_unscored() -> None:
    for variant in Variant:
        scores = driving_scores([], suite("1", "2"), variant)
        assert scores.efficiency.mean is None
        assert scores.comfort.mean is None
        assert scores.driving_score_lost_as_zero.mean == 0.0
    assert driving_scores([], suite("1", "2")).driving_score.mean is None


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.floats(0.0, 1.0), st.lists(st.sampled_from(list(Kind)), max_size=4)),
        min_size=1,
        max_size=8,
    )
)
def test_scores_stay_between_0_and_100_and_the_means_enclose_each_other(
    drives: list[tuple[float, list[Kind]]],
) -> None:
    there = [
        record(
            str(number),
            *(infraction(kind, 0.1) for kind in kinds),
            completion=completion,
            status=Status.COMPLETED if completion == 1.0 else Status.TICKS,
        )
        for number, (completion, kinds) in enumerate(drives)
    ]
    expected = suite(*(str(number) for number in range(len(drives) + 1)))
    ours = driving_scores(there, expected, CORRECTED)
    peer = driving_scores(there, expected, PEER)
    assert ours.driving_score.mean is not None
    assert ours.driving_score_lost_as_zero.mean is not None
    assert 0.0 <= ours.driving_score_lost_as_zero.mean <= ours.driving_score.mean <= 100.0
    assert peer.driving_score == ours.driving_score_lost_as_zero
    assert ours.driving_score_lost_as_zero.lost == 1

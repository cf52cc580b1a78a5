"""What each rule says of driving that everyone can picture; no reference material needed.

The ego is 5.176 m long and 2.297 m wide, its front 4.049 m before the rear axle, which starts at the origin.
"""

from __future__ import annotations

import copy

import pytest
from rules_examples import (
    Doc,
    brake,
    car,
    cruise,
    lane,
    plan,
    read,
    rectangle,
    score,
    street,
    with_plans,
)

from driveproof.rules import (
    Batch,
    History,
    Scores,
    epdms,
    forgive,
    kernel_weights,
    score_plans_v1,
)
from driveproof.rules.driving_direction import metres_against
from driveproof.rules.history_comfort import history_states


def row(doc: Doc, **options: str) -> dict[str, float | None]:
    return score(doc, **options).row(0)


def scene(*agents: Doc, speed: float = 8.0, drive: Doc | None = None) -> Doc:
    doc = with_plans(street(speed), p=drive or cruise(speed))
    doc["agents"] = list(agents)
    return doc


def test_an_empty_road_earns_everything() -> None:
    got = row(scene())
    assert got.pop("EC") is None
    assert set(got.values()) == {1.0}


def test_running_into_a_standing_car_is_zero_a_cone_half() -> None:
    crash = score(scene(car("parked", 20.0, 0.0)))
    verdict = crash.verdicts(0)["NC"]
    assert (verdict.value, verdict.agent) == (0.0, "parked")
    assert "parked" in verdict.reason
    # The front (4.049 m ahead) reaches the rear of the car (17.7 m) after 1.71 s at 8 m/s.
    assert verdict.step == 18
    assert verdict.time == pytest.approx(1.8)
    cone = car("cone", 20.0, 0.0, kind="traffic_cone", length=0.4, width=0.4)
    assert row(scene(cone))["NC"] == 0.5
    assert row(scene(cone, car("parked", 24.0, 0.0)))["NC"] == 0.0
    assert row(scene(car("parked", 20.0, 0.0)))["EPDMS_raw"] == 0.0


def test_being_hit_from_behind_is_not_ones_fault_but_breaks_ttc_in_navsim() -> None:
    doc = scene(car("pushy", -14.0, 0.0, vx=12.0), speed=4.0)
    assert row(doc)["NC"] == 1.0
    assert row(doc)["TTC"] == 0.0
    assert row(doc, variant="corrected")["NC"] == 1.0
    assert row(doc, variant="corrected")["TTC"] == 1.0


def test_a_standing_ego_is_never_at_fault() -> None:
    doc = scene(car("other", 14.0, 0.0, vx=-5.0), speed=0.0)
    got = score(doc)
    assert got.row(0)["NC"] == 1.0
    assert "without fault" in got.verdicts(0)["NC"].reason
    assert got.row(0)["TTC"] == 1.0


@pytest.mark.parametrize(("offset", "expected"), [(0.0, 1.0), (1.75, 0.0)])
def test_a_side_contact_is_ones_fault_only_between_lanes(offset: float, expected: float) -> None:
    """A car from the left slides into the ego's side, once in its lane, once astride the lane line."""
    doc = street()
    doc["ego"]["y"] = offset
    for state in doc["ego_history"]:
        state["y"] = offset
    doc = with_plans(doc, p=cruise(8.0))
    doc["agents"] = [car("slider", 1.0, offset + 4.0, vx=8.0, vy=-1.0, heading=0.0)]
    assert row(doc)["NC"] == expected


def test_time_to_collision_looks_nine_tenths_of_a_second_ahead() -> None:
    """Closing at 2 m/s: 0.9 s are 1.8 m, and a gap g has shrunk to g - 6.2 at step 31, the last that is checked."""
    gap = {name: 4.049 + g + 2.3 for name, g in (("near", 7.9), ("far", 8.1))}
    near = score(scene(car("lead", gap["near"], 0.0, vx=6.0)))
    far = score(scene(car("lead", gap["far"], 0.0, vx=6.0)))
    assert near.row(0)["TTC"] == 0.0
    assert near.verdicts(0)["TTC"].step == 31
    assert near.verdicts(0)["TTC"].agent == "lead"
    assert far.row(0)["TTC"] == 1.0


def test_agents_that_touch_the_ego_at_the_start_are_dropped() -> None:
    doc = scene(car("ghost", 4.0, 0.5))
    assert row(doc)["NC"] == row(doc)["TTC"] == 1.0
    case = read(doc)
    assert not len(case.world.others)
    assert score_plans_v1(case.world, case.plans, case.plans[0]).row(0)["NC"] == 0.0


def test_a_car_that_was_standing_stays_standing_only_in_navsim() -> None:
    """It pulls out at 8 m/s and touches the side of the ego from the right: a side contact in one's own lane."""
    agent = car("starter", 12.0, -3.2, vx=8.0, vy=1.0, heading=0.0)
    for k, state in enumerate(agent["states"]):
        state[0] = 1.0 + 0.8 * k
    agent["states"][0][3:] = [0.0, 0.0]
    doc = scene(agent)
    assert row(doc)["NC"] == 0.0
    assert row(doc, variant="corrected")["NC"] == 1.0


def test_a_track_that_has_not_yet_appeared_cannot_be_hit() -> None:
    agent = car("late", 12.0, 0.0)
    agent["states"] = [None] * 30 + agent["states"][:11]
    assert row(scene(agent))["NC"] == 1.0  # the ego has passed by then
    agent["states"] = [None] * 10 + [[12.0, 0.0, 0.0, 0.0, 0.0]] * 31
    assert row(scene(agent))["NC"] == 0.0


def test_leaving_the_road() -> None:
    doc = scene(drive=plan(lambda t: 8.0 * t, lambda t: -0.5 * t))
    verdict = score(doc).verdicts(0)["DAC"]
    assert verdict.value == 0.0
    assert verdict.step is not None
    assert 10 < verdict.step < 30
    doc["map"]["polygons"].append(
        {"id": "park", "type": "CARPARK_AREA", "exterior": rectangle(-60, 160, -9.0, -1.0)}
    )
    assert row(doc)["DAC"] == 1.0


def test_a_roadblock_connector_is_not_drivable_an_intersection_is() -> None:
    doc = scene()
    doc["map"]["polygons"][0]["type"] = "ROADBLOCK_CONNECTOR"
    got = row(doc)
    assert got["DAC"] is None
    assert got["EPDMS_raw"] is None
    doc["map"]["polygons"][0]["type"] = "INTERSECTION"
    assert row(doc)["DAC"] == 1.0


@pytest.mark.parametrize(("speed", "expected"), [(1.7, 1.0), (2.0, 0.5), (5.3, 0.5), (5.6, 0.0)])
def test_driving_against_traffic_is_measured_over_eleven_steps(
    speed: float, expected: float
) -> None:
    """1.1 s at v metres a second: 2 m at 1.82 m/s, 6 m at 5.45 m/s."""
    doc = street(speed)
    for state in [doc["ego"], *doc["ego_history"]]:
        state["y"] = 7.0
    doc = with_plans(doc, p=cruise(speed))
    for variant in ("navsim", "corrected"):
        assert row(doc, variant=variant)["DDC"] == expected
    case = read(doc)
    metres = metres_against(Batch(case.world, case.score().states))
    assert metres.max() == pytest.approx(1.1 * speed, abs=1e-3)
    doc["map"]["polygons"].append(
        {"id": "cross", "type": "INTERSECTION", "exterior": rectangle(-60, 160, -2.0, 9.0)}
    )
    assert row(doc)["DDC"] == 1.0
    case = read(doc)
    assert score_plans_v1(case.world, case.plans, case.plans[0]).row(0)["DDC"] == expected


def test_a_lane_beside_the_route_is_oncoming_only_in_navsim() -> None:
    doc = street()
    for state in [doc["ego"], *doc["ego_history"]]:
        state["y"] = 3.5
    doc = with_plans(doc, p=cruise(8.0))
    assert row(doc)["DDC"] == 0.0
    assert row(doc, variant="corrected")["DDC"] == 1.0
    # 3.5 m off the route's centreline, but in the middle of its own lane.
    assert row(doc)["LK"] == 0.0
    assert row(doc, variant="corrected")["LK"] == 1.0


def _light(red: list[bool], route: bool = True) -> Doc:
    doc = scene()
    connector = lane("turn", 0.0, kind="LANE_CONNECTOR")
    connector["exterior"] = rectangle(20.0, 30.0, -1.75, 1.75)
    connector["centerline"] = [[20.0, 0.0, 0.0], [30.0, 0.0, 0.0]]
    doc["map"]["polygons"].append(connector)
    if route:
        doc["map"]["route_lane_ids"].append("turn")
    doc["traffic_lights"] = [{"lane_connector_id": "turn", "red": red}]
    return doc


def test_red_lights() -> None:
    # The front needs (20 - 4.049) / 8 = 1.99 s to the connector, the rear (30 + 1.127) / 8 = 3.89 s to leave it.
    verdict = score(_light([True] * 41)).verdicts(0)["TLC"]
    assert (verdict.value, verdict.step, verdict.agent) == (0.0, 20, "turn")
    assert row(_light([k < 19 for k in range(41)]))["TLC"] == 1.0
    assert (
        row(_light([k >= 38 for k in range(41)]))["TLC"] == 0.0
    )  # already inside when it turns red
    assert row(_light([k >= 39 for k in range(41)]))["TLC"] == 1.0
    assert row(_light([True] * 41, route=False))["TLC"] == 1.0
    assert row(scene())["TLC"] == 1.0


@pytest.mark.parametrize(("offset", "expected"), [(0.45, 1.0), (0.55, 0.0)])
def test_lane_keeping_limit(offset: float, expected: float) -> None:
    doc = street()
    for state in [doc["ego"], *doc["ego_history"]]:
        state["y"] = offset
    assert row(with_plans(doc, p=cruise(8.0)))["LK"] == expected


def test_inside_an_intersection_lane_keeping_neither_counts_nor_forgets() -> None:
    doc = street()
    for state in [doc["ego"], *doc["ego_history"]]:
        state["y"] = 0.6
    doc = with_plans(doc, p=cruise(8.0))
    cross = {"id": "cross", "type": "INTERSECTION", "exterior": rectangle(8.0, 16.0, -9, 9)}
    doc["map"]["polygons"].append(cross)
    # The centre is inside for 8 m = 10 of 41 steps, so 31 count and the 20th comes ten steps later.
    verdict = score(doc).verdicts(0)["LK"]
    assert verdict.value == 0.0
    inside = sum(8.0 < 1.461 + 0.8 * k < 16.0 for k in range(41))
    assert verdict.step == 19 + inside
    cross["exterior"] = rectangle(-9.0, 22.0, -9, 9)
    assert row(doc)["LK"] == 1.0


def test_progress_is_relative_to_the_reference_and_capped() -> None:
    doc = with_plans(street(), slow=cruise(8.0), fast=cruise(8.0))
    doc["reference_trajectory"] = plan(lambda t: 8.0 * t + 0.5 * t * t)
    scores = score(doc)
    assert scores.row(0)["EP"] == scores.row(1)["EP"]
    assert 0.7 < scores.row(0)["EP"] < 0.95
    doc["reference_trajectory"] = plan(lambda t: 8.0 * t - 0.5 * t * t)
    assert score(doc).row(0)["EP"] == 1.0
    # A reference that runs a red light has no progress to match.
    red = copy.deepcopy(doc)
    red["proposals"][0].update(plan(lambda t: 8.0 * t - 0.9 * t * t))
    red["reference_trajectory"] = cruise(8.0)
    clean = score(red).row(0)["EP"]
    assert clean < 0.8
    red["agents"] = [car("parked", 31.0, 0.0)]
    assert score(red).row(0)["NC"] == 1.0
    assert score(red).row(0)["EP"] == 1.0


def test_below_five_metres_progress_does_not_matter() -> None:
    doc = with_plans(street(0.0), rest=cruise(0.0))
    doc["reference_trajectory"] = plan(lambda t: 0.25 * t * t)
    verdict = score(doc).verdicts(0)["EP"]
    assert verdict.value == 1.0
    assert "only" in verdict.reason


def test_in_a_group_everyone_is_measured_against_the_best() -> None:
    doc = with_plans(street(), slow=plan(lambda t: 8.0 * t - 0.5 * t * t), fast=cruise(8.0))
    scores = score(doc, grouping="group")
    assert scores.row(1)["EP"] == 1.0
    assert scores.row(0)["EP"] < 0.9


def test_comfort_bounds() -> None:
    hard = scene(speed=12.0, drive=brake(12.0, 7.0))
    verdict = score(hard).verdicts(0)["HC"]
    assert verdict.value == 0.0
    assert "lon_accel" in verdict.reason
    assert row(scene(speed=12.0, drive=plan(lambda t: 12.0 * t - 0.5 * t * t)))["HC"] == 1.0
    hard["ego_history"] = None
    assert row(hard)["HC"] == 1.0
    assert "no history" in score(hard).verdicts(0)["HC"].reason
    assert row(hard, variant="corrected")["HC"] == 0.0


def test_a_rough_past_makes_comfort_fail() -> None:
    doc = scene()
    for state in doc["ego_history"]:
        state["ay"] = 5.6
    assert row(doc)["HC"] == 0.0
    assert score(doc).verdicts(0)["HC"].reason == "out of bounds: lat_accel"


def test_the_past_misses_a_sample_only_in_navsim() -> None:
    case = read(scene())
    assert isinstance(case.world.history, History)
    navsim = history_states(case.world.history, missing_sample=True)
    whole = history_states(case.world.history, missing_sample=False)
    assert navsim.shape == (14, 11)
    assert whole.shape == (15, 11)
    assert navsim[-1, 0] == pytest.approx(8.0 * -0.2)
    assert whole[-1, 0] == pytest.approx(8.0 * -0.1)


def test_extended_comfort_compares_with_the_plan_of_half_a_second_ago() -> None:
    doc = scene()
    before = {**doc["ego"], "x": -4.0}
    doc["previous_frame"] = {"t": -0.5, "ego": before, "proposals": {"default": cruise(8.0)}}
    same = row(doc)
    assert same["EC"] == 1.0
    assert same["EPDMS_raw"] == 1.0
    doc["previous_frame"]["proposals"] = {"p": plan(lambda t: 8.0 * t - 1.2 * t * t)}
    verdict = score(doc).verdicts(0)["EC"]
    assert verdict.value == 0.0
    assert "acceleration" in verdict.reason
    assert row(doc)["EPDMS_raw"] == pytest.approx(14.0 / 16.0)


def test_the_human_filter_forgives_what_the_human_breaks_too() -> None:
    doc = _light([True] * 41)
    doc["human_trajectory"] = cruise(8.0)
    got = row(doc)
    assert (got["TLC"], got["EPDMS_raw"], got["EPDMS_human_filtered"]) == (0.0, 0.0, 1.0)
    doc["human_trajectory"] = brake(8.0, 4.0)
    assert row(doc)["EPDMS_human_filtered"] == 0.0


def test_half_points_of_the_human_forgive_nothing() -> None:
    import numpy as np

    values = {
        code: np.array([0.5]) for code in ("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC")
    }
    human = {"NC": 0.0, "DAC": 1.0, "DDC": 0.5, "TLC": 1.0, "TTC": 1.0, "LK": 1.0, "HC": 0.0}
    filtered = forgive(values, human)
    assert filtered["NC"][0] == 1.0
    assert filtered["DDC"][0] == filtered["HC"][0] == 0.5
    assert epdms(values, with_ec=False)[0] == pytest.approx(0.5**4 * 0.5)


def test_two_stage_weights() -> None:
    weights = kernel_weights([0.0, 0.0], [[0.0, 0.0], [0.3, 0.4]])
    assert weights[1] / weights[0] == pytest.approx(2.718281828**-1.25)
    assert kernel_weights([0.0, 0.0], [[5.0, 0.0], [9.0, 0.0]]).tolist() == [0.5, 0.5]


def test_v1_masks_progress_and_ignores_lights() -> None:
    case = read(_light([True] * 41))
    clean = score_plans_v1(case.world, case.plans, case.plans[0])
    assert clean.row(0)["PDMS"] == 1.0
    case = read(scene(car("parked", 20.0, 0.0)))
    crash = score_plans_v1(case.world, case.plans, case.plans[0])
    assert (crash.row(0)["EP"], crash.row(0)["PDMS"]) == (0.0, 0.0)


def test_verdicts_carry_value_validity_and_reason() -> None:
    scores: Scores = score(scene())
    for verdict in scores.verdicts(0).values():
        assert verdict.reason
        assert (verdict.value is None) == (not verdict.valid)
    assert not scores.verdicts(0)["EC"].valid

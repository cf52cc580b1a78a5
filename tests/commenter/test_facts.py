"""Typed facts in driving terms: others, conflicts, the road, signs with their memory, the surroundings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from road_scenes import RoadScene, lane_with

from driveproof.commenter import Commenter
from driveproof.commenter.road import turn_of
from driveproof.maps import LaneKind, load_town
from driveproof.questions import QuestionKey
from driveproof.questions import terms as t
from driveproof.scene import Command


def one_way(**more: Any) -> RoadScene:
    """The right of two lanes of one direction."""
    return RoadScene(*lane_with("Town03", left="same", right="none", limit=27.0), **more)


def two_way(**more: Any) -> RoadScene:
    """A road with one lane a direction."""
    return RoadScene(*lane_with("Town01", left="opposite", right="none"), **more)


def facts(scene: RoadScene, number: int, subject: str = "") -> Any:
    return scene.say().answers[QuestionKey(number, subject)].facts


# --- others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speed", "ego", "motion"),
    [
        (0.4, 8.0, t.Motion.STOPPED),
        (3.9, 5.0, t.Motion.SLOW),
        (4.1, 5.0, t.Motion.NORMAL),
        (6.0, 9.3, t.Motion.SLOW),  # below two thirds of 9.3
        (6.3, 9.3, t.Motion.NORMAL),
    ],
)
def test_motion(speed: float, ego: float, motion: t.Motion) -> None:
    scene = one_way(speed=ego)
    other = scene.put("vehicle", 25.0, 3.5, speed=speed)
    assert facts(scene, 16, f"c{other}")["motion"] is motion


@pytest.mark.parametrize(
    ("turned", "course"),
    [(0, t.Course.SAME), (40, t.Course.SAME), (50, t.Course.CROSSING), (-90, t.Course.CROSSING),
     (140, t.Course.OPPOSITE), (180, t.Course.OPPOSITE)],
)  # fmt: skip
def test_course(turned: int, course: t.Course) -> None:
    scene = one_way()
    other = scene.put("vehicle", 25.0, 1.0, speed=5.0, turned=math.radians(turned))
    assert facts(scene, 16, f"c{other}")["course"] is course


@pytest.mark.parametrize(
    ("rate", "intent"),
    [(0.0, t.Intent.STRAIGHT), (0.05, t.Intent.SLIGHTLY_LEFT), (0.12, t.Intent.LEFT),
     (-0.05, t.Intent.SLIGHTLY_RIGHT), (-0.12, t.Intent.RIGHT)],
)  # fmt: skip
def test_intent_is_curvature(rate: float, intent: t.Intent) -> None:
    """``rate`` is the curvature, 1/m, of somebody at 5 m/s."""
    scene = one_way()
    other = scene.put("vehicle", 30.0, 0.0, speed=5.0)
    window = scene.window()
    past = []
    for frame in window.past:
        back = window.now.time - frame.time
        agents = tuple(replace(a, heading=a.heading - 5.0 * rate * back) for a in frame.agents)
        past.append(replace(frame, agents=agents))
    said = Commenter(scene.town).comment(replace(window, past=tuple(past)))
    assert said.answers[QuestionKey(17, f"c{other}")].facts["intent"] is intent


@pytest.mark.parametrize(
    ("ahead", "left", "turned", "place", "along"),
    [
        (20.0, 0.0, 0, t.Place.OWN_LANE, t.Along.AHEAD),
        (20.0, 3.5, 0, t.Place.LEFT_LANE, t.Along.AHEAD),
        (3.0, 3.5, 0, t.Place.LEFT_LANE, t.Along.BESIDE),
    ],
)
def test_places_on_a_road_of_two_lanes(
    ahead: float, left: float, turned: int, place: t.Place, along: t.Along
) -> None:
    scene = one_way()
    other = scene.put("vehicle", ahead, left, speed=6.0, turned=math.radians(turned))
    scene.roles = {"other": (other,)}
    found = facts(scene, 20, f"c{other}")
    assert (found["place"], found["along"]) == (place, along)


def test_the_oncoming_lane() -> None:
    scene = two_way()
    other = scene.put("vehicle", 20.0, 3.8, speed=6.0, turned=math.pi)
    assert facts(scene, 20, f"c{other}")["place"] is t.Place.ONCOMING_LANE


def test_cutting_in_is_moving_sideways_towards_the_ego() -> None:
    scene = one_way()
    other = scene.put("vehicle", 15.0, 3.2, speed=8.0, drift=-0.8)
    assert facts(scene, 17, f"c{other}")["intent"] is t.Intent.CUTTING_IN
    scene = one_way()
    other = scene.put("vehicle", 15.0, 3.2, speed=8.0, drift=0.8)
    assert facts(scene, 17, f"c{other}")["intent"] is t.Intent.STRAIGHT


# --- conflicts -------------------------------------------------------------------------------------


def test_a_leader_a_cut_in_and_somebody_who_minds_his_own_lane() -> None:
    scene = one_way()
    leader = scene.put("vehicle", 18.0, speed=7.0)
    cutter = scene.put("vehicle", 12.0, 3.2, speed=8.0, drift=-0.8)
    other = scene.put("vehicle", 30.0, 3.5, speed=8.0)
    said = scene.say()
    reasons = {
        key.subject: said.answers[key].facts["reason"] for key in said.answers if key.number == 23
    }
    assert reasons[f"c{leader}"] is t.ConflictReason.AHEAD_IN_LANE
    assert reasons[f"c{cutter}"] is t.ConflictReason.CUTTING_IN
    assert reasons[f"c{other}"] is t.ConflictReason.NONE


def test_somebody_from_the_side_who_is_there_at_the_same_time() -> None:
    """20 m at 8 m/s and 18 m at 7 m/s: both arrive after two and a half seconds."""
    scene = two_way(speed=8.0)
    other = scene.put("vehicle", 20.0, -18.0, speed=7.0, turned=math.pi / 2)
    scene.roles = {"other": (other,)}
    found = facts(scene, 23, f"c{other}")
    assert found["crosses"] is True
    assert found["reason"] in (t.ConflictReason.CROSSING_JUNCTION, t.ConflictReason.MERGING)


def test_and_who_is_through_long_before_does_not_count() -> None:
    scene = two_way(speed=4.0)
    other = scene.put("vehicle", 40.0, -6.0, speed=10.0, turned=math.pi / 2)
    scene.roles = {"other": (other,)}
    assert facts(scene, 23, f"c{other}")["crosses"] is False


def test_who_overtakes_is_no_conflict() -> None:
    scene = one_way(speed=8.0)
    scene.put("vehicle", -8.0, 3.5, speed=14.0)
    assert scene.say().answers[QuestionKey(28)].objects == ()


# --- the road --------------------------------------------------------------------------------------


def test_counts_index_and_sides_of_two_lanes_of_one_direction() -> None:
    scene = one_way()
    said = scene.say()
    same = said.answers[QuestionKey(34, "same")].facts["count"]
    assert same == 2
    assert said.answers[QuestionKey(33)].facts["index"] == 1
    assert t.Side.LEFT in said.answers[QuestionKey(31)].facts["sides"]
    assert t.Side.RIGHT not in said.answers[QuestionKey(31)].facts["sides"]


def test_a_road_with_one_lane_a_direction() -> None:
    said = two_way().say()
    assert said.answers[QuestionKey(34, "same")].facts["count"] == 1
    assert said.answers[QuestionKey(34, "opposite")].facts["count"] == 1
    assert said.answers[QuestionKey(33)].facts["index"] == 0
    assert said.answers[QuestionKey(31)].facts["sides"] == frozenset()
    assert said.answers[QuestionKey(32, "left")].facts["colour"] is t.MarkingColour.YELLOW
    assert said.answers[QuestionKey(44)].facts["bend"] is t.Bend.STRAIGHT


def test_a_neighbour_occupies_a_lane() -> None:
    scene = one_way()
    scene.put("vehicle", 2.0, 3.5, speed=8.0)
    assert facts(scene, 31)["occupied"] == {t.Side.LEFT}


def test_lanes_agree_with_the_map_of_a_town_everywhere() -> None:
    """The count from the ego's lane is the count of the map's lanes of its direction in the same section."""
    town = load_town("Town05")
    lanes = town.lanes
    driving = lanes.of_kind(LaneKind.DRIVING)
    for lane in driving[lanes.junction[driving] < 0][::7].tolist():
        scene = RoadScene(town, lane, s=float(lanes.length[lane]) / 2.0)
        if not scene.say().decision.move.needed and lanes.length[lane] < 8.0:
            continue
        road, section, sign = lanes.road[lane], lanes.section[lane], np.sign(lanes.lane[lane])
        beside = driving[(lanes.road[driving] == road) & (lanes.section[driving] == section)]
        count = int((np.sign(lanes.lane[beside]) == sign).sum())
        assert facts(scene, 34, "same")["count"] == count, lane


@pytest.mark.parametrize(
    ("before", "relation"), [(40.0, t.JunctionRelation.NONE), (15.0, t.JunctionRelation.BEFORE)]
)
def test_the_way_to_the_junction(before: float, relation: t.JunctionRelation) -> None:
    town = load_town("Town05")
    lanes = town.lanes
    lane = next(
        int(lane)
        for lane in lanes.of_kind(LaneKind.DRIVING)
        if lanes.junction[lane] < 0
        and lanes.length[lane] > 60.0
        and len(lanes.successors(lane)) > 1
        and (lanes.junction[lanes.successors(lane)] >= 0).all()
    )
    scene = RoadScene(town, lane, s=float(lanes.length[lane]) - before)
    assert facts(scene, 35)["junction"] is relation


@pytest.mark.parametrize(("sign", "bend"), [(1.0, t.Bend.LEFT), (-1.0, t.Bend.RIGHT)])
def test_bends(sign: float, bend: t.Bend) -> None:
    """A lane that turns by a quarter within a hundred metres bends in its middle."""
    town = load_town("Town01")
    lanes = town.lanes
    curved = [
        int(lane)
        for lane in lanes.of_kind(LaneKind.DRIVING)
        if lanes.junction[lane] < 0
        and lanes.length[lane] < 100.0
        and sign * turn_of(town, int(lane)) > 1.2
    ]
    for lane in curved:
        headings = np.unwrap(lanes.heading[lanes.points(lane)])
        arc = lanes.arc[lanes.points(lane)]
        steepest = float(arc[int(np.abs(np.gradient(headings, arc)).argmax())])
        scene = RoadScene(town, lane, s=max(steepest - 5.0, 1.0))
        assert facts(scene, 44)["bend"] is bend
    assert curved


# --- signs -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_speed_limit_is_remembered_once_passed() -> None:
    scene = one_way(speed=8.0)
    scene.s = 20.0
    scene.sign("traffic.speed_limit.60", 10.0)
    commenter = Commenter(scene.town)
    first = scene.say(commenter).answers
    assert first[QuestionKey(7)].facts == {"limit": None, "upcoming": 60.0}
    scene.s = 40.0
    scene.signals.clear()  # out of sight
    later = scene.say(commenter).answers
    assert later[QuestionKey(7)].facts == {"limit": 60.0, "upcoming": None}
    assert later[QuestionKey(3)].facts["passed"] == 60.0
    fresh = scene.say().answers
    assert fresh[QuestionKey(7)].facts["limit"] is None


def test_the_limit_in_force_is_that_of_the_last_sign() -> None:
    scene = one_way(speed=8.0, s=30.0)
    scene.sign("traffic.speed_limit.60", -20.0)
    scene.sign("traffic.speed_limit.30", -5.0)
    scene.sign("traffic.speed_limit.90", 25.0)
    assert facts(scene, 7) == {"limit": 30.0, "upcoming": 90.0}


# --- surroundings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weather", "daytime", "sky", "dangers"),
    [
        ({"sun_altitude_angle": 60.0}, t.Daytime.NOON, t.Sky.CLEAR, set()),
        ({"sun_altitude_angle": 30.0, "cloudiness": 80.0}, t.Daytime.DAY, t.Sky.CLOUDY, set()),
        ({"sun_altitude_angle": 10.0, "precipitation": 30.0}, t.Daytime.TWILIGHT, t.Sky.LIGHT_RAIN, set()),
        ({"sun_altitude_angle": 50.0, "precipitation": 60.0}, t.Daytime.NOON, t.Sky.RAIN,
         {t.Danger.LOW_VISIBILITY, t.Danger.SKIDDING}),
        ({"sun_altitude_angle": -5.0, "precipitation": 90.0}, t.Daytime.NIGHT, t.Sky.HEAVY_RAIN,
         {t.Danger.LOW_VISIBILITY, t.Danger.SKIDDING}),
        ({"sun_altitude_angle": 50.0, "fog_density": 50.0}, t.Daytime.NOON, t.Sky.FOG, {t.Danger.LOW_VISIBILITY}),
        ({"sun_altitude_angle": 50.0, "precipitation_deposits": 50.0}, t.Daytime.NOON, t.Sky.CLEAR, {t.Danger.SKIDDING}),
    ],
)  # fmt: skip
def test_weather(weather: dict[str, float], daytime: t.Daytime, sky: t.Sky, dangers: set[t.Danger]) -> None:  # fmt: skip
    found = facts(one_way(weather=weather), 38)
    assert (found["daytime"], found["sky"], found["dangers"]) == (daytime, sky, dangers)


def test_parked_cars_and_blind_spots() -> None:
    scene = two_way(scenario="DynamicObjectCrossing")
    scene.put("vehicle", 15.0, -3.4, parked=True)
    found = facts(scene, 40)["hazards"]
    assert t.Hazard.PARKED_RIGHT in found
    assert t.Hazard.BLIND_SPOT in found
    assert t.Hazard.PARKED_LEFT not in found


def test_what_to_watch_depends_on_the_command() -> None:
    assert facts(one_way(command=Command.CHANGE_LEFT), 36)["watch"] == {t.Watch.LEFT_LANE}
    assert t.Watch.OWN_LANE in facts(one_way(), 36)["watch"]

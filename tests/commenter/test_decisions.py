"""What the expert decides, in driving terms: scenario groups, and states off the beaten track."""

from __future__ import annotations

import math
from typing import Any

import pytest
from road_scenes import RoadScene, lane_with

from driveproof.commenter import Commentary
from driveproof.commenter.conflicts import find_conflicts
from driveproof.commenter.context import Context
from driveproof.maps import LaneKind
from driveproof.questions import QUESTIONS, ActionKeys, DirectionKey, QuestionKey, SpeedKey
from driveproof.questions import terms as t
from driveproof.questions.reading import read_answer
from driveproof.questions.wording import Sentences
from driveproof.scene import Command, LightState

D, S = DirectionKey, SpeedKey
POLICE = {"type_id": "vehicle.dodge.charger_police_2020", "parked": True}


def keys_of(said: Commentary) -> ActionKeys:
    """The keys, after making sure that the words of question 43 say the same."""
    words = Sentences().write(43, said.answers[QuestionKey(43)])
    assert read_answer(QUESTIONS[43], words).answer.facts["keys"] == said.decision.keys, words
    return said.decision.keys


def one_way(**more: Any) -> RoadScene:
    """The right of two lanes of one direction."""
    return RoadScene(*lane_with("Town03", left="same", right="none", limit=27.0), **more)


def two_way(**more: Any) -> RoadScene:
    """A road with one lane a direction."""
    return RoadScene(*lane_with("Town01", left="opposite", right="none"), **more)


# --- free road, others ahead -----------------------------------------------------------------------


def test_on_a_free_road_it_keeps_lane_and_speed() -> None:
    said = one_way(speed=8.0).say()
    assert keys_of(said) == ActionKeys(D.FOLLOW_LANE, S.KEEP)
    assert said.answers[QuestionKey(8)].facts["braking"] is t.Braking.NONE


def test_from_a_stand_it_sets_out() -> None:
    assert keys_of(one_way(speed=0.0).say()).speed is S.ACCELERATE


def test_too_fast_for_the_limit_it_slows_down() -> None:
    scene = one_way(speed=14.0)
    scene.sign("traffic.speed_limit.30", -2.0)
    said = scene.say()
    assert keys_of(said).speed is S.DECELERATE
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.SPEED_LIMIT


def test_behind_a_stopped_queue_it_stops() -> None:
    scene = two_way(speed=6.0)
    leader = scene.put("vehicle", 10.0, brake=1.0)
    said = scene.say()
    assert keys_of(said).speed is S.STOP
    eight = said.answers[QuestionKey(8)]
    assert eight.facts["reason"] is t.Reason.STOPPED_VEHICLE
    assert [ref.tag for ref in eight.refs] == [f"c{leader}"]


def test_it_does_not_accelerate_into_a_slower_leader() -> None:
    scene = one_way(speed=5.0)
    scene.put("vehicle", 13.0, speed=5.0)
    assert keys_of(scene.say()).speed is S.KEEP


def test_hard_braking_ahead_is_braked_for() -> None:
    scene = one_way(speed=9.0, scenario="HardBreakRoute")
    leader = scene.put("vehicle", 14.0, speed=2.0, brake=1.0)
    said = scene.say()
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    (role,) = [ref for ref in said.objects if ref.is_role]
    assert role.tag == f"c{leader}"


def test_a_cut_in_is_braked_for_before_it_is_in_the_lane() -> None:
    scene = one_way(speed=9.0, scenario="StaticCutIn")
    scene.put("vehicle", 9.0, 3.0, speed=4.0, drift=-1.5)
    said = scene.say()
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(8)].facts["reason"] in (t.Reason.CUT_IN, t.Reason.MERGING_TRAFFIC, t.Reason.SLOW_VEHICLE)  # fmt: skip


@pytest.mark.parametrize("scenario", ["DynamicObjectCrossing", "PedestrianCrossing", "ParkingCrossingPedestrian"])  # fmt: skip
def test_a_pedestrian_about_to_cross_stops_the_ego(scenario: str) -> None:
    scene = two_way(speed=8.0, scenario=scenario)
    walker = scene.put("walker", 14.0, -3.0, speed=1.6, turned=math.pi / 2)
    said = scene.say()
    assert keys_of(said).speed is S.STOP
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.PEDESTRIAN_CROSSING
    assert [ref.tag for ref in said.objects if ref.is_role] == [f"c{walker}"]


def test_a_pedestrian_who_walks_along_the_pavement_does_not() -> None:
    scene = two_way(speed=8.0)
    scene.put("walker", 14.0, -4.5, speed=1.4)
    assert keys_of(scene.say()).speed is S.KEEP


# --- obstructions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "kind", "more", "cause"),
    [
        ("Accident", "vehicle", POLICE, t.ManeuverCause.ACCIDENT),
        ("ParkedObstacle", "vehicle", {"parked": True}, t.ManeuverCause.PARKED_VEHICLE),
        (
            "ConstructionObstacle",
            "prop",
            {"type_id": "static.prop.trafficwarning", "width": 2.4},
            t.ManeuverCause.CONSTRUCTION,
        ),
        (
            "HazardAtSideLane",
            "vehicle",
            {"type_id": "vehicle.bh.crossbike", "base": "bicycle", "speed": 2.0},
            t.ManeuverCause.HAZARD,
        ),
    ],
)
def test_an_obstruction_is_passed_on_the_free_lane(
    scenario: str, kind: str, more: dict[str, Any], cause: t.ManeuverCause
) -> None:
    scene = one_way(speed=7.0, scenario=scenario)
    thing = scene.put(kind, 24.0, **more)
    said = scene.say()
    assert keys_of(said).direction is D.CHANGE_LANE_LEFT
    assert said.answers[QuestionKey(10)].facts["cause"] is cause
    assert said.answers[QuestionKey(11)].facts["present"] is True
    assert said.answers[QuestionKey(13)].facts["now"] is True
    assert f"c{thing}" in {ref.tag for ref in said.objects if ref.is_role}


def test_with_somebody_beside_it_waits_behind_the_obstruction() -> None:
    scene = one_way(speed=3.0, scenario="Accident")
    scene.put("vehicle", 12.0, **POLICE)
    scene.put("vehicle", -6.0, 3.5, speed=7.0)
    said = scene.say()
    assert keys_of(said).direction is D.FOLLOW_LANE
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.LANE_OCCUPIED
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.WAITING_TO_CHANGE_LANE


@pytest.mark.parametrize("scenario", ["AccidentTwoWays", "ParkedObstacleTwoWays"])
def test_the_oncoming_lane_is_used_when_it_is_free(scenario: str) -> None:
    scene = two_way(speed=4.0, scenario=scenario)
    scene.put("vehicle", 16.0, **POLICE)
    said = scene.say()
    assert keys_of(said).direction is D.CHANGE_LANE_LEFT
    assert said.answers[QuestionKey(10)].facts["maneuver"] is t.Maneuver.USE_ONCOMING_LANE


def test_and_not_when_somebody_comes() -> None:
    scene = two_way(speed=4.0, scenario="AccidentTwoWays")
    scene.put("vehicle", 12.0, **POLICE)
    scene.put("vehicle", 42.0, 3.6, speed=9.0, turned=math.pi)
    said = scene.say()
    assert keys_of(said) == ActionKeys(D.FOLLOW_LANE, S.STOP)
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.ONCOMING_TRAFFIC


def test_an_open_door_at_the_edge_takes_a_deviation() -> None:
    scene = two_way(speed=7.0, scenario="VehicleOpensDoorTwoWays")
    scene.put("vehicle", 20.0, -1.9, parked=True, width=2.0)
    said = scene.say()
    assert keys_of(said).direction is D.DEVIATE_LEFT
    assert said.answers[QuestionKey(10)].facts["cause"] is t.ManeuverCause.OPEN_DOOR


def test_an_invader_is_dodged_to_the_right() -> None:
    scene = two_way(speed=7.0, scenario="InvadingTurn")
    scene.put("vehicle", 22.0, 2.0, speed=6.0, turned=math.pi)
    assert keys_of(scene.say()).direction is D.DEVIATE_RIGHT


# --- giving way, merging, commands -----------------------------------------------------------------


def test_an_emergency_vehicle_behind_gets_the_lane() -> None:
    scene = one_way(speed=8.0, scenario="YieldToEmergencyVehicle")
    ambulance = scene.put("vehicle", -18.0, speed=15.0, type_id="vehicle.ford.ambulance", base="van")  # fmt: skip
    said = scene.say()
    assert keys_of(said).direction in (D.CHANGE_LANE_LEFT, D.CHANGE_LANE_RIGHT)
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.EMERGENCY_VEHICLE
    assert f"c{ambulance}" in {ref.tag for ref in said.objects if ref.is_role}


def test_one_does_not_change_into_the_way_of_an_emergency_vehicle() -> None:
    scene = one_way(speed=8.0, scenario="YieldToEmergencyVehicle", command=Command.CHANGE_LEFT)
    scene.near = scene.place(12.0, 3.5)[:2]
    scene.put("vehicle", -25.0, 3.5, speed=15.0, type_id="vehicle.ford.ambulance", base="van")
    said = scene.say()
    assert keys_of(said).direction is D.FOLLOW_LANE
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.YIELDING


def test_a_commanded_change_is_made_when_the_lane_is_free() -> None:
    scene = one_way(speed=8.0, command=Command.CHANGE_LEFT, scenario="SequentialLaneChange")
    scene.near = scene.place(12.0, 3.5)[:2]
    said = scene.say()
    assert keys_of(said).direction is D.CHANGE_LANE_LEFT
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.COMMAND


def test_and_put_off_when_it_is_not() -> None:
    scene = one_way(speed=8.0, command=Command.CHANGE_LEFT, scenario="HighwayExit")
    scene.near = scene.place(12.0, 3.5)[:2]
    scene.put("vehicle", -4.0, 3.5, speed=8.0)
    said = scene.say()
    assert keys_of(said).direction is D.FOLLOW_LANE
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.HIGHWAY_COMMAND
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.LANE_OCCUPIED


def test_a_parked_ego_leaves_when_nobody_comes() -> None:
    scene = one_way(speed=0.0, lateral=-2.9, scenario="ParkingExit")
    assert keys_of(scene.say()) == ActionKeys(D.CHANGE_LANE_LEFT, S.ACCELERATE)


def test_and_waits_while_somebody_comes() -> None:
    scene = one_way(speed=0.0, lateral=-2.9, scenario="ParkingExit")
    scene.put("vehicle", -18.0, speed=7.0)
    said = scene.say()
    assert keys_of(said) == ActionKeys(D.FOLLOW_LANE, S.STOP)
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.LANE_OCCUPIED


# --- lights and signs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "ahead", "speed", "key"),
    [
        (LightState.RED, 20.0, 8.0, S.STOP),
        (LightState.RED, 5.0, 0.0, S.STOP),
        (LightState.GREEN, 20.0, 8.0, S.KEEP),
        (LightState.YELLOW, 22.0, 8.0, S.STOP),
        (LightState.YELLOW, 6.0, 9.0, S.KEEP),  # too late to stop
    ],
)
def test_lights(state: LightState, ahead: float, speed: float, key: S) -> None:
    scene = one_way(speed=speed)
    scene.light(state, ahead)
    expected = {key, S.DECELERATE} if key is S.STOP and speed > 0.0 else {key}
    assert keys_of(scene.say()).speed in expected


def test_a_stop_sign_is_left_once_one_has_stood() -> None:
    from driveproof.commenter import Commenter

    scene = one_way(speed=7.0)
    commenter = Commenter(scene.town)
    scene.sign("traffic.stop", 14.0)
    said = scene.say(commenter)
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(2)].facts["stop_sign"] is t.SignState.PENDING
    scene.s, scene.speed = scene.s + 9.0, 0.0
    said = scene.say(commenter)
    assert keys_of(said).speed is S.ACCELERATE
    assert said.answers[QuestionKey(2)].facts["stop_sign"] is t.SignState.CLEARED


# --- states off the beaten track -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degrees", "direction"),
    [(30, D.FOLLOW_LANE), (-30, D.FOLLOW_LANE), (60, D.TURN_RIGHT), (-60, D.TURN_LEFT),
     (100, D.TURN_RIGHT), (-100, D.TURN_LEFT)],
)  # fmt: skip
def test_misaligned_it_turns_back(degrees: int, direction: D) -> None:
    scene = one_way(speed=2.0, turned=math.radians(degrees))
    said = scene.say()
    assert keys_of(said).direction is direction
    if direction is not D.FOLLOW_LANE:
        assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.MISALIGNED


@pytest.mark.parametrize("degrees", [135, 160, 180, -150])
def test_reversed_in_its_own_lane_it_turns_around(degrees: int) -> None:
    scene = one_way(speed=2.0, turned=math.radians(degrees))
    scene.near = scene.place(30.0, 0.0)[:2]
    said = scene.say()
    assert keys_of(said).direction in (D.TURN_LEFT, D.TURN_RIGHT)
    assert said.answers[QuestionKey(12)].facts["maneuver"] is t.Maneuver.TURN_AROUND


def test_on_the_oncoming_lane_it_goes_back_when_its_own_is_free() -> None:
    scene = two_way(speed=6.0, lateral=3.6)
    said = scene.say()
    assert keys_of(said) == ActionKeys(D.CHANGE_LANE_RIGHT, S.ACCELERATE)
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.ON_ONCOMING_LANE


def test_and_not_before_the_obstruction_is_passed() -> None:
    scene = two_way(speed=6.0, lateral=3.6, scenario="AccidentTwoWays")
    scene.put("vehicle", 5.0, 0.0, **POLICE)
    said = scene.say()
    assert keys_of(said).direction is D.FOLLOW_LANE
    assert said.answers[QuestionKey(13)].facts["postponed"] is t.Postponement.OBSTACLE_NOT_PASSED


def test_in_a_wrong_lane_it_changes_to_the_lane_of_the_route() -> None:
    scene = one_way(speed=8.0)
    scene.near = scene.place(12.0, 3.5)[:2]
    said = scene.say()
    assert keys_of(said).direction is D.CHANGE_LANE_LEFT
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.WRONG_LANE


@pytest.mark.parametrize(
    ("left", "speed", "why"),
    [(3.5, 8.0, t.Postponement.LANE_OCCUPIED), (3.5, 0.0, t.Postponement.OBSTACLE_NOT_PASSED)],
)
def test_a_wrong_lane_may_have_to_wait(left: float, speed: float, why: t.Postponement) -> None:
    scene = one_way(speed=8.0)
    scene.near = scene.place(12.0, 3.5)[:2]
    scene.put("vehicle", 2.0, left, speed=speed)
    said = scene.say()
    assert keys_of(said).direction is D.FOLLOW_LANE
    assert said.answers[QuestionKey(13)].facts["postponed"] is why


@pytest.mark.parametrize("beside", [5.0, 7.0])
def test_off_the_road_it_steers_back(beside: float) -> None:
    scene = RoadScene(*lane_with("Town01", left="opposite", right="none"), speed=1.0, lateral=-beside)  # fmt: skip
    said = scene.say()
    assert keys_of(said) == ActionKeys(D.TURN_LEFT, S.ACCELERATE)
    assert said.answers[QuestionKey(12)].facts["cause"] is t.ManeuverCause.OFF_ROAD
    assert said.answers[QuestionKey(44)].facts["bend"] is t.Bend.NO_LANE


def test_lost_it_stops_and_waits_for_help() -> None:
    scene = RoadScene(*lane_with("Town01", left="opposite", right="none"), lateral=-150.0)
    near = scene.town.nearest_lane(scene.place(0.0, -150.0)[:2])
    assert near.distance[0] > 15.0
    said = scene.say()
    assert keys_of(said) == ActionKeys(D.GO_STRAIGHT, S.STOP)
    assert said.answers[QuestionKey(12)].facts["maneuver"] is t.Maneuver.WAIT_FOR_HELP


# --- junctions -------------------------------------------------------------------------------------


def _turning(command: Command, share: float) -> RoadScene:
    """An ego that far through a turn of Town03."""
    from driveproof.commenter.road import turn_of
    from driveproof.maps import load_town

    town = load_town("Town03")
    sign = 1.0 if command is Command.LEFT else -1.0
    lane = next(
        int(lane)
        for lane in town.lanes.of_kind(LaneKind.DRIVING)
        if town.lanes.junction[lane] >= 0
        and 1.3 < sign * turn_of(town, int(lane)) < 1.8
        and town.lanes.length[lane] > 10.0
    )
    scene = RoadScene(town, lane, s=share * float(town.lanes.length[lane]), speed=4.0)
    scene.command = command
    return scene


@pytest.mark.parametrize(("command", "key"), [(Command.LEFT, D.TURN_LEFT), (Command.RIGHT, D.TURN_RIGHT)])  # fmt: skip
def test_through_a_junction_as_commanded_and_straight_on_at_its_end(
    command: Command, key: D
) -> None:
    assert keys_of(_turning(command, 0.2).say()).direction is key
    assert keys_of(_turning(command, 0.97).say()).direction is D.GO_STRAIGHT


def test_turned_too_far_it_turns_back() -> None:
    scene = _turning(Command.LEFT, 0.9)
    scene.turned = math.radians(30.0)
    assert keys_of(scene.say()).direction is D.TURN_RIGHT


def _meets(scene: RoadScene, share: float, angle: float, speed: float, **more: Any) -> str:
    """Somebody who is at a share of the ego's turn when the ego is, coming at an angle to its present heading."""
    line = scene.line
    length = float(scene.town.lanes.length[scene.lane])
    there = share * length - scene.s
    x, y = line.at(share * length).tolist()
    heading = float(line.heading(scene.s)) + angle
    back = speed * there / max(scene.speed, 4.0)
    pose = (x - back * math.cos(heading), y - back * math.sin(heading), heading)
    return scene.put_at("vehicle", pose, speed, **more)


@pytest.mark.parametrize(
    "scenario", ["SignalizedJunctionLeftTurn", "NonSignalizedJunctionLeftTurn", "EnterActorFlow"]
)
def test_a_left_turn_gives_way_to_who_comes_towards_it(scenario: str) -> None:
    scene = _turning(Command.LEFT, 0.05)
    scene.scenario, scene.speed = scenario, 6.0
    other = _meets(scene, 0.55, math.pi, 8.0)
    said = scene.say()
    keys = keys_of(said)
    assert keys.direction is D.TURN_LEFT
    assert keys.speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.CROSSING_VEHICLE
    meeting = said.answers[QuestionKey(23, f"c{other}")].facts
    assert meeting == {"crosses": True, "reason": t.ConflictReason.ONCOMING_TURN}
    assert said.answers[QuestionKey(49, f"c{other}")].facts["ego_move"] is t.EgoMove.TURN_LEFT


@pytest.mark.parametrize("scenario", ["OppositeVehicleRunningRedLight", "OppositeVehicleTakingPriority", "T_Junction"])  # fmt: skip
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_who_takes_the_right_of_way_in_a_junction_gets_it(scenario: str, side: float) -> None:
    scene = _turning(Command.RIGHT, 0.05)
    scene.scenario, scene.speed = scenario, 6.0
    other = _meets(scene, 0.5, -side * math.pi / 2, 8.0, type_id="vehicle.dodge.charger_police_2020")  # fmt: skip
    said = scene.say()
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(29)].refs[0].tag == f"c{other}"


def test_a_junction_that_is_blocked_is_not_entered() -> None:
    scene = _turning(Command.LEFT, 0.0)
    before = int(scene.town.lanes.predecessors(scene.lane)[0])
    ahead = scene.line.at(4.0).tolist()
    scene = RoadScene(scene.town, before, s=float(scene.town.lanes.length[before]) - 8.0, speed=6.0)
    scene.scenario, scene.command = "BlockedIntersection", Command.LEFT
    scene.put_at("vehicle", (*ahead, float(scene.line.heading(0.0)) + 1.0))
    said = scene.say()
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.BLOCKED_JUNCTION


def test_cyclists_on_the_way_of_a_turn_go_first() -> None:
    scene = _turning(Command.RIGHT, 0.3)
    scene.scenario, scene.speed = "VehicleTurningRoute", 5.0
    bike = _meets(scene, 0.9, 0.0, 3.0, type_id="vehicle.bh.crossbike", base="bicycle")
    said = scene.say()
    assert keys_of(said).speed in (S.STOP, S.DECELERATE)
    assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.BICYCLE
    assert [ref.tag for ref in said.objects if ref.is_role] == [f"c{bike}"]


def test_it_does_not_accelerate_towards_a_meeting() -> None:
    scene = _turning(Command.LEFT, 0.05)
    _meets(scene, 0.55, math.pi, 8.0)
    assert keys_of(scene.say()).speed is not S.ACCELERATE


def _before_a_turn(command: Command, metres: float, **more: Any) -> tuple[RoadScene, RoadScene]:
    """An ego so far before a turn of Town03, and the turn itself."""
    turn = _turning(command, 0.0)
    before = int(turn.town.lanes.predecessors(turn.lane)[0])
    length = float(turn.town.lanes.length[before])
    return RoadScene(turn.town, before, s=length - metres, command=command, **more), turn


def test_what_stands_behind_a_turn_is_not_passed_before_it() -> None:
    scene, turn = _before_a_turn(Command.LEFT, 12.0, speed=4.0, scenario="BlockedIntersection")
    behind = float(turn.town.lanes.length[turn.lane]) + 4.0
    x, y = turn.line.at(behind).tolist()
    scene.put_at("vehicle", (x, y, float(turn.line.heading(behind))), parked=True)
    said = scene.say()
    assert not said.decision.around.needed
    assert keys_of(said).direction in (D.FOLLOW_LANE, D.TURN_LEFT)


@pytest.mark.parametrize(("metres", "waits"), [(34.0, True), (70.0, False)])
def test_a_commanded_change_waits_for_its_gap_while_there_is_room(
    metres: float, waits: bool
) -> None:
    scene = one_way(speed=8.0, command=Command.CHANGE_LEFT, scenario="MergerIntoSlowTraffic")
    scene.s = float(scene.town.lanes.length[scene.lane]) - metres
    scene.near = scene.place(12.0, 3.5)[:2]
    scene.put("vehicle", 1.0, 3.5, speed=8.0)
    said = scene.say()
    assert (keys_of(said).speed in (S.DECELERATE, S.STOP)) is waits
    if waits:
        assert said.answers[QuestionKey(8)].facts["reason"] is t.Reason.WAITING_TO_CHANGE_LANE


@pytest.mark.parametrize(("aside", "slows"), [(-3.5, True), (-9.0, False)])
def test_a_queue_beside_a_fast_road_is_passed_slowly(aside: float, slows: bool) -> None:
    town, lane = lane_with("Town04", right="same", least=150.0)
    scene = RoadScene(town, lane, speed=16.0)
    for ahead in (20.0, 28.0, 36.0):
        scene.put("vehicle", ahead, aside)
    assert (keys_of(scene.say()).speed is S.DECELERATE) is slows


def test_one_stops_before_all_that_an_oncoming_vehicle_sweeps_over() -> None:
    scene = _turning(Command.LEFT, 0.05)
    scene.speed = 3.4
    _meets(scene, 0.5, math.radians(172.0), 6.5)
    meeting = find_conflicts(Context(scene.window(), scene.town))[0]
    assert meeting.nearest < meeting.distance - 3.0
    assert keys_of(scene.say()).speed in (S.STOP, S.DECELERATE)


def test_who_overtakes_beside_is_not_in_the_way() -> None:
    scene = one_way(speed=8.0)
    scene.put("vehicle", 1.0, 3.5, speed=8.5)  # half a second ago it was behind
    assert scene.say().decision.brake.level is t.Braking.NONE


@pytest.mark.parametrize(("metres", "begins"), [(30.0, True), (60.0, False)])
def test_a_change_before_a_fork_does_not_wait_for_the_navigators_point(
    metres: float, begins: bool
) -> None:
    scene = one_way(speed=8.0, command=Command.CHANGE_LEFT, scenario="HighwayExit")
    scene.s = float(scene.town.lanes.length[scene.lane]) - metres
    scene.near = scene.place(metres + 4.0, 3.5)[:2]  # behind the junction
    assert (keys_of(scene.say()).direction is D.CHANGE_LANE_LEFT) is begins


@pytest.mark.parametrize(("left", "begins"), [(1.2, True), (0.0, False), (-1.2, False)])
def test_a_change_begins_where_the_way_leaves_the_lane(left: float, begins: bool) -> None:
    """The navigator's point lies on the way, which swings over; behind the change it lies on the other side."""
    scene = one_way(speed=8.0, command=Command.CHANGE_LEFT, scenario="SequentialLaneChange")
    scene.near = scene.place(12.0, left)[:2]
    assert (keys_of(scene.say()).direction is D.CHANGE_LANE_LEFT) is begins


def test_a_change_that_is_made_early_is_not_undone() -> None:
    town, lane = lane_with("Town03", left="none", right="same", limit=27.0)
    scene = RoadScene(town, lane, speed=8.0, command=Command.CHANGE_LEFT, scenario="HighwayExit")
    scene.near = scene.place(12.0, -3.5)[:2]  # the way swings over behind it
    assert keys_of(scene.say()).direction is D.FOLLOW_LANE

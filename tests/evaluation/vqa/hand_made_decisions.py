"""Hand-made answers about what the ego should do (8, 10 to 13, 42, 43, 50)."""

from __future__ import annotations

import json

import numpy as np
from hand_made import ESSAY, INJECTION, About, cases

from driveproof.evaluation.vqa import Replay
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.questions import terms as t

B, R, M, CAUSE, P = t.Braking, t.Reason, t.Maneuver, t.ManeuverCause, t.Postponement
D, V = DirectionKey, SpeedKey
_STRAIGHT = [(2.0 * k, 0.0) for k in range(1, 9)]
_CAR_AT_12 = Replay(
    np.array(_STRAIGHT), np.tile([12.0, 0.0, 0.0], (1, 8, 1)), np.array([[4.0, 2.0]]), (4.6, 2.0)
)
_FREE = Replay(np.array(_STRAIGHT), np.zeros((0, 8, 3)), np.zeros((0, 2)), (4.6, 2.0))


def _json(points: list[tuple[float, float]]) -> str:
    return json.dumps({f"{0.5 * k:.1f}s": point for k, point in enumerate(points, start=1)})


DECISIONS = [
    # 8: braking 2, reason 1
    *cases(
        8,
        {"braking": B.STOP, "reason": R.RED_LIGHT},
        ("Yes, it must stop because the light is red.", 100, "both"),
        ("Stop for the red light.", 100, "both"),
        ("The traffic light is red, so the ego vehicle has to stop.", 100, "the reason first"),
        ("It must stop.", 66.67, "2/3, no reason"),
        ("Yes, slow down because of the red light.", 66.67, "(0.5 * 2 + 1) / 3"),
        ("It must stop because there is a stop sign.", 66.67, "2/3, another reason"),
        ("Yes, because a pedestrian crosses the road.", 33.33, "yes is braking: 0.5 * 2/3"),
        ("Yes.", 33.33, "braking, 0.5 * 2/3"),
        ("No.", 0, "neither"),
        ("No need to brake, the road is clear.", 0, "neither"),
        ("It should accelerate because the light is green.", 0, "neither"),
        ("", 0, "nothing said"),
        ("Ja, die Ampel ist rot.", 0, "no English"),
        (INJECTION, 0, "nothing said"),
        (ESSAY + "It must stop because the light is red.", 100, "the end counts"),
    ),
    *cases(
        8,
        {"braking": B.NONE, "reason": R.NONE},
        ("No.", 100, "both none"),
        ("No, there is no reason to brake.", 100, "both none"),
        ("It can keep its speed.", 100, "no braking needs no reason"),
        ("It may accelerate.", 100, "who may speed up need not brake"),
        ("The light is green and no pedestrian is near, so it need not brake.", 100, "none"),
        ("Yes, stop at the red light.", 0, "neither"),
    ),
    *cases(
        8,
        {"braking": B.SLOW_DOWN, "reason": R.SLOW_VEHICLE},
        ("Yes, it should slow down since the car in front is slow.", 100, "both"),
        ("Slow down, the vehicle ahead is braking.", 91.67, "(2 + 0.75) / 3"),
        ("It must stop, since the vehicle ahead is slow.", 66.67, "(0.5 * 2 + 1) / 3"),
    ),
    *cases(
        8,
        {"braking": B.STOP, "reason": R.RED_LIGHT},
        ("It can keep its current speed.", 100, "it stands already"),
        ("Keep braking because the light is red.", 100, "who stands brakes: any braking is right"),
        ("It should accelerate.", 0, "driving off at a red light is no leaving out"),
        about=About(ego_speed=0.1),
    ),
    # 10, 12: maneuver 2, cause 1
    *cases(
        10,
        {"maneuver": M.CHANGE_LEFT, "cause": CAUSE.ACCIDENT},
        ("Yes, change to the left lane because of the accident ahead.", 100, "both"),
        ("Yes, it must move into the left lane, since a crash blocks its lane.", 100, "both"),
        ("There is an accident in its lane, so a lane change to the left is needed.", 100, "both"),
        ("Change to the left lane.", 66.67, "2/3, no cause"),
        ("Change to the right lane because of an accident.", 33.33, "1/3"),
        ("It must change to the left or the right lane: an accident.", 83.33, "(0.75 * 2 + 1) / 3"),
        ("Change to the left lane because of road works.", 66.67, "2/3, another cause"),
        ("No.", 0, "neither"),
        ("It should not change to the left lane.", 0, "denied"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
    ),
    *cases(
        10,
        {"maneuver": M.NONE, "cause": CAUSE.NONE},
        ("No", 100, "both none"),
        ("No, the lane is free.", 100, "both none"),
        ("There is no need to change lanes.", 100, "none"),
        ("It can stay in its lane.", 100, "none"),
        ("Yes, change to the left lane because of an accident.", 0, "neither"),
    ),
    *cases(
        10,
        {"maneuver": M.USE_ONCOMING_LANE, "cause": CAUSE.CONSTRUCTION},
        ("It must overtake via the opposite lane because of road works.", 100, "both"),
        ("Change to the left lane because of the construction site.", 83.33, "(0.75 * 2 + 1) / 3"),
    ),
    *cases(
        10,
        {"maneuver": M.SHIFT_RIGHT, "cause": CAUSE.INVADING_VEHICLE},
        ("Shift slightly to the right because an oncoming car invades its lane.", 100, "both"),
        ("Change to the right lane because an oncoming car invades its lane.", 33.33, "1/3"),
    ),
    *cases(
        12,
        {"maneuver": M.CHANGE_RIGHT, "cause": CAUSE.COMMAND},
        ("Yes, it must change to the right lane to follow the navigation command.", 100, "both"),
        ("Yes, the command says: change lanes to the right.", 100, "both"),
        ("Yes, change to the right lane to leave the highway.", 66.67, "2/3"),
        ("No.", 0, "neither"),
    ),
    *cases(
        12,
        {"maneuver": M.TURN_AROUND, "cause": CAUSE.WRONG_WAY},
        ("It must turn around because it faces the wrong way.", 100, "both"),
        ("It needs to make a U-turn: it is driving in the wrong direction.", 100, "both"),
    ),
    *cases(
        12,
        {"maneuver": M.NONE, "cause": CAUSE.NONE},
        ("No other reason.", 100, "none"),
        ("No.", 100, "none"),
    ),
    # 11: present 1, cause 1 where either says one
    *cases(
        11,
        {"present": True, "cause": CAUSE.ACCIDENT},
        ("Yes, there is an accident.", 100, "both"),
        ("An accident blocks the lane.", 100, "an obstacle is stated with its cause"),
        ("Yes.", 50, "no cause"),
        ("Yes, road works.", 50, "another cause"),
        ("No.", 0, "neither"),
        ("The road ahead is clear.", 0, "no"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
    ),
    *cases(
        11,
        {"present": False, "cause": None},
        ("No.", 100, "no cause on either side"),
        ("The road ahead is clear.", 100, "no"),
        ("There are no obstacles.", 100, "no"),
        ("No, there is no obstacle on the current road.", 100, "no cause is none"),
        ("Nothing obstructs the road.", 100, "no"),
        ("Yes, an accident.", 0, "neither"),
    ),
    # 13: maneuver 2, cause 1, now 2, postponed 1 where either says one
    *cases(
        13,
        {"maneuver": M.CHANGE_LEFT, "cause": CAUSE.PARKED_VEHICLE, "now": True, "postponed": None},
        ("Yes, change to the left lane now because of the parked vehicle.", 100, "5/5"),
        ("Yes, it must change to the left lane because a parked car blocks its lane.", 100, "now"),
        (
            "Change to the left lane because of the parked car, but not now, because the lane is occupied.",
            50,
            "(2 + 1) / 6",
        ),
        ("Change to the left lane now.", 80, "4/5, no cause"),
        ("No.", 0, "nothing right"),
        ("", 0, "nothing said"),
    ),
    *cases(
        13,
        {
            "maneuver": M.CHANGE_LEFT,
            "cause": CAUSE.PARKED_VEHICLE,
            "now": False,
            "postponed": P.LANE_OCCUPIED,
        },
        (
            "Change to the left lane because of the parked car, but not now, because the lane is occupied.",
            100,
            "6/6",
        ),
        ("It must change to the left lane because of the parked car, but not now.", 83.33, "5/6"),
        ("Change to the left lane now because of the parked car.", 50, "(2 + 1) / 6"),
        (
            "It has to change to the left lane due to the parked vehicle but must wait because of oncoming traffic.",
            83.33,
            "5/6, another reason to wait",
        ),
        ("No.", 33.33, "only not now: 2/6"),
    ),
    *cases(
        13,
        {"maneuver": M.NONE, "cause": CAUSE.NONE, "now": False, "postponed": None},
        ("No.", 100, "all none"),
        ("No, it need not leave its lane.", 100, "all none"),
        ("Stay in the lane.", 100, "all none"),
    ),
    # 42: 0.6 * 0.5^hits + 0.4 * way / expert's way
    *cases(
        42,
        {"waypoints": tuple(_STRAIGHT)},
        (_json(_STRAIGHT), 100, "no hit, the whole way"),
        ("I plan to go on.\n```json\n" + _json(_STRAIGHT) + "\n```", 100, "prose before it"),
        (_json([(x / 2, y) for x, y in _STRAIGHT]), 80, "0.6 + 0.4 * 0.5"),
        (_json([(0.0, 0.0)] * 8), 60, "0.6 + 0"),
        ("{}", 0, "no points"),
        (_json(_STRAIGHT)[:-9], 0, "cut off"),
        (_json(_STRAIGHT).replace("16.0", "NaN"), 0, "not a number"),
        (_json(_STRAIGHT).replace("4.0s", "4.5s"), 0, "a time is missing"),
        (_json(_STRAIGHT).replace("16.0", '"far"'), 0, "no number"),
        ("Straight on.", 0, "no points"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
        about=About(replay=_FREE),
    ),
    *cases(
        42,
        {"waypoints": tuple(_STRAIGHT)},
        (_json(_STRAIGHT), 70, "one hit: 0.6 * 0.5 + 0.4"),
        (_json([(0.0, 0.0)] * 8), 60, "no hit, no way"),
        about=About(replay=_CAR_AT_12),
    ),
    # 43, 50: equation 11, F1 of the two keys times the speed penalty, at most 1
    *cases(
        43,
        {"keys": ActionKeys(D.FOLLOW_LANE, V.DECELERATE)},
        ("The ego vehicle should follow its lane and slow down.", 100, "both"),
        ("Keep in the lane and reduce speed because a pedestrian may stop.", 100, "both, a reason"),
        ("Maintain the current lane and decelerate to keep a safe distance.", 100, "both"),
        ("Follow the lane and keep its speed.", 50, "F1 1/2, penalty 1"),
        ("Follow the lane and accelerate.", 40, "F1 1/2, penalty 0.8"),
        ("Change to the left lane and slow down.", 50, "F1 1/2"),
        ("Slow down.", 66.67, "one of one said, of two: F1 2/3"),
        ("Turn left and speed up.", 0, "none"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
        ("Do not accelerate; follow the lane and slow down.", 100, "accelerate is denied"),
        ("Fahre langsamer und bleibe in der Spur.", 0, "no English"),
    ),
    *cases(
        43,
        {"keys": ActionKeys(D.FOLLOW_LANE, V.STOP)},
        ("Stay in its lane and stop, because the light is red.", 100, "both"),
        ("Stop in its lane and wait for the red light.", 66.67, "no direction is said: F1 2/3"),
        ("Follow the lane and slow down.", 50, "F1 1/2, penalty 1"),
        ("Follow the lane and accelerate.", 12.5, "F1 1/2, penalty 0.25"),
    ),
    *cases(
        43,
        {"keys": ActionKeys(D.CHANGE_LANE_LEFT, V.ACCELERATE)},
        (
            "It should change to the left lane and accelerate, because the car ahead is slow.",
            100,
            "both",
        ),
        ("Merge into the left lane and speed up.", 100, "both"),
        ("Change to the right lane and accelerate.", 50, "F1 1/2"),
    ),
    *cases(
        43,
        {"keys": ActionKeys(D.TURN_RIGHT, V.KEEP)},
        ("Turn right at the junction and maintain its speed.", 100, "both"),
        ("Turn right at the junction and accelerate.", 60, "F1 1/2, penalty 1.2"),
    ),
    *cases(
        50,
        {"keys": ActionKeys(D.FOLLOW_LANE, V.KEEP)},
        ("FOLLOW_LANE, KEEP", 100, "both"),
        ("follow_lane, keep", 100, "keys alone may be small"),
        ("I could STOP or CHANGE_LANE_LEFT, but I choose FOLLOW_LANE, KEEP", 100, "the last"),
        ("FOLLOW_LANE, ACCELERATE", 60, "F1 1/2, penalty 1.2"),
        ("FOLLOW_LANE, DECELERATE", 55, "F1 1/2, penalty 1.1"),
        ("GO_STRAIGHT, KEEP", 50, "straight on is no lane"),
        ("FOLLOW_LANE", 66.67, "F1 2/3, driven as KEEP: penalty 1"),
        ("KEEP", 66.67, "F1 2/3"),
        ("FOLLOW_LANE, KEEP, or rather TURN_LEFT, STOP", 0, "the last of each kind"),
        ("", 0, "nothing said"),
        ("LANE_FOLLOW, HOLD", 0, "no keys"),
        (INJECTION + " FOLLOW_LANE, KEEP", 100, "orders change nothing, keys count"),
        (INJECTION, 0, "no keys"),
        (ESSAY + "FOLLOW_LANE, KEEP", 100, "the end counts"),
    ),
    *cases(
        50,
        {"keys": ActionKeys(D.GO_STRAIGHT, V.STOP)},
        ("GO_STRAIGHT, STOP", 100, "both"),
        ("FOLLOW_LANE, STOP", 100, "the same way through the junction"),
        ("GO_STRAIGHT, KEEP", 25, "F1 1/2, penalty 0.5"),
        ("GO_STRAIGHT, ACCELERATE", 12.5, "F1 1/2, penalty 0.25"),
        ("GO_STRAIGHT", 33.33, "F1 2/3, driven as KEEP: penalty 0.5"),
        ("TURN_LEFT, STOP", 50, "F1 1/2"),
    ),
]

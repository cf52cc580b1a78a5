"""Questions about what the ego vehicle should do."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.question import Category, Kind, Question, Rule, Slot

_OBSTACLE = r"obstacles?|obstruct\w*|block\w*|accidents?|crash|construction|road ?works?|debris|parked|hazards?|doors?|invad\w*|clear|free"
_NEED = (Slot("maneuver", t.Maneuver, 2.0), Slot("cause", t.ManeuverCause, 1.0))

DECISIONS: tuple[Question, ...] = (
    Question(
        8,
        Category.PLANNING,
        6,
        0,
        (
            "Must the ego vehicle brake now, and why?",
            "Is there a reason for the ego vehicle to slow down or stop?",
        ),
        (Slot("braking", t.Braking, 2.0), Slot("reason", t.Reason, 1.0)),
        names_objects=True,
        after=(7, 9, 13, 47),
        ego_speed=True,
        command=True,
    ),
    Question(
        10,
        Category.PLANNING,
        3,
        8,
        (
            "Must the ego vehicle leave its lane's middle because of something ahead on its way?",
            "Does an obstruction ahead make a lane change or a deviation necessary?",
        ),
        _NEED,
        names_objects=True,
        after=(11,),
        ego_speed=True,
        command=True,
    ),
    Question(
        11,
        Category.PERCEPTION,
        3,
        9,
        (
            "Is there an obstacle on the ego vehicle's road?",
            "Does anything obstruct the road ahead?",
        ),
        (
            Slot("present", Kind.FLAG, about=_OBSTACLE),
            Slot("cause", t.ManeuverCause, 1.0, optional=True),
        ),
        names_objects=True,
    ),
    Question(
        12,
        Category.PLANNING,
        3,
        8,
        (
            "Must the ego vehicle change lanes for any reason other than an obstruction, and why?",
            "Apart from obstructions, is there a reason to leave the lane?",
        ),
        _NEED,
        ego_speed=True,
        command=True,
    ),
    Question(
        13,
        Category.PLANNING,
        1,
        1,
        (
            "Must the ego vehicle change lanes or deviate right now, and why?",
            "Is this the moment for a lane change or a deviation?",
        ),
        (
            *_NEED,
            Slot("now", Kind.FLAG, 2.0),
            Slot("postponed", t.Postponement, 1.0, optional=True),
        ),
        names_objects=True,
        after=(10, 12, 31),
        ego_speed=True,
        command=True,
    ),
    Question(
        42,
        Category.BEHAVIOUR,
        3,
        1,
        (
            'Give the ego vehicle\'s next positions as JSON: keys "0.5s" to "4.0s" in steps of half a second, values [x, y] in metres, x forward, y left.',
            'Plan the next four seconds: a JSON object from "0.5s", "1.0s", ... "4.0s" to [x, y] (metres; x forward, y left).',
        ),
        (Slot("waypoints", Kind.WAYPOINTS),),
        rule=Rule.WAYPOINTS,
        after=(50,),
        ego_speed=True,
        needs_future=True,
    ),
    Question(
        43,
        Category.BEHAVIOUR,
        3,
        1,
        (
            "What should the ego vehicle do now? Say where to drive and how to change speed.",
            "Describe the right driving action at this moment.",
        ),
        (Slot("keys", Kind.KEYS),),
        rule=Rule.KEYS,
        after=(8, 13),
        ego_speed=True,
        command=True,
    ),
    Question(
        50,
        Category.BEHAVIOUR,
        3,
        1,
        (
            "Choose one direction key of FOLLOW_LANE, CHANGE_LANE_LEFT, CHANGE_LANE_RIGHT, GO_STRAIGHT, TURN_LEFT, TURN_RIGHT, DEVIATE_LEFT, DEVIATE_RIGHT and one speed key of KEEP, ACCELERATE, DECELERATE, STOP. End with the two keys.",
            "Which direction key (FOLLOW_LANE, CHANGE_LANE_LEFT, CHANGE_LANE_RIGHT, GO_STRAIGHT, TURN_LEFT, TURN_RIGHT, DEVIATE_LEFT, DEVIATE_RIGHT) and which speed key (KEEP, ACCELERATE, DECELERATE, STOP) are right now? The last words of your answer must be the two keys.",
        ),
        (Slot("keys", Kind.KEYS),),
        rule=Rule.KEYS,
        after=(43,),
        ego_speed=True,
        command=True,
    ),
)

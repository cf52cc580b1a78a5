"""Questions about other vehicles and conflicts with them."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.question import MISLEADING, Category, Kind, Per, Question, Rule, Slot

_MOTION = (Slot("motion", t.Motion), Slot("course", t.Course), Slot("intent", t.Intent))
_EXACT = (Slot("speed", Kind.SPEED), Slot("intent", t.Intent))
_PLACE = (
    Slot("place", t.Place, 2.0),
    Slot("lanes_over", Kind.COUNT, 1.0, optional=True),
    Slot("along", t.Along, 1.0, optional=True),
)
_CONFLICT = (Slot("reason", t.ConflictReason),)
_COLLIDES = (Slot("ego_move", t.EgoMove),)
_CROSSES = Slot(
    "crosses",
    Kind.FLAG,
    2.0,
    about=r"cross\w*|paths?|ways?|overlap\w*|meet\w*|collid\w*|collision|conflict\w*|cut\w*|merg\w*|lane",
)

VEHICLES: tuple[Question, ...] = (
    Question(
        16,
        Category.PREDICTION,
        4,
        2,
        (
            "How does the {subject} move: standing, slow or at normal speed, and which way?",
            "What is the state of motion of the {subject}?",
        ),
        _MOTION[:2],
        per=Per.VEHICLE,
    ),
    Question(
        17,
        Category.PREDICTION,
        4,
        1,
        ("Where is the {subject} going?", "Which way is the {subject} heading?"),
        _MOTION[2:],
        per=Per.VEHICLE,
        after=(16,),
    ),
    Question(
        18,
        Category.PERCEPTION,
        0,
        0,
        (
            "What are the important objects in the scene?",
            "Name the objects that matter for the ego vehicle's driving.",
        ),
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        19,
        Category.PERCEPTION,
        0,
        0,
        (
            "List the important objects, the most important first.",
            "Rank the objects that matter for driving by importance.",
        ),
        names_objects=True,
        rule=Rule.RANKED,
    ),
    Question(
        20,
        Category.PERCEPTION,
        4,
        0,
        (
            "Where on the road is the {subject}?",
            "In which lane or part of the road is the {subject}?",
        ),
        _PLACE,
        per=Per.VEHICLE,
    ),
    Question(
        21,
        Category.PREDICTION,
        4,
        1,
        (
            "How fast, roughly, and where is the {subject} going?",
            "Describe the {subject}'s motion: speed class and direction.",
        ),
        _MOTION,
        per=Per.VEHICLE,
        after=(16, 17),
    ),
    Question(
        22,
        Category.PREDICTION,
        4,
        1,
        (
            "What is the speed of the {subject} in m/s, and where is it going?",
            "Give the {subject}'s exact speed and its direction.",
        ),
        _EXACT,
        per=Per.VEHICLE,
        after=(17,),
    ),
    Question(
        23,
        Category.PLANNING,
        4,
        1,
        (
            "May the {subject} cross the ego vehicle's path, and why?",
            "Can the way of the {subject} meet the ego vehicle's?",
        ),
        (_CROSSES, *_CONFLICT),
        per=Per.VEHICLE,
        after=(20, 21),
    ),
    Question(
        24,
        Category.PREDICTION,
        4,
        1,
        (
            "How do the important vehicles move: speed class and direction of each?",
            "Name the important vehicles and describe roughly how each moves.",
        ),
        object_slots=_MOTION,
        after=(19,),
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        25,
        Category.PREDICTION,
        4,
        1,
        (
            "What are the speeds in m/s and the directions of the important vehicles?",
            "Name the important vehicles with exact speed and direction of each.",
        ),
        object_slots=_EXACT,
        after=(19,),
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        26,
        Category.PERCEPTION,
        4,
        1,
        (
            "Find the important vehicles, the most important first, and say where each is on the road.",
            "Which vehicles matter, in order of importance, and in which part of the road is each?",
        ),
        object_slots=_PLACE,
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        27,
        Category.PERCEPTION,
        4,
        1,
        (
            "The important vehicles are {subject}. Where on the road is each?",
            "For each of {subject}: in which lane or part of the road is it?",
        ),
        object_slots=_PLACE,
        given_objects=True,
        after=(19,),
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        28,
        Category.PLANNING,
        4,
        1,
        (
            "Which vehicles' ways overlap the ego vehicle's, and why?",
            "Name the vehicles whose path meets the ego vehicle's path, with the reason for each.",
        ),
        object_slots=_CONFLICT,
        names_objects=True,
        rule=Rule.LISTED,
        extra=MISLEADING,
        after=(24, 26),
    ),
    Question(
        29,
        Category.PLANNING,
        4,
        1,
        (
            "Which vehicles' ways overlap the ego vehicle's?",
            "Name the vehicles whose path meets the ego vehicle's path.",
        ),
        ego_speed=True,
        names_objects=True,
        rule=Rule.LISTED,
        extra=MISLEADING,
        after=(24, 26),
    ),
    Question(
        46,
        Category.PLANNING,
        4,
        1,
        (
            "Which vehicles could the ego vehicle collide with, and by which move of its own?",
            "For every vehicle whose way overlaps: which action of the ego vehicle would lead to a collision?",
        ),
        object_slots=_COLLIDES,
        names_objects=True,
        rule=Rule.LISTED,
        extra=MISLEADING,
        after=(24, 26),
    ),
    Question(
        47,
        Category.PLANNING,
        4,
        1,
        (
            "Which vehicles could the ego vehicle collide with, why, and by which move of its own?",
            "For every vehicle whose way overlaps: the reason, and the ego vehicle's action that would lead to a collision.",
        ),
        object_slots=(*_CONFLICT, *_COLLIDES),
        names_objects=True,
        rule=Rule.LISTED,
        extra=MISLEADING,
        after=(24, 26),
    ),
    Question(
        48,
        Category.PLANNING,
        4,
        1,
        (
            "May the {subject} cross the ego vehicle's path? Why, and with which move of the ego vehicle would they collide?",
            "Can the way of the {subject} meet the ego vehicle's? Give the reason and the ego vehicle's action.",
        ),
        (_CROSSES, *_CONFLICT, *_COLLIDES),
        per=Per.VEHICLE,
        after=(23,),
    ),
    Question(
        49,
        Category.PLANNING,
        4,
        1,
        (
            "May the {subject} cross the ego vehicle's path, and with which move of the ego vehicle would they collide?",
            "Can the way of the {subject} meet the ego vehicle's, and by which action of the ego vehicle?",
        ),
        (_CROSSES, *_COLLIDES),
        per=Per.VEHICLE,
        after=(23,),
    ),
)

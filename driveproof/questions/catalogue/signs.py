"""Questions about lights, signs and pedestrians."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.question import Category, Kind, Per, Question, Rule, Slot

_PEOPLE = r"pedestrians?|people|persons?|walkers?|adults?|child(?:ren)?|men|women|man|woman"
_ADVICE = (Slot("advice", t.Advice),)

SIGNS: tuple[Question, ...] = (
    Question(
        1,
        Category.PERCEPTION,
        5,
        0,
        (
            "How many pedestrians are there ahead, within 30 m?",
            "Count the pedestrians up to 30 m ahead of the ego vehicle.",
        ),
        (Slot("count", Kind.COUNT, about=_PEOPLE),),
    ),
    Question(
        2,
        Category.PREDICTION,
        1,
        0,
        (
            "Does a stop sign apply to the ego vehicle?",
            "Is there a stop sign that the ego vehicle has to obey, and has it done so?",
        ),
        (Slot("stop_sign", t.SignState),),
        names_objects=True,
    ),
    Question(
        3,
        Category.PREDICTION,
        1,
        0,
        (
            "Does a speed limit sign apply to the ego vehicle?",
            "Which speed limit signs matter to the ego vehicle, passed or ahead?",
        ),
        (Slot("passed", Kind.LIMIT), Slot("ahead", Kind.LIMIT)),
        names_objects=True,
    ),
    Question(
        4,
        Category.PREDICTION,
        1,
        0,
        (
            "Which traffic lights and signs apply to the ego vehicle?",
            "List the lights and signs that the ego vehicle has to obey.",
        ),
        (Slot("passed_limit", Kind.LIMIT, 0.5, optional=True),),
        names_objects=True,
        rule=Rule.LISTED,
    ),
    Question(
        5,
        Category.PERCEPTION,
        2,
        0,
        (
            "Does a traffic light apply to the ego vehicle?",
            "Is the ego vehicle governed by a traffic light?",
        ),
        (Slot("present", Kind.FLAG, about=r"lights?|signals?|governed|controlled"),),
        names_objects=True,
    ),
    Question(
        6,
        Category.PREDICTION,
        2,
        1,
        (
            "What does the traffic light of the ego vehicle show?",
            "Which colour is the light that applies to the ego vehicle?",
        ),
        (Slot("light", t.LightColour),),
        names_objects=True,
        after=(5,),
    ),
    Question(
        7,
        Category.PERCEPTION,
        3,
        7,
        (
            "Which speed limit holds for the ego vehicle now?",
            "How fast may the ego vehicle drive here, and will that change soon?",
        ),
        (Slot("limit", Kind.LIMIT, 2.0), Slot("upcoming", Kind.LIMIT, 1.0, optional=True)),
        after=(3,),
    ),
    Question(
        9,
        Category.PLANNING,
        1,
        1,
        (
            "What should the ego vehicle do because of the {subject}?",
            "How does the {subject} bear on the ego vehicle's driving?",
        ),
        (Slot("advice", t.Advice, 2.0), Slot("limit", Kind.LIMIT, 1.0, optional=True)),
        per=Per.SIGN_KIND,
        after=(4, 6, 7),
        ego_speed=True,
    ),
    Question(
        14,
        Category.PLANNING,
        1,
        1,
        (
            "These lights and signs apply to the ego vehicle: {subject}. What does each ask of it?",
            "For each of {subject}: what should the ego vehicle do because of it?",
        ),
        object_slots=_ADVICE,
        names_objects=True,
        rule=Rule.LISTED,
        after=(4,),
        given_objects=True,
        ego_speed=True,
    ),
    Question(
        15,
        Category.PLANNING,
        1,
        1,
        (
            "Which lights and signs apply to the ego vehicle, and what does each ask of it?",
            "Find the lights and signs that govern the ego vehicle and say what to do because of each.",
        ),
        object_slots=_ADVICE,
        names_objects=True,
        rule=Rule.LISTED,
        ego_speed=True,
    ),
)

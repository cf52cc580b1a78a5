"""Questions about lanes, markings and junctions."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.question import Category, Kind, Per, Question, Slot

_SIDES = (Slot("sides", t.Side, many=True),)

ROADS: tuple[Question, ...] = (
    Question(
        30,
        Category.PREDICTION,
        3,
        6,
        (
            "From which sides may other vehicles enter the ego vehicle's lane?",
            "On which sides could others move into the ego vehicle's lane?",
        ),
        (*_SIDES, Slot("parking", t.Side, 0.5, many=True, optional=True)),
    ),
    Question(
        31,
        Category.PREDICTION,
        3,
        5,
        (
            "To which sides may the ego vehicle change lanes?",
            "In which directions is a lane change possible here?",
        ),
        (*_SIDES, Slot("occupied", t.Side, 0.5, many=True, optional=True)),
    ),
    Question(
        32,
        Category.PERCEPTION,
        3,
        4,
        (
            "What lane marking is on the {subject} of the ego vehicle's lane?",
            "Describe the marking on the {subject} side of the ego lane.",
        ),
        (Slot("marking", t.MarkingKind), Slot("colour", t.MarkingColour, 0.5, optional=True)),
        per=Per.SIDE,
    ),
    Question(
        33,
        Category.PERCEPTION,
        3,
        3,
        (
            "Which lane is the ego vehicle in, counted from the left of its direction, starting at 0?",
            "What is the index of the ego lane from the left (the leftmost is 0)?",
        ),
        (Slot("index", Kind.COUNT),),
    ),
    Question(
        34,
        Category.PERCEPTION,
        3,
        2,
        (
            "How many lanes lead in the {subject} direction here?",
            "Count the lanes of this road in the {subject} direction.",
        ),
        (Slot("count", Kind.COUNT, about=r"lanes?"),),
        per=Per.SENSE,
    ),
    Question(
        35,
        Category.PERCEPTION,
        3,
        0,
        (
            "Is the ego vehicle at a junction?",
            "Is the ego vehicle in a junction or right before one?",
        ),
        (Slot("junction", t.JunctionRelation),),
    ),
    Question(
        36,
        Category.PREDICTION,
        3,
        1,
        (
            "Which lanes need attention for the commanded move?",
            "Where must the ego vehicle look for its next move?",
        ),
        (Slot("watch", t.Watch, many=True),),
        command=True,
    ),
    Question(
        44,
        Category.PERCEPTION,
        3,
        6,
        (
            "Which way does the ego vehicle's lane lead?",
            "Does the current lane bend, and to which side?",
        ),
        (Slot("bend", t.Bend),),
    ),
)

"""The catalogue of questions, typed answers and the keys of action."""

from driveproof.questions.answers import Answer, FactValue, ObjectFacts, QuestionKey, Waypoints
from driveproof.questions.catalogue import QUESTIONS, register
from driveproof.questions.keys import ActionKeys, DirectionKey, SpeedKey, parse_keys
from driveproof.questions.objects import Colour, ObjectKind, ObjectRef, Sector
from driveproof.questions.question import (
    Category,
    Kind,
    Per,
    Question,
    Rule,
    Slot,
)

__all__ = [
    "QUESTIONS",
    "ActionKeys",
    "Answer",
    "Category",
    "Colour",
    "DirectionKey",
    "FactValue",
    "Kind",
    "ObjectFacts",
    "ObjectKind",
    "ObjectRef",
    "Per",
    "Question",
    "QuestionKey",
    "Rule",
    "Sector",
    "Slot",
    "SpeedKey",
    "Waypoints",
    "parse_keys",
    "register",
]

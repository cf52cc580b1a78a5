"""All questions.

The numbers are those of Bench2Drive-VL (1 to 50 without 45); the wording is ours. Numbers from 1000 on are free for
plugins: :func:`register` adds a question.
"""

from __future__ import annotations

from collections.abc import Mapping

from driveproof.questions.catalogue.decisions import DECISIONS
from driveproof.questions.catalogue.roads import ROADS
from driveproof.questions.catalogue.signs import SIGNS
from driveproof.questions.catalogue.surroundings import SURROUNDINGS
from driveproof.questions.catalogue.vehicles import VEHICLES
from driveproof.questions.question import Question

_QUESTIONS: dict[int, Question] = {
    question.number: question for question in (*SIGNS, *DECISIONS, *VEHICLES, *ROADS, *SURROUNDINGS)
}
QUESTIONS: Mapping[int, Question] = _QUESTIONS
"""Number → question; plugins appear here, too."""

FIRST_FREE_NUMBER = 1000


def register(question: Question) -> None:
    """Add a question of a plugin.

    Raises
    ------
    ValueError
        If its number is below 1000 or taken.
    """
    if question.number < FIRST_FREE_NUMBER:
        raise ValueError(f"question {question.number}: plugins number from {FIRST_FREE_NUMBER} on")
    if question.number in _QUESTIONS:
        raise ValueError(f"question {question.number}: taken")
    _QUESTIONS[question.number] = question

"""The catalogue is complete and hangs together."""

from __future__ import annotations

import networkx as nx
import pytest

from driveproof.questions import QUESTIONS, Category, Per, Question, Rule, register


def test_all_questions_of_the_paper_are_there() -> None:
    assert sorted(QUESTIONS) == [n for n in range(1, 51) if n != 45]


@pytest.mark.parametrize("number", sorted(n for n in QUESTIONS if n <= 50))
def test_a_question_is_well_formed(number: int) -> None:
    question = QUESTIONS[number]
    assert question.number == number
    assert len(set(question.phrasings)) >= 2
    about_one = question.per is not Per.FRAME or question.given_objects
    assert all(("{subject}" in text) == about_one for text in question.phrasings)
    names = [slot.name for slot in (*question.slots, *question.object_slots)]
    assert len(names) == len(set(names))
    assert all(slot.weight > 0 for slot in (*question.slots, *question.object_slots))
    lists = question.rule in (Rule.RANKED, Rule.LISTED)
    assert question.names_objects or not lists
    assert question.slots or lists  # there is something to be right about
    assert set(question.after) <= set(QUESTIONS)


def test_what_helps_forms_no_circle() -> None:
    graph = nx.DiGraph((before, q.number) for q in QUESTIONS.values() for before in q.after)
    assert nx.is_directed_acyclic_graph(graph)


def test_plugins_have_their_own_numbers() -> None:
    with pytest.raises(ValueError, match="from 1000"):
        register(Question(45, Category.PLANNING, 0, 0, ("?",)))
    register(Question(98765, Category.PLANNING, 0, 0, ("Why?",)))
    try:
        assert QUESTIONS[98765].phrasings == ("Why?",)
        with pytest.raises(ValueError, match="taken"):
            register(Question(98765, Category.PLANNING, 0, 0, ("Why?",)))
    finally:
        del QUESTIONS[98765]  # type: ignore[attr-defined]  # the only mapping there is

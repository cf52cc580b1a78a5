"""What is written can be read: every answer comes back from its own words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_answers import answers, plain, refs

from driveproof.questions import QUESTIONS, Answer, Per
from driveproof.questions.reading import read_answer
from driveproof.questions.wording import Sentences

NUMBERS = sorted(n for n in QUESTIONS if n <= 50)
_RELIABLE = 40


@pytest.mark.parametrize("number", NUMBERS)
@settings(max_examples=_RELIABLE)
@given(st.data())
def test_an_answer_comes_back_from_its_own_words(number: int, data: st.DataObject) -> None:
    question = QUESTIONS[number]
    answer = data.draw(answers(question))
    subject = None
    if question.per is Per.VEHICLE:
        from driveproof.questions.objects import VEHICLES

        found = data.draw(refs(VEHICLES, 1))
        subject = found[0] if found else None
        if subject is None:
            return
    text = Sentences().write(number, answer, subject)
    reading = read_answer(question, text, answer.refs, subject)
    assert not reading.unread, text
    assert plain(reading.answer.facts) == plain(answer.facts), text
    assert [item.object.tag for item in reading.answer.objects] == [r.tag for r in answer.refs], (
        text
    )
    for said, read in zip(answer.objects, reading.answer.objects, strict=True):
        assert plain(read.facts) == plain(said.facts), text


@pytest.mark.parametrize("number", [18, 19, 24, 28, 47])
def test_nothing_to_name_is_an_answer(number: int) -> None:
    text = Sentences().write(number, Answer())
    reading = read_answer(QUESTIONS[number], text)
    assert reading.answer.objects == ()
    assert not reading.unread


@given(st.sampled_from(NUMBERS), st.text(max_size=300))
def test_any_text_can_be_read(number: int, text: str) -> None:
    read_answer(QUESTIONS[number], text)

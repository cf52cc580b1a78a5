"""Answers survive JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_answers import answers

from driveproof.questions import QUESTIONS
from driveproof.questions.serial import (
    answer_from_json,
    answer_to_json,
    object_from_json,
    object_to_json,
)

NUMBERS = sorted(n for n in QUESTIONS if n <= 50)


@given(st.data())
def test_answers_and_objects_come_back(data: st.DataObject) -> None:
    answer = data.draw(answers(QUESTIONS[data.draw(st.sampled_from(NUMBERS))]))
    refs = {
        ref.tag: object_from_json(json.loads(json.dumps(object_to_json(ref))))
        for ref in answer.refs
    }
    assert list(refs.values()) == list(answer.refs)
    back = answer_from_json(json.loads(json.dumps(answer_to_json(answer))), refs)
    assert back == answer


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"facts": {"a": "Nothing.HERE"}, "objects": []},
        {"facts": {"a": "Enum.__class__"}, "objects": []},
        {"facts": {"a": [1]}, "objects": []},
        {"facts": {}, "objects": [{"tag": "c1", "facts": {}}]},
        {"facts": 3, "objects": []},
    ],
    ids=["empty", "class", "dunder", "list", "unknown-tag", "no-mapping"],
)
def test_what_is_no_answer_is_refused(bad: dict) -> None:
    with pytest.raises(ValueError):
        answer_from_json(bad, {})

"""Hundreds of answers whose scores were derived by hand: the reader and the scorer together."""

from __future__ import annotations

import pytest
from hand_made import Case
from hand_made_decisions import DECISIONS
from hand_made_lists import COLOURS, LISTS
from hand_made_roads import ROADS
from hand_made_signs import SIGNS
from hand_made_vehicles import ONE

from driveproof.questions import QUESTIONS

CASES = [*SIGNS, *DECISIONS, *ONE, *LISTS, *COLOURS, *ROADS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_gets_the_score_derived_by_hand(case: Case) -> None:
    got = case.got()
    assert got is not None
    assert got == pytest.approx(case.score, abs=0.006), f"{case.text!r}: {case.why}"


def test_the_tables_cover_every_question() -> None:
    assert {case.number for case in CASES} == {n for n in QUESTIONS if n <= 50}
    assert len(CASES) >= 250

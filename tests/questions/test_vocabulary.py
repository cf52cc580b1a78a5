"""Vocabularies find what their patterns say, and their shortcut hides nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.questions.wording import WORDS
from driveproof.questions.wording.vocabulary import needle, negated
from driveproof.questions.wording.words_action import DIRECTION_WORDS, SPEED_WORDS
from driveproof.questions.wording.words_objects import COLOUR, KIND, SECTOR

ALL = [*WORDS.values(), DIRECTION_WORDS, SPEED_WORDS, COLOUR, KIND, SECTOR]
PATTERNS = sorted({p for words in ALL for term in words.terms for p in term.means})


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (r"cars", "cars"),
        (r"bikes?", "bike"),
        (r"(?:heavy|strong) rain(?:fall)?", "rain"),
        (r"brak\w*[^.;,]{0,15} gently", "gently"),
        (r"a|b", ""),
        (r"(?:x|y)", ""),
    ],
)
def test_a_needle_is_in_every_match(pattern: str, literal: str) -> None:
    assert needle(pattern) == literal


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_shortcut_hides_a_match(pattern: str) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)

    @settings(max_examples=3)
    @given(st.from_regex(compiled, fullmatch=True, alphabet=st.characters(codec="ascii")))
    def holds(text: str) -> None:
        assert needle(pattern) in text.lower()

    holds()


@pytest.mark.parametrize(
    ("text", "word", "denied"),
    [
        ("no red car", "red", True),
        ("it is not turning left", "turning", True),
        ("no, it is turning left", "turning", False),
        ("it is not green, it is red", "red", False),
        ("nothing is near. A red car waits", "red", False),
        ("no cars, trucks or vans", "vans", True),
        ("no cars, only a van", "van", False),
        ("it doesn't stop", "stop", True),
        ("stop instead of going on", "going", True),
    ],
)
def test_negation_reaches_to_the_end_of_its_clause(text: str, word: str, denied: bool) -> None:
    assert negated(text, text.index(word)) is denied

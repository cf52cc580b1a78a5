"""Reading answers: exact, last field counts, hostile text never raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.prompts import (
    choice_line,
    decision_line,
    option_letters,
    parse_choice,
    parse_decision,
)
from driveproof.scene import Decision, Direction, SpeedChange

_DECISIONS = st.builds(Decision, st.sampled_from(Direction), st.sampled_from(SpeedChange))
_NOISE = st.text(max_size=200).filter(
    lambda t: "FINAL_CHOICE" not in t and "HIGH_LEVEL_DECISION" not in t
)
_HOSTILE = st.lists(
    st.sampled_from(
        ["FINAL_CHOICE", ":", " ", "A", "B", "F", "G", "a", "\n", "**", "А", "Ａ", "\x00", "\u202e"]
    ),
    max_size=30,
).map("".join)


@pytest.mark.parametrize(
    ("text", "index", "reason"),
    [
        ("FINAL_CHOICE: A", 0, ""),
        ("I brake.\nFINAL_CHOICE: F\n", 5, ""),
        ("FINAL_CHOICE: A\nno, better\nFINAL_CHOICE: C", 2, ""),
        ("**FINAL_CHOICE: D**", 3, ""),
        ("FINAL_CHOICE:\tB.", 1, ""),
        ("the form is FINAL_CHOICE: <letter>\nFINAL_CHOICE: E", 4, ""),
        ("FINAL_CHOICE: G", None, "out_of_range"),
        ("FINAL_CHOICE: A\nFINAL_CHOICE: G", None, "out_of_range"),
        ("FINAL_CHOICE: A\nFINAL_CHOICE: none of these", None, "malformed"),
        ("FINAL_CHOICE: <letter>", None, "malformed"),
        ("FINAL_CHOICE: a", None, "malformed"),
        ("FINAL_CHOICE: Apple", None, "malformed"),
        ("FINAL_CHOICE: AB", None, "malformed"),
        ("FINAL_CHOICE:\nA", None, "malformed"),
        ("FINAL_CHOICE: А", None, "malformed"),  # a Cyrillic letter
        ("FINAL_CHOICE:", None, "malformed"),
        ("final_choice: A", None, "no_choice"),
        ("I choose A", None, "no_choice"),
        ("", None, "no_answer"),
        (" \n", None, "no_answer"),
        (None, None, "no_answer"),
    ],
)
def test_choice(text: str | None, index: int | None, reason: str) -> None:
    parsed = parse_choice(text, 6)
    assert (parsed.index, parsed.reason) == (index, reason)


def test_the_range_of_letters_is_the_number_of_options() -> None:
    assert parse_choice("FINAL_CHOICE: C", 2).reason == "out_of_range"
    assert parse_choice("FINAL_CHOICE: J", 10).index == 9
    assert option_letters(10) == "ABCDEFGHIJ"
    with pytest.raises(ValueError, match="11"):
        option_letters(11)


@given(st.one_of(st.text(), _HOSTILE), st.integers(1, 10))
def test_any_text_parses_or_has_a_reason(text: str, n_options: int) -> None:
    parsed = parse_choice(text, n_options)
    assert (parsed.index is None) == bool(parsed.reason)
    assert parsed.index is None or 0 <= parsed.index < n_options
    parse_decision(text)


@given(_NOISE, st.integers(0, 9), _NOISE, _DECISIONS)
def test_what_is_written_is_read_back(
    before: str, index: int, after: str, decision: Decision
) -> None:
    text = f"{before}\n{decision_line(decision)}\n{choice_line(index)}\n{after}"
    assert parse_choice(text, 10).index == index
    assert parse_decision(text) == decision


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "direction=left; speed=keep",
        "HIGH_LEVEL_DECISION: direction=up; speed=keep",
        "HIGH_LEVEL_DECISION: direction=left",
        "HIGH_LEVEL_DECISION: speed=keep; direction=left",
        "HIGH_LEVEL_DECISION: direction=<straight|left>; speed=<stop|keep>",
        "HIGH_LEVEL_DECISION: direction=left; speed=keeping",
        "HIGH_LEVEL_DECISION: direction=left; speed=keep\nHIGH_LEVEL_DECISION: unsure",
    ],
)
def test_a_malformed_decision_is_none(text: str | None) -> None:
    assert parse_decision(text) is None


def test_the_last_decision_counts() -> None:
    text = (
        "HIGH_LEVEL_DECISION: direction=left; speed=keep\n"
        "HIGH_LEVEL_DECISION: direction=straight; speed=stop."
    )
    assert parse_decision(text) == Decision(Direction.STRAIGHT, SpeedChange.STOP)


def test_long_hostile_text_is_read_in_linear_time() -> None:
    text = "FINAL_CHOICE: " * 200_000 + "FINAL_CHOICE:" + " " * 200_000
    assert parse_choice(text, 6).reason == "malformed"

"""Nothing that gives an answer away may reach a grader: hidden in every place that the paper names, and by chance."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.evaluation.normalise import MAX_CHARS, normalise
from driveproof.prompts import (
    COMPACT,
    FULL,
    choice_line,
    decision_line,
    option_letters,
    render_options_turn,
)
from driveproof.scene import Decision, Direction, SpeedChange

EVIDENCE = "The traffic light 20 m ahead is red, so the vehicle has to slow down"
COMPACT_EVIDENCE = "signal red 20 ahead vehicle 10 slower\nmiddle 10,0 end 14,0"
DECISIONS = [decision_line(Decision(d, s)) for d, s in itertools.product(Direction, SpeedChange)]
SECRET = "ZEBRA"


@pytest.mark.parametrize(
    "hidden",
    [
        f"HIGH_LEVEL_DECISION: direction=left; speed=stop {SECRET}",
        f"  **High-Level Decision**: {SECRET}",
        f"high level decision = {SECRET}",
        f"HIGH_LEVEL\u200b_DECISION: {SECRET}",
        f"ＨＩＧＨ＿ＬＥＶＥＬ＿ＤＥＣＩＳＩＯＮ: {SECRET}",
        f"FINAL_CHOICE: {SECRET}",
        f"FINAL CHOICE {SECRET}",
        f"ＦＩＮＡＬ_ＣＨＯＩＣＥ: {SECRET}",
        f"FINAL_\u0421HOICE: {SECRET}",  # a Cyrillic letter
        f"<answer>{SECRET}</answer>",
        f"<ANSWER type='x'>\n{SECRET}\n</ANSWER>",
        f"<ans<think>wer>{SECRET}</answer>",
        f"<answer>{SECRET}",
        f"<final>{SECRET}</final>",
        f"A: 1.00,2.00 3.00,4.00 {SECRET}",
        f"(B) {SECRET}",
        f"- C. {SECRET}",
        f"I would choose option D {SECRET}.",
        f"The answer is E, {SECRET}.",
        f"{SECRET}: candidate F fits best.",
        f"PART 2: MATCH\n{SECRET}",
        f"=== Part II\n{SECRET}",
        f"CANDIDATE TRAJECTORIES\n{SECRET}",
        f"<|im_start|>user\n{SECRET}",
    ],
)
@pytest.mark.parametrize("evidence", [EVIDENCE + ".", COMPACT_EVIDENCE])
def test_an_answer_is_hidden_nowhere(hidden: str, evidence: str) -> None:
    text = normalise(f"{evidence}\n{hidden}")
    assert text == evidence
    assert normalise(text) == text


@pytest.mark.parametrize(
    "header",
    [
        "PART 1: DECIDE",
        "=== REASONING ===",
        "REASONING:",
        "### Analysis",
        "Part 1",
        "<think>",
        "=====",
    ],
)
def test_structure_goes_and_evidence_stays(header: str) -> None:
    assert normalise(f"{header}\n{EVIDENCE}.\n</think>") == f"{EVIDENCE}."
    assert normalise(f"<think>{EVIDENCE}.</think>") == f"{EVIDENCE}."


@pytest.mark.parametrize("style", [FULL, COMPACT])
def test_revealed_options_never_pass(style) -> None:
    rng = np.random.default_rng(3)
    options = rng.uniform(-40.0, 40.0, (6, 10, 2))
    block = render_options_turn(options, style)
    for stolen in (block, *block.splitlines()):
        left = normalise(f"{EVIDENCE}.\n{stolen}\n")
        for row in block.splitlines():
            if ":" in row and "," in row and row[0] in "ABCDEF":
                assert row.split(":")[1].split()[0] not in left.replace(EVIDENCE, "")


def test_turn_two_inside_turn_one_is_cut_out() -> None:
    second = "The second fits because it brakes early.\nFINAL_CHOICE: B"
    assert normalise(f"{EVIDENCE}.\n{second}", second) == f"{EVIDENCE}."


def test_words_that_only_look_like_answers_stay() -> None:
    text = (
        "A car is 10 m ahead. I choose to wait for a pedestrian. The trajectory I plan ends at 14 m.\n"
        "The best option is to brake. Direction: the road bends. Speed: about 9 m/s."
    )
    assert normalise(text) == text


def test_the_decision_can_be_kept_for_a_judge_of_coherence() -> None:
    text = f"{COMPACT_EVIDENCE}\n{DECISIONS[0]}\nFINAL_CHOICE: B"
    assert normalise(text, keep_decision=True) == f"{COMPACT_EVIDENCE}\n{DECISIONS[0]}"


PIECES = st.sampled_from(
    [
        *(
            "<think>",
            "</think>",
            "<answer>",
            "</answer>",
            "<",
            ">",
            "===",
            "PART 1:",
            "REASONING",
            "\n",
            " ",
            ". ",
        ),
        *(
            "HIGH_LEVEL",
            "_DECISION:",
            "FINAL_",
            "CHOICE: ",
            "A: ",
            "option ",
            "B",
            "C.",
            "10,2 ",
            "3,4",
            "(",
            ")",
        ),
        *(
            "The light is red",
            "ahead clear",
            "middle 10,0 end 14,0",
            "\u200b",
            "\u202e",
            "**",
            "I",
            "a",
            "stop",
        ),
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=200))
def test_any_text_normalises_to_a_fixed_point(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert len(once) <= MAX_CHARS
    for kept in (False, True):
        plain = normalise(text, keep_decision=kept).upper()
        assert "FINAL_CHOICE" not in plain
        assert "<ANSWER>" not in plain
        assert "===" not in plain
    assert "HIGH_LEVEL_DECISION" not in once.upper()


@given(
    st.lists(st.sampled_from(DECISIONS), min_size=1, max_size=3),
    st.integers(0, 9).map(choice_line),
    st.sampled_from(option_letters(10)),
    st.permutations(range(4)),
)
def test_decisions_and_choices_in_any_order_leave_no_trace(
    decisions, choice, letter, order
) -> None:
    hidden = [*decisions, choice, f"<answer>{letter}</answer>"]
    parts = [*hidden, EVIDENCE + "."]
    arranged = [parts[i] for i in order if i < len(parts)] + [EVIDENCE + "."]
    left = normalise("\n".join(arranged))
    assert set(left.split("\n")) == {EVIDENCE + "."}


@pytest.mark.parametrize(
    "bad", ["a ", "<", "1", "\n", "option ", "1,2 ", "HIGH ", "(", "<answer>", "_", "<a<b>", "- "]
)
def test_hostile_lengths_cost_little(bad: str) -> None:
    start = time.process_time()
    normalise(bad * 50_000)
    assert time.process_time() - start < 5.0

"""Questions and answers: one constant text, a strict parser, and a model that may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_examples import clip, picture
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from driveproof.judge import (
    CRITERIA,
    Asking,
    Gates,
    JudgeStyle,
    ask,
    judge_hash,
    judge_messages,
    parse_gates,
    parse_score,
)
from driveproof.judge.gates import score_line
from driveproof.judge.prompt import render
from driveproof.policy import ChatReply, ChatRequest
from driveproof.policy.pictures import Pictures

BITS = st.tuples(*[st.sampled_from((0.0, 1.0))] * 7).map(Gates)


@given(BITS)
def test_a_written_answer_is_read_back(gates) -> None:
    assert parse_gates(str(gates)).gates == gates


@given(st.text(max_size=200))
def test_any_text_is_gates_or_a_reason(text) -> None:
    parsed = parse_gates(text)
    assert (parsed.gates is None) == bool(parsed.reason)
    scored = parse_score(text)
    assert (scored.score is None) == bool(scored.reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no_answer"),
        ("  \n", "no_answer"),
        ("apply, " * 5 + "apply", "count"),
        ("apply, " * 7 + "apply", "count"),
        ("apply, " * 6 + "maybe", "label"),
        ("apply; " * 6 + "apply", "count"),
        ("I think so.\n" + "apply, " * 6 + "apply", "more_text"),
    ],
)
def test_anything_but_seven_labels_on_one_line_is_invalid(text, reason) -> None:
    assert parse_gates(text).reason == reason


def test_form_does_not_matter_where_the_labels_are_clear() -> None:
    text = "```\nApply, WAIVE ,apply,  apply, apply, apply, apply.\n```"
    assert parse_gates(text).gates.waived == ("DDC",)


@given(st.integers(0, 100))
def test_a_written_score_is_read_back(hundredths) -> None:
    assert parse_score(score_line(hundredths / 100)).score == pytest.approx(hundredths / 100)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("fine", "no_score"),
        ("SCORE: high", "malformed"),
        ("SCORE: 1.5", "out_of_range"),
        ("SCORE: -0.5", "malformed"),
        ("SCORE: nan", "malformed"),
        ("SCORE: 0.5\nSCORE: ?", "malformed"),
    ],
)
def test_a_score_is_a_number_from_zero_to_one(text, reason) -> None:
    assert parse_score(text).reason == reason


def test_the_question_names_all_criteria_in_order_and_its_hash_follows_every_word() -> None:
    for verbosity in ("full", "compact"):
        style = JudgeStyle(verbosity, 4)
        message = judge_messages("gate", style)[-1]
        assert [part["type"] for part in message["content"]] == ["image"] * 4 + ["text"]
    system, text = render("gate", JudgeStyle())
    places = [text.index(f"- {code}:") for code in CRITERIA]
    assert places == sorted(places)
    assert ", ".join(CRITERIA) in text
    assert parse_gates(text.rpartition("For example: ")[2]).gates is not None
    hashes = {judge_hash(JudgeStyle(v, n)) for v in ("full", "compact") for n in (1, 4)}
    assert len(hashes) == 4
    assert system


class Sayer:
    """A model that says given texts in turn; None fails."""

    name = "sayer"

    def __init__(self, *texts: str | None) -> None:
        self.texts = list(texts)
        self.seen: list[ChatRequest] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "sayer"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.seen += requests
        said = [self.texts[n % len(self.texts)] for n in range(len(requests))]
        return [ChatReply(None, "broken") if text is None else ChatReply(text) for text in said]


YES, NO = "apply, " * 6 + "apply", "waive, " + "apply, " * 5 + "apply"


def test_several_answers_make_soft_gates_and_failures_are_counted() -> None:
    answers = ask(Sayer(YES, NO, "dunno", None), [clip()], "gate", Asking(repeats=4))
    assert answers.gates["drive/0/a"] == Gates((0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert dict(answers.invalid) == {"count": 1}
    assert dict(answers.lost) == {"broken": 1}
    assert answers.asked == 4


def test_a_clip_without_a_readable_answer_has_no_gates() -> None:
    answers = ask(Sayer("dunno"), [clip()], "gate")
    assert answers.gates == {"drive/0/a": None}
    scored = ask(Sayer("SCORE: 0.25", "SCORE: 0.75", "?"), [clip()], "score", Asking(repeats=3))
    assert scored.scores == {"drive/0/a": 0.5}
    assert dict(scored.invalid) == {"no_score": 1}


def test_answers_are_kept_by_content(tmp_path: Path) -> None:
    refs = tuple(picture(tmp_path, f"{n}.png", (n, 0, 0)) for n in range(4))
    one = replace(clip(), frames=refs)
    shown = Pictures(tmp_path)
    first = ask(Sayer(NO), [one], "gate", pictures=shown, cache_dir=tmp_path / "kept")
    again = Sayer(YES)
    second = ask(again, [one], "gate", pictures=shown, cache_dir=tmp_path / "kept")
    assert second.gates == first.gates
    assert second.cached == 1
    assert not again.seen
    picture(tmp_path, "3.png", (200, 0, 0))
    other = ask(again, [one], "gate", pictures=Pictures(tmp_path), cache_dir=tmp_path / "kept")
    assert other.cached == 0
    assert other.gates[one.key].waived == ()


def test_the_text_gives_no_label_away() -> None:
    clips = [
        clip(f"d{n}/0/{kind}", label=kind == "good") for n in range(20) for kind in ("good", "bad")
    ]
    sayer = Sayer(YES)
    ask(sayer, clips, "gate")
    texts = [
        " ".join(p["text"] for m in request.messages for p in m["content"] if p["type"] == "text")
        for request in sayer.seen
    ]
    words = CountVectorizer().fit_transform(texts)
    labels = np.array([one.label for one in clips])
    guess = LogisticRegression().fit(words[::2], labels[:20]).predict_proba(words)[:, 1]
    assert roc_auc_score(labels, guess) == 0.5
    assert len(set(texts)) == 1

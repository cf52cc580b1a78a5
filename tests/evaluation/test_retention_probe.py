"""The built-in probe: whoever sees answers all of it, whoever does not is at chance, and the report says which."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.errors import BadInput
from driveproof.evaluation.retention_probe import (
    COLOURS,
    ProbeAnswers,
    ask_probe,
    compare_probes,
    make_probe,
    read_option,
    verdict,
)
from driveproof.policy import ChatReply, ChatRequest, RandomChoice


def _mask(picture: Any, colour: str) -> Any:
    return np.all(picture == COLOURS[colour], axis=-1)


def _ink(picture: Any) -> Any:
    return np.any(picture != 245, axis=-1)


def _cut(ink: Any) -> Any:
    rows, columns = np.flatnonzero(ink.any(1)), np.flatnonzero(ink.any(0))
    part = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float32)
    return cv2.resize(part, (32, 32))


def _digits() -> list[Any]:
    drawn = []
    for digit in range(10):
        page = np.full((224, 224, 3), 245, np.uint8)
        cv2.putText(page, str(digit), (60, 160), cv2.FONT_HERSHEY_SIMPLEX, 4.7, (20, 20, 20), 10)
        drawn.append(_cut(_ink(page)))
    return drawn


DIGITS = _digits()


def _look(picture: Any, question: str) -> str:
    """The answer from pixels alone, by other means than the ones that drew them."""
    present = {name: int(_mask(picture, name).sum()) for name in COLOURS}
    named = [name for name, area in present.items() if area]
    if question.startswith("What colour"):
        return named[0]
    if question.startswith("How many"):
        return str(cv2.connectedComponents(_ink(picture).astype(np.uint8))[0] - 1)
    if question.startswith("On which side"):
        words = question.split()
        second, first = words[words.index("the") + 1], words[-2]
        middle = [np.flatnonzero(_mask(picture, name).any(0)).mean() for name in (first, second)]
        return "left" if middle[0] < middle[1] else "right"
    if "larger" in question or "smaller" in question:
        return (max if "larger" in question else min)(named, key=present.__getitem__)
    seen = _cut(_ink(picture))
    return str(int(np.argmin([np.abs(seen - digit).sum() for digit in DIGITS])))


class Seer:
    """Looks at the pixels; with an argument, only every so many times."""

    def __init__(self, every: str = "1") -> None:
        self.name, self._every = f"seer{every}", int(every)

    def identity(self) -> dict[str, Any]:
        return {"kind": self.name}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return [self._one(n, request) for n, request in enumerate(requests)]

    def _one(self, number: int, request: ChatRequest) -> ChatReply:
        if number % self._every:
            return ChatReply("I cannot see.")
        question = request.messages[0]["content"][1]["text"].splitlines()[0]
        return ChatReply(f"It is {_look(request.images[0], question)}.")


class Blind:
    """Always the first option."""

    name = "blind"

    def identity(self) -> dict[str, Any]:
        return {"kind": "blind"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return [ChatReply("A") for _ in requests]


@pytest.mark.slow
def test_pictures_show_what_the_answers_say() -> None:
    questions = make_probe(20, 3)
    assert len(questions) == 100
    answers = ask_probe(Seer(), questions)
    wrong = [q.key for q, right in zip(questions, answers.correct, strict=True) if right != 1.0]
    assert wrong == []
    for question in questions:
        assert len(set(question.options)) == len(question.options) in (2, 4)


def test_the_same_seed_makes_the_same_probe() -> None:
    first, again, other = make_probe(3, 1), make_probe(3, 1), make_probe(3, 2)
    for a, b in zip(first, again, strict=True):
        assert (a.key, a.options, a.answer) == (b.key, b.options, b.answer)
        assert np.array_equal(a.picture, b.picture)
    assert any(not np.array_equal(a.picture, b.picture) for a, b in zip(first, other, strict=True))
    longer = make_probe(5, 1)
    assert np.array_equal(longer[5].picture, first[3].picture), "more questions change none"
    with pytest.raises(BadInput):
        make_probe(0, 1)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("B", 1),
        ("(C)", 2),
        ("**D**", 3),
        ("B. blue", 1),
        ("b", None),
        ("A red circle is there", 0),
        ("A blue circle is there", 1),
        ("Let me see. The answer is C.", 2),
        ("Answer: A\nNo, answer: B", 1),
        ("FINAL_CHOICE: D", 3),
        ("E", None),
        ("It is blue.", 1),
        ("It is blue or red.", None),
        ("reddish", None),
        ("", None),
    ],
)
def test_replies_are_read_exactly(text: str, option: int | None) -> None:
    assert read_option(text, ("red", "blue", "green", "black")) == option


@pytest.mark.slow
def test_sight_that_was_lost_is_said_to_be_lost() -> None:
    questions = make_probe(20, 0)
    seen, blind = ask_probe(Seer(), questions), ask_probe(Blind(), questions)
    rows = compare_probes(questions, seen, blind, 0)
    assert [row.kind for row in rows][-1] == "all"
    assert rows[-1].chance == pytest.approx((3 * 0.25 + 2 * 0.5) / 5)
    assert "General capability was lost" in verdict(rows)
    assert "No change can be told" in verdict(compare_probes(questions, seen, seen, 0))
    back = verdict(compare_probes(questions, blind, seen, 0))
    assert "says nothing about retention" in back, "who was blind has nothing to lose"
    lost = ProbeAnswers(np.full(len(questions), np.nan), 0)
    assert "nothing can be said" in verdict(compare_probes(questions, seen, lost, 0))
    with pytest.raises(BadInput, match="does not talk"):
        ask_probe(RandomChoice(), questions)


@pytest.mark.slow
def test_the_command_asks_both_models(tmp_path: Path) -> None:
    here = "test_retention_probe"
    command = ["retention", "--probe", "--questions", "10", "--before", f"{here}:Seer#1"]
    command += ["--after", f"{here}:Seer#2", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary
    assert summary["invalid"] == {"before": 0, "after": 25}
    assert summary["rows"][-1]["difference"]["mean"] == -0.5
    shown = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    assert "General capability was lost" in shown.stdout.replace("\n", " ")


def test_one_question_allows_no_verdict() -> None:
    asked = make_probe(1, 0)[:1]
    rows = compare_probes(
        asked, ProbeAnswers(np.array([1.0]), 0), ProbeAnswers(np.array([0.0]), 0), 0
    )
    assert rows[-1].difference.low is None
    assert "too few" in verdict(rows)

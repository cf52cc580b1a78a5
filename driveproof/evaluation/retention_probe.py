"""A small probe of general sight, for whoever has no VLMEvalKit: made pictures, multiple choice, exact scores.

It asks what any vision-language model can do and driving does not teach: colours, counting, sides, sizes, digits. It finds
that a model has lost its sight; it does not measure how good that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.statistics import Estimate, bootstrap_mean, paired_difference
from driveproof.geometry.arrays import Float
from driveproof.policy import ChatPolicy, ChatRequest, Policy, derive_seed
from driveproof.prompts import option_letters, parse_choice
from driveproof.scene.images import Pixels

SIDE = 224
"""Pixels of a picture."""
COLOURS = {
    "red": (210, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 80, 210),
    "yellow": (230, 210, 40),
    "purple": (140, 50, 170),
    "orange": (240, 140, 30),
    "black": (20, 20, 20),
    "brown": (120, 75, 40),
}
"""RGB."""
SHAPES = ("circle", "square", "triangle")
_PAPER = (245, 245, 245)
_LETTER = re.compile(r"\s*[(*\[]*([A-F])[)*\].:,]*\s*(?:$|[\n]|(?<=[).:,\]*])\s)")
_ANSWER = re.compile(r"\b(?i:answer)(?:\s+is|\s*:)?\s*[(*\[]*([A-F])\b")


@dataclass(frozen=True)
class ProbeQuestion:
    """A made picture ``[224, 224, 3]`` RGB, a question about it, its options, and which is right (0-based)."""

    key: str
    kind: str
    picture: Pixels
    question: str
    options: tuple[str, ...]
    answer: int

    @property
    def prompt(self) -> str:
        """The question with its options and how to answer."""
        letters = option_letters(len(self.options))
        listed = "\n".join(f"{a}. {o}" for a, o in zip(letters, self.options, strict=True))
        return f"{self.question}\n{listed}\nAnswer with the letter of the right option only."


@dataclass(frozen=True)
class ProbeAnswers:
    """What a model made of N questions.

    ``correct`` ``[N]`` is 1, 0 or NaN where the model failed; an answer in which no option can be read is 0 and counted in
    ``invalid``.
    """

    correct: Float
    invalid: int


@dataclass(frozen=True)
class ProbeRow:
    """Questions of one kind, or of all: accuracy before and after, and the paired difference, after minus before."""

    kind: str
    questions: int
    chance: float
    before: Estimate
    after: Estimate
    difference: Estimate


def make_probe(per_kind: int, seed: int) -> list[ProbeQuestion]:
    """``per_kind`` questions of each kind; the same seed gives the same pictures.

    Raises
    ------
    BadInput
        If ``per_kind`` is not positive.
    """
    if per_kind < 1:
        raise BadInput("expected a positive number of questions", field="questions")
    questions = []
    for kind, make in _KINDS.items():
        for number in range(per_kind):
            rng = np.random.default_rng(derive_seed(seed, "probe", kind, number))
            picture = np.full((SIDE, SIDE, 3), _PAPER, np.uint8)
            question, right, wrong = make(picture, rng)
            order = rng.permutation(1 + len(wrong))
            options = [(right, *wrong)[i] for i in order]
            answer = int(np.flatnonzero(order == 0)[0])
            key = f"{kind}/{number:04d}"
            questions.append(ProbeQuestion(key, kind, picture, question, tuple(options), answer))
    return questions


_Made = tuple[str, str, tuple[str, ...]]
"""Question, right option, wrong ones."""


def _draw(picture: Pixels, shape: str, centre: tuple[int, int], radius: int, colour: str) -> None:
    x, y = centre
    if shape == "circle":
        cv2.circle(picture, centre, radius, COLOURS[colour], -1)
    elif shape == "square":
        cv2.rectangle(
            picture, (x - radius, y - radius), (x + radius, y + radius), COLOURS[colour], -1
        )
    else:
        corners = [[x, y - radius], [x - radius, y + radius], [x + radius, y + radius]]
        cv2.fillPoly(picture, [np.array(corners, np.int32)], COLOURS[colour])


def _some(rng: np.random.Generator, names: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(names[int(i)] for i in rng.permutation(len(names))[:count])


def _colour(picture: Pixels, rng: np.random.Generator) -> _Made:
    right, *wrong = _some(rng, list(COLOURS), 4)
    (shape,) = _some(rng, SHAPES, 1)
    x, y, radius = (int(rng.integers(*span)) for span in ((70, 154), (70, 154), (30, 60)))
    _draw(picture, shape, (x, y), radius, right)
    return f"What colour is the {shape}?", right, tuple(wrong)


def _count(picture: Pixels, rng: np.random.Generator) -> _Made:
    right, *wrong = _some(rng, [str(n) for n in range(1, 7)], 4)
    (shape,), (colour,) = _some(rng, SHAPES, 1), _some(rng, list(COLOURS), 1)
    cell = SIDE // 3
    for place in rng.permutation(9)[: int(right)]:
        row, column = divmod(int(place), 3)
        centre = (column * cell + cell // 2, row * cell + cell // 2)
        _draw(picture, shape, centre, int(rng.integers(14, 26)), colour)
    return f"How many {shape}s are in the picture?", right, tuple(wrong)


def _side(picture: Pixels, rng: np.random.Generator) -> _Made:
    first, second = _some(rng, list(COLOURS), 2)
    places = [(int(rng.integers(30, 80)), int(rng.integers(50, 174))) for _ in range(2)]
    left = bool(rng.integers(2))
    for colour, (x, y), on_left in ((first, places[0], left), (second, places[1], not left)):
        _draw(picture, "circle", (x if on_left else SIDE - x, y), 24, colour)
    right, wrong = ("left", "right") if left else ("right", "left")
    question = f"On which side of the {second} circle is the {first} circle?"
    return question, right, (wrong,)


def _larger(picture: Pixels, rng: np.random.Generator) -> _Made:
    big, small = _some(rng, list(COLOURS), 2)
    (shape,) = _some(rng, SHAPES, 1)
    radius = int(rng.integers(32, 48))
    places = [(60, int(rng.integers(60, 164))), (164, int(rng.integers(60, 164)))]
    first, second = (places[int(i)] for i in rng.permutation(2))
    _draw(picture, shape, first, radius, big)
    _draw(picture, shape, second, int(radius / rng.uniform(1.6, 2.4)), small)
    ask_larger = bool(rng.integers(2))
    right, wrong = (big, small) if ask_larger else (small, big)
    return f"Which {shape} is {'larger' if ask_larger else 'smaller'}?", right, (wrong,)


def _digit(picture: Pixels, rng: np.random.Generator) -> _Made:
    right, *wrong = _some(rng, [str(n) for n in range(10)], 4)
    (colour,) = _some(rng, list(COLOURS), 1)
    scale = float(rng.uniform(3.5, 6.0))
    (width, height), _ = cv2.getTextSize(right, cv2.FONT_HERSHEY_SIMPLEX, scale, 10)
    corner = (int(rng.integers(10, SIDE - width - 10)), int(rng.integers(height + 10, SIDE - 10)))
    cv2.putText(picture, right, corner, cv2.FONT_HERSHEY_SIMPLEX, scale, COLOURS[colour], 10)
    return "Which digit is in the picture?", right, tuple(wrong)


_KINDS: dict[str, Callable[[Pixels, np.random.Generator], _Made]] = {
    "colour": _colour,
    "counting": _count,
    "left or right": _side,
    "larger or smaller": _larger,
    "digit": _digit,
}


def read_option(text: str, options: Sequence[str]) -> int | None:
    """The option (0-based) that a reply names: FINAL_CHOICE, a letter at the start or after "answer", or one option's text."""
    chosen = parse_choice(text, len(options)).index
    if chosen is not None:
        return chosen
    said = _LETTER.match(text)
    letters = [said[1]] if said else [m[1] for m in _ANSWER.finditer(text)][-1:]
    if letters:
        place = ord(letters[0]) - ord("A")
        return place if place < len(options) else None
    named = [
        place
        for place, option in enumerate(options)
        if re.search(rf"\b{re.escape(option)}\b", text, re.I)
    ]
    return named[0] if len(named) == 1 else None


def ask_probe(
    policy: Policy,
    questions: Sequence[ProbeQuestion],
    *,
    max_tokens: int = 64,
    chunk: int = 64,
    progress: Callable[[int], None] | None = None,
) -> ProbeAnswers:
    """Ask every question once with greedy decoding (appendix D.2).

    Raises
    ------
    BadInput
        If the policy does not talk.
    """
    if not isinstance(policy, ChatPolicy):
        raise BadInput(
            f"{policy.name} does not talk", hint="the probe asks models that read pictures"
        )
    correct = np.full(len(questions), np.nan)
    invalid = 0
    for start in range(0, len(questions), chunk):
        part = questions[start : start + chunk]
        replies = policy.reply([_request(question, max_tokens) for question in part])
        for place, (question, reply) in enumerate(zip(part, replies, strict=True), start):
            if reply.text is None:
                continue
            chosen = read_option(reply.text, question.options)
            invalid += chosen is None
            correct[place] = float(chosen == question.answer)
        if progress:
            progress(len(part))
    return ProbeAnswers(correct, invalid)


def _request(question: ProbeQuestion, max_tokens: int) -> ChatRequest:
    content = [{"type": "image"}, {"type": "text", "text": question.prompt}]
    return ChatRequest(
        [{"role": "user", "content": content}], [question.picture], max_tokens=max_tokens
    )


def compare_probes(
    questions: Sequence[ProbeQuestion], before: ProbeAnswers, after: ProbeAnswers, seed: int
) -> list[ProbeRow]:
    """One row a kind and one of all, "all", question by question."""
    kinds = np.array([question.kind for question in questions], dtype=object)
    chances = np.array([1 / len(question.options) for question in questions])
    parts = {kind: kinds == kind for kind in _KINDS if (kinds == kind).any()}
    parts["all"] = np.ones(len(questions), dtype=bool)
    return [
        ProbeRow(
            kind=kind,
            questions=int(rows.sum()),
            chance=float(chances[rows].mean()),
            before=bootstrap_mean(before.correct[rows], seed),
            after=bootstrap_mean(after.correct[rows], seed),
            difference=paired_difference(after.correct[rows], before.correct[rows], seed),
        )
        for kind, rows in parts.items()
    ]


def verdict(rows: Sequence[ProbeRow]) -> str:
    """What the probe allows to say of all kinds together."""
    total = rows[-1]
    before, change = total.before, total.difference
    if before.mean is None or change.mean is None:
        return "Every answer of one model was lost: nothing can be said."
    if before.low is None or change.low is None or change.high is None:
        return "One answered question is too few to say anything."
    if before.low <= total.chance:
        return (
            f"Before, the model is not surely better than chance ({total.chance:.3f}): it has no general capability that "
            "training could have cost, and this says nothing about retention."
        )
    if change.high < 0:
        return f"General capability was lost: accuracy changes by {change.mean:+.3f}, surely downwards."
    if change.low > 0:
        return f"General capability was gained: accuracy changes by {change.mean:+.3f}, surely upwards."
    return f"No change can be told; a loss of up to {max(-change.low, 0.0):.3f} is not excluded."

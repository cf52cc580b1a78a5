"""What a model is taught of the expert's answers: one question a lesson, asked exactly as it will be asked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from driveproof.commenter.dataset import AnswerRow
from driveproof.commenter.moments import Moment, check_recorded
from driveproof.commenter.whatif import Speeds
from driveproof.config.vqa import VqaSftParams
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.policy.seeds import derive_seed
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import COMMAND_WORDS, InputMode, Shown, mode_to_json
from driveproof.questions import QUESTIONS, ActionKeys, Answer, DirectionKey, SpeedKey
from driveproof.questions.objects import Sector
from driveproof.questions.wording import Sentences
from driveproof.questions.wording.mention import mention
from driveproof.questions.wording.words_objects import SECTOR
from driveproof.scene import ImageRef
from driveproof.training.lessons import Example

KEYS = 50
"""The question whose answer drives."""
GRAPH = "action"
"""The preset of the graph of questions under which lessons are asked: each question by itself."""
STANDING_MPS = 0.5
STANDS, FASTEST_MPS = 0.4, 14.0
"""At another speed: how often the ego stands, and up to what it drives else, evenly."""
COMMON = 4
"""A piece of answers that is found in so many different moments becomes one token."""
_ROW = (
    '[{"description": "', '"}, {"description": "', '", "position": "', ' m to the front, ',
    ' m to the rear, ', ' m to the left", "speed": "', ' m to the right", "speed": "',
    ' m/s", "heading": "', "same direction", "opposite direction", " degrees to the left",
    " degrees to the right", '"}]\n', "Actors around: ", "[]\n", "The ego vehicle drives ", " m/s.\n",
    "The pictures show CAM_FRONT.\n", "user\n", "assistant\n", *(f".{digit}" for digit in range(10)),
)  # fmt: skip


@dataclass(frozen=True)
class _Lesson:
    moment: Moment
    row: AnswerRow
    answer: str


class VqaLessons:
    """Lessons from recorded moments; lesson ``i`` depends on seed and ``i`` alone.

    The expert of recorded clips mostly keeps its lane, and when it stands it mostly waits, so that a model would learn
    that who stands goes on standing. Keys are therefore drawn by what they say: a kind of answer that makes up a
    share p of the recordings makes up a share proportional to p ** ``balance`` of the lessons, and where the ego stands
    to p ** ``standing_balance``; standing and moving egos keep their shares. And ``other_speed_share`` of the lessons
    come from ``imagined`` moments, as far as a question has any.

    Parameters
    ----------
    moments
        With the answers to at least one of ``params.questions``; a question without answers is not taught.
    imagined
        The same at other speeds (:func:`driveproof.commenter.whatif.at_other_speeds`).
    mode
        What the model is shown.

    Raises
    ------
    BadInput
        If there is nothing to teach, or the mode shows what is not recorded.
    """

    def __init__(
        self,
        moments: Sequence[Moment],
        mode: InputMode,
        params: VqaSftParams,
        seed: int,
        imagined: Sequence[Moment] = (),
    ) -> None:
        check_recorded(mode)
        self._mode, self._params, self._seed = mode, params, seed
        write = Sentences(references=mode.references)
        self._recorded = _course(moments, params, write)
        self._imagined = _course(imagined, params, write)
        if not self._recorded:
            raise BadInput("no moment with an answer to one of the questions", field="questions")
        self.phrases = _phrases(self._lessons(), mode)

    @property
    def steps(self) -> int:
        """Batches."""
        steps: Mapping[Any, int] = self._params.modes
        return steps[self._mode.shown.value]

    @property
    def taught(self) -> tuple[int, ...]:
        """Numbers of the questions that lessons are about."""
        return tuple(self._recorded)

    @property
    def counts(self) -> dict[int, int]:
        """How many answers there are to draw from, by question, imagined ones included."""
        both = Counter({number: len(group) for number, group in self._recorded.items()})
        both.update({number: len(group) for number, group in self._imagined.items()})
        return dict(both)

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index``: a question, an answer of some kind to it, and a moment where it is right."""
        rng = np.random.default_rng(derive_seed(self._seed, "vqa", self._mode.shown, index))
        number = self._question(rng)
        course = self._recorded[number]
        if number in self._imagined and rng.random() < self._params.other_speed_share:
            course = self._imagined[number]
        return self._example(course.draw(rng))

    def images(self) -> list[ImageRef]:
        """The picture of every moment that is taught, archive by archive; none in text mode."""
        if self._mode.shown is not Shown.CAMERA:
            return []
        return sorted({lesson.moment.picture for lesson in self._lessons()}, key=str)

    def corpus(self) -> list[str]:
        """All questions of the catalogue, everything shown in words, every answer."""
        texts = [text for question in QUESTIONS.values() for text in question.phrasings]
        texts += [*COMMAND_WORDS.values(), *DirectionKey, *SpeedKey]
        shown: dict[int, Moment] = {}
        for lesson in self._lessons():
            texts.append(lesson.answer)
            if id(lesson.moment) not in shown:
                shown[id(lesson.moment)] = lesson.moment
                messages, _ = lesson.moment.request(self._mode, lesson.row)
                texts += [p["text"] for p in messages[0]["content"] if p["type"] == "text"]
        return list(dict.fromkeys(texts))

    def identity(self) -> dict[str, Any]:
        """How the model must be asked, and what it was taught."""
        return {
            "mode": mode_to_json(self._mode),
            "graph": GRAPH,
            "wording": wording_hash(self._mode),
            "questions": list(self.taught),
        }

    def _question(self, rng: np.random.Generator) -> int:
        others = [number for number in self._recorded if number != KEYS]
        if KEYS in self._recorded and (not others or rng.random() < self._params.focus_share):
            return KEYS
        return others[int(rng.integers(len(others)))]

    def _example(self, lesson: _Lesson) -> Example:
        messages, images = lesson.moment.request(self._mode, lesson.row)
        said = {"role": "assistant", "content": [{"type": "text", "text": lesson.answer}]}
        return Example([*messages, said], images)

    def _lessons(self) -> Iterator[_Lesson]:
        for courses in (self._recorded, self._imagined):
            for course in courses.values():
                yield from course


def _text(row: AnswerRow, write: Sentences) -> str:
    subject = next((ref for ref in row.known if ref.tag == row.key.subject), None)
    return write.write(row.key.number, row.answer, subject)


def _kind(moment: Moment, answer: Answer) -> tuple[Any, ...]:
    """What an answer says, but for numbers and which things: whether the ego stands, facts, kinds of things."""
    facts = tuple(
        (name, value.text() if isinstance(value, ActionKeys) else str(value))
        for name, value in answer.facts.items()
        if isinstance(value, (Enum, bool, ActionKeys, frozenset)) or value is None
    )
    kinds = tuple(sorted({ref.kind.value for ref in answer.refs}))
    return (moment.speed < STANDING_MPS, facts, kinds)


class _Kinds:
    """Lessons about one question by kinds of answers, and how often each kind is drawn."""

    def __init__(self, standing_balance: float, balance: float) -> None:
        self._balances = standing_balance, balance
        self._kinds: dict[tuple[Any, ...], list[_Lesson]] = defaultdict(list)

    def add(self, lesson: _Lesson) -> None:
        """One more; none after the first is drawn."""
        self._kinds[_kind(lesson.moment, lesson.row.answer)].append(lesson)

    @cached_property
    def _groups(self) -> list[list[_Lesson]]:
        return list(self._kinds.values())

    @cached_property
    def _weights(self) -> Float:
        """``[K]``, sum 1: standing and moving egos keep their shares, kinds of answers are evened out."""
        counts = np.array([len(group) for group in self._groups], dtype=np.float64)
        stands = np.array([kind[0] for kind in self._kinds])
        weights = np.zeros_like(counts)
        balances = ((stands, self._balances[0]), (~stands, self._balances[1]))
        for chosen, balance in balances:
            if chosen.any():
                evened = counts[chosen] ** balance
                weights[chosen] = evened / evened.sum() * counts[chosen].sum()
        shares: Float = weights / weights.sum()
        return shares

    def draw(self, rng: np.random.Generator) -> _Lesson:
        """Some lesson."""
        group = self._groups[int(rng.choice(len(self._weights), p=self._weights))]
        return group[int(rng.integers(len(group)))]

    def __iter__(self) -> Iterator[_Lesson]:
        return (lesson for group in self._kinds.values() for lesson in group)

    def __len__(self) -> int:
        return sum(map(len, self._kinds.values()))


def _course(moments: Sequence[Moment], params: VqaSftParams, write: Sentences) -> dict[int, _Kinds]:
    """The lessons about each question that is taught, by number."""
    evened = _Kinds(params.standing_balance, params.balance)
    found: dict[int, _Kinds] = {}
    for moment in moments:
        for row in moment.rows:
            if row.key.number in params.questions:
                number = row.key.number
                kinds = found.setdefault(number, evened if number == KEYS else _Kinds(1.0, 1.0))
                kinds.add(_Lesson(moment, row, _text(row, write)))
    return {number: found[number] for number in sorted(found)}


def _phrases(lessons: Iterator[_Lesson], mode: InputMode) -> tuple[str, ...]:
    """Texts that become single tokens: questions, what surrounds numbers, and common pieces of answers."""
    asked = [
        piece
        for question in QUESTIONS.values()
        for text in question.phrasings
        for piece in text.split("{subject}")
        if " " in piece.strip()
    ]
    said = [f"The navigator says: {words}.\n" for words in COMMAND_WORDS.values()]
    keys = [f"{key}, " for key in DirectionKey]
    sectors = [f" {SECTOR.says(sector)}" for sector in Sector]
    pieces: Counter[str] = Counter()
    for lesson in lessons:
        if lesson.row.key.number != KEYS:
            pieces.update(set(_pieces(lesson, mode)))
    common = [text for text, count in pieces.items() if count >= COMMON and " " in text.strip()]
    return tuple(dict.fromkeys([*asked, *said, *keys, *sectors, *_ROW, *common]))


def _pieces(lesson: _Lesson, mode: InputMode) -> list[str]:
    """The answer's text between the things and numbers that it names."""
    names = {mention(ref, references=mode.references) for ref in lesson.row.known}
    named = "|".join(re.escape(name) for name in sorted(names, key=lambda n: (-len(n), n)))
    pattern = rf"(?i:{named})|-?\d+(?:\.\d+)?" if named else r"-?\d+(?:\.\d+)?"
    return [piece for piece in re.split(pattern, lesson.answer) if piece]


def other_speeds(seed: int) -> Speeds:
    """A speed for each moment, m/s: often none at all."""

    def speed(clip: str, frame: int) -> float:
        rng = np.random.default_rng(derive_seed(seed, "speed", clip, frame))
        return 0.0 if rng.random() < STANDS else float(rng.uniform(0.0, FASTEST_MPS))

    return speed

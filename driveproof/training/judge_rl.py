"""The judge's gates as something to practise: one turn a clip, paid by the preference that they lead to.

DriveJudge, section 4.3: GRPO over rule-invocation rollouts with the reward of equation 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driveproof.config.judge_rl import JudgeRlParams
from driveproof.errors import BadInput
from driveproof.evaluation.judge_run import contested
from driveproof.judge.clips import Clip, Pair
from driveproof.judge.gates import parse_gates
from driveproof.judge.prompt import JudgeStyle, Task, judge_hash, judge_messages
from driveproof.judge.score import Reading
from driveproof.policy.seeds import derive_seed
from driveproof.rewards.preference import Contest, GateRollout, PreferenceReward, Side
from driveproof.rewards.reward import Pending
from driveproof.scene import ImageRef
from driveproof.training.digest import digest
from driveproof.training.grpo.task import Opening
from driveproof.training.judge import JudgeLessons
from driveproof.training.lessons import Example


@dataclass(frozen=True)
class GateQuestion:
    """One clip of a pair."""

    pair: str
    side: Side
    clip: Clip


@dataclass(frozen=True)
class OneTurnGates:
    """The judge's own question about a clip and one line of gates; ``budget`` is the longest answer in tokens."""

    style: JudgeStyle
    budget: int
    turns = 1

    def opening(self, question: GateQuestion) -> Opening:
        """As the judge is asked at any other time; the pair and its preference are no part of it."""
        frames = question.clip.frames[-self.style.frames :]
        return Opening(judge_messages("gate", self.style), frames)

    def reveal(self, question: GateQuestion, replies: Sequence[str]) -> str:
        """There is nothing to reveal."""
        raise ValueError("gates are said in one turn")

    def finish(self, question: GateQuestion, replies: Sequence[str]) -> GateRollout:
        """The gates as they are read in every evaluation."""
        text = replies[0]
        return GateRollout(question.pair, question.side, question.clip.key, text, parse_gates(text))


class PreferenceTask:
    """Pairs of clips of the train places; question 2 p is the first clip of pair p and 2 p + 1 its second.

    Parameters
    ----------
    clips, pairs
        Of the train split; clips in no pair are not practised.
    thresholds
        Say which pairs are contested.
    style
        How the judge is asked.
    reading
        Of equation 14.

    Raises
    ------
    BadInput
        If there are no pairs, one is not of the train split, or a clip of one is missing or has too few frames.
    """

    def __init__(
        self,
        clips: Sequence[Clip],
        pairs: Sequence[Pair],
        thresholds: Mapping[str, float],
        params: JudgeRlParams,
        style: JudgeStyle,
        reading: Reading,
    ) -> None:
        if not pairs:
            raise BadInput("no pairs to practise")
        by_key = {clip.key: clip for clip in clips}
        self._pairs, self._params, self._style = list(pairs), params, style
        self._sides = [_sides(pair, by_key, style.frames) for pair in pairs]
        self._contested = [contested(pair, by_key, thresholds) for pair in pairs]
        self._thresholds, self._reading = dict(thresholds), reading
        self.interaction = OneTurnGates(style, params.max_tokens)
        contests = {
            pair.key: Contest(first.rules, second.rules, _side(pair.preferred))
            for pair, (first, second) in zip(pairs, self._sides, strict=True)
        }
        self._reward = PreferenceReward(contests, params.pairing, reading, params.tie)

    @property
    def contested(self) -> int:
        """Number of contested pairs."""
        return sum(self._contested)

    def schedule(self, count: int, seed: int) -> list[int]:
        """Both clips of each of ``count`` / 2 pairs, one after the other.

        A share of the pairs is contested; each kind is gone through in a new order until it is used up, and again.
        """
        rng = np.random.default_rng(derive_seed(seed, "judge rl schedule"))
        share = self._params.contested_share
        wanted = np.array(self._contested)
        hard, rest = (_rounds(np.flatnonzero(kind), rng) for kind in (wanted, ~wanted))
        numbers: list[int] = []
        for _ in range(count // 2):
            takes_hard = rng.random() < share if not wanted.all() else True
            pair = next(hard if takes_hard and wanted.any() else rest)
            numbers += [2 * pair, 2 * pair + 1]
        return numbers

    def question(self, number: int) -> GateQuestion:
        """One clip of a pair."""
        pair, side = divmod(number, 2)
        return GateQuestion(self._pairs[pair].key, "B" if side else "A", self._sides[pair][side])

    def start_reward(self, finished: Sequence[GateRollout]) -> Pending:
        """Equation 12."""
        return self._reward.start(finished)

    def valid(self, finished: GateRollout) -> bool:
        """Whether the answer is seven gates."""
        return finished.parsed.gates is not None

    def sample(self, number: int, finished: GateRollout) -> Mapping[str, Any]:
        """The answer, and what it was about."""
        return {
            "pair": finished.pair,
            "side": finished.side,
            "preferred": self._pairs[number // 2].preferred,
            "contested": self._contested[number // 2],
            "clip": finished.clip,
            "text": finished.text,
            "unreadable": finished.parsed.reason,
        }

    def fingerprint(self, numbers: Sequence[int]) -> str:
        """Of the pairs and their clips, how they are asked about, and what ranks them."""
        pairs = sorted({number // 2 for number in numbers})
        clips = [(self._pairs[n], self._sides[n], self._contested[n]) for n in pairs]
        return digest(clips, self.interaction, self._params, self._thresholds, self._reading)

    def identity(self) -> dict[str, Any]:
        """How the judge must be asked, and what it was paid for."""
        return {
            "judge_style": self._style.verbosity,
            "frames": self._style.frames,
            "judge_hash": judge_hash(self._style),
            "reward": self._reward.name,
            "pairing": self._params.pairing,
        }


class FormLessons(JudgeLessons):
    """Answers as they are given, each beside the pictures of another clip: the form of an answer and nothing else."""

    def example(self, index: int, task: Task) -> Example:
        """The conversation about one drawn clip with the pictures of another."""
        said, shown = super().example(2 * index, task), super().example(2 * index + 1, task)
        return Example(said.messages, shown.images)

    def images(self) -> list[ImageRef]:
        """Those that are shown, which few batches keep few."""
        count = self.steps * self._params.batch_size * self._params.accumulation
        return sorted(
            {ref for n in range(count) for ref in self.example(n, "gate").images}, key=str
        )


def _sides(pair: Pair, clips: Mapping[str, Clip], frames: int) -> tuple[Clip, Clip]:
    """Both clips of a pair that may be practised."""
    found = []
    for key in (pair.first, pair.second):
        if key not in clips:
            raise BadInput(f"its clip {key} is not there", field=pair.key)
        if {pair.split, clips[key].split} != {"train"}:
            raise BadInput("is not of the train split, so it must not be practised", field=pair.key)
        if len(clips[key].frames) < frames:
            raise BadInput(f"{len(clips[key].frames)} frames, {frames} are asked for", field=key)
        found.append(clips[key])
    return found[0], found[1]


def _side(preferred: str) -> Side:
    return "A" if preferred == "A" else "B"


def _rounds(numbers: Any, rng: np.random.Generator) -> Iterator[int]:
    """All numbers in a random order, again and again."""
    while True:
        yield from map(int, rng.permutation(numbers))

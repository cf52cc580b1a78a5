"""What a judge is taught: the gates that labels imply (DriveJudge, equations 10 and 11), and the label as a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driveproof.config.judge import JudgeSftParams
from driveproof.errors import BadInput
from driveproof.judge.clips import Clip
from driveproof.judge.gates import gate_labels, score_line
from driveproof.judge.prompt import APPLY, WAIVE, JudgeStyle, Task, judge_hash, judge_messages
from driveproof.policy.seeds import derive_seed
from driveproof.scene import ImageRef
from driveproof.training.lessons import Example


class JudgeLessons:
    """Examples from labelled clips; example ``i`` depends on seed and ``i`` alone.

    Raises
    ------
    BadInput
        If no clip is labelled, a labelled one has no pictures, or none is reasonable (or none unreasonable).
    """

    phrases = (f", {APPLY}", f", {WAIVE}", "user\n", "assistant\n", "SCORE: ")

    def __init__(
        self,
        clips: Sequence[Clip],
        thresholds: Mapping[str, float],
        params: JudgeSftParams,
        seed: int,
    ) -> None:
        self._clips = [clip for clip in clips if clip.label is not None]
        if len({clip.label for clip in self._clips}) < 2:
            raise BadInput("a judge needs reasonable and unreasonable clips to learn from")
        for clip in self._clips:
            if len(clip.frames) < params.frames:
                raise BadInput(
                    f"{len(clip.frames)} frames, {params.frames} are asked for", field=clip.key
                )
        self._params, self._seed = params, seed
        self.style = JudgeStyle(params.style, params.frames)
        self._gates = [
            gate_labels(clip.criteria, bool(clip.label), thresholds) for clip in self._clips
        ]
        self._waived = _by_kind(self._clips, [bool(gates.waived) for gates in self._gates])
        self._plain = _by_kind(self._clips, [not gates.waived for gates in self._gates])
        self._reasonable = _by_kind(self._clips, [bool(clip.label) for clip in self._clips])
        self._unreasonable = _by_kind(self._clips, [not clip.label for clip in self._clips])
        self._tasks = _interleave(params.gate_steps, params.score_steps)

    @property
    def steps(self) -> int:
        """Batches of both tasks."""
        return len(self._tasks)

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index``, of the task of its step."""
        return self.example(index, self._tasks[step])

    def example(self, index: int, task: Task) -> Example:
        """Example ``index`` of a task: gates evenly over kinds within waived or not, scores evenly over labels."""
        rng = np.random.default_rng(derive_seed(self._seed, "judge", task, index))
        if task == "gate":
            waived = rng.random() < self._params.waived_share
            number = _pick(self._waived if waived and self._waived else self._plain, rng)
            answer = str(self._gates[number])
        else:
            groups = self._reasonable if rng.random() < 0.5 else self._unreasonable
            number = _pick(groups, rng)
            answer = score_line(float(bool(self._clips[number].label)))
        said = {"role": "assistant", "content": [{"type": "text", "text": answer}]}
        return Example([*judge_messages(task, self.style), said], self._shown(number))

    def images(self) -> list[ImageRef]:
        """Every frame that examples show, in the order of the archive."""
        return sorted({ref for n in range(len(self._clips)) for ref in self._shown(n)}, key=str)

    def corpus(self) -> list[str]:
        """The questions and the words of the answers."""
        tasks: tuple[Task, ...] = ("gate", "score")
        asked = [
            part["text"]
            for task in tasks
            for message in judge_messages(task, self.style)
            for part in message["content"]
            if part["type"] == "text"
        ]
        return [*asked, f"{APPLY}, {WAIVE}, {APPLY}", score_line(0.0), score_line(1.0)]

    def identity(self) -> dict[str, Any]:
        """How the model must be asked."""
        return {
            "judge_style": self._params.style,
            "frames": self._params.frames,
            "judge_hash": judge_hash(self.style),
        }

    def _shown(self, number: int) -> list[ImageRef]:
        return list(self._clips[number].frames[-self._params.frames :])


def _by_kind(clips: Sequence[Clip], chosen: Sequence[bool]) -> list[list[int]]:
    """Numbers of the chosen clips, grouped by topic and kind."""
    groups: dict[tuple[str, str], list[int]] = {}
    for n, (clip, wanted) in enumerate(zip(clips, chosen, strict=True)):
        if wanted:
            groups.setdefault((clip.topic, clip.kind), []).append(n)
    return [groups[key] for key in sorted(groups)]


def _pick(groups: Sequence[Sequence[int]], rng: np.random.Generator) -> int:
    group = groups[int(rng.integers(len(groups)))]
    return int(group[int(rng.integers(len(group)))])


def _interleave(gate: int, score: int) -> list[Task]:
    """The tasks of all steps, evenly mixed."""
    tasks: list[Task] = []
    given = 0
    for step in range(1, gate + score + 1):
        if given * (gate + score) < step * gate:
            tasks.append("gate")
            given += 1
        else:
            tasks.append("score")
    return tasks

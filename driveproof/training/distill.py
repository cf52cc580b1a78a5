"""Distillation (DEFT-RLVR, appendices D.3 and D.4): a teacher's answers, asked once, as a student's targets.

JEFT Distillation imitates the single turn that saw the candidates; DEFT Distillation imitates turn 1 alone (Plan Only),
both turns (Full Interaction), or turn 1 on one half of the scenes and both on the other (Mixed Targets). All four take the
same scenes in the same order: those where the teacher's DEFT answer and its JEFT answer both count.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.distill import TARGETS, DistillParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, check_folder, read_json, write_json
from driveproof.mcq import McqItem
from driveproof.mcq.answers import read_answers, write_answers
from driveproof.mcq.candidates import record_rng
from driveproof.mcq.interaction import MODES, Answer, AskSettings, Mode, Progress, ask
from driveproof.policy import ChatPolicy, PolicySettings, open_policy
from driveproof.prompts import (
    STYLES,
    Message,
    PromptStyle,
    joint_messages,
    parse_decision,
    prompt_hash,
    scene_messages,
    shown_images,
    with_options,
)
from driveproof.prompts.messages import text_message
from driveproof.scene import ImageRef, Scene, decision_of
from driveproof.training.examples import PHRASES
from driveproof.training.lessons import Example
from driveproof.training.targets import (
    teacher_joint,
    teacher_plan,
    teacher_turn1,
    teacher_turn2,
)

TABLE, LINEAGE = "answers.parquet", "lineage.json"
EXPERT = "expert"


def style_of(params: DistillParams) -> PromptStyle:
    """How teacher and student are asked."""
    return replace(
        STYLES[params.style],
        decimals=params.decimals,
        frames=params.frames,
        waypoint_every=params.waypoint_every,
    )


def ask_teacher(
    items: Sequence[McqItem],
    scenes: Mapping[str, Scene],
    params: DistillParams,
    seed: int,
    *,
    image_root: str = ".",
    cache_dir: str | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Answer]]:
    """The teacher's answers to every question, in both modes.

    A server's answers are kept in ``cache_dir``, so that a run that was cut off asks only for what is missing.

    Parameters
    ----------
    scenes
        By record key; for the expert alone.

    Raises
    ------
    BadInput
        If the teacher cannot be opened or does not talk, or the expert lacks a scene.
    """
    if params.teacher.who == EXPERT:
        return _expert(items, scenes)
    who = params.teacher
    settings = PolicySettings(
        image_root=image_root,
        timeout_s=who.timeout_s,
        attempts=who.attempts,
        concurrency=who.concurrency,
        cache_dir=cache_dir,
    )
    policy = open_policy(who.who, settings)
    if not isinstance(policy, ChatPolicy):
        raise BadInput(f"is no teacher: {who.who}", hint="expert or openai:URL#MODEL")
    asked = AskSettings(
        style=style_of(params),
        repeats=who.repeats,
        temperature=who.temperature,
        top_p=who.top_p,
        max_tokens=who.max_tokens,
        seed=seed,
        chunk=8 * who.concurrency,
    )
    modes: tuple[Mode, ...] = ("deft", "jeft")
    return {mode: ask(policy, items, mode, asked, progress) for mode in modes}


def write_targets(
    answers: Mapping[str, Sequence[Answer]],
    items: Sequence[McqItem],
    params: DistillParams,
    seed: int,
    out: str | Path,
) -> dict[str, Any]:
    """Write all answers with their lineage into a folder; return the lineage, which counts what would be kept."""
    check_folder(out, [LINEAGE])
    kept = usable(answers, items, params)
    lineage = {
        "teacher": params.teacher.model_dump(mode="json"),
        "style": params.style,
        "prompt_hash": prompt_hash(style_of(params)),
        "seed": seed,
        "questions": len(items),
        "questions_hash": _digest(items),
        "usable": len(kept),
        "lost": {
            mode: dict(sorted(_reasons(answers[mode], items, params).items())) for mode in MODES
        },
    }
    with atomic_dir(out) as folder:
        write_answers(answers, folder / TABLE)
        write_json(folder / LINEAGE, lineage)
    return lineage


def read_targets(
    directory: str | Path, items: Sequence[McqItem], params: DistillParams
) -> dict[str, list[Answer]]:
    """Answers that :func:`write_targets` wrote.

    Raises
    ------
    BadInput
        If they are absent, were asked in other words, or are about other questions.
    """
    lineage = read_json(Path(directory) / LINEAGE)
    if not isinstance(lineage, dict) or lineage.get("prompt_hash") != prompt_hash(style_of(params)):
        raise BadInput(
            "the teacher was asked with other prompts",
            path=directory,
            hint="driveproof distill ask",
        )
    if lineage.get("questions_hash") != _digest(items):
        raise BadInput("the teacher was asked other questions", path=directory)
    answers = read_answers(Path(directory) / TABLE)
    if set(answers) != set(MODES):
        raise BadInput("expected answers in both modes", path=directory, field=", ".join(answers))
    return answers


@dataclass(frozen=True)
class Target:
    """A question and what the teacher said about it, without and with candidates from the outset."""

    item: McqItem
    deft: Answer
    jeft: Answer


def usable(
    answers: Mapping[str, Sequence[Answer]], items: Sequence[McqItem], params: DistillParams
) -> list[Target]:
    """The questions where an answer of each mode counts, in the order of the questions."""
    known = {(item.record_key, item.variant): item for item in items}
    first: dict[str, dict[tuple[str, str], Answer]] = {mode: {} for mode in MODES}
    for mode in MODES:
        for answer in answers[mode]:
            key = (answer.record_key, answer.variant)
            if key in known and not refusal(answer, known[key], params):
                first[mode].setdefault(key, answer)
    return [
        Target(item, first["deft"][key], first["jeft"][key])
        for key, item in known.items()
        if key in first["deft"] and key in first["jeft"]
    ]


def refusal(answer: Answer, item: McqItem, params: DistillParams) -> str:
    """Why an answer is no target; "" if it is one."""
    if answer.error:
        return "no answer"
    if answer.decision is None:
        return "no decision"
    if answer.choice is None:
        return f"choice: {answer.reason}"
    logged = decision_of(item.waypoints, item.observation.speed)
    if params.decision_right and answer.decision != logged:
        return "wrong decision"
    if params.choice_right and answer.choice != item.oracle_index:
        return "wrong choice"
    return ""


class Distilled:
    """A teacher's answers as lessons: epoch by epoch, each scene once an epoch, in an order of the seed's.

    Parameters
    ----------
    targets
        From :func:`usable`.
    target
        One of :data:`driveproof.config.distill.TARGETS`.

    Raises
    ------
    BadInput
        If there is nothing to imitate, or no such target.
    """

    phrases = PHRASES

    def __init__(
        self, targets: Sequence[Target], target: str, params: DistillParams, seed: int
    ) -> None:
        if target not in TARGETS:
            raise BadInput(f"no such target: {target}", hint=", ".join(TARGETS))
        if not targets:
            raise BadInput("no answer of the teacher counts", hint="see distill.decision_right")
        self._targets, self._target, self._params, self._seed = targets, target, params, seed
        self.style = style_of(params)
        # a fixed half of the scenes, so that no scene changes its format between epochs
        shuffled = record_rng(seed, "mixed", "distill").permutation(len(targets))
        self._planned = {int(number) for number in shuffled[: len(targets) // 2]}

    @property
    def steps(self) -> int:
        """Batches."""
        return self._params.steps

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index``; which scene it is about does not depend on the target."""
        epoch, place = divmod(index, len(self._targets))
        order = record_rng(self._seed, str(epoch), "distill").permutation(len(self._targets))
        return self.example(int(order[place]))

    def example(self, number: int) -> Example:
        """The conversation about one scene."""
        found = self._targets[number]
        item, style = found.item, self.style
        images = [image.ref for image in shown_images(item.observation, style)]
        said = found.deft.turn1 or ""
        if self._target == "jeft":
            opening = joint_messages(item.observation, item.options, style)
            return Example([*opening, text_message("assistant", found.jeft.turn1 or "")], images)
        opening = scene_messages(item.observation, style)
        if self._target == "plan" or (self._target == "mixed" and number in self._planned):
            return Example([*opening, text_message("assistant", said)], images)
        revealed = with_options(opening, said, item.options, style)
        return Example([*revealed, text_message("assistant", found.deft.turn2 or "")], images)

    def images(self) -> list[ImageRef]:
        """Every picture, archive by archive."""
        shown = {
            image.ref
            for target in self._targets
            for image in shown_images(target.item.observation, self.style)
        }
        return sorted(shown, key=str)

    def corpus(self) -> list[str]:
        """Every word of every target, so that students of all targets have one vocabulary."""
        texts: list[str] = []
        for found in self._targets:
            observation = found.item.observation
            joint = joint_messages(observation, found.item.options, self.style)
            opening = scene_messages(observation, self.style)
            asked = with_options(opening, found.deft.turn1 or "", found.item.options, self.style)
            texts += [*_texts(joint), *_texts(asked)]
            texts += [found.deft.turn2 or "", found.jeft.turn1 or ""]
        return texts

    def identity(self) -> dict[str, Any]:
        """The style that the student must be asked with, and what it imitates."""
        return {
            "style": self._params.style,
            "decimals": self.style.decimals,
            "frames": self.style.frames,
            "waypoint_every": self.style.waypoint_every,
            "cameras": list(self.style.cameras),
            "prompt_hash": prompt_hash(self.style),
            "target": self._target,
            "teacher": self._params.teacher.who,
        }

    def budget(self) -> dict[str, float]:
        """Scenes, and words a scene that are supervised (words, since tokens are the student's own)."""
        words = [
            sum(len(_text(m).split()) for m in self.example(n).messages if m["role"] == "assistant")
            for n in range(len(self._targets))
        ]
        return {"scenes": len(self._targets), "words": float(np.mean(words))}


def _expert(items: Sequence[McqItem], scenes: Mapping[str, Scene]) -> dict[str, list[Answer]]:
    """The logged drive in words, about the questions' own candidates."""
    answers: dict[str, list[Answer]] = {mode: [] for mode in MODES}
    for item in items:
        if item.record_key not in scenes:
            raise BadInput("question without its scene", field=item.record_key)
        plan, oracle = teacher_plan(scenes[item.record_key]), item.oracle_index
        turn1 = teacher_turn1(plan)
        common = Answer(
            item.record_key,
            0,
            "deft",
            turn1=turn1,
            turn2=teacher_turn2(item.options, plan, oracle),
            decision=parse_decision(turn1),
            choice=oracle,
            variant=item.variant,
        )
        answers["deft"].append(common)
        joint = teacher_joint(item.options, plan, oracle)
        answers["jeft"].append(replace(common, mode="jeft", turn1=joint, turn2=None))
    return answers


def _reasons(
    answers: Iterable[Answer], items: Sequence[McqItem], params: DistillParams
) -> Counter[str]:
    known = {(item.record_key, item.variant): item for item in items}
    reasons = (refusal(a, known[a.record_key, a.variant], params) for a in answers)
    return Counter(reason for reason in reasons if reason)


def _digest(items: Sequence[McqItem]) -> str:
    text = "\n".join(
        f"{i.record_key} {i.variant} {i.option_codes.tolist()} {i.oracle_index}" for i in items
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _texts(messages: Iterable[Message]) -> list[str]:
    return [_text(message) for message in messages]


def _text(message: Mapping[str, Any]) -> str:
    return "".join(part["text"] for part in message["content"] if part["type"] == "text")

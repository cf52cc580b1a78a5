"""From questions and scenes to supervised conversations: which example, of which kind, with which options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import McqParams
from driveproof.config.sft import KINDS, SftParams, Shares
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.kinematics import constant_velocity
from driveproof.mcq.candidates import (
    Options,
    Rejected,
    Vocabulary,
    record_rng,
    structured_options,
    uniform_options,
)
from driveproof.mcq.classes import HARD_CAUSAL
from driveproof.mcq.items import McqItem
from driveproof.prompts import (
    STYLES,
    Message,
    PromptStyle,
    joint_messages,
    prompt_hash,
    scene_messages,
    shown_images,
    with_options,
)
from driveproof.scene import FUTURE_TIMES, ImageRef, Scene
from driveproof.training.lessons import Example
from driveproof.training.targets import (
    TeacherPlan,
    gaps,
    teacher_joint,
    teacher_plan,
    teacher_turn1,
    teacher_turn2,
)

Kind = Literal["match", "plan", "full", "joint"]
NOISE_ATTEMPTS = 4
"""Draws of plan noise before a plan is taken without: with noise, another option may be the nearest."""


PHRASES = (
    *("\nHIGH_LEVEL_DECISION: direction=", "; speed=", "\nFINAL_CHOICE: ", "signal ", " ahead "),
    *("\nmiddle ", " end ", "A:", "user\n", "assistant\n", "\nmatch", "\ndecide", " velocity "),
    *(f"\n{letter}:" for letter in "ABCDEFGHIJ"),
    *(f" best {letter}" for letter in "ABCDEFGHIJ"),
)
"""Recurring texts that are single tokens of the tiny model."""


class Teacher:
    """Makes examples from the train questions, reproducibly: example ``i`` depends on seed and ``i`` alone.

    A batch holds one kind, and a phase follows its shares.

    Parameters
    ----------
    items
        Train questions.
    scenes
        Privileged scenes by record key; every question needs its own.
    codebook
        Where new options come from if ``params.redraw``.
    """

    def __init__(
        self,
        items: Sequence[McqItem],
        scenes: Mapping[str, Scene],
        codebook: TrajectoryCodebook,
        params: SftParams,
        mcq: McqParams,
        seed: int,
    ) -> None:
        if not items:
            raise BadInput("no train questions")
        missing = [item.record_key for item in items if item.record_key not in scenes]
        if missing:
            raise BadInput("question without its scene", field=missing[0])
        self._items = items
        self._params, self._mcq, self._seed = params, mcq, seed
        self._vocabulary = Vocabulary(codebook)
        # Computed now and not on first use: its thread pools leave torch with another number of threads.
        _ = self._vocabulary.similarity
        self._scenes = scenes
        self._plans = [teacher_plan(scenes[item.record_key]) for item in items]
        going_on = [constant_velocity(i.observation.velocity, FUTURE_TIMES) for i in items]
        self._inertial = codebook.encode(np.stack(going_on))
        self.style = prompt_style(params)
        self._kinds: list[Kind] = []
        for phase in params.phases:
            self._kinds += kind_of_steps(phase.shares, phase.steps)
        classes = [item.drive_class for item in items]
        self._hard = [
            np.flatnonzero([c == name.value for c in classes])
            for name in sorted(HARD_CAUSAL)
            if name.value in classes
        ]

    phrases = PHRASES

    @property
    def steps(self) -> int:
        """Batches of all phases."""
        return len(self._kinds)

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index``, of the kind of its step."""
        return self.example(index, self._kinds[step])

    def identity(self) -> dict[str, Any]:
        """The style that the model must be asked with, and its hash."""
        return {
            "style": self._params.style,
            "decimals": self.style.decimals,
            "frames": self.style.frames,
            "waypoint_every": self.style.waypoint_every,
            "cameras": list(self.style.cameras),
            "prompt_hash": prompt_hash(self.style),
        }

    def example(self, index: int, kind: Kind) -> Example:
        """Example ``index`` of the endless sequence, of the given kind."""
        rng = record_rng(self._seed, str(index), f"sft {kind}")
        number = self._pick(rng)
        item, plan = self._items[number], self._plans[number]
        images = [image.ref for image in shown_images(item.observation, self.style)]
        if kind == "plan":
            opening = scene_messages(item.observation, self.style)
            return Example([*opening, _assistant(teacher_turn1(plan))], images)
        options, oracle = self._options(number, rng)
        if kind == "joint":
            opening = joint_messages(item.observation, options, self.style)
            return Example([*opening, _assistant(teacher_joint(options, plan, oracle))], images)
        if kind == "match":
            plan = self._imperfect(number, options, oracle, rng)
            images = []
        observation = item.observation if images else replace(item.observation, images={})
        asked = scene_messages(observation, self.style)
        revealed = with_options(asked, teacher_turn1(plan), options, self.style)
        return Example([*revealed, _assistant(teacher_turn2(options, plan, oracle))], images)

    def images(self) -> list[ImageRef]:
        """Every picture that examples show, archive by archive."""
        shown = {
            image.ref
            for item in self._items
            for image in shown_images(item.observation, self.style)
        }
        return sorted(shown, key=str)

    def corpus(self) -> list[str]:
        """Every word that examples can contain: prompts and teacher texts of every question."""
        texts = []
        for index in range(len(self._items)):
            item, plan = self._items[index], self._plans[index]
            joint = joint_messages(item.observation, item.options, self.style)
            asked = scene_messages(item.observation, self.style)
            answer = teacher_joint(item.options, plan, item.oracle_index)
            texts += [*_texts(joint), *_texts(asked), answer]
        return texts

    def _pick(self, rng: np.random.Generator) -> int:
        if self._hard and rng.random() < self._params.hard_share:
            members = self._hard[int(rng.integers(len(self._hard)))]
            return int(rng.choice(members))
        return int(rng.integers(len(self._items)))

    def _options(self, number: int, rng: np.random.Generator) -> tuple[Float, int]:
        item = self._items[number]
        if not self._params.redraw:
            return item.options, item.oracle_index
        oracle = int(item.option_codes[item.oracle_index])
        try:
            drawn = self._draw(oracle, int(self._inertial[number]), rng)
        except Rejected:  # the question's own options exist, whatever the bands say
            return item.options, item.oracle_index
        return self._vocabulary.codebook.decode(drawn.codes), drawn.oracle_index

    def _draw(self, oracle: int, inertial: int, rng: np.random.Generator) -> Options:
        mcq = self._mcq
        if rng.random() < self._params.structured_share:
            try:
                return structured_options(
                    self._vocabulary,
                    oracle,
                    inertial,
                    mcq.eval_band,
                    mcq.distractors,
                    mcq.scale_matched,
                    mcq.scale_tolerance,
                    rng,
                )
            except Rejected:  # many natural scenes have no structured question
                pass
        return uniform_options(self._vocabulary, oracle, mcq.train_band, mcq.distractors, rng)

    def _imperfect(
        self, number: int, options: Float, oracle: int, rng: np.random.Generator
    ) -> TeacherPlan:
        """The teacher's plan stretched and turned a little, while the oracle stays the nearest option."""
        item, plan = self._items[number], self._plans[number]
        for _ in range(NOISE_ATTEMPTS):
            stretch = 1.0 + self._params.plan_noise * rng.standard_normal()
            turn = self._params.plan_noise * rng.standard_normal()
            rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
            points = stretch * item.waypoints @ rotation
            noisy = teacher_plan(self._scenes[item.record_key], points)
            noisy = replace(noisy, decision=plan.decision)
            distance = [sum(gap) for gap in gaps(options, noisy)]
            if distance[oracle] == min(distance):
                return noisy
        return plan


def prompt_style(params: SftParams) -> PromptStyle:
    """The style that a model is trained with and must be asked with."""
    return replace(
        STYLES[params.style],
        decimals=params.decimals,
        frames=params.frames,
        waypoint_every=params.waypoint_every,
    )


def kind_of_steps(shares: Shares, steps: int) -> list[Kind]:
    """The kind of each of ``steps`` batches: evenly interleaved, in exact proportion to ``shares``."""
    weights = np.array([getattr(shares, kind) for kind in KINDS], dtype=np.float64)
    weights /= weights.sum()
    done = np.zeros(len(KINDS))
    order: list[Kind] = []
    for step in range(1, steps + 1):
        chosen = int(np.argmax(weights * step - done))
        done[chosen] += 1
        order.append(KINDS[chosen])  # type: ignore[arg-type]
    return order


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _texts(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        part["text"]
        for message in messages
        for part in message["content"]
        if part["type"] == "text"
    ]

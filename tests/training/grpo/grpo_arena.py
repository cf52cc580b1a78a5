"""What the tests of GRPO share; also run as a program that trains and can be killed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

import toy_world

from driveproof.config.grpo import OptimizationParams
from driveproof.config.sft import Phase, SftParams, Shares, TinyParams
from driveproof.mcq.items import McqItem
from driveproof.prompts import COMPACT
from driveproof.rewards import Known, Rollout, Scored, exact_reward
from driveproof.training.examples import Teacher
from driveproof.training.grpo import McqTask, TwoTurn

STYLE = COMPACT


@dataclass(frozen=True)
class Arena:
    """Where pictures lie, train questions, and a model folder to start from."""

    folder: Path
    items: list[McqItem]
    start: Path


class Paid:
    """A reward that a function tells, and that remembers what it was asked about."""

    name = "paid"

    def __init__(self, pay: Callable[[int, Rollout], float]) -> None:
        self._pay = pay
        self.seen: list[Rollout] = []

    def start(self, rollouts: Sequence[Rollout]) -> Known:
        """Pay at once; the number counts from the first rollout ever."""
        first = len(self.seen)
        self.seen += rollouts
        return Known([Scored(self._pay(first + n, r)) for n, r in enumerate(rollouts)])


def build_arena(folder: Path, steps: int = 3) -> Arena:
    """Write the toy world below ``folder`` and teach a tiny model for ``steps``."""
    from driveproof.training.sft import train

    made = toy_world.scenes(folder)
    codebook = toy_world.codebook()
    items = toy_world.items(made, codebook)
    params = SftParams(
        tiny=TinyParams(hidden=32, layers=2, heads=2, vision_hidden=16, vision_layers=1),
        batch_size=8,
        redraw=False,
        precision="fp32",
        learning_rate=1e-2,
        phases=(Phase(steps=steps, shares=Shares(full=1)),),
    )
    scenes = {scene.record_key: scene for scene in made}
    teacher = Teacher(items, scenes, codebook, params, toy_world.MCQ, 0)
    train(teacher, params, 0, folder / "sft", root=folder)
    return Arena(folder, items, folder / "sft")


def settings(**changes: Any) -> OptimizationParams:
    """Small and quick."""
    values = {
        "steps": 2,
        "questions": 2,
        "group": 4,
        "micro_batch": 8,
        "max_tokens": 6,
        "precision": "fp32",
        "learning_rate": 3e-3,
        **changes,
    }
    return OptimizationParams.model_validate(values)


def task(arena: Arena, reward: Any = exact_reward, kind: Any = TwoTurn, tokens: int = 6) -> McqTask:
    """The arena's questions in two turns or one."""
    return McqTask(arena.items, kind(STYLE, tokens), reward, STYLE)


def vowels(_: int, rollout: Rollout) -> float:
    """A reward that every text earns a little of."""
    text = rollout.turn1 + (rollout.turn2 or "")
    return sum(letter in "aeiou" for letter in text) / max(len(text), 1)


def main() -> None:
    """Train slowly enough to be killed; print each step when its checkpoint is about to be written."""
    from driveproof.training.grpo.train import train_grpo

    folder, scratch, out = map(Path, sys.argv[1:4])
    made = toy_world.scenes(folder)
    arena = Arena(folder, toy_world.items(made, toy_world.codebook()), folder / "sft")
    run = train_grpo(
        arena.start,
        task(arena, Paid(vowels)),
        settings(steps=6, checkpoint_every=2),
        5,
        out,
        scratch=scratch,
        root=folder,
        watch=lambda step, figures: print("step", step, flush=True),
    )
    print(json.dumps([run.curves, run.samples]))


if __name__ == "__main__":
    main()

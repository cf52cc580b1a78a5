"""Every reachable state gets one decision whose words and keys agree: random poses on three towns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driveproof.commenter import Agent, Commenter, Frame, Window
from driveproof.maps import load_town
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions.reading import read_answer
from driveproof.questions.wording import Sentences
from driveproof.scene import Command

TOWNS = ("Town03", "Town05", "Town10HD")
POSES = 400
"""Of each town here; ``benchmarks/test_commenter.py`` runs 10,000."""


def _agent(key: str, x: float, y: float, heading: float, speed: float, **more: object) -> Agent:
    size = {"length": 4.5, "width": 1.9, "height": 1.5, **more}
    return Agent(
        key, "vehicle.tesla.model3", "car", "vehicle", x, y, 0.7, heading, speed=speed, **size
    )  # type: ignore[arg-type]


def random_frame(town, rng: np.random.Generator, index: int) -> Frame:
    """An ego anywhere near a road, turned anyhow, with others around."""
    point = town.lanes.centre[int(rng.integers(len(town.lanes.centre)))]
    x, y = point[:2] + rng.normal(0.0, 6.0, 2)
    others = tuple(
        _agent(
            str(n + 2),
            *(np.array([x, y]) + rng.normal(0, 15, 2)),
            rng.uniform(-math.pi, math.pi),
            float(rng.choice([0.0, 4.0, 9.0])),
        )
        for n in range(int(rng.integers(0, 5)))
    )
    command = Command(int(rng.integers(0, 7)))
    near = tuple(float(v) for v in np.array([x, y]) + rng.normal(0, 10, 2)) if command else None
    ego = _agent("1", x, y, rng.uniform(-math.pi, math.pi), float(rng.uniform(0, 18)))
    return Frame(index, index / 10, "", ego, others, (), command, command, near, near)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOWNS)
def test_any_pose_gets_one_direction_one_speed_and_words_that_agree(name: str) -> None:
    town, write = load_town(name), Sentences()
    rng = np.random.default_rng(5)
    for index in range(POSES):
        said = Commenter(town).comment(Window((), random_frame(town, rng, index)))
        keys = said.decision.keys
        assert keys.direction is not None
        assert keys.speed is not None
        words = write.write(43, said.answers[QuestionKey(43)])
        assert read_answer(QUESTIONS[43], words).answer.facts["keys"] == keys, words

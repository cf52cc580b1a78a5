"""The paper's nine questions on the tiny model: pictures are computed once a frame, and nothing is answered otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driveproof.policy.local import TransformersPolicy
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.prompts.inputs import Cameras, InputMode
from driveproof.questions import QUESTIONS
from driveproof.reasoning import PRESETS, Moment, Reasoner, Sampling
from driveproof.reasoning.trace import Trace

SIX = InputMode(cameras=Cameras.SIX)
CORPUS = [text for question in QUESTIONS.values() for text in question.phrasings]
CORPUS += ["The pictures show. The ego vehicle drives m/s. The navigator says: turn junction."]
CORPUS += ["Answered now: s ago:"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TransformersPolicy:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny_vlm(folder, CORPUS, hidden=32, layers=2, heads=2, vision_hidden=32)
    return TransformersPolicy(folder, threads=1)


def _moment(frame: int, mode: InputMode) -> Moment:
    rng = np.random.default_rng(frame)
    pictures = [rng.integers(0, 255, (180, 320, 3)).astype(np.uint8) for _ in mode.views]
    return Moment(frame, 0.5 * frame, 3.0, "left", tuple(pictures))


class OneByOne:
    """Asks the same model every question alone, pictures and all."""

    name = "one by one"

    def __init__(self, model: TransformersPolicy) -> None:
        self._model = model

    def identity(self) -> dict:
        return {}

    def reply(self, requests):
        return [self._model.reply([replace(request, session="")])[0] for request in requests]


def _think(chat, mode: InputMode, frames: int, heat: float = 0.0) -> list[Trace]:
    reasoner = Reasoner(chat, PRESETS["cot"].graph, mode, sampling=Sampling(10, heat))
    reasoner.begin(f"episode {heat}", 1)
    return [reasoner.think(_moment(frame, mode)) for frame in range(frames)]


@pytest.mark.slow
@pytest.mark.parametrize(("heat", "frames"), [(0.0, 1), (1.0, 2)])
def test_nine_questions_prefill_a_third_and_say_the_same(model, heat: float, frames: int) -> None:
    together = _think(model, SIX, frames, heat)
    alone = _think(OneByOne(model), SIX, frames, heat)
    assert [[s.text for s in t.steps] for t in together] == [
        [s.text for s in t.steps] for t in alone
    ]
    for shared, whole in zip(together, alone, strict=True):
        assert len(shared.steps) == 9
        assert whole.usage["prompt_tokens"] == shared.usage["prompt_tokens"]
        assert whole.usage["prompt_tokens"] >= 3 * shared.usage["prefilled_tokens"]
        # the first question of a frame pays for the pictures (180 x 320 pixels, 32 x 32 a token)
        pictures = 6 * 50
        payers = [s.key.number for s in shared.steps if s.usage["prefilled_tokens"] > pictures]
        assert len(payers) == 1
        assert payers[0] in (19, 15)

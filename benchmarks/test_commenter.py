"""How fast the expert comments, and ten thousand random states. Run: pytest benchmarks/test_commenter.py -n 0."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.commenter import Commenter, Window
from driveproof.commenter.campaign import comment_clips
from driveproof.maps import load_town
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions.reading import read_answer
from driveproof.questions.wording import Sentences
from tests.commenter.clip_makers import write_clip
from tests.commenter.test_fuzz import TOWNS, random_frame

FRAMES = 60
POSES = 10_000


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    return [write_clip(folder, route=n, frames=FRAMES, vehicles=30) for n in (1, 2)]


def test_a_clip_with_thirty_vehicles(benchmark: Any, clips: list[Path], tmp_path: Path) -> None:
    """Target: at least 30 frames/s on one core, reading and writing included."""
    comment_clips(clips[:1], tmp_path / "warm")
    benchmark.pedantic(comment_clips, (clips[:1], tmp_path / "out"), rounds=3)
    benchmark.extra_info["frames_per_second"] = FRAMES / benchmark.stats.stats.mean


def test_two_workers(benchmark: Any, clips: list[Path], tmp_path: Path) -> None:
    """Target: 1.7 times as fast as one on two idle cores, two seconds to start each process included."""
    paths = clips * 16
    begin = time.perf_counter()
    comment_clips(paths, tmp_path / "one", workers=1)
    alone = time.perf_counter() - begin
    benchmark.pedantic(comment_clips, (paths, tmp_path / "two"), {"workers": 2}, rounds=1)
    benchmark.extra_info["speed_up"] = alone / benchmark.stats.stats.mean


def test_ten_thousand_random_states(benchmark: Any) -> None:
    """No exception, one direction and one speed key, words of 43 that say the keys of 50."""
    write = Sentences()

    def run() -> dict[str, int]:
        found: dict[str, int] = {}
        for name in TOWNS:
            town, rng = load_town(name), np.random.default_rng(11)
            for index in range(math.ceil(POSES / len(TOWNS))):
                said = Commenter(town).comment(Window((), random_frame(town, rng, index)))
                keys = said.decision.keys
                assert keys.direction is not None
                assert keys.speed is not None
                words = write.write(43, said.answers[QuestionKey(43)])
                assert read_answer(QUESTIONS[43], words).answer.facts["keys"] == keys, words
                found[keys.text()] = found.get(keys.text(), 0) + 1
        return found

    found = benchmark.pedantic(run, rounds=1)
    benchmark.extra_info["keys"] = found
    assert sum(found.values()) >= POSES

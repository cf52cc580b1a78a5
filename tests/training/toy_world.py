"""A world of two colours: before a red picture the expert stops, before a green one it goes on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import Band, McqParams
from driveproof.mcq.build import candidates_of, make_item
from driveproof.mcq.candidates import Vocabulary, record_rng, uniform_options
from driveproof.mcq.items import McqItem
from driveproof.scene import ImageRef, LightState, Scene, TrafficSignal
from driveproof.testing import make_scene, motion

MCQ = McqParams(train_band=Band(low=0.0, high=0.97), eval_band=Band(low=0.0, high=0.97))
SPEED = 8.0


def codebook() -> TrajectoryCodebook:
    """A fan of constant acceleration and yaw rate."""
    times = np.linspace(0.5, 5.0, 10)
    fan = [
        motion(times, speed=SPEED, acceleration=a, yaw_rate=w)[0][:, :2]
        for a, w in itertools.product((-3.0, -1.5, 0.0, 1.0), (-0.2, 0.0, 0.2))
    ]
    book = TrajectoryCodebook(len(fan), n_init=1)
    book.codes_ = np.array(fan, dtype=np.float32)
    book.n_samples_, book.data_digest_ = len(fan), "fan"
    return book


def scenes(folder: Path, count: int = 8) -> list[Scene]:
    """``count`` scenes with a picture each, written below ``folder``."""
    made = []
    for index in range(count):
        stops = bool(index % 2)
        pixels = np.random.default_rng(index).integers(0, 40, (64, 96, 3)).astype(np.uint8)
        pixels[..., 2 if stops else 1] += 200  # OpenCV writes blue, green, red
        ref = ImageRef(f"front-{index}.png")
        cv2.imwrite(str(folder / ref.path), pixels)
        scene = make_scene(
            log_id=f"drive{index}", speed=SPEED + 4.5 if stops else SPEED, seconds=8.0,
            acceleration=-3.0 if stops else 0.0,
        )  # fmt: skip
        light = LightState.RED if stops else LightState.GREEN
        signal = TrafficSignal("light", "traffic_light", (12.0, 3.0), light, True, 11.0)
        made.append(
            replace(
                scene,
                velocity=np.array([SPEED, 0.0]),
                acceleration=np.zeros(2),
                history=np.zeros((4, 3)),
                images={"front": (None, None, None, ref)},
                signals=(signal,),
            )
        )
    return made


def items(of: list[Scene], book: TrajectoryCodebook) -> list[McqItem]:
    """A question for each scene."""
    vocabulary = Vocabulary(book)
    made = []
    for candidate in candidates_of(of, book, MCQ):
        rng = record_rng(0, candidate.scene.record_key)
        options = uniform_options(vocabulary, candidate.oracle, MCQ.train_band, 5, rng)
        made.append(make_item(candidate, "train", options, vocabulary))
    return made

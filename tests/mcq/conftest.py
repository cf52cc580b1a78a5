"""A small vocabulary, scenes and splits in closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from closed_form import drive, many_scenes

from driveproof.codebook import TrajectoryCodebook
from driveproof.mcq.candidates import Vocabulary
from driveproof.scene import Scene


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Prototypes of a regular fan: speed x acceleration x yaw rate."""
    speeds, accelerations = np.linspace(0, 15, 11), (-3.0, -1.5, 0.0, 1.0)
    yaws = (-0.4, -0.2, 0.0, 0.2, 0.4)
    fan = [drive(*values)[:, :2] for values in itertools.product(speeds, accelerations, yaws)]
    distinct = np.unique(np.round(np.array(fan), 3).reshape(-1, 20), axis=0)
    codebook = TrajectoryCodebook(len(distinct), n_init=1)
    codebook.codes_ = distinct.reshape(-1, 10, 2).astype(np.float32)
    codebook.n_samples_, codebook.data_digest_ = len(distinct), "fan"
    return Vocabulary(codebook)


@pytest.fixture(scope="session")
def scenes() -> list[Scene]:
    return many_scenes()


@pytest.fixture(scope="session")
def splits(scenes: list[Scene]) -> dict[str, str]:
    keys = sorted({scene.scene_key for scene in scenes})
    return {k: ("train", "train", "dev", "test")[i % 4] for i, k in enumerate(keys)}

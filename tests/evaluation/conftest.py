"""Questions and answers of closed-form drives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from driveproof.mcq import McqItem
from driveproof.scene import ImageRef
from driveproof.testing import make_scene

ItemMaker = Callable[..., McqItem]


@pytest.fixture(scope="session")
def make_item() -> ItemMaker:
    """Builds a question whose oracle is the logged future and whose other options end elsewhere."""

    def make(
        number: int = 0,
        *,
        scene: str = "drive",
        oracle: int = 0,
        options: int = 6,
        variant: str = "",
        drive_class: str = "hard_brake",
        **motion: float,
    ) -> McqItem:
        made = make_scene(**motion)
        kinds = ["random"] * options
        kinds[oracle] = "oracle"
        offset = np.array([((k - oracle) * 3.0, 0.0) for k in range(options)])
        scale = np.linspace(0.1, 1.0, 10)[:, None]
        observation = made.observe()
        object.__setattr__(observation, "record_key", f"{scene}/{number}")
        pictures = tuple(ImageRef(f"{scene}-{number}-{frame}.jpg") for frame in range(4))
        object.__setattr__(observation, "images", {"front": pictures})
        return McqItem(
            record_key=f"{scene}/{number}",
            scene_key=scene,
            split="test",
            source="made",
            situation="",
            drive_class=drive_class,
            observation=observation,
            waypoints=made.waypoints,
            options=made.waypoints + scale * offset[:, None, :],
            option_codes=np.arange(options),
            option_kinds=tuple(kinds),
            similarities=np.ones(options),
            oracle_index=oracle,
            variant=variant,
        )

    return make

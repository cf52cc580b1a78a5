"""Reading logs at their real scale: a clip of 200 frames with 26 boxes each, and record checksums.

Run with ``pytest -n 0 benchmarks/test_datasets.py --benchmark-only``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.datasets.importing import import_file
from driveproof.datasets.tfrecord import crc32c
from driveproof.scene import WindowRules


def _box(number: int, x: float) -> dict[str, Any]:
    return {
        "class": "vehicle" if number else "ego_vehicle",
        "id": str(number),
        "base_type": "car",
        "location": [x + 7.0 * number, 3.5 * (number % 3), 0.0],
        "rotation": [0.0, 0.0, 0.0],
        "extent": [2.4, 0.9, 0.75],
        "world_cord": [[x, math.pi, math.e]] * 8,
    }


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw") / "FreeDrive_Town01_Route1_Weather1.tar"
    with ClipWriter(path) as writer:
        for frame in range(200):
            boxes = [_box(number, 0.8 * frame) for number in range(26)]
            writer.add_frame({"speed": 8.0, "command_near": 4, "bounding_boxes": boxes})
    return path


def test_import_of_a_clip(benchmark: Any, clip: Path) -> None:
    result = benchmark(import_file, "bench2drive", clip, WindowRules())
    assert len(result.scenes) == 27


def test_checksum_of_two_megabytes(benchmark: Any) -> None:
    data = np.random.default_rng(0).bytes(2_000_000)
    benchmark(crc32c, data)

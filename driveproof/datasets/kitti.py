"""KITTI odometry ground truth: one text file of camera poses a sequence (``poses/07.txt``).

Frame origin: the left grey camera. Axes of the file are x right, y down, z forward: forward is column 11,
left is minus column 3. Rate: 10 Hz nominal, the file carries no clock. Missing: velocity, navigation
command, road users, signals, pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from driveproof.datasets.checks import malformed
from driveproof.errors import BadInput
from driveproof.scene import Log

RATE_HZ = 10.0
_MISSING = frozenset({"velocity", "command", "agents", "signals", "images"})


def claims(path: Path) -> bool:
    """Whether the first line of a text file holds twelve numbers."""
    if not (path.is_file() and path.suffix == ".txt"):
        return False
    with path.open("rb") as stream:
        words = stream.readline(4096).split()
    try:
        return len([float(word) for word in words]) == 12
    except ValueError:
        return False


def read(path: Path) -> Iterator[Log]:
    """Yield the sequence of one file.

    Raises
    ------
    BadInput
        If a line does not hold twelve numbers, or its rotation is no rotation.
    """
    with malformed(path):
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
        for number, words in enumerate(lines, start=1):
            if len(words) != 12:
                raise BadInput(
                    f"{len(words)} numbers, expected 12", path=path, field=f"line {number}"
                )
        if not lines:
            raise BadInput("holds no pose", path=path)
        matrices = np.array(lines, dtype=np.float64).reshape(-1, 3, 4)
        turn = matrices[:, :, :3]
        # NaN passes: the windows count it as not finite
        error = np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        if (error > 1e-2).any():
            raise BadInput(
                "no rotation", path=path, field=f"line {int((error > 1e-2).argmax()) + 1}"
            )
        heading = np.arctan2(-turn[:, 0, 2], turn[:, 2, 2])
        poses = np.stack([matrices[:, 2, 3], -matrices[:, 0, 3], heading], axis=-1)
    yield Log(
        source="kitti",
        log_id=path.stem,
        times=np.arange(len(poses)) / RATE_HZ,
        poses=poses,
        frame_origin="camera",
        missing=_MISSING,
    )

"""Stage ``mcq``: the questions of train, dev and test, and the difficulty grid on test."""

from __future__ import annotations

from pathlib import Path

from driveproof.codebook import TrajectoryCodebook
from driveproof.codebook.trajectories import load_splits
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.mcq.source import read_moments
from driveproof.mcq.write import write_mcq

SCENES = Path("data/scenes")


def main() -> None:
    """Write ``train``, ``dev``, ``test`` and ``grid.parquet`` and ``stats.json``."""
    params = load_params()
    write_mcq(
        read_moments(SCENES),
        load_splits(SCENES / "splits.json"),
        TrajectoryCodebook.load("data/codebook/codebook.npz"),
        params.mcq,
        params.seed,
        "data/mcq",
    )


if __name__ == "__main__":
    run(main)

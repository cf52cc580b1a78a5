"""Stage ``codebook``: prototypes of the train drives' futures."""

from __future__ import annotations

from pathlib import Path

from driveproof.codebook.build import build_codebook
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import write_json

SCENES, OUT = Path("data/scenes"), Path("data/codebook")


def main() -> None:
    """Write ``codebook.npz`` and ``metrics.json``."""
    params = load_params()
    built = build_codebook(SCENES, params.codebook, params.seed, SCENES / "splits.json")
    built.codebook.save(OUT / "codebook.npz")
    write_json(OUT / "metrics.json", built.metrics)


if __name__ == "__main__":
    run(main)

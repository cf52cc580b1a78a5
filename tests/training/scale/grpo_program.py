"""Reinforces on the toy world in as many processes as it is started in: ``grpo_program.py FOLDER OUT``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grpo"))  # where grpo_arena lies

from grpo_arena import Arena, Paid, settings, task, vowels


def main() -> None:
    """Train two steps and write the curves beside the model."""
    from driveproof.mcq import read_items
    from driveproof.training.grpo.train import train_grpo
    from driveproof.training.processes import is_first

    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    arena = Arena(folder, read_items(folder / "data/mcq/train.parquet"), folder / "one")
    params = settings(questions=4, micro_batch=8, optimizer="adamw", checkpoint_every=5)
    run = train_grpo(
        arena.start, task(arena, Paid(vowels)), params, 5, out, scratch=out.with_suffix(".s"),
        root=folder,
    )  # fmt: skip
    if is_first():
        out.with_suffix(".json").write_text(json.dumps([run.curves, run.samples]))


if __name__ == "__main__":
    main()

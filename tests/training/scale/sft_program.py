"""Trains on the toy world and can be killed: ``python sft_program.py FOLDER SCRATCH OUT``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

import toy_world

from driveproof.config.sft import Phase, SftParams, Shares, TinyParams
from driveproof.training.examples import Teacher

STEPS = 8


def main() -> None:
    """Print each step when it is done, then the loss curve."""
    from driveproof.training.sft import Running, train

    folder, scratch, out = map(Path, sys.argv[1:4])
    made, codebook = toy_world.scenes(folder), toy_world.codebook()
    params = SftParams(
        tiny=TinyParams(hidden=32, layers=2, heads=2, vision_hidden=16, vision_layers=1),
        batch_size=4,
        precision="fp32",
        redraw=False,
        log_every=1,
        learning_rate=1e-2,
        phases=(Phase(steps=STEPS, shares=Shares(full=1, plan=1)),),
    )
    scenes = {scene.record_key: scene for scene in made}
    teacher = Teacher(toy_world.items(made, codebook), scenes, codebook, params, toy_world.MCQ, 0)
    report = train(
        teacher,
        params,
        0,
        out,
        folder,
        progress=lambda step, steps, loss: print("step", step, flush=True),
        running=Running(scratch=scratch, checkpoint_every=2),
    )
    shutil.rmtree(scratch)
    print(json.dumps(report["curve"]))


if __name__ == "__main__":
    main()

"""What each process of a spread training runs: ``accelerate launch … -m driveproof.training.worker JOB.json``.

Every process reads the same data; the first alone reports and writes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from driveproof.config import Params, load_params
from driveproof.config.base import Section
from driveproof.errors import BadInput, UserError, run
from driveproof.files import read_json, write_json


class Job(Section):
    """A training, as a file.

    Attributes
    ----------
    kind, variant, number
        "sft", or "grpo" with a variant and the number of its seed.
    params, overlays
        Parameter files.
    items, scenes, codebook
        Data.
    out, report
        Model folder and report; "" for ``models/launch/NAME`` and ``reports/launch/NAME.json``.
    scratch
        Where checkpoints lie until the model is written.
    root
        Directory that relative paths of pictures start from.
    """

    kind: Literal["sft", "grpo"]
    variant: str = ""
    number: int = 0
    params: str = "params.yaml"
    overlays: tuple[str, ...] = ()
    items: str = "data/mcq/train.parquet"
    scenes: str = "data/scenes"
    codebook: str = "data/codebook/codebook.npz"
    out: str = ""
    report: str = ""
    scratch: str = ".cache/launch/scratch"
    root: str = "."

    @property
    def name(self) -> str:
        """Of the run."""
        return f"grpo_{self.variant}_{self.number}" if self.kind == "grpo" else "sft"

    @property
    def model(self) -> Path:
        """The model folder."""
        return Path(self.out or f"models/launch/{self.name}")

    @property
    def results(self) -> Path:
        """The report."""
        return Path(self.report or f"reports/launch/{self.name}.json")


def read_job(path: str | Path) -> Job:
    """Read a job.

    Raises
    ------
    BadInput
        If it is absent or something else.
    """
    try:
        return Job.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(first["msg"], path=path, field=field) from None


def work(job: Job) -> None:
    """Train, and on the first process write model and report."""
    from driveproof.training.processes import is_first

    params = load_params(job.params, job.overlays)
    report = _sft(job, params) if job.kind == "sft" else _grpo(job, params)
    if is_first():
        write_json(job.results, report)
        # a run that is killed before its report is written goes on from its checkpoints
        shutil.rmtree(_scratch(job), ignore_errors=True)


def _scratch(job: Job) -> Path:
    return Path(job.scratch) / job.name


def _sft(job: Job, params: Params) -> Mapping[str, Any]:
    from driveproof.codebook import TrajectoryCodebook
    from driveproof.mcq import read_items
    from driveproof.scene import read_scenes
    from driveproof.training.examples import Teacher
    from driveproof.training.sft import Running, train

    items = read_items(Path(job.items))
    wanted = {item.record_key for item in items}
    scenes = {s.record_key: s for s in read_scenes(Path(job.scenes)) if s.record_key in wanted}
    codebook = TrajectoryCodebook.load(Path(job.codebook))
    teacher = Teacher(items, scenes, codebook, params.sft, params.mcq, params.seed)
    launch = params.launch
    running = Running(
        scratch=_scratch(job),
        checkpoint_every=launch.checkpoint_every,
        longest=launch.sequence,
        preload=launch.preload,
    )
    return train(
        teacher, params.sft, params.seed, job.model, job.root, progress=_say, running=running
    )


def _grpo(job: Job, params: Params) -> Mapping[str, Any]:
    from driveproof.evaluation.facts import read_facts
    from driveproof.mcq import read_items
    from driveproof.rewards import read_rubrics
    from driveproof.training.examples import prompt_style
    from driveproof.training.grpo.variant import Known, Plan, seeds_of, train_one

    plan = Plan(
        job.variant,
        params.grpo,
        params.evaluate,
        prompt_style(params.sft),
        params.seed,
        max_pixels=params.sft.max_pixels,
        scenes=Path(job.scenes),
        scratch=Path(job.scratch),
        root=Path(job.root),
    )
    seeds = seeds_of(plan)
    if job.number >= len(seeds):
        raise BadInput(f"no seed {job.number}: there are {len(seeds)}", field="grpo.train_seeds")
    items = read_items(Path(job.items))
    rubrics = read_rubrics(params.grpo.rubrics) if plan.variant.reward == "rubric" else {}
    facts = read_facts(Path(job.scenes), {item.record_key for item in items})
    trained = train_one(
        plan,
        Known(items, facts, rubrics),
        seeds[job.number],
        job.model,
        _scratch(job),
        lambda step, figures: _say(step, params.grpo.steps, figures["reward"]),
    )
    return {"curves": trained.curves, "samples": trained.samples}


def _say(step: int, steps: int, value: float) -> None:
    from driveproof.training.processes import is_first

    if is_first():
        print(f"step {step} of {steps}: {value:.4f}", flush=True)


def main() -> None:
    """Entry of every process; its argument is the file of the job."""
    if len(sys.argv) != 2:
        raise UserError("expected the file of a job", hint="driveproof launch writes it")
    work(read_job(sys.argv[1]))


if __name__ == "__main__":
    run(main, options=True)

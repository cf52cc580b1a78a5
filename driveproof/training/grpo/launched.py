"""What ``driveproof launch grpo`` trained, measured and laid down as the stage grpo does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from driveproof.config import Params
from driveproof.errors import BadInput
from driveproof.evaluation.facts import read_facts
from driveproof.evaluation.run import draw
from driveproof.files import check_folder, read_json
from driveproof.mcq import read_items
from driveproof.training.examples import prompt_style
from driveproof.training.grpo.train import TrainedRun, check_start
from driveproof.training.grpo.variant import START, Done, Plan, ask_model, write_results
from driveproof.training.worker import Job


def measure_launched(
    params: Params,
    variant: str,
    say: Callable[[str], None] = lambda text: None,
    root: Path = Path(),
) -> dict[str, Any]:
    """Ask the start and every launched seed of a variant the test questions; write the stage's two folders.

    ``models/grpo/VARIANT`` and ``reports/grpo/VARIANT`` are then what the stage itself would have written, so that report,
    publication and promotion find them. One process, on one GPU if there is one.

    Parameters
    ----------
    say
        Told which model is asked.
    root
        Where data, models and reports lie.

    Raises
    ------
    BadInput
        If there is no such variant, nothing was trained, or a model cannot be loaded or lost every answer.
    """
    start = root / params.grpo.start
    style, pixels = prompt_style(params.sft), params.sft.max_pixels
    plan = Plan(
        variant, params.grpo, params.evaluate, style, params.seed, max_pixels=pixels, root=root
    )
    model, report = root / "models/grpo" / plan.name, root / "reports/grpo" / plan.name
    _ = plan.mode  # says that there is no such variant
    jobs = [
        Job(kind="grpo", variant=variant, number=number)
        for number in range(params.grpo.train_seeds)
        if (root / Job(kind="grpo", variant=variant, number=number).model).is_dir()
    ]
    if not jobs:
        raise BadInput(
            "nothing was trained", path=Job(kind="grpo", variant=variant).model,
            hint=f"driveproof launch grpo {variant}",
        )  # fmt: skip
    check_folder(model)
    check_folder(report)
    check_start(start)
    runs = {f"seed {job.number}": (root / job.model, _run(root / job.results)) for job in jobs}
    items = read_items(root / "data/mcq/test.parquet")
    test = draw(items, plan.evaluation.max_items, plan.seed)
    facts = read_facts(root / "data/scenes", {item.record_key for item in test})
    say(f"asking {start}")
    done = {START: Done(None, ask_model(plan, start, test, None))}
    for name, (folder, run) in runs.items():
        say(f"asking {folder}")
        done[name] = Done(run, ask_model(plan, folder, test, None))
    first = next(iter(runs.values()))[0]
    return write_results(plan, test, facts, done, first, model, report)


def _run(path: Path) -> TrainedRun:
    """What a launched run wrote of itself; its wall-clock is not kept."""
    content = read_json(path)
    try:
        return TrainedRun(list(content["curves"]), list(content["samples"]), [])
    except (KeyError, TypeError):
        raise BadInput("is no report of a launched training", path=path) from None

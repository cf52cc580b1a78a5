"""One model a mode, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from driveproof.commenter.moments import read_moments
from driveproof.commenter.whatif import at_other_speeds
from driveproof.config.vqa import VqaSftParams
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.training.vqa import VqaLessons, other_speeds
from driveproof.workers import process_pool

Progress = Callable[[str, int, int, float], None]
"""Called with the mode, the step, the number of steps, and the loss."""


def train_models(
    dataset: Path,
    archives: Sequence[Path],
    clips: Sequence[str],
    params: VqaSftParams,
    seed: int,
    out: Path,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a model for every mode into the folder of its name under ``out``; their reports by mode.

    Parameters
    ----------
    dataset, archives
        The expert's answers and the clips that they are about.
    clips
        Names of those that may be taught.
    progress
        Told of the model that this process trains; the others are silent.

    Raises
    ------
    BadInput
        If there is nothing to teach, or a clip is missing.
    """
    jobs = [(mode, dataset, archives, clips, params, seed, out / mode) for mode in params.modes]
    if min(params.workers, len(jobs)) == 1:
        return {job[0]: train_model(*job, progress=progress) for job in jobs}
    with process_pool(min(params.workers, len(jobs)) - 1) as pool:
        others = [pool.submit(train_model, *job) for job in jobs[:-1]]
        last = train_model(*jobs[-1], progress=progress)
        reports = [*(other.result() for other in others), last]
    return dict(zip(params.modes, reports, strict=True))


def train_model(
    mode: str,
    dataset: Path,
    archives: Sequence[Path],
    clips: Sequence[str],
    params: VqaSftParams,
    seed: int,
    out: Path,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train the model of one mode; see :func:`train_models`."""
    from driveproof.training.sft import train

    moments = read_moments(
        dataset, archives, clips=set(clips), numbers=params.questions, every=params.every
    )
    some = moments[:: params.other_speed_every] if params.other_speed_share else []
    imagined = at_other_speeds(some, archives, other_speeds(seed))
    lessons = VqaLessons(moments, InputMode(Shown(mode)), params, seed, imagined)
    report = train(
        lessons,
        params,
        seed,
        out,
        progress=lambda step, steps, loss: progress(mode, step, steps, loss) if progress else None,
    )
    return {**report, "questions": {str(n): count for n, count in lessons.counts.items()}}

"""What a reinforced model is worth: the evaluation's own figures, question by question against the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.evaluate import EvaluateParams
from driveproof.evaluation.cfs import OfflineJudge
from driveproof.evaluation.cfs_table import report_cfs
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.mcq import AnswerTable, report_table, tabulate
from driveproof.evaluation.statistics import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
)
from driveproof.geometry.arrays import Float
from driveproof.mcq.interaction import Answer, AskSettings, Mode, ask
from driveproof.mcq.items import McqItem
from driveproof.policy import derive_seed
from driveproof.policy.local import TransformersPolicy
from driveproof.policy.pictures import Pictures
from driveproof.prompts import PromptStyle
from driveproof.training.grpo.sharing import share_pictures

FIGURES = ("accuracy", "hld", "cfs")
"""ACC, consistency of the decision, causal faithfulness of turn 1 by the offline judge."""


class _SharingPolicy(TransformersPolicy):
    """The policy of the evaluation, but repeats of a question encode its pictures once."""

    def __init__(self, folder: str | Path, root: str | Path, **settings: int) -> None:
        super().__init__(folder, Pictures(root), **settings)
        share_pictures(self._model)


def answer_questions(
    model: str | Path,
    items: Sequence[McqItem],
    mode: Mode,
    style: PromptStyle,
    params: EvaluateParams,
    seed: int,
    *,
    root: str | Path = ".",
    batch_size: int = 128,
    max_pixels: int = 0,
    progress: Any = None,
) -> list[Answer]:
    """Ask ``model`` every question as the stage ``evaluate`` does, with its seeds."""
    policy = _SharingPolicy(
        model, root, batch_size=batch_size, threads=params.threads, max_pixels=max_pixels
    )
    settings = AskSettings(
        style=style,
        repeats=params.repeats,
        temperature=params.temperature,
        top_p=params.top_p,
        max_tokens=params.max_tokens,
        seed=derive_seed(seed, "evaluate"),
        chunk=2 * batch_size,
    )
    return ask(policy, items, mode, settings, progress)


@dataclass(frozen=True)
class Measured:
    """Values ``[N]`` of each figure, means over the repeats of a question; NaN where all were lost."""

    table: AnswerTable
    values: Mapping[str, Float]

    def summary(self, seed: int) -> dict[str, Any]:
        """The figures of one model, with intervals over questions, clustered by drive."""
        report = report_table(self.table, seed)
        return {
            **{
                name: asdict(bootstrap_mean(values, seed, clusters=self.table.scenes))
                for name, values in self.values.items()
            },
            "accuracy_by_repeat": report.accuracy_by_repeat,
            "invalid": report.invalid,
            "lost": report.lost,
            "answers": report.answers,
        }


def measure(
    items: Sequence[McqItem], answers: Sequence[Answer], facts: Mapping[str, SceneFacts]
) -> Measured:
    """Score answers; without facts of its scene an answer has no CFS."""
    table = tabulate(items, answers)
    _, judged = report_cfs(table, OfflineJudge(), 0, facts=facts)
    values = {"accuracy": table.correct, "hld": table.consistent, "cfs": judged["score"]}
    return Measured(table, {name: mean_over_repeats(array) for name, array in values.items()})


def over_seeds(values: Float, clusters: Sequence[str], seed: int) -> Estimate:
    """Mean of ``values`` ``[S, N]`` over seeds and questions, NaN lost, with a bootstrap interval over both.

    Seeds and clusters of questions are resampled together (a two-way bootstrap), since both are samples: of the
    luck of training, and of the drives there are. With one seed only the drives are; with one drive there are no
    bounds.
    """
    values = np.asarray(values, dtype=np.float64)
    kept = ~np.isnan(values)
    if not kept.any():
        return Estimate(None, None, None, 0, int(kept.size))
    _, code = np.unique(np.asarray(clusters), return_inverse=True)
    groups, runs = int(code.max()) + 1, len(values)
    mean, lost = float(values[kept].mean()), int((~kept).sum())
    if np.unique(np.broadcast_to(code, kept.shape)[kept]).size < FEWEST_CLUSTERS:
        return Estimate(mean, None, None, int(kept.sum()), lost)
    member = np.eye(groups)[code]
    totals, counts = np.where(kept, values, 0.0) @ member, kept.astype(np.float64) @ member
    rng = np.random.default_rng(seed)
    by_run = rng.multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES)
    by_group = rng.multinomial(groups, np.full(groups, 1 / groups), size=RESAMPLES)
    drawn = np.einsum("bs,sg,bg->b", by_run, totals, by_group)
    number = np.einsum("bs,sg,bg->b", by_run, counts, by_group)
    means = drawn[number > 0] / number[number > 0]
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, float(low), float(high), int(kept.sum()), lost)


def compare(start: Measured, trained: Sequence[Measured], seed: int) -> dict[str, Any]:
    """Figures of the trained models and their gains over the start, question by question.

    ``improved`` says whether the interval of the gain in accuracy lies above zero.
    """
    scenes = start.table.scenes
    figures, gains = {}, {}
    for name in FIGURES:
        values = np.stack([run.values[name] for run in trained])
        figures[name] = asdict(over_seeds(values, scenes, seed))
        gains[name] = asdict(over_seeds(values - start.values[name], scenes, seed))
    low = gains["accuracy"]["low"]
    return {
        "start": start.summary(seed),
        "trained": figures,
        "gain": gains,
        "improved": bool(low is not None and low > 0),
        "runs": [run.summary(seed) for run in trained],
    }

"""Transfer to another source of logs (DEFT-RLVR, section 5.2, table 3; appendix D.2): same codebook, same construction.

Two things can fail on roads that nobody trained on: the model, and the codebook, whose prototypes may lie far from how
people drive there. So everything about the questions stands beside the answers: quantisation error of the other source,
separation of its options, and accuracy on the questions that the codebook serves as well as at home.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from driveproof.codebook.metrics import Reconstruction
from driveproof.config.mcq import McqParams
from driveproof.errors import BadInput
from driveproof.evaluation.mcq import AnswerTable
from driveproof.evaluation.run import Evaluation, Run, summary_of, write_evaluation
from driveproof.evaluation.statistics import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
)
from driveproof.files import atomic_dir, write_json
from driveproof.geometry.arrays import Bool, Float
from driveproof.mcq import McqItem, write_items
from driveproof.mcq.build import build_splits
from driveproof.mcq.candidates import Vocabulary
from driveproof.mcq.separation import option_errors, separation
from driveproof.policy import derive_seed
from driveproof.scene import Scene

Construction = Literal["hard", "natural"]
"""As the test questions (hard-causal scenes, structured distractors), or as the training ones (all scenes, uniform)."""
FITS_PERCENTILE = 95.0
"""A question of the other source fits if its oracle is no farther from the log than those of so many own ones, percent."""
FEW_DRIVES = 10
"""Below this number of drives a bootstrap over them says little."""
WRITTEN = ("summary.json", "own", "other")


@dataclass(frozen=True)
class Side:
    """One source of questions.

    Attributes
    ----------
    items
        Its questions.
    scenes
        Moments they were made from.
    rejected
        Moments that gave no question, by reason.
    reconstruction
        Error of the codebook on all of the moments, metres.
    """

    items: list[McqItem]
    scenes: int
    rejected: Counter[str]
    reconstruction: Reconstruction

    @cached_property
    def oracle_ade(self) -> Float:
        """``[N]`` distance of each question's oracle from the logged future, metres."""
        return np.array([option_errors(item)[item.oracle_index] for item in self.items])

    def to_json(self, seed: int) -> dict[str, Any]:
        """Counts, codebook errors and separation (table 10) as plain values."""
        clusters = [item.scene_key for item in self.items]
        return {
            "sources": sorted({item.source for item in self.items}),
            "moments": self.scenes,
            "questions": len(self.items),
            "drives": len(set(clusters)),
            "classes": dict(sorted(Counter(item.drive_class for item in self.items).items())),
            "rejected": dict(sorted(self.rejected.items())),
            "with_pictures": sum(_has_pictures(item) for item in self.items),
            "codebook": self.reconstruction.to_dict(),
            "oracle_ade": asdict(bootstrap_mean(self.oracle_ade, seed, clusters=clusters)),
            "separation": separation(self.items),
        }


def _has_pictures(item: McqItem) -> bool:
    return any(ref is not None for refs in item.observation.images.values() for ref in refs)


def build_side(
    scenes: Sequence[Scene],
    vocabulary: Vocabulary,
    params: McqParams,
    seed: int,
    construction: Construction = "hard",
) -> Side:
    """Questions of ``scenes``, all of them to be tested on.

    Raises
    ------
    BadInput
        If there is no scene, or none gives a question: the reasons are named.
    """
    if not scenes:
        raise BadInput("no scenes to ask about")
    split = "test" if construction == "hard" else "train"
    result = build_splits(scenes, {s.scene_key: split for s in scenes}, vocabulary, params, seed)
    built = result[split]
    if not built.items:
        reasons = ", ".join(f"{reason} {count}" for reason, count in built.rejected.most_common())
        raise BadInput(
            f"none of {len(scenes)} moments gives a question ({reasons})",
            hint="--construction natural asks about all kinds of moments"
            if split == "test"
            else None,
        )
    futures = np.stack([scene.waypoints for scene in scenes])
    return Side(built.items, len(scenes), built.rejected, vocabulary.codebook.evaluate(futures))


def check_apart(own: Side, other: Side) -> None:
    """Refuse a comparison of a source with itself.

    Raises
    ------
    BadInput
        If a drive is in both.
    """
    shared = {i.scene_key for i in own.items} & {i.scene_key for i in other.items}
    if shared:
        raise BadInput(
            f"{len(shared)} drives are in both sources; that is no transfer", field=min(shared)
        )


@dataclass(frozen=True)
class Transfer:
    """Both sides, asked with the same settings."""

    own: Side
    other: Side
    asked: Mapping[str, Evaluation]
    """Of "own" and "other"."""
    seed: int
    construction: Construction
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """``summary.json``: questions and codebook of both sides; of each run the figures, the drop, and ACC where it fits."""
        runs = {}
        summaries = {name: summary_of(asked)["runs"] for name, asked in self.asked.items()}
        for name, run in self.asked["own"].runs.items():
            there = self.asked["other"].runs[name]
            runs[name] = {
                "own": summaries["own"][name],
                "other": summaries["other"][name],
                **self._compared(run, there),
            }
        return {
            "construction": self.construction,
            "seed": self.seed,
            "settings": {**self.asked["own"].settings, **self.settings},
            "sides": {"own": self.own.to_json(self.seed), "other": self.other.to_json(self.seed)},
            "fits_below_m": self.fits_below,
            "runs": runs,
        }

    @property
    def fits_below(self) -> float:
        """Oracle error below which a question of the other source fits, metres."""
        return float(np.percentile(self.own.oracle_ade, FITS_PERCENTILE))

    def _compared(self, own: Run, other: Run) -> dict[str, Any]:
        seed = self.seed
        errors = [option_errors(item)[item.oracle_index] for item in other.table.items]
        fits = np.array(errors) <= self.fits_below
        figures = {"accuracy": "correct", "hld": "consistent"}
        drops: dict[str, Any] = {
            figure: asdict(
                unpaired_difference(*_values(own.table, array), *_values(other.table, array), seed)
            )
            for figure, array in figures.items()
        }
        drops["cfs"] = _cfs_drop(own, other)
        return {"drop": drops, "fitting": asdict(_where(other.table, fits, seed))}


def _values(table: AnswerTable, array: str) -> tuple[Float, list[str]]:
    return mean_over_repeats(getattr(table, array)), table.scenes


def _where(table: AnswerTable, kept: Bool, seed: int) -> Estimate:
    values = mean_over_repeats(table.correct)[kept]
    scenes = np.array(table.scenes, dtype=object)[kept].tolist()
    return bootstrap_mean(values, seed, clusters=scenes)


def _cfs_drop(own: Run, other: Run) -> float | None:
    """Difference of the means; the judged values of single texts are no part of a run, so it has no interval."""
    means = [run.cfs.score.mean if run.cfs else None for run in (own, other)]
    return None if None in means else float(np.subtract(*means))  # type: ignore[arg-type]  # None was sorted out


def unpaired_difference(
    first: Float,
    first_clusters: Sequence[str],
    second: Float,
    second_clusters: Sequence[str],
    seed: int,
) -> Estimate:
    """Mean of ``first`` ``[N]`` minus mean of ``second`` ``[M]``, NaN lost, with a percentile bootstrap interval.

    Each side draws its own clusters, since no question is in both; a side of one cluster leaves no bounds. ``n``
    counts the values of both sides.
    """
    sides = []
    for place, (values, clusters) in enumerate(
        ((first, first_clusters), (second, second_clusters))
    ):
        kept = ~np.isnan(values)
        _, code = np.unique(
            np.asarray(clusters, dtype=object)[kept].astype(str), return_inverse=True
        )
        counts = np.bincount(code)
        rng = np.random.default_rng(derive_seed(seed, "unpaired", place))
        groups = max(len(counts), 1)
        draws = rng.multinomial(groups, np.full(groups, 1 / groups), size=RESAMPLES)
        sides.append((values[kept], np.bincount(code, values[kept]), counts, draws))
    lost = sum(int(np.isnan(values).sum()) for values in (first, second))
    n = sum(len(side[0]) for side in sides)
    if any(not len(side[0]) for side in sides):
        return Estimate(None, None, None, n, lost)
    mean = float(sides[0][0].mean() - sides[1][0].mean())
    if any(len(counts) < FEWEST_CLUSTERS for _, _, counts, _ in sides):
        return Estimate(mean, None, None, n, lost)
    means = [(draws @ totals) / (draws @ counts) for _, totals, counts, draws in sides]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means[0] - means[1], [tail, 1 - tail])
    return Estimate(mean, float(low), float(high), n, lost)


def write_transfer(transfer: Transfer, directory: str | Path) -> dict[str, Any]:
    """Write summary.json, and of each side its questions and the whole evaluation; all of it or nothing."""
    summary = transfer.to_json()
    with atomic_dir(directory) as folder:
        write_json(folder / "summary.json", summary)
        for name, side in (("own", transfer.own), ("other", transfer.other)):
            write_evaluation(transfer.asked[name], folder / name)
            write_items(side.items, folder / name / "questions.parquet")
    return summary


def findings(summary: Mapping[str, Any]) -> list[str]:
    """What the figures allow to say, one sentence each; first of the questions, then of each run that is no baseline."""
    own, other = summary["sides"]["own"], summary["sides"]["other"]
    ade = {name: side["codebook"]["ade"]["mean"] for name, side in summary["sides"].items()}
    said = [
        f"The codebook misses the other source by {ade['other']:.2f} m on average, the own one by {ade['own']:.2f} m."
    ]
    if set(own["sources"]) & set(other["sources"]):
        said.append(
            "Both sides come from a source of the same name: other drives, perhaps no other world."
        )
    if other["with_pictures"] < other["questions"]:
        lacking = other["questions"] - other["with_pictures"]
        said.append(
            f"{lacking} of {other['questions']} other questions have no picture: nothing of sight is tested there."
        )
    if other["drives"] < FEW_DRIVES:
        said.append(f"The other source has {other['drives']} drives only: its intervals are rough.")
    for name, run in summary["runs"].items():
        if run["own"]["mode"] != "choice":
            said += _findings_of(name, run)
    return said


def _findings_of(name: str, run: Mapping[str, Any]) -> list[str]:
    drop, there, fitting = run["drop"]["accuracy"], run["other"]["accuracy"], run["fitting"]
    chance = run["other"]["chance"]
    if drop["mean"] is None or chance is None:
        return [f"{name}: every answer of one side was lost."]
    said = []
    if there["low"] is None or there["low"] <= chance:
        said.append(f"{name}: not surely better than chance ({chance:.3f}) on the other source.")
    if drop["low"] is None:
        said.append(f"{name}: one side has a single drive, so nothing tells a loss from chance.")
    elif drop["low"] <= 0:
        said.append(f"{name}: no loss of accuracy can be told from chance.")
    elif fitting["mean"] is None:
        said.append(
            f"{name}: loses accuracy, and no question there fits the codebook: nothing tells which of both fails."
        )
    elif fitting["high"] is not None and fitting["high"] < run["own"]["accuracy"]["low"]:
        said.append(f"{name}: loses accuracy also where the codebook fits: it is the model.")
    else:
        said.append(f"{name}: loses accuracy, but not surely where the codebook fits.")
    return said

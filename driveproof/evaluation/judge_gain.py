"""One judge against another on the test clips and pairs: what training in between was worth, clip by clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.judge import JudgeEvaluateParams
from driveproof.evaluation.judge_methods import Method, judge_method, pair_scores
from driveproof.evaluation.judge_metrics import auc, bootstrap, paired_gain
from driveproof.evaluation.judge_run import (
    Progress,
    ask_judge,
    contested,
    draw_test,
    open_judge,
    reading_of,
    scores_of,
)
from driveproof.evaluation.statistics import bootstrap_mean, paired_difference
from driveproof.geometry.arrays import Float
from driveproof.judge.clips import Clip, Pair
from driveproof.judge.gates import gate_labels
from driveproof.judge.score import Reading, preference
from driveproof.judge.scripted.stats import mined
from driveproof.policy.pictures import Pictures

FIGURES = ("strict", "half", "half_all", "auc", "auc_all", "perfect")
"""Preference on contested pairs (equation 3; with half credit of ties), on all pairs; AUC on mined clips, on all; all
seven gates right on mined clips."""


@dataclass(frozen=True)
class GateBench:
    """What judges are compared on: labelled test clips, pairs among them, and how scores are read."""

    clips: list[Clip]
    pairs: list[Pair]
    thresholds: Mapping[str, float]
    params: JudgeEvaluateParams
    seed: int
    root: str | Path = "."

    @classmethod
    def of(
        cls,
        clips: Sequence[Clip],
        pairs: Sequence[Pair],
        thresholds: Mapping[str, float],
        params: JudgeEvaluateParams,
        seed: int,
        root: str | Path = ".",
    ) -> GateBench:
        """The same clips and pairs as :func:`run_benches` takes; BadInput if no test clip is labelled."""
        test, chosen = draw_test(clips, pairs, params.max_settings, seed)
        return cls(test, chosen, thresholds, params, seed, root)

    @property
    def reading(self) -> Reading:
        """Of equation 14."""
        return reading_of(self.params)

    @property
    def mined(self) -> list[Clip]:
        """Clips that score low on a rule."""
        return [clip for clip in self.clips if mined(clip, self.thresholds)]

    @property
    def contested(self) -> list[Pair]:
        """Pairs whose preferred trajectory scores low on a rule."""
        by_key = {clip.key: clip for clip in self.clips}
        return [pair for pair in self.pairs if contested(pair, by_key, self.thresholds)]

    def judge(self, spec: str, name: str, progress: Progress = lambda *_: None) -> Method:
        """Ask the policy ``spec`` for the gates of every clip, as the stage ``judge_evaluate`` does."""
        policy = open_judge(spec, self.params, self.seed, self.root)
        pictures = Pictures(self.root)
        answers = ask_judge(
            policy, self.clips, "gate", self.params, self.seed, pictures, None, progress
        )
        return judge_method(name, self.clips, answers, self.reading, tuned=True)


def compare_judges(bench: GateBench, before: Method, after: Method) -> dict[str, Any]:
    """Every one of :data:`FIGURES` before, after, and as a gain with an interval over places; JSON.

    A clip or pair that one of the two left unscored is lost to the gain, but for "strict", where it is wrong.
    ``improved`` says whether the interval of the gain in "strict" lies above zero.
    """
    found: dict[str, dict[str, Any]] = {"before": {}, "after": {}, "gain": {}}
    for name, measure in _measures(bench).items():
        first, second, gain = measure(before, after)
        found["before"][name], found["after"][name], found["gain"][name] = first, second, gain
    low = found["gain"]["strict"]["low"]
    counts = {"before": dict(before.counts), "after": dict(after.counts)}
    return {**found, "counts": counts, "improved": bool(low is not None and low > 0)}


_Compare = Callable[[Method, Method], tuple[Any, Any, Any]]
"""Two judges to the estimates of the first, of the second, and of the gain."""


def _measures(bench: GateBench) -> dict[str, _Compare]:
    disputed, low = bench.contested, bench.mined
    return {
        "strict": _by_mean(bench, [p.place for p in disputed], lambda m: _ranked(m, bench, disputed, 0.0, 0.0)),
        "half": _by_mean(bench, [p.place for p in disputed], lambda m: _ranked(m, bench, disputed)),
        "half_all": _by_mean(bench, [p.place for p in bench.pairs], lambda m: _ranked(m, bench, bench.pairs)),
        "auc": _by_auc(bench, low),
        "auc_all": _by_auc(bench, bench.clips),
        "perfect": _by_mean(bench, [c.place for c in low], lambda m: _perfect(m, bench, low)),
    }  # fmt: skip


def _by_mean(
    bench: GateBench, places: Sequence[str], values: Callable[[Method], Float]
) -> _Compare:
    def compare(before: Method, after: Method) -> tuple[Any, Any, Any]:
        first, second = values(before), values(after)
        return (
            asdict(bootstrap_mean(first, bench.seed, clusters=places)),
            asdict(bootstrap_mean(second, bench.seed, clusters=places)),
            asdict(paired_difference(second, first, bench.seed, clusters=places)),
        )

    return compare


def _by_auc(bench: GateBench, clips: Sequence[Clip]) -> _Compare:
    labels = np.array([bool(clip.label) for clip in clips], dtype=bool)
    places = [clip.place for clip in clips]

    def compare(before: Method, after: Method) -> tuple[Any, Any, Any]:
        first, second = scores_of(before, clips), scores_of(after, clips)
        return (
            asdict(bootstrap({"auc": auc}, first, labels, places, bench.seed)["auc"]),
            asdict(bootstrap({"auc": auc}, second, labels, places, bench.seed)["auc"]),
            asdict(paired_gain(auc, first, second, labels, places, bench.seed)),
        )

    return compare


def _ranked(
    method: Method,
    bench: GateBench,
    pairs: Sequence[Pair],
    tie: float = 0.5,
    unscored: float = float("nan"),
) -> Float:
    """1 for each pair that is ranked as preferred, 0 for the others, and what ties and unscored pairs earn."""
    reading = bench.reading
    by_key = {clip.key: clip for clip in bench.clips}
    firsts, seconds = pair_scores(method, pairs, by_key, reading)
    earned = {"tie": tie, "": unscored}
    return np.array(
        [
            earned.get(found := preference(a, b, reading.margin), float(found == pair.preferred))
            for a, b, pair in zip(firsts, seconds, pairs, strict=True)
        ],
        dtype=np.float64,
    )


def _perfect(method: Method, bench: GateBench, clips: Sequence[Clip]) -> Float:
    """1 where all seven gates are as the label implies them, NaN where there are none."""
    values = []
    for clip in clips:
        gates = (method.gates or {}).get(clip.key)
        wanted = gate_labels(clip.criteria, bool(clip.label), bench.thresholds)
        values.append(np.nan if gates is None else float(gates.hard == wanted))
    return np.array(values, dtype=np.float64)

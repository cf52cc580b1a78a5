"""What filled-in sheets come to: hallucination and faithfulness by run, wins, and how far people and automatic scores agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.evaluation.cfs import AXES
from driveproof.evaluation.people.marks import Marks, read_marks
from driveproof.evaluation.people.sheets import ANNOTATORS, swapped
from driveproof.evaluation.statistics import Estimate, bootstrap_mean

WITHIN = 0.25
"""Human and automatic CFS agree if they differ by no more than this."""
FEWEST = 3


@dataclass(frozen=True)
class RunMarks:
    """One run: rate of severe hallucinations (0 on that axis) over annotators and texts, mean human CFS 0 .. 1."""

    severe: Estimate
    cfs: Estimate


@dataclass(frozen=True)
class CfsAgreement:
    """Human against automatic CFS over ``n`` texts; None where undefined (fewer than three, or no spread)."""

    n: int
    spearman: float | None
    mean_absolute_error: float | None
    within: float | None


@dataclass(frozen=True)
class Labels:
    """Two raters' labels of ``n`` things: share of exact agreement, Cohen's kappa."""

    n: int
    exact: float | None
    kappa: float | None


@dataclass(frozen=True)
class PeopleReport:
    """Everything; ``unmarked`` counts fields that were left empty.

    ``wins``: run -> share of the judgements of pairs, "tie" included, intervals over drives. ``between``: axis -> the two annotators on the texts that
    both marked (kappa quadratic), with "hld" for decisions.
    """

    runs: dict[str, RunMarks]
    wins: dict[str, Estimate]
    cfs: CfsAgreement
    hld: Labels
    between: dict[str, Labels]
    unmarked: int


def report_people(folder: str | Path, seed: int = 0) -> PeopleReport:
    """Read the sheets of a folder and compare.

    Raises
    ------
    BadInput
        If key or sheets cannot be read.
    """
    key, marks = read_marks(folder)
    texts: dict[str, dict[str, Any]] = key["texts"]
    return PeopleReport(
        runs={
            run: _run({t: e for t, e in texts.items() if e["run"] == run}, marks, seed)
            for run in sorted({entry["run"] for entry in texts.values()})
        },
        wins=_wins(key["pairs"], marks, seed),
        cfs=_cfs(texts, marks),
        hld=_labels(
            [
                (said, bool(texts[token]["hld"]))
                for m in marks.values()
                for token, said in m.decisions.items()
                if texts[token]["hld"] is not None
            ]
        ),
        between=_between([marks[name] for name in ANNOTATORS]),
        unmarked=_unmarked(marks),
    )


def _run(texts: Mapping[str, dict[str, Any]], marks: Mapping[str, Marks], seed: int) -> RunMarks:
    severe, faithful, severe_scenes, scenes = [], [], [], []
    for token, entry in texts.items():
        for said in marks.values():
            axes = said.scores.get(token, {})
            if "no_hallucination" in axes:
                severe.append(float(axes["no_hallucination"] == 0))
                severe_scenes.append(entry["scene"])
            value = said.cfs(token)
            if value is not None:
                faithful.append(value)
                scenes.append(entry["scene"])
    return RunMarks(
        severe=bootstrap_mean(severe, seed, clusters=severe_scenes),
        cfs=bootstrap_mean(faithful, seed, clusters=scenes),
    )


def _wins(
    pairs: Mapping[str, dict[str, Any]], marks: Mapping[str, Marks], seed: int
) -> dict[str, Estimate]:
    winners, scenes = [], []
    for annotator, said in marks.items():
        for token, better in said.pairs.items():
            runs = pairs[token]["runs"]
            first = better != "tie" and (int(better) - 1) ^ swapped(token, annotator)
            winners.append("tie" if better == "tie" else runs[first])
            scenes.append(pairs[token]["scene"])
    names = sorted({run for pair in pairs.values() for run in pair["runs"]})
    # both annotators judge the same pairs, and pairs of one drive are alike: verdicts of a drive are drawn together
    return {
        name: bootstrap_mean([float(w == name) for w in winners], seed, clusters=scenes)
        for name in ((*names, "tie") if pairs else ())
    }


def _cfs(texts: Mapping[str, dict[str, Any]], marks: Mapping[str, Marks]) -> CfsAgreement:
    both = [
        (value, float(texts[token]["cfs"]))
        for said in marks.values()
        for token in said.scores
        if (value := said.cfs(token)) is not None and texts[token]["cfs"] is not None
    ]
    if not both:
        return CfsAgreement(0, None, None, None)
    gaps = [abs(a - b) for a, b in both]
    return CfsAgreement(
        n=len(both),
        spearman=spearman([a for a, _ in both], [b for _, b in both]),
        mean_absolute_error=sum(gaps) / len(gaps),
        within=sum(gap <= WITHIN + 1e-9 for gap in gaps) / len(gaps),
    )


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation; None for fewer than three pairs or where one side has no spread."""
    from scipy.stats import spearmanr

    if len(first) < FEWEST or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)


def _labels(pairs: Sequence[tuple[int, int]], weights: str | None = None) -> Labels:
    from sklearn.metrics import cohen_kappa_score

    if not pairs:
        return Labels(0, None, None)
    first, second = [int(a) for a, _ in pairs], [int(b) for _, b in pairs]
    exact = sum(a == b for a, b in zip(first, second, strict=True)) / len(pairs)
    spread = len(set(first) | set(second)) > 1
    kappa = float(cohen_kappa_score(first, second, weights=weights)) if spread else None
    return Labels(len(pairs), exact, kappa)


def _between(both: Sequence[Marks]) -> dict[str, Labels]:
    one, other = both
    found = {}
    for axis in AXES:
        common = [
            (one.scores[t][axis], other.scores[t][axis])
            for t in sorted(one.scores.keys() & other.scores.keys())
            if axis in one.scores[t] and axis in other.scores[t]
        ]
        found[axis] = _labels(common, "quadratic")
    decided = sorted(one.decisions.keys() & other.decisions.keys())
    found["hld"] = _labels([(one.decisions[t], other.decisions[t]) for t in decided])
    return found


def _unmarked(marks: Mapping[str, Marks]) -> int:
    return sum(len(AXES) - len(axes) for said in marks.values() for axes in said.scores.values())

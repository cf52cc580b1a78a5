"""General visual capability before and after training, by benchmark (DEFT-RLVR, table 2, appendices D.2 and H)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.retention_results import Result, in_one_unit, plain, read_results
from driveproof.evaluation.statistics import Estimate, bootstrap_mean, paired_difference

__all__ = ["Change", "Result", "averages", "compare_results", "group_of", "read_results"]

GROUPS = {
    "basic visual": ("cvbench2d", "cvbench3d", "da2k"),
    "embodied spatial": ("embspatial", "robospatial", "erqa"),
    "3D and multi-view": ("3dsrbench", "mmsibench", "viewspatial"),
    "referring": ("refspatial",),
}
"""The paper's four categories (appendix D.2), by how the names of benchmarks begin (letters and digits, lower case)."""


@dataclass(frozen=True)
class Change:
    """One benchmark before and after.

    ``difference`` is after minus before of the scores; ``paired`` the same over the single questions that both have, with
    an interval, None where one has no such file. Both scores are in one unit, whatever each alone looks like.
    """

    benchmark: str
    group: str
    questions: int | None
    before: float | None
    after: float | None
    difference: float | None
    before_questions: Estimate | None
    after_questions: Estimate | None
    paired: Estimate | None
    points: bool


def group_of(benchmark: str) -> str:
    """The paper's category, "" if it has none of this name."""
    name = plain(benchmark)
    return next((g for g, starts in GROUPS.items() if name.startswith(starts)), "")


def compare_results(
    before: Mapping[str, Result], after: Mapping[str, Result], seed: int
) -> list[Change]:
    """Benchmarks that both have, the paper's groups first.

    Raises
    ------
    BadInput
        If they have none in common.
    """
    shared = sorted(before.keys() & after.keys(), key=lambda n: (_place(group_of(n)), n))
    if not shared:
        raise BadInput(
            f"no benchmark is in both: before {', '.join(sorted(before))}; after {', '.join(sorted(after))}"
        )
    return [_change(name, *in_one_unit(before[name], after[name]), seed) for name in shared]


def _place(group: str) -> int:
    return list(GROUPS).index(group) if group else len(GROUPS)


def _change(name: str, before: Result, after: Result, seed: int) -> Change:
    both = sorted(before.hits.keys() & after.hits.keys())
    first = np.array([before.hits[key] for key in both])
    second = np.array([after.hits[key] for key in both])
    known = before.score is not None and after.score is not None
    asked = [n for n in (before.questions, after.questions) if n is not None]
    return Change(
        benchmark=name,
        group=group_of(name),
        questions=min(asked, default=None),
        before=before.score,
        after=after.score,
        difference=after.score - before.score if known else None,  # type: ignore[operator]  # both are known
        before_questions=bootstrap_mean(first, seed) if both else None,
        after_questions=bootstrap_mean(second, seed) if both else None,
        paired=paired_difference(second, first, seed) if both else None,
        points=before.points or after.points,
    )


def averages(changes: list[Change]) -> dict[str, dict[str, float | int]]:
    """Mean scores of the groups and of all (macro over groups, as the paper's General AVG); points are left out.

    Benchmarks outside of the groups are a group of their own, "other".
    """
    groups: dict[str, list[Change]] = {}
    for change in changes:
        if not change.points and change.difference is not None:
            groups.setdefault(change.group or "other", []).append(change)
    found: dict[str, dict[str, float | int]] = {}
    for name, members in groups.items():
        means = [
            float(np.mean([getattr(c, side) for c in members])) for side in ("before", "after")
        ]
        found[name] = _average(means, len(members))
    if found:
        means = [float(np.mean([g[side] for g in found.values()])) for side in ("before", "after")]
        found["general"] = _average(means, sum(len(members) for members in groups.values()))
    return found


def _average(means: list[float], count: int) -> dict[str, float | int]:
    before, after = means
    return {"before": before, "after": after, "difference": after - before, "benchmarks": count}

"""Two policies on the same routes: paired differences, so that hard routes weigh on both alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.evaluation.driving.route_score import RouteScore, Variant, lost_route, score_record
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.evaluation.driving.suite import Loss
from driveproof.evaluation.statistics import Estimate, paired_difference


@dataclass(frozen=True)
class PairedDrive:
    """The same drive by both; values are None where a drive is lost."""

    route_id: str
    repeat: int
    scenarios: tuple[str, ...]
    first: float | None
    second: float | None
    first_success: bool | None
    second_success: bool | None

    @property
    def difference(self) -> float | None:
        """Points that the first is better."""
        if self.first is None or self.second is None:
            return None
        return self.first - self.second


@dataclass(frozen=True)
class Comparison:
    """The first against the second.

    Attributes
    ----------
    driving_score, success_rate
        Mean difference in percentage points, first minus second, over the drives of which both say something; a
        policy that broke scores 0. Routes are drawn with all their repeats; with fewer than two of them nothing is
        known of the spread, and there is no interval. ``lost`` counts pairs of which a half is missing or lost.
    better, equal, worse
        Drives in which the first scores higher, the same, lower.
    pairs
        All drives that either should have done.
    routes
        Different routes that went into the difference.
    first_lost, second_lost
        Drives of both suites that say nothing about the first, or the second: the simulator or the model's server
        failed, or they are not over. A drive that both lost counts in each.
    notes
        What a reader has to know.
    """

    driving_score: Estimate
    success_rate: Estimate
    better: int
    equal: int
    worse: int
    pairs: tuple[PairedDrive, ...]
    routes: int
    first_lost: int
    second_lost: int
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the interval of the driving score's difference leaves out zero."""
        found = self.driving_score
        return found.low is not None and found.high is not None and not found.low <= 0 <= found.high

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "differs": self.differs}


def compare(
    first: Iterable[RouteRecord],
    second: Iterable[RouteRecord],
    variant: Variant | str = Variant.CORRECTED,
    *,
    seed: int = 0,
) -> Comparison:
    """Compare drives of the same routes and repeats, where records are all there is.

    Raises
    ------
    BadInput
        If no drive is common to both, or a route is another one there (town or scenarios).
    """
    variant = Variant(variant)
    return _compare(_scored(first, variant), _scored(second, variant), seed)


def compare_runs(
    first: DriveRun, second: DriveRun, variant: Variant | str = Variant.CORRECTED, *, seed: int = 0
) -> Comparison:
    """Compare two runs over the drives that their suites expect, whether they left a record or not.

    Raises
    ------
    BadInput
        As :func:`compare`.
    """
    variant = Variant(variant)
    return _compare(_expected(first, variant), _expected(second, variant), seed)


@dataclass(frozen=True)
class _Half:
    """A drive of one of both: its score (None inside where it was lost) and its record, if it left one."""

    score: RouteScore
    record: RouteRecord | None


Known = dict[tuple[str, int], _Half]


def _compare(first: Known, second: Known, seed: int) -> Comparison:
    keys = sorted({*first, *second}, key=_order)
    pairs = tuple(_pair(key, first.get(key), second.get(key)) for key in keys)
    gains = [pair.difference for pair in pairs if pair.difference is not None]
    if not gains:
        raise BadInput("no drive was finished by both", hint="runs of the same suite?")
    scores = np.array([[_nan(p.first), _nan(p.second)] for p in pairs])
    success = np.array([[_nan(p.first_success), _nan(p.second_success)] for p in pairs])
    names = [pair.route_id for pair in pairs]
    shared = [
        pair for pair in pairs if (pair.route_id, pair.repeat) in first.keys() & second.keys()
    ]
    return Comparison(
        paired_difference(scores[:, 0], scores[:, 1], seed, clusters=names),
        paired_difference(100.0 * success[:, 0], 100.0 * success[:, 1], seed, clusters=names),
        sum(gain > 0.0 for gain in gains),
        sum(gain == 0.0 for gain in gains),
        sum(gain < 0.0 for gain in gains),
        pairs,
        len({pair.route_id for pair in pairs if pair.difference is not None}),
        sum(pair.first is None for pair in shared),
        sum(pair.second is None for pair in shared),
        tuple(_notes(first, second)),
    )


def _scored(records: Iterable[RouteRecord], variant: Variant) -> Known:
    return {
        record.key: _Half(score_record(record, variant, motions=lambda _: None), record)
        for record in records
    }


def _expected(run: DriveRun, variant: Variant) -> Known:
    """Every drive of the run's suite."""
    known = _scored(run.records, variant)
    reasons = {loss.key: loss for loss in run.losses}
    for repeat in range(run.repeats):
        for route in run.expected:
            key = route.route_id, repeat
            if key not in known:
                loss = reasons.get(key, Loss(*key, RouteState.QUEUED, "there is no record"))
                known[key] = _Half(lost_route(route, loss), None)
    return known


def _pair(key: tuple[str, int], first: _Half | None, second: _Half | None) -> PairedDrive:
    if first and second and first.record and second.record:
        one, other = first.record, second.record
        if (one.town, one.scenarios) != (other.town, other.scenarios):
            raise BadInput(
                f"is in {one.town} with {', '.join(one.scenarios)} in one run, in {other.town} with "
                f"{', '.join(other.scenarios)} in the other",
                field=f"route {key[0]}",
            )
    there = first or second
    assert there is not None  # the key is of one of them
    return PairedDrive(
        *key,
        there.score.scenarios,
        first.score.composed if first else None,
        second.score.composed if second else None,
        first.score.success if first else None,
        second.score.success if second else None,
    )


def _notes(first: Known, second: Known) -> Iterable[str]:
    both = [key for key in first if key in second]
    alone = len(first) + len(second) - 2 * len(both)
    if alone:
        yield f"{alone} drives are in one of the runs only"
    drives = [
        (one, other) for key in both if (one := first[key].record) and (other := second[key].record)
    ]
    seeds = sum(one.seed != other.seed for one, other in drives)
    if seeds:
        yield f"{seeds} drives had another seed in the other run: traffic and weather may differ"
    lengths = sum(abs(one.length_m - other.length_m) > 1.0 for one, other in drives)
    if lengths:
        yield f"{lengths} routes have another length in the other run"


def _order(key: tuple[str, int]) -> tuple[int, str, int]:
    return len(key[0]), *key


def _nan(value: float | None) -> float:
    return np.nan if value is None else float(value)

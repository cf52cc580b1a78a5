"""Two policies on the same routes: paired differences, so that hard routes weigh on both alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import RouteScore, Variant, score_record
from driveproof.evaluation.driving.runs import DriveRun
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
        Mean difference in percentage points, first minus second, over the drives that both finished; routes are
        drawn with all their repeats. ``lost`` counts pairs of which a half is missing or lost.
    better, equal, worse
        Drives in which the first scores higher, the same, lower.
    pairs
        All drives of either.
    notes
        What a reader has to know.
    """

    driving_score: Estimate
    success_rate: Estimate
    better: int
    equal: int
    worse: int
    pairs: tuple[PairedDrive, ...]
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
    """Compare drives of the same routes and repeats.

    Raises
    ------
    BadInput
        If no drive is common to both, or a route is another one there (town or scenarios).
    """
    known = [_scored(records, Variant(variant)) for records in (first, second)]
    pairs = tuple(
        _pair(key, known[0].get(key), known[1].get(key))
        for key in sorted({*known[0], *known[1]}, key=_order)
    )
    if not any(pair.difference is not None for pair in pairs):
        raise BadInput("no drive was finished by both", hint="runs of the same suite?")
    names = [pair.route_id for pair in pairs]
    scores = np.array([[_nan(p.first), _nan(p.second)] for p in pairs])
    success = np.array([[_nan(p.first_success), _nan(p.second_success)] for p in pairs])
    gains = [pair.difference for pair in pairs if pair.difference is not None]
    return Comparison(
        paired_difference(scores[:, 0], scores[:, 1], seed, clusters=names),
        paired_difference(100.0 * success[:, 0], 100.0 * success[:, 1], seed, clusters=names),
        sum(gain > 0.0 for gain in gains),
        sum(gain == 0.0 for gain in gains),
        sum(gain < 0.0 for gain in gains),
        pairs,
        tuple(_notes(*known)),
    )


def compare_runs(
    first: DriveRun, second: DriveRun, variant: Variant | str = Variant.CORRECTED, *, seed: int = 0
) -> Comparison:
    """Compare two runs; see :func:`compare`."""
    return compare(first.records, second.records, variant, seed=seed)


Known = dict[tuple[str, int], tuple[RouteRecord, RouteScore]]


def _scored(records: Iterable[RouteRecord], variant: Variant) -> Known:
    return {
        record.key: (record, score_record(record, variant, motions=lambda _: None))
        for record in records
    }


def _pair(
    key: tuple[str, int],
    first: tuple[RouteRecord, RouteScore] | None,
    second: tuple[RouteRecord, RouteScore] | None,
) -> PairedDrive:
    if first and second:
        one, other = first[0], second[0]
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
        there[0].scenarios,
        first[1].composed if first else None,
        second[1].composed if second else None,
        first[1].success if first else None,
        second[1].success if second else None,
    )


def _notes(first: Known, second: Known) -> Iterable[str]:
    both = [key for key in first if key in second]
    alone = len(first) + len(second) - 2 * len(both)
    if alone:
        yield f"{alone} drives are in one of the runs only"
    seeds = sum(first[key][0].seed != second[key][0].seed for key in both)
    if seeds:
        yield f"{seeds} drives had another seed in the other run: traffic and weather may differ"
    lengths = sum(abs(first[key][0].length_m - second[key][0].length_m) > 1.0 for key in both)
    if lengths:
        yield f"{lengths} routes have another length in the other run"


def _order(key: tuple[str, int]) -> tuple[int, str, int]:
    return len(key[0]), *key


def _nan(value: float | None) -> float:
    return np.nan if value is None else float(value)

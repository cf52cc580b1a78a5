"""The scores of a suite: driving score, success, efficiency, comfort and five abilities, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from driveproof.errors import BadInput
from driveproof.evaluation.driving.averages import DrivingScores, Group, Suite
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.evaluation.driving.route_score import (
    Motions,
    Variant,
    lost_route,
    motion_of,
    score_record,
)
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.evaluation.driving.suite import (
    BENCH2DRIVE_ROUTES,
    ExpectedRoute,
    Loss,
    expected_by,
)

__all__ = ["DrivingScores", "Group", "driving_scores", "scores_of"]

NO_RECORD = "there is no record of it"


def driving_scores(
    records: Iterable[RouteRecord],
    expected_routes: Sequence[ExpectedRoute] | None = None,
    variant: Variant | str = Variant.CORRECTED,
    *,
    losses: Iterable[Loss] = (),
    repeats: int | None = None,
    motions: Motions = motion_of,
    seed: int = 0,
) -> DrivingScores:
    """Score a suite.

    Parameters
    ----------
    records
        One a drive.
    expected_routes
        The routes of the suite; None takes those of the records, and for the ``bench2drive`` sums the 220 of
        its suite.
    losses
        What is known about drives without a record.
    repeats
        How often each route is driven; None takes the most that occur.
    motions
        Finds the motion of a record.
    seed
        Of the intervals.

    Raises
    ------
    BadInput
        If a drive occurs twice, or belongs to no route of the suite.
    """
    variant, known = Variant(variant), _by_key(records)
    reasons = {loss.key: loss for loss in losses}
    routes = tuple(expected_by(known.values()) if expected_routes is None else expected_routes)
    times = repeats or max([repeat for _, repeat in (*known, *reasons)], default=0) + 1
    _check_expected(known, routes, times)
    scored = []
    for route, repeat in product(routes, range(times)):
        record = known.get((route.route_id, repeat))
        if record is not None:
            scored.append(score_record(record, variant, motions))
        else:
            absent = Loss(route.route_id, repeat, RouteState.QUEUED, NO_RECORD)
            scored.append(lost_route(route, reasons.get(absent.key, absent)))
    expected = len(scored)
    if variant is Variant.BENCH2DRIVE and expected_routes is None:
        expected = BENCH2DRIVE_ROUTES * times
    return Suite(variant, expected, tuple(scored), routes, seed).scores()


def scores_of(
    run: DriveRun, variant: Variant | str = Variant.CORRECTED, *, seed: int = 0
) -> DrivingScores:
    """Score a run, finished or not; see :func:`driving_scores`."""
    return driving_scores(
        run.records, run.expected, variant, losses=run.losses, repeats=run.repeats, seed=seed
    )


def _by_key(records: Iterable[RouteRecord]) -> dict[tuple[str, int], RouteRecord]:
    known: dict[tuple[str, int], RouteRecord] = {}
    for one in records:
        if one.key in known:
            raise BadInput(
                "two records of the same drive", field=f"route {one.route_id}, repeat {one.repeat}"
            )
        known[one.key] = one
    return known


def _check_expected(
    known: Iterable[tuple[str, int]], routes: Sequence[ExpectedRoute], times: int
) -> None:
    ids = {route.route_id for route in routes}
    for route_id, repeat in known:
        if route_id not in ids or repeat >= times:
            raise BadInput(
                "the suite has no such drive",
                field=f"route {route_id}, repeat {repeat}",
                hint="scores of another suite?",
            )

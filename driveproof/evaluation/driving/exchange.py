"""Route records as files of Bench2Drive, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, pstdev

from driveproof.errors import BadInput
from driveproof.evaluation.driving.bench2drive import (
    DIGITS,
    SCORE_DIGITS,
    Checkpoint,
    CheckpointRecord,
    Infractions,
    Merged,
    MergedRecord,
    parse,
    rounded,
    write_file,
)
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.evaluation.driving.route_score import penalty_of
from driveproof.evaluation.driving.sentences import infractions_of, sentences_of
from driveproof.evaluation.driving.suite import BENCH2DRIVE_ROUTES
from driveproof.files import read_json
from driveproof.sim.routes import canonical

LABELS = {
    "Avg. driving score": "score_composed",
    "Avg. route completion": "score_route",
    "Avg. infraction penalty": "score_penalty",
    "Collisions with pedestrians": "collisions_pedestrian",
    "Collisions with vehicles": "collisions_vehicle",
    "Collisions with layout": "collisions_layout",
    "Red lights infractions": "red_light",
    "Stop sign infractions": "stop_infraction",
    "Off-road infractions": "outside_route_lanes",
    "Route deviations": "route_dev",
    "Route timeouts": "route_timeout",
    "Agent blocked": "vehicle_blocked",
    "Yield emergency vehicles infractions": "yield_emergency_vehicle_infractions",
    "Scenario timeouts": "scenario_timeouts",
    "Min speed infractions": "min_speed_infractions",
}
"""The lines of a checkpoint's table, and what each shows."""
_STATES = {
    Status.STARTED: RouteState.RUNNING,
    Status.FAILED: RouteState.FAILED_BY_SIMULATOR,
    Status.SIMULATION: RouteState.FAILED_BY_SIMULATOR,
    Status.AGENT: RouteState.FAILED_BY_POLICY,
    "Failed - Agent couldn't be set up": RouteState.FAILED_BY_POLICY,
    "Failed - Agent's sensors were invalid": RouteState.FAILED_BY_POLICY,
}


def to_theirs(record: RouteRecord) -> CheckpointRecord:
    """One drive as a record of a checkpoint, rounded as theirs.

    A drive that failed by the model's server keeps its own words after ``Failed - ``, for they have none.
    """
    listed = sentences_of(record)
    scenario = record.scenarios[0] if record.scenarios else "None"
    route_id = f"RouteScenario_{record.route_id}_rep{record.repeat}"
    penalty = penalty_of(record)
    weather = record.weather_id or None
    return CheckpointRecord(
        index=record.index,
        route_id=route_id,
        scenario_name=f"{scenario}_1",
        weather_id=weather,
        save_name=f"{route_id}_{record.town}_{scenario}_Weather{weather or 0}",
        town_name=record.town,
        status=_word(record, listed),
        num_infractions=listed.count,
        infractions=listed,
        scores={
            "score_route": rounded(100.0 * record.completion, SCORE_DIGITS),
            "score_penalty": rounded(penalty, SCORE_DIGITS),
            "score_composed": rounded(100.0 * record.completion * penalty, SCORE_DIGITS),
        },  # type: ignore[arg-type]  # validated into Scores
        meta={
            "route_length": rounded(record.length_m, DIGITS),
            "duration_game": rounded(record.game_s, DIGITS),
            "duration_system": rounded(record.system_s, DIGITS),
        },  # type: ignore[arg-type]  # validated into Meta
    )


def _word(record: RouteRecord, listed: Infractions) -> str:
    """Their status; a perfect drive among traffic is only completed there, for minimum speed is listed."""
    if record.status == Status.PERFECT and listed.count:
        return Status.COMPLETED
    return record.status


def from_theirs(theirs: MergedRecord, index: int = 0) -> RouteRecord:
    """One of their records; times, motion and the first junction are unknown.

    Raises
    ------
    BadInput
        If a sentence lacks its number, or a name cannot be printed.
    """
    route, repeat = theirs.key
    try:
        found, shares = infractions_of(theirs.infractions)
    except BadInput as error:
        where = f"{theirs.route_id}.{error.field}"
        raise BadInput(error.problem, field=where) from None
    written = re.sub(r"_\d+$", "", theirs.scenario_name)
    scenario = canonical(written) or written
    state = _STATES.get(theirs.status, RouteState.COMPLETED)
    try:
        return RouteRecord(
            route,
            repeat,
            theirs.index if isinstance(theirs, CheckpointRecord) else index,
            () if scenario == "None" else (scenario,),
            theirs.town_name,
            "" if theirs.weather_id is None else str(theirs.weather_id),
            state,
            theirs.status,
            theirs.scores.score_route / 100.0,
            found,
            theirs.meta.route_length,
            theirs.meta.duration_game,
            theirs.meta.duration_system,
            shares,
            reason="" if state is RouteState.COMPLETED else theirs.status,
        )
    except ValueError as error:
        raise BadInput(str(error), field=theirs.route_id) from None


def records_in(content: Checkpoint | Merged) -> tuple[RouteRecord, ...]:
    """All drives of a file; BadInput as :func:`from_theirs`."""
    return tuple(
        from_theirs(record, number) for number, record in enumerate(content.checkpoint.records)
    )


def checkpoint_of(
    records: Iterable[RouteRecord],
    expected: int | None = None,
    *,
    sensors: Sequence[str] = (),
) -> Checkpoint:
    """The checkpoint of a run, with averages if ``expected`` drives (None: as many as there are) are recorded."""
    theirs = sorted(map(to_theirs, records), key=lambda one: (one.key[1], one.index))
    total = max(len(theirs) if expected is None else expected, len(theirs))
    finished = len(theirs) == total and bool(theirs)
    average = _averages(theirs) if finished else {}
    return Checkpoint.model_validate(
        {
            "_checkpoint": {
                "global_record": average,
                "progress": [len(theirs), total],
                "records": [one.model_dump() for one in theirs],
            },
            "entry_status": "Finished" if finished else "Started",
            "eligible": finished,
            "sensors": list(sensors),
            "values": _values(average) if finished else [],
            "labels": list(LABELS) if finished else [],
        }
    )


def merged_of(records: Iterable[RouteRecord], expected: int = BENCH2DRIVE_ROUTES) -> Merged:
    """The merged file of a suite: sums over ``expected`` drives, records by route id, descending as text."""
    held = list(records)
    theirs = sorted(map(to_theirs, held), key=lambda one: one.route_id, reverse=True)
    composed = sum(one.scores.score_composed for one in theirs)
    if expected < len(theirs):
        raise BadInput(f"{len(theirs)} records of {expected} expected drives")
    return Merged.model_validate(
        {
            "_checkpoint": {"records": [one.model_dump(exclude={"index"}) for one in theirs]},
            "driving score": composed / expected,
            "success rate": sum(record.success for record in held) / expected,
            "eval num": len(theirs),
        }
    )


def read_checkpoint(path: str | Path) -> tuple[RouteRecord, ...]:
    """The drives in a checkpoint file; BadInput if it is none."""
    return records_in(parse(read_json(path), Checkpoint, path))


def write_checkpoint(
    path: str | Path, records: Iterable[RouteRecord], expected: int | None = None
) -> None:
    """Write the checkpoint file of a run; see :func:`checkpoint_of`."""
    write_file(path, checkpoint_of(records, expected))


def read_merged(path: str | Path) -> tuple[RouteRecord, ...]:
    """The drives in a merged file; BadInput if it is none."""
    return records_in(parse(read_json(path), Merged, path))


def write_merged(
    path: str | Path, records: Iterable[RouteRecord], expected: int = BENCH2DRIVE_ROUTES
) -> None:
    """Write the merged file of a suite; see :func:`merged_of`."""
    write_file(path, merged_of(records, expected))


def _averages(theirs: Sequence[CheckpointRecord]) -> dict[str, object]:
    """Means, deviations and rates a kilometre driven, as the leaderboard's global record."""
    names = ("score_composed", "score_route", "score_penalty")
    columns = {name: [getattr(one.scores, name) for one in theirs] for name in names}
    driven = sum(one.meta.route_length * one.scores.score_route / 1e5 for one in theirs)
    rates = {
        name: rounded(
            sum(len(getattr(one.infractions, name)) for one in theirs) / max(driven, 1e-3), DIGITS
        )
        for name in Infractions.model_fields
    }
    failed = [one for one in theirs if one.status.startswith(Status.FAILED)]
    perfect = all(one.status == Status.PERFECT for one in theirs)
    whole = Status.PERFECT if perfect else Status.COMPLETED
    return {
        "index": -1,
        "route_id": -1,
        "status": Status.FAILED if failed else whole,
        "infractions": rates,
        "scores_mean": {n: rounded(fmean(v), SCORE_DIGITS) for n, v in columns.items()},
        "scores_std_dev": {n: rounded(pstdev(v), SCORE_DIGITS) for n, v in columns.items()},
        "meta": {
            "total_length": rounded(sum(one.meta.route_length for one in theirs), DIGITS),
            "duration_game": rounded(sum(one.meta.duration_game for one in theirs), DIGITS),
            "duration_system": rounded(sum(one.meta.duration_system for one in theirs), DIGITS),
            "exceptions": [[one.route_id, one.index, one.status] for one in failed],
        },
    }


def _values(average: dict[str, object]) -> list[str]:
    means, rates = average["scores_mean"], average["infractions"]
    assert isinstance(means, dict)
    assert isinstance(rates, dict)
    return [str({**means, **rates}[name]) for name in LABELS.values()]

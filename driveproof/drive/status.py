"""How far a run is: every route with its state, its sign of life, its result and the reasons of what went wrong."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driveproof.drive.notes import HEARTBEAT_FILE
from driveproof.drive.plan import Episode
from driveproof.drive.results import placed, read_result
from driveproof.drive.rundir import ATTEMPT, SUITE_FILE, RunDirectory
from driveproof.drive.states import RouteStatus
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.evaluation.driving.route_score import Variant
from driveproof.evaluation.driving.scores import DrivingScores, driving_scores
from driveproof.evaluation.driving.suite import ExpectedRoute, Loss, expected_of
from driveproof.sim.routes import parse_routes


@dataclass(frozen=True)
class RouteReport:
    """A route of a run.

    Attributes
    ----------
    episode, status
        Which, and where it stands.
    alive
        Whether somebody drives it now; a running route that nobody drives was left behind and is done again.
    heartbeat
        Of the attempt that goes on: seconds since, simulated seconds, completion, decisions.
    record
        What came of it; None if there is none.
    trouble
        Why the record of a route that ended cannot be had; "" if nothing is wrong.
    """

    episode: Episode
    status: RouteStatus
    alive: bool = False
    heartbeat: dict[str, Any] | None = None
    record: RouteRecord | None = None
    trouble: str = ""

    @property
    def reason(self) -> str:
        """Why it is not as it should be, all of it in one line; "" if all is well."""
        skipped = {} if self.record is None else self.record.skipped
        unstaged = [f"not staged: {name}: {why}" for name, why in skipped.items()]
        return "; ".join(text for text in (self.status.reason, self.trouble, *unstaged) if text)

    @property
    def state(self) -> RouteState:
        """Its state; a route that was left behind is queued."""
        left = self.status.state is RouteState.RUNNING and not self.alive
        return RouteState.QUEUED if left else self.status.state

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        record = self.record
        row: dict[str, Any] = {
            "route": self.episode.route,
            "repeat": self.episode.repeat,
            "state": self.state.value,
            "reason": self.reason,
            "attempts": [one.model_dump(mode="json") for one in self.status.attempts],
        }
        if self.heartbeat is not None:
            row["heartbeat"] = self.heartbeat
        if record is not None:
            row |= {
                "status": record.status,
                "success": record.success,
                "completion": record.completion,
                "infractions": [one.kind.value for one in record.failures],
                "game_s": record.game_s,
                "performed": None if record.performed is None else list(record.performed),
                "skipped": dict(record.skipped),
            }
        return row


def look_at(run: RunDirectory) -> list[RouteReport]:
    """All routes of a run, in its order."""
    return [_report(run, episode, status) for episode, status in run.statuses()]


def totals(reports: list[RouteReport]) -> dict[str, int]:
    """How many routes stand in each state, all states named."""
    found = Counter(report.state for report in reports)
    return {state.value: found.get(state, 0) for state in RouteState}


def lost(reports: list[RouteReport]) -> list[RouteReport]:
    """Routes that ended without saying anything about the policy, or whose record is gone or broken."""
    return [one for one in reports if one.state.ended and one.record is None]


def scores_of(run: RunDirectory) -> dict[str, Any] | None:
    """Both variants of the scores of what has ended; None before anything has. A broken record is a lost route."""
    reports = look_at(run)
    records = [
        placed(one.record, run.folder(one.episode)) for one in reports if one.record is not None
    ]
    if not records:
        return None
    losses = [
        Loss(one.episode.route, one.episode.repeat, one.state, one.reason or "no reason was noted")
        for one in reports
        if one.record is None
    ]
    expected, repeats = _expected(run), run.plan.settings.repeats
    return {
        variant.value: _summary(
            driving_scores(records, expected, variant, losses=losses, repeats=repeats)
        )
        for variant in Variant
    }


def _expected(run: RunDirectory) -> tuple[ExpectedRoute, ...]:
    suite = {route.route_id: route for route in expected_of(parse_routes(run.path / SUITE_FILE))}
    unknown = [route for route in run.plan.routes if route not in suite]
    if unknown:
        raise BadInput(f"has no route {unknown[0]}", path=run.path / SUITE_FILE)
    return tuple(suite[route] for route in run.plan.routes)


def _summary(scores: DrivingScores) -> dict[str, Any]:
    names = ("driving_score", "success_rate", "efficiency", "comfort", "ability_mean")
    return {name: asdict(getattr(scores, name)) for name in names} | {
        "abilities": {name: asdict(found) for name, found in scores.abilities.items()}
    }


def _report(run: RunDirectory, episode: Episode, status: RouteStatus) -> RouteReport:
    folder = run.folder(episode)
    if status.state is RouteState.RUNNING and run.claimed(episode):
        return RouteReport(episode, status, alive=True, heartbeat=_heartbeat(folder))
    if not status.state.scored:
        return RouteReport(episode, status)
    try:
        return RouteReport(episode, status, record=read_result(folder, episode))
    except BadInput as error:
        return RouteReport(episode, status, trouble=f"no record, --retry drives it again: {error}")


def _heartbeat(folder: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        beat = json.loads((folder / ATTEMPT / HEARTBEAT_FILE).read_text(encoding="utf-8"))
        return {**beat, "age_s": round(time.time() - float(beat.pop("time")), 1)}
    return None

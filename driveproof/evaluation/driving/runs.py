"""A run's directory as the scores see it: records, what was lost and why, and which routes there should be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState, read_record
from driveproof.evaluation.driving.suite import ExpectedRoute, Loss, expected_of
from driveproof.files import read_json
from driveproof.sim.routes import parse_routes


@dataclass(frozen=True)
class DriveRun:
    """The results of a run so far.

    Attributes
    ----------
    path
        Its directory.
    name
        The policy.
    records
        Of the routes that ended; ``motion`` is a path from here, not from the record's folder.
    losses
        Drives without a record, and why.
    expected, repeats
        The routes of the suite that the run drives, and how often.
    """

    path: Path
    name: str
    records: tuple[RouteRecord, ...]
    losses: tuple[Loss, ...]
    expected: tuple[ExpectedRoute, ...]
    repeats: int

    def folder(self, record: RouteRecord) -> Path:
        """Where the files of a drive lie."""
        return route_folder(self.path, record.route_id, record.repeat)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Policy(_Part):
    spec: str = ""
    name: str = ""


class _Settings(_Part):
    repeats: int = Field(default=1, ge=1)


class _Plan(_Part):
    routes: list[str] = Field(min_length=1)
    policy: _Policy = _Policy()
    settings: _Settings = _Settings()


def route_folder(run: Path, route_id: str, repeat: int) -> Path:
    """Where a run keeps a drive."""
    return run / "routes" / f"{route_id}_rep{repeat}"


def read_run(path: str | Path) -> DriveRun:
    """The results in the directory of ``driveproof drive``, finished or not.

    Raises
    ------
    BadInput
        If it is no such directory, or a file in it is broken.
    """
    path = Path(path)
    if not (path / "run.json").is_file():
        raise BadInput("is no run: there is no run.json", path=path)
    plan = _plan(path / "run.json")
    suite = {route.route_id: route for route in expected_of(parse_routes(path / "suite.xml"))}
    unknown = [route for route in plan.routes if route not in suite]
    if unknown:
        raise BadInput(f"the suite has no route {unknown[0]}", path=path / "run.json")
    records: list[RouteRecord] = []
    losses: list[Loss] = []
    for repeat in range(plan.settings.repeats):
        for route in plan.routes:
            found = _drive(path, route, repeat)
            if isinstance(found, Loss):
                losses.append(found)
            else:
                records.append(found)
    return DriveRun(
        path,
        plan.policy.name or plan.policy.spec or path.name,
        tuple(records),
        tuple(losses),
        tuple(suite[route] for route in plan.routes),
        plan.settings.repeats,
    )


def _drive(run: Path, route: str, repeat: int) -> RouteRecord | Loss:
    """The record of a route that ended, or what its state says; a broken one is a lost route, which is driven again."""
    folder = route_folder(run, route, repeat)
    state, reason = _state(folder / "state.json")
    if not (state.ended and (folder / "record.json").is_file()):
        return Loss(route, repeat, state, f"no record.json: {reason}" if state.scored else reason)
    try:
        return _record(folder, route, repeat)
    except BadInput as error:
        return Loss(route, repeat, state, str(error))


def _record(folder: Path, route: str, repeat: int) -> RouteRecord:
    record = read_record(folder / "record.json")
    if record.key != (route, repeat):
        raise BadInput(
            f"is the record of route {record.route_id}, repeat {record.repeat}",
            path=folder / "record.json",
        )
    if record.motion is None:
        return record
    motion = (folder / record.motion).resolve()
    if not motion.is_relative_to(folder.resolve()):
        raise BadInput("lies outside its folder", path=folder / "record.json", field="motion")
    return replace(record, motion=str(folder / record.motion))


def _state(path: Path) -> tuple[RouteState, str]:
    if not path.exists():
        return RouteState.QUEUED, "not begun"
    try:
        content: Any = read_json(path)
        state = RouteState(content["state"])
        reason = str(content.get("reason") or "")
    except BadInput as error:  # one broken file is one route's problem, which is driven again
        return RouteState.QUEUED, str(error)
    except (KeyError, TypeError, ValueError, AttributeError):
        return RouteState.QUEUED, f"{path}: not a route's state"
    plain = {RouteState.QUEUED: "waits", RouteState.RUNNING: "goes on"}
    return state, reason or plain.get(state, "no reason was noted")


def _plan(path: Path) -> _Plan:
    try:
        return _Plan.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise BadInput(f"not the plan of a run: {first['msg']}", path=path, field=field) from None

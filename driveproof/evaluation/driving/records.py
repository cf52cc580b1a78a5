"""What came of one drive along one route: the fact that all driving scores are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from driveproof.errors import BadInput
from driveproof.files import read_json, write_json
from driveproof.sim.criteria import HARMLESS, Infraction, InfractionKind

ASIDE = (InfractionKind.OFF_LANE, InfractionKind.WRONG_WAY)
"""Outside the lanes of the route; these carry the share of the way driven there."""


MOST = 1e9
"""No drive lasts so many seconds, and none is so many metres long."""


class RouteState(StrEnum):
    """Where a route of a suite stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    """The episode came to an end of its own, with whatever infractions."""
    FAILED_BY_POLICY = "failed_by_policy"
    """The policy broke; that counts against it."""
    FAILED_BY_SIMULATOR = "failed_by_simulator"
    FAILED_BY_MODEL_SERVER = "failed_by_model_server"
    QUARANTINED = "quarantined"
    """Given up after repeated failures that are not the policy's."""

    @property
    def scored(self) -> bool:
        """Whether the route says something about the policy."""
        return self in (RouteState.COMPLETED, RouteState.FAILED_BY_POLICY)

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the route without being asked for."""
        return self not in (RouteState.QUEUED, RouteState.RUNNING)


class Status:
    """The status words of Bench2Drive's records; every failure begins with ``Failed``."""

    STARTED: ClassVar = "Started"
    PERFECT: ClassVar = "Perfect"
    COMPLETED: ClassVar = "Completed"
    FAILED: ClassVar = "Failed"
    TIMED_OUT: ClassVar = "Failed - Agent timed out"
    DEVIATED: ClassVar = "Failed - Agent deviated from the route"
    BLOCKED: ClassVar = "Failed - Agent got blocked"
    TICKS: ClassVar = "Failed - TickRuntime"
    SIMULATION: ClassVar = "Failed - Simulation crashed"
    AGENT: ClassVar = "Failed - Agent crashed"

    @classmethod
    def known(cls, word: str) -> bool:
        """Whether it is one of theirs; what follows ``Failed - `` is free."""
        whole = (cls.STARTED, cls.PERFECT, cls.COMPLETED, cls.FAILED)
        return word in whole or (word.startswith("Failed - ") and word.isprintable())


@dataclass(frozen=True)
class RouteRecord:
    """One drive along one route.

    Attributes
    ----------
    route_id, repeat, index
        The route as its suite names it, which time it was driven, its place in the suite; both from 0.
    scenarios
        Canonical types of the scenarios on it, in their order.
    town, weather_id
        As the suite says; weather "" if it names none.
    state, status
        Where it stands, and Bench2Drive's word for how it ended (:class:`Status`).
    completion
        Share of the route driven, 0 to 1.
    infractions
        Everything that went wrong, in order of time; off-lane and wrong-way shares are of the route's length.
    length_m, game_s, system_s
        Length of the route, simulated and real duration.
    speed_shares
        Own mean speed over that of the traffic around, one a checkpoint passed among traffic.
    motion
        The table of :mod:`~driveproof.evaluation.driving.motion`, relative to the record's folder; None if
        nothing was written.
    seed
        Of the episode.
    reason
        Why it did not end of its own; "" if it did.
    performed, skipped
        Names of the scenarios that began, and of those that could not be staged with the reason; a scenario in
        neither was not reached. None and empty in records that do not say.
    first_junction
        Metres along the route at which its first junction begins and ends; None if there is none or nobody
        looked. Bench2Drive counts a failed route for Traffic_Signs once that junction is passed.

    Raises
    ------
    ValueError
        If a value is out of its range.
    """

    route_id: str
    repeat: int
    index: int
    scenarios: tuple[str, ...]
    town: str
    weather_id: str
    state: RouteState
    status: str
    completion: float
    infractions: tuple[Infraction, ...]
    length_m: float
    game_s: float
    system_s: float
    speed_shares: tuple[float, ...]
    motion: str | None = None
    seed: int = 0
    reason: str = ""
    first_junction: tuple[float, float] | None = None
    performed: tuple[str, ...] | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=True)

    def __post_init__(self) -> None:
        if not self.route_id:
            raise ValueError("route_id: is empty")
        for name in ("route_id", "town", "weather_id", "scenarios"):
            if not "".join(getattr(self, name)).isprintable():
                raise ValueError(f"{name}: holds characters that cannot be printed")
        if not Status.known(self.status):
            raise ValueError(f"status: {self.status!r} is none of Bench2Drive's words")
        if not 0.0 <= self.completion <= 1.0:
            raise ValueError(f"completion: {self.completion} is not in 0 to 1")
        for name in ("repeat", "index", "length_m", "game_s", "system_s"):
            value = getattr(self, name)
            if not 0 <= value < MOST:
                raise ValueError(f"{name}: {value} is no number from 0 to {MOST:g}")
        if not all(math.isfinite(share) and share >= 0.0 for share in self.speed_shares):
            raise ValueError("speed_shares: not all are numbers from 0 on")
        for one in self.infractions:
            if one.kind in ASIDE and not 0.0 <= one.share <= 1.0:
                raise ValueError(
                    f"infractions: {one.kind} needs a share of the way, got {one.share}"
                )
        if self.first_junction is not None:
            begin, end = self.first_junction
            if not 0.0 <= begin <= end < math.inf:
                raise ValueError(f"first_junction: {self.first_junction} does not ascend")

    @property
    def key(self) -> tuple[str, int]:
        """Which drive of which route; unique in a run."""
        return self.route_id, self.repeat

    @property
    def failures(self) -> tuple[Infraction, ...]:
        """The infractions without which the drive would be a success."""
        return tuple(one for one in self.infractions if one.kind not in HARMLESS)

    @property
    def success(self) -> bool:
        """Whether the route was completed without an infraction (minimum speed does not count)."""
        return self.status in (Status.PERFECT, Status.COMPLETED) and not self.failures

    def to_json(self) -> dict[str, Any]:
        """Plain values; NaN (unknown) becomes null."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Any, path: str | Path | None = None) -> RouteRecord:
        """The record of :meth:`to_json`; ``path`` is named in errors.

        Raises
        ------
        BadInput
            Naming the field.
        """
        if not isinstance(data, Mapping):
            raise BadInput("is no JSON object of a route record", path=path)
        found = dict(data)
        if isinstance(found.get("infractions"), list | tuple):
            found["infractions"] = [_known(one) for one in found["infractions"]]
        try:
            return _adapter().validate_json(json.dumps(found), strict=True)
        except (TypeError, RecursionError) as error:  # not from JSON at all
            raise BadInput(f"is no JSON: {error}", path=path) from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or None
            raise BadInput(
                first["msg"].removeprefix("Value error, "), path=path, field=where
            ) from None


def status_of(completion: float, infractions: tuple[Infraction, ...]) -> str:
    """Bench2Drive's word for an episode that ended of its own.

    An infraction that ends a drive decides; otherwise a whole route is completed, perfect without anything
    recorded, and a part of one is the tick limit.
    """
    kinds = {one.kind for one in infractions}
    for kind, word in _ENDS.items():
        if kind in kinds:
            return word
    if completion < 1.0:
        return Status.TICKS
    return Status.COMPLETED if infractions else Status.PERFECT


def write_record(path: str | Path, record: RouteRecord) -> None:
    """Write ``record.json``, whole or not at all."""
    write_json(path, record.to_json())


def read_record(path: str | Path) -> RouteRecord:
    """The record in a file; BadInput if it is none."""
    return RouteRecord.from_json(read_json(path), path)


_ENDS = {
    InfractionKind.ROUTE_DEVIATION: Status.DEVIATED,
    InfractionKind.BLOCKED: Status.BLOCKED,
    InfractionKind.ROUTE_TIMEOUT: Status.TIMED_OUT,
}
_MAYBE_UNKNOWN = ("time", "share", "bearing")


@cache
def _adapter() -> TypeAdapter[RouteRecord]:
    return TypeAdapter(RouteRecord)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def _known(one: Any) -> Any:
    """An infraction in which null stands for NaN."""
    if not isinstance(one, Mapping):
        return one
    unknown = {name: math.nan for name in _MAYBE_UNKNOWN if name in one and one[name] is None}
    found = {**one, **unknown}
    if isinstance(found.get("place"), list | tuple):
        found["place"] = [math.nan if part is None else part for part in found["place"]]
    return found

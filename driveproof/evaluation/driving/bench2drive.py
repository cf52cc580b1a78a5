"""The files of Bench2Drive, strictly: a checkpoint of a run, and the merged results of several.

Keys and their order are those of its leaderboard; extra keys, wrong types and numbers that contradict each other
are refused with the place. Nothing is lost by reading and writing such a file.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import Status
from driveproof.files import atomic_open, read_json

ROUTE_ID = re.compile(r"RouteScenario_(?P<route>.+)_rep(?P<repeat>\d+)")
SCORE_DIGITS, DIGITS = 6, 3
"""Decimals of scores, and of lengths and durations."""
_TOLERANCE = 1e-3
"""Percentage points by which a product of rounded factors may differ from the rounded product."""

Count = Annotated[int, Field(ge=0)]
Length = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Percentage = Annotated[float, Field(ge=0.0, le=100.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Texts = list[str]


class Strict(BaseModel):
    """No other keys, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class Infractions(Strict):
    """One sentence an infraction, by kind, in the order of the leaderboard."""

    collisions_layout: Texts
    collisions_pedestrian: Texts
    collisions_vehicle: Texts
    red_light: Texts
    stop_infraction: Texts
    outside_route_lanes: Texts
    min_speed_infractions: Texts
    yield_emergency_vehicle_infractions: Texts
    scenario_timeouts: Texts
    route_dev: Texts
    vehicle_blocked: Texts
    route_timeout: Texts

    @property
    def count(self) -> int:
        """How many sentences there are."""
        return sum(len(texts) for _, texts in self)


class Scores(Strict):
    """Completion in percent, product of the penalties, and the product of both."""

    score_route: Percentage
    score_penalty: Share
    score_composed: Percentage

    @model_validator(mode="after")
    def _product(self) -> Self:
        wanted = self.score_route * self.score_penalty
        if abs(self.score_composed - wanted) > _TOLERANCE:
            raise ValueError(
                f"score_composed {self.score_composed} is not score_route x score_penalty = {wanted:.6f}"
            )
        return self


class Meta(Strict):
    """Metres and seconds."""

    route_length: Length
    duration_game: Length
    duration_system: Length


class MergedRecord(Strict):
    """A drive in a merged file."""

    route_id: str
    scenario_name: str
    weather_id: int | str | None
    save_name: str
    town_name: str
    status: str
    num_infractions: Count
    infractions: Infractions
    scores: Scores
    meta: Meta

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not ROUTE_ID.fullmatch(self.route_id):
            raise ValueError(f"route_id {self.route_id!r} is not RouteScenario_<id>_rep<r>")
        if not Status.known(self.status):
            raise ValueError(f"status {self.status!r} is none of Bench2Drive's words")
        if self.num_infractions != self.infractions.count:
            raise ValueError(
                f"num_infractions is {self.num_infractions}, but {self.infractions.count} are listed"
            )
        if self.status == Status.PERFECT and self.num_infractions:
            raise ValueError(f"status is {Status.PERFECT}, but there are infractions")
        return self

    @property
    def key(self) -> tuple[str, int]:
        """Route and repeat."""
        match = ROUTE_ID.fullmatch(self.route_id)
        assert match is not None  # validated
        return match["route"], int(match["repeat"])


class _Indexed(Strict):
    index: Count


class CheckpointRecord(MergedRecord, _Indexed):
    """A drive in a checkpoint: its place in the suite comes first."""


class ScoreMeans(Strict):
    """Means, or standard deviations, over the records; the composed score first, as in their files."""

    score_composed: Length
    score_route: Length
    score_penalty: Length


class GlobalMeta(Strict):
    """Sums, and the drives that failed: route id, index and status."""

    total_length: Length = 0.0
    duration_game: Length = 0.0
    duration_system: Length = 0.0
    exceptions: list[list[str | int]]


class GlobalRecord(Strict):
    """Averages of a finished run; infractions are rates a kilometre."""

    index: Literal[-1]
    route_id: Literal[-1]
    status: str
    infractions: dict[str, Length]
    scores_mean: ScoreMeans
    scores_std_dev: ScoreMeans
    meta: GlobalMeta


class Unfinished(Strict):
    """The empty object that stands for the averages of an unfinished run."""


class Progress(Strict):
    """The inner part of a checkpoint."""

    global_record: GlobalRecord | Unfinished
    progress: list[Count]
    records: list[CheckpointRecord]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.progress and len(self.progress) != 2:
            raise ValueError("progress is not [done, all]")
        if self.progress and not len(self.records) <= self.progress[0] <= self.progress[1]:
            raise ValueError(
                f"progress is {self.progress}, but there are {len(self.records)} records"
            )
        _once([record.route_id for record in self.records])
        return self


class Checkpoint(Strict):
    """The file that an evaluation writes while it goes on."""

    checkpoint: Progress = Field(alias="_checkpoint")
    entry_status: str
    eligible: bool
    sensors: list[str]
    values: list[str]
    labels: list[str]

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if len(self.values) != len(self.labels):
            raise ValueError(f"{len(self.values)} values for {len(self.labels)} labels")
        return self


class MergedRecords(Strict):
    """The inner part of a merged file: sorted by route id, descending as text."""

    records: list[MergedRecord]

    @model_validator(mode="after")
    def _sorted(self) -> Self:
        ids = [record.route_id for record in self.records]
        _once(ids)
        if ids != sorted(ids, reverse=True):
            raise ValueError("records are not sorted by route_id, descending as text")
        return self


class Merged(Strict):
    """The file of ``merge``: driving score 0 to 100, success rate 0 to 1."""

    checkpoint: MergedRecords = Field(alias="_checkpoint")
    driving_score: Percentage = Field(alias="driving score")
    success_rate: Share = Field(alias="success rate")
    eval_num: Count = Field(alias="eval num")


File = TypeVar("File", Checkpoint, Merged)


def _once(ids: list[str]) -> None:
    twice = [name for name, count in Counter(ids).items() if count > 1]
    if twice:
        raise ValueError(f"two records of {twice[0]}")


def read_file(path: str | Path) -> Checkpoint | Merged:
    """A checkpoint or a merged file, whichever it is.

    Raises
    ------
    BadInput
        Naming the first place that is not as in their format, and how many more there are.
    """
    content = read_json(path)
    if not isinstance(content, dict) or "_checkpoint" not in content:
        raise BadInput(
            "is no file of Bench2Drive: there is no _checkpoint",
            path=path,
            hint="expected a checkpoint of its leaderboard or a merged.json",
        )
    if "driving score" in content or "eval num" in content:
        return parse(content, Merged, path)
    return parse(content, Checkpoint, path)


def parse(content: Any, kind: type[File], path: str | Path | None = None) -> File:
    """Validate the content of a file; BadInput as :func:`read_file`."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise _refusal(error, path) from None


def write_file(path: str | Path, content: Checkpoint | Merged) -> None:
    """Write a file as their programs do (indent 4, their order of keys), whole or not at all."""
    with atomic_open(path) as stream:
        stream.write(json.dumps(plain(content), indent=4, allow_nan=False))


def plain(content: Checkpoint | Merged) -> dict[str, Any]:
    """As JSON has it, in the order of their files."""
    return content.model_dump(mode="json", by_alias=True)


def rounded(value: float, digits: int) -> float:
    """Rounded, without a negative zero."""
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {value}")
    return round(value, digits) + 0.0


def _refusal(error: ValidationError, path: str | Path | None) -> BadInput:
    errors = error.errors(include_url=False)
    first = errors[0]
    message = first["msg"].removeprefix("Value error, ")
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    field = ".".join(map(str, first["loc"])) or None
    return BadInput(f"not in Bench2Drive's format: {message}{more}", path=path, field=field)

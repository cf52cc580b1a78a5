"""What a run is: suite, policy and everything else that decides its results, written once as ``run.json``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from driveproof import __version__
from driveproof.config.base import Section, Seed
from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file
from driveproof.policy.seeds import derive_seed
from driveproof.sim.routes import RouteSpec, parse_routes

SCHEMA = 1
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")
_FREE = ("schema_version", "versions", "policy.spec")
"""What may differ between a run and who goes on with it."""


WORLD_HZ = 20.0
"""Ticks of the world a second, as the leaderboard's."""
_RATE_SLACK = 1e-4
_AS_WRITTEN = {"as": "written"}
"""Validates a run's file: an old run may have any rate, and can still be looked at."""


class Record(StrEnum):
    """What is kept of an episode beside its record and the motion table."""

    NONE = "none"
    DECISIONS = "decisions"
    """Every decision, with its trace."""
    FAILURES = "failures"
    """And a clip with pictures, of routes that were not a success."""
    ALL = "all"
    """And a clip of every route."""


class Pictures(Section):
    """Sizes of the cameras' pictures, pixels: the front camera's and the others'."""

    front_width: Annotated[int, Field(ge=8, le=4096)] = 224
    front_height: Annotated[int, Field(ge=8, le=4096)] = 128
    side_width: Annotated[int, Field(ge=8, le=4096)] = 112
    side_height: Annotated[int, Field(ge=8, le=4096)] = 64


def parse_pictures(text: str) -> Pictures:
    """Sizes from ``WIDTHxHEIGHT`` of the front camera; the others have half of it, as in recorded clips.

    Raises
    ------
    BadInput
        If the text is no size.
    """
    found = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text)
    try:
        if found is None:
            raise ValueError(text)
        width, height = int(found[1]), int(found[2])
        return Pictures(
            front_width=width,
            front_height=height,
            side_width=width // 2,
            side_height=height // 2,
        )
    except ValueError:
        raise BadInput(f"not a size of pictures: {text[:40]}", hint="224x128") from None


class DriveSettings(Section):
    """How every episode of a run is driven.

    Attributes
    ----------
    seed
        Of the run; episodes derive their own from it, their route and their repeat.
    repeats
        How often each route is driven.
    rate_hz
        Decisions a second of simulated time; a whole number of ticks lies between two (:func:`whole_rate`).
    latency
        Time for which the world goes on while the policy thinks, see :mod:`driveproof.drive.latency`.
    graph, mode
        What a model that talks is asked, and what it is shown; "" for policies that do not talk.
    record
        What is kept.
    truth
        Whether the expert's answers are written beside the policy's; never shown to it.
    pictures
        Sizes.
    """

    seed: Seed = 0
    repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    rate_hz: Annotated[float, Field(ge=0.1, le=20.0)] = 2.0
    latency: str = "none"
    graph: str = ""
    mode: str = ""
    record: Record = Record.DECISIONS
    truth: bool = False
    pictures: Pictures = Pictures()

    @field_validator("rate_hz")
    @classmethod
    def _whole(cls, rate_hz: float, info: ValidationInfo) -> float:
        return rate_hz if info.context == _AS_WRITTEN else whole_rate(rate_hz)


def whole_rate(rate_hz: float) -> float:
    """The rate of exactly the whole number of ticks from one decision to the next that ``rate_hz`` means.

    Moments of decision and the clocks of cameras would drift apart at any other rate. ``6.667`` means 20/3.

    Raises
    ------
    BadInput
        If 20 Hz divided by it is not whole; names the nearest rates that are.
    """
    ticks = WORLD_HZ / rate_hz
    whole = max(round(ticks), 1)
    if abs(ticks - whole) <= _RATE_SLACK * whole:
        return WORLD_HZ / whole
    slower, faster = (WORLD_HZ / count for count in (math.ceil(ticks), max(math.floor(ticks), 1)))
    raise BadInput(
        f"{rate_hz:g} decisions a second do not fall on ticks of the world ({WORLD_HZ:g} Hz)",
        field="rate_hz (--rate)",
        hint=f"the nearest that do are {slower:.6g} and {faster:.6g}",
    )


class Suite(Section):
    """The route file: its name and what is in it."""

    name: str
    sha256: str


class PolicyFacts(Section):
    """Who drives.

    Attributes
    ----------
    spec
        As it was asked for.
    served
        What a server of our own serves to it, "" without one.
    name, identity
        As the policy says.
    privileged
        What is read of the simulator's state to drive or to ask: empty for a policy that sees cameras alone.
    """

    spec: str
    served: str = ""
    name: str
    identity: dict[str, Any]
    privileged: tuple[str, ...] = ()


class DrivePlan(Section):
    """A run.

    Attributes
    ----------
    routes
        Ids in the order of the suite.
    versions
        Of the programs that began it.
    """

    schema_version: int = SCHEMA
    suite: Suite
    routes: Annotated[tuple[str, ...], Field(min_length=1)]
    policy: PolicyFacts
    settings: DriveSettings
    versions: dict[str, str]

    @property
    def episodes(self) -> list[Episode]:
        """All drives of the run: every route once, then every route again."""
        return [
            Episode(route, repeat, index, episode_seed(self.settings.seed, route, repeat))
            for repeat in range(self.settings.repeats)
            for index, route in enumerate(self.routes)
        ]


@dataclass(frozen=True)
class Episode:
    """One drive of a run: which route, which time (from 0), the route's place in the suite, and its seed."""

    route: str
    repeat: int
    index: int
    seed: int

    @property
    def key(self) -> str:
        """The name of its folder."""
        return f"{self.route}_rep{self.repeat}"


def episode_seed(seed: int, route: str, repeat: int) -> int:
    """The seed of a drive: of the run's seed, the route and the repeat, and of nothing else."""
    return derive_seed(seed, "drive", route, repeat)


def choose_routes(
    suite: str | Path, limit: int | None = None, only: Sequence[str] = ()
) -> list[RouteSpec]:
    """Routes of a file that a run drives: those of ``only`` (all if empty), at most ``limit``.

    Raises
    ------
    BadInput
        If the file is no route file, an id comes twice, is no name for a folder or is not in the file.
    """
    routes = parse_routes(suite)
    for key, count in Counter(route.key for route in routes).items():
        if count > 1:
            raise BadInput(f"route {key} comes {count} times", path=suite)
        if not _SAFE.fullmatch(key):
            raise BadInput("the id cannot name a folder", path=suite, field=f"route {key[:40]}")
    known = {route.key for route in routes}
    unknown = [key for key in only if key not in known]
    if unknown:
        raise BadInput(f"no such route: {', '.join(unknown[:5])}", path=suite)
    chosen = [route for route in routes if not only or route.key in only]
    return chosen[:limit]


def make_plan(
    suite: str | Path, routes: Sequence[RouteSpec], policy: PolicyFacts, settings: DriveSettings
) -> DrivePlan:
    """The plan of a run over ``routes`` of the file ``suite``."""
    return DrivePlan(
        suite=Suite(name=Path(suite).name, sha256=sha256_file(suite)),
        routes=tuple(route.key for route in routes),
        policy=policy,
        settings=settings,
        versions=_versions(),
    )


def read_plan(path: Path) -> DrivePlan:
    """The plan in a ``run.json``.

    Raises
    ------
    BadInput
        If it is none, or of another version.
    """
    content = read_json(path)
    try:
        plan = DrivePlan.model_validate(content, context=_AS_WRITTEN)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise BadInput(f"not the plan of a run: {first['msg']}", path=path, field=field) from None
    if plan.schema_version != SCHEMA:
        raise BadInput(f"version {plan.schema_version}, expected {SCHEMA}", path=path)
    return plan


def differences(had: DrivePlan, wanted: DrivePlan) -> list[str]:
    """What two plans differ in, one line each; empty if they give the same results."""
    before, after = (_flat(plan.model_dump(mode="json")) for plan in (had, wanted))
    names = [name for name in dict.fromkeys([*before, *after]) if not name.startswith(_FREE)]
    return [
        f"{name}: {_short(before.get(name))}, now {_short(after.get(name))}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, item in value.items():
        flat |= _flat(item, f"{prefix}.{key}" if prefix else str(key))
    return flat


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} of them"
    return str(value)[:80]


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"driveproof": __version__, "carla": version("carla"), "numpy": version("numpy")}

"""What a suite expects: its routes, so that a missing one is named and never a gap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.maps import Route
from driveproof.maps.lanes import LaneTable
from driveproof.sim.routes import ABILITIES, Ability, RouteSpec, canonical

BENCH2DRIVE_ROUTES = 220
"""Routes of Bench2Drive's suite, a constant in its script."""


@dataclass(frozen=True)
class ExpectedRoute:
    """A route that a suite has: its id, its scenarios' types and its town."""

    route_id: str
    scenarios: tuple[str, ...] = ()
    town: str = ""

    @property
    def abilities(self) -> tuple[Ability, ...]:
        """What it tests."""
        return abilities_of(self.scenarios)


@dataclass(frozen=True)
class Loss:
    """A drive of a suite about which nothing is known, and why."""

    route_id: str
    repeat: int
    state: RouteState
    reason: str

    @property
    def key(self) -> tuple[str, int]:
        """As :attr:`RouteRecord.key`."""
        return self.route_id, self.repeat


def expected_of(specs: Iterable[RouteSpec]) -> tuple[ExpectedRoute, ...]:
    """The routes of a route file.

    Raises
    ------
    BadInput
        If two routes have one id.
    """
    found: dict[str, ExpectedRoute] = {}
    for spec in specs:
        if spec.key in found:
            raise BadInput("two routes have this id", field=f"route {spec.key}")
        types = tuple(scenario.type for scenario in spec.scenarios)
        found[spec.key] = ExpectedRoute(spec.key, types, spec.town)
    return tuple(found.values())


def expected_by(records: Iterable[RouteRecord]) -> tuple[ExpectedRoute, ...]:
    """The routes that records are of, where no suite says which there should be."""
    found = {one.route_id: ExpectedRoute(one.route_id, one.scenarios, one.town) for one in records}
    return tuple(found.values())


def abilities_of(scenarios: Iterable[str]) -> tuple[Ability, ...]:
    """The abilities that scenarios of these types test, in Bench2Drive's order; unknown types test none."""
    known = {a for name in scenarios for a in ABILITIES.get(canonical(name) or name, ())}
    return tuple(ability for ability in Ability if ability in known)


def unknown_types(routes: Sequence[ExpectedRoute]) -> tuple[str, ...]:
    """Scenario types that nobody knows, which therefore count for no ability."""
    return tuple(sorted({name for one in routes for name in one.scenarios if not canonical(name)}))


def first_junction(route: Route, lanes: LaneTable) -> tuple[float, float] | None:
    """Metres along a route at which its first junction begins and ends; None if it meets none."""
    inside = lanes.is_junction[route.lanes]
    if not inside.any():
        return None
    begin = int(np.flatnonzero(inside)[0])
    after = np.flatnonzero(~inside[begin:])
    end = begin + int(after[0]) if len(after) else len(inside) - 1
    return float(route.line.arc[begin]), float(route.line.arc[end])

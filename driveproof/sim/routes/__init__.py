"""Route files of the CARLA leaderboard: parse, lint, write, and a dense way along the lanes."""

from driveproof.sim.routes.follow import HOP_M, dense_route, match_positions, route_along
from driveproof.sim.routes.lint import lint, lint_routes
from driveproof.sim.routes.names import (
    ABILITIES,
    ALIASES,
    OTHER_TYPES,
    Ability,
    canonical,
    suggestion,
)
from driveproof.sim.routes.parse import parse_routes, parse_text
from driveproof.sim.routes.spec import (
    Finding,
    FindingKind,
    Parameter,
    Place,
    RouteSpec,
    ScenarioSpec,
    Severity,
    WeatherKey,
)
from driveproof.sim.routes.write import write_routes

__all__ = [
    "ABILITIES",
    "ALIASES",
    "HOP_M",
    "OTHER_TYPES",
    "Ability",
    "Finding",
    "FindingKind",
    "Parameter",
    "Place",
    "RouteSpec",
    "ScenarioSpec",
    "Severity",
    "WeatherKey",
    "canonical",
    "dense_route",
    "lint",
    "lint_routes",
    "match_positions",
    "parse_routes",
    "parse_text",
    "route_along",
    "suggestion",
    "write_routes",
]

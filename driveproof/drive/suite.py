"""Suites of our own: scenarios staged somewhere in a town, written as routes of a file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps import load_town
from driveproof.sim.drivers import Roads
from driveproof.sim.routes import Place, RouteSpec, ScenarioSpec, WeatherKey
from driveproof.sim.scenarios import SCENARIOS, scenario_type
from driveproof.sim.scenarios.base import Setting
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.run import seeded

STEP_M = 2.0
"""Metres between positions, as in Bench2Drive's files."""
CLEAR_M = 3.0
"""Metres around a junction without positions: its lanes overlap those before it."""
TRIES = 20
NOON = {"sun_altitude_angle": 60.0, "sun_azimuth_angle": 0.0, "cloudiness": 10.0}


def staged_routes(
    names: Iterable[str], seed: int = 0, towns: Iterable[str] = (), longest_m: float = 400.0
) -> list[RouteSpec]:
    """A route for each scenario, at a place that the seed decides; ids count from 1.

    Parameters
    ----------
    towns
        Where they may be; a scenario takes the first of its own that is among them (any if empty).
    longest_m
        Metres after which a route is cut off behind its trigger.

    Raises
    ------
    BadInput
        If there is no such scenario, or no place for it.
    """
    allowed = set(towns)
    roads: dict[str, Roads] = {}
    routes = []
    for number, name in enumerate(map(scenario_type, names), start=1):
        own = [town for town in SCENARIOS[name].towns if not allowed or town in allowed]
        if not own:
            raise BadInput(f"is staged in none of {', '.join(sorted(allowed))}", field=name)
        if own[0] not in roads:
            roads[own[0]] = Roads(load_town(own[0]))
        setting = _place(name, roads[own[0]], seed)
        routes.append(_spec(str(number), roads[own[0]], name, setting, longest_m))
    return routes


def _place(name: str, roads: Roads, seed: int) -> Setting:
    reason = ""
    for attempt in range(TRIES):
        try:
            return SCENARIOS[name].place(Places(roads, seeded(seed, "suite", name, attempt)))
        except NoPlace as error:
            reason = str(error)
    raise BadInput(f"finds no place in {roads.town.name}: {reason}", field=name)


def _spec(key: str, roads: Roads, name: str, setting: Setting, longest_m: float) -> RouteSpec:
    """The route; inside junctions, where lanes overlap, it names no positions, as Bench2Drive's files."""
    line, lanes = setting.route.line, setting.route.lanes
    end = min(line.length, longest_m)
    arcs = np.append(np.arange(setting.start, end - STEP_M / 2, STEP_M), end)
    inside = line.arc[roads.town.lanes.junction[lanes] >= 0]
    near = np.abs(arcs[:, None] - inside[None, :]) < CLEAR_M
    arcs = arcs[~near.any(axis=1)]
    heights = np.interp(arcs, line.arc, setting.route.z)
    positions: Float = np.column_stack([line.at(arcs), heights])
    at = max(setting.trigger, setting.start)
    x, y = line.at(at)
    place = Place(
        float(x), float(y), float(np.interp(at, line.arc, setting.route.z)), float(line.heading(at))
    )
    scenario = ScenarioSpec(f"{name}_1", name, name, place, dict(setting.parameters))
    return RouteSpec(key, roads.town.name, positions, (scenario,), (WeatherKey(0.0, NOON),))

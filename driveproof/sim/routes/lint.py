"""What is odd about a route on its town."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np

from driveproof.errors import BadInput, MissingMap
from driveproof.geometry import wrap_angle
from driveproof.maps import TownMap, load_town
from driveproof.sim.routes.follow import HOP_M, dense_route, headings, match_positions, steps
from driveproof.sim.routes.spec import Finding, FindingKind, RouteSpec

OFF_ROAD_M = 2.0
"""Metres from the nearest driving lane from which a position is off the road."""
TRIGGER_M = 10.0
"""Metres from the route from which a trigger point is off it."""
JUMP_SHARE = 0.3
"""A hop jumps sideways if more than this share of it is lateral to the way before it and after it ..."""
JUMP_TURN = np.radians(60.0)
"""... and the way goes on in about the same direction, radians: in a turn every hop is half sideways."""


def lint_routes(
    routes: Iterable[RouteSpec],
    written: Collection[str] | None = None,
    towns: Callable[[str], TownMap] = load_town,
) -> Iterator[tuple[RouteSpec, list[Finding]]]:
    """Each route with its findings, town by town, so that only one town is in memory.

    Parameters
    ----------
    written
        The scenario types that exist; None to ask no such question.
    towns
        Loads a town by name.
    """
    by_town: dict[str, list[RouteSpec]] = {}
    for route in routes:
        by_town.setdefault(route.town, []).append(route)
    for name in sorted(by_town):
        try:
            town = towns(name)
        except (MissingMap, BadInput) as error:
            for route in by_town[name]:
                unknown = Finding(route.key, FindingKind.UNKNOWN_TOWN, error.problem)
                yield route, [*route.findings, *_not_written(route, written), unknown]
            continue
        for route in by_town[name]:
            yield route, lint(route, town, written)


def lint(route: RouteSpec, town: TownMap, written: Collection[str] | None = None) -> list[Finding]:
    """The parser's findings, and what the town says about the positions."""
    found = [*route.findings, *_not_written(route, written), *_hops(route)]
    distance = match_positions(route.positions, town).distance
    for index in np.flatnonzero(distance > OFF_ROAD_M).tolist():
        text = f"{distance[index]:.1f} m from the nearest driving lane"
        found.append(Finding(route.key, FindingKind.OFF_ROAD, text, f"position {index + 1}"))
    if len(route.positions) < 2:
        return found
    try:
        line = dense_route(route.positions, town).line
    except BadInput as error:
        found.append(Finding(route.key, FindingKind.NO_ROAD, str(error)))
        return found
    for scenario in route.scenarios:
        off = abs(float(line.project([scenario.trigger.x, scenario.trigger.y])[1]))
        if off > TRIGGER_M:
            text, where = f"its trigger lies {off:.0f} m off the way", f"scenario {scenario.name}"
            found.append(Finding(route.key, FindingKind.TRIGGER_OFF_ROUTE, text, where))
    return found


def _not_written(route: RouteSpec, written: Collection[str] | None) -> Iterator[Finding]:
    for scenario in route.scenarios if written is not None else ():
        if scenario.type not in (written or ()):
            text, where = f"{scenario.type} is not written", f"scenario {scenario.name}"
            yield Finding(route.key, FindingKind.NOT_WRITTEN, text, where)


def _hops(route: RouteSpec) -> Iterator[Finding]:
    """Hops of a way that is otherwise dense; a way of lone positions has nothing but hops."""
    length, course = steps(route.positions), headings(route.positions)
    if len(length) == 0 or np.median(length) > HOP_M:
        return
    for index in np.flatnonzero(length > HOP_M).tolist():
        where, span = f"position {index + 1}", float(length[index])
        yield Finding(route.key, FindingKind.HOP, f"{span:.0f} m to the next position", where)
        before, after = course[index], course[index + 1]
        delta = route.positions[index + 1, :2] - route.positions[index, :2]
        angles = wrap_angle(np.arctan2(delta[1], delta[0]) - np.array([before, after]))
        aside = float(np.abs(np.sin(angles)).min()) * span
        if abs(float(wrap_angle(after - before))) < JUMP_TURN and aside > JUMP_SHARE * span:
            text = f"{aside:.0f} m of {span:.0f} m sideways, though the way does not turn"
            yield Finding(route.key, FindingKind.SIDEWAYS_JUMP, text, where)

"""Where routes meet their first junction, for records that do not say it (those of other programs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from driveproof.errors import BadInput, MissingMap
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import passed_signs
from driveproof.evaluation.driving.suite import abilities_of, first_junction
from driveproof.maps import TownMap, load_town
from driveproof.sim.routes import Ability, RouteSpec, dense_route


def with_junctions(
    records: Sequence[RouteRecord],
    specs: Iterable[RouteSpec],
    towns: Callable[[str], TownMap] = load_town,
) -> tuple[RouteRecord, ...]:
    """The records, with the first junction of those for whose Traffic_Signs it matters.

    A town is loaded once, and only if it has to be; without its map, or without a way along the positions, the
    place stays unknown.
    """
    routes = {spec.key: spec for spec in specs}
    asked: dict[str, list[RouteSpec]] = defaultdict(list)
    for one in records:
        if _matters(one) and one.route_id in routes:
            asked[routes[one.route_id].town].append(routes[one.route_id])
    found: dict[str, tuple[float, float]] = {}
    for town, listed in sorted(asked.items()):
        try:
            roads = towns(town)
        except (MissingMap, BadInput):
            continue
        for spec in listed:
            try:
                place = first_junction(dense_route(spec.positions, roads), roads.lanes)
            except BadInput:
                continue
            if place is not None:
                found[spec.key] = place
    return tuple(
        replace(one, first_junction=found.get(one.route_id, one.first_junction)) for one in records
    )


def _matters(one: RouteRecord) -> bool:
    signs = Ability.TRAFFIC_SIGNS in abilities_of(one.scenarios)
    return signs and not one.success and passed_signs(one) is None

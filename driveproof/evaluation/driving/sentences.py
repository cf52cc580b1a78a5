"""Infractions as the sentences of Bench2Drive's records, and back.

Its programs read numbers out of these sentences, so they stand where theirs stand. Places are CARLA's
(left-handed, y to the right).
"""

from __future__ import annotations

import math
import re

from driveproof.errors import BadInput
from driveproof.evaluation.driving.bench2drive import Infractions, rounded
from driveproof.evaluation.driving.records import ASIDE, RouteRecord
from driveproof.sim.criteria import Infraction, InfractionKind

KINDS = {
    "collisions_layout": InfractionKind.COLLISION_STATIC,
    "collisions_pedestrian": InfractionKind.COLLISION_PEDESTRIAN,
    "collisions_vehicle": InfractionKind.COLLISION_VEHICLE,
    "red_light": InfractionKind.RED_LIGHT,
    "stop_infraction": InfractionKind.STOP_SIGN,
    "outside_route_lanes": InfractionKind.OFF_LANE,
    "min_speed_infractions": InfractionKind.MIN_SPEED,
    "yield_emergency_vehicle_infractions": InfractionKind.YIELD_EMERGENCY,
    "scenario_timeouts": InfractionKind.SCENARIO_TIMEOUT,
    "route_dev": InfractionKind.ROUTE_DEVIATION,
    "vehicle_blocked": InfractionKind.BLOCKED,
    "route_timeout": InfractionKind.ROUTE_TIMEOUT,
}
"""Their lists and our kinds; driving against traffic is among ``outside_route_lanes`` there."""
_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_PERCENT = re.compile(_NUMBER + r"\s*%")
_PLACE = re.compile(rf"\(x={_NUMBER}, y={_NUMBER}, z={_NUMBER}\)")
_ACTOR = re.compile(r"\bid=(\d+)")
_TYPE = re.compile(r"\btype=(\S+)")
_LIGHT = re.compile(r"red light (\S+)")
_SHARES = {InfractionKind.MIN_SPEED, InfractionKind.YIELD_EMERGENCY, *ASIDE}
_COLLISIONS = ("collisions_layout", "collisions_pedestrian", "collisions_vehicle")


def sentences_of(record: RouteRecord) -> Infractions:
    """All sentences of a record; minimum speed has one for every checkpoint, slow or not, as theirs."""
    found: dict[str, list[str]] = {name: [] for name in KINDS}
    names = {kind: name for name, kind in KINDS.items()}
    for one in record.infractions:
        if one.kind in names and one.kind not in (InfractionKind.MIN_SPEED, *ASIDE):
            found[names[one.kind]].append(_sentence(one, names[one.kind], record))
    aside = min(sum(one.share for one in record.infractions if one.kind in ASIDE), 1.0)
    if aside > 0.0:
        metres = rounded(aside * record.length_m, 3)
        found["outside_route_lanes"].append(
            f"Agent went outside its route lanes for about {metres} meters "
            f"({100.0 * aside:.6g}% of the route)"
        )
    found["min_speed_infractions"] = [
        f"Average speed is {100.0 * share:.2f}% of the surrounding traffic's one"
        for share in record.speed_shares
    ]
    return Infractions(**found)


def _sentence(one: Infraction, name: str, record: RouteRecord) -> str:
    where = _where(one)
    if name in _COLLISIONS:
        who = f"type={one.actor_type or 'unknown'} and id={one.actor_id or 0}"
        return f"Agent collided against object with {who}{where}"
    match one.kind:
        case InfractionKind.RED_LIGHT:
            return f"Agent ran a red light {one.signal_id or 'unknown'}{where}"
        case InfractionKind.STOP_SIGN:
            return f"Agent ran a stop with id={one.signal_id or 'unknown'}{where}"
        case InfractionKind.YIELD_EMERGENCY:
            return f"Agent held an emergency vehicle down to {_percent(one)} of its speed{where}"
        case InfractionKind.SCENARIO_TIMEOUT:
            return f"Agent failed to complete {', '.join(record.scenarios) or 'a scenario'} in time"
        case InfractionKind.ROUTE_DEVIATION:
            return f"Agent deviated from the route{where}"
        case InfractionKind.BLOCKED:
            return f"Agent got blocked{where}"
        case _:
            return "Route timeout."


def _percent(one: Infraction) -> str:
    return "an unknown part" if math.isnan(one.share) else f"{100.0 * one.share:.2f}%"


def _where(one: Infraction) -> str:
    x, y = one.place
    if not (math.isfinite(x) and math.isfinite(y)):
        return ""
    return f" at (x={rounded(x, 3)}, y={rounded(-y, 3)}, z=0.0)"


def infractions_of(listed: Infractions) -> tuple[tuple[Infraction, ...], tuple[float, ...]]:
    """The infractions and the shares of the traffic's speed in sentences.

    Times are unknown (NaN), and so are places that a sentence does not name.

    Raises
    ------
    BadInput
        If a sentence lacks the percentage that its kind needs.
    """
    found: list[Infraction] = []
    shares: list[float] = []
    for name, texts in listed:
        for number, text in enumerate(texts):
            one = _read(KINDS[name], text, f"infractions.{name}.{number}")
            if one.kind is InfractionKind.MIN_SPEED:
                shares.append(one.share)
            if one.kind is not InfractionKind.MIN_SPEED or one.share < 1.0:
                found.append(one)
    return tuple(found), tuple(shares)


def _read(kind: InfractionKind, text: str, field: str) -> Infraction:
    place, actor, of_type = _PLACE.search(text), _ACTOR.search(text), _TYPE.search(text)
    percent, light = _PERCENT.search(text), _LIGHT.search(text)
    if percent is None and kind in (InfractionKind.MIN_SPEED, *ASIDE):
        raise BadInput(f"there is no percentage in {text[:80]!r}", field=field)
    share = math.nan
    if percent is not None and kind in _SHARES:
        share = float(percent[1]) / 100.0
    if share < 0.0 or (kind in ASIDE and share > 1.0):
        raise BadInput(f"an impossible percentage in {text[:80]!r}", field=field)
    return Infraction(
        kind,
        math.nan,
        (math.nan, math.nan) if place is None else (float(place[1]), -float(place[2]) + 0.0),
        int(actor[1]) if actor is not None else None,
        text,
        share,
        light[1] if light is not None and kind is InfractionKind.RED_LIGHT else "",
        of_type[1] if of_type is not None else "",
    )

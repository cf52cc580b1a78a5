"""Streams: vehicles that come one after another along a way, timed by the ego."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from driveproof.sim.client import SpawnBlocked
from driveproof.sim.drivers import Path
from driveproof.sim.drivers.fleet import Model, random_vehicle
from driveproof.sim.scenarios.cast import Puppet
from driveproof.sim.scenarios.context import WAITING, Context
from driveproof.sim.scenarios.places import NoPlace

TOO_LATE_S = 2.4
"""Seconds before the ego from which the others no longer keep pace with it."""
APPEAR_M = 8.0
"""Nobody is put down nearer to an ego that drives, m."""
TYPICAL_LENGTH = 4.7
"""Length of a car, m."""


def stream(
    context: Context,
    path: Path,
    meet: float,
    first_s: float,
    speed: float,
    gaps: Sequence[float],
    role: str = "flow",
    model: str | None = None,
) -> list[Puppet]:
    """Vehicles on ``path`` at ``speed`` m/s, the first ``first_s`` seconds before it reaches ``meet``.

    ``gaps`` are the metres between the bumpers of one and the next; there is one vehicle more than gaps.
    ``model`` fixes the blueprint. Who finds no room at its place, or would appear beside the
    ego, stays away.

    Raises
    ------
    NoPlace
        If nobody found room.
    """
    puppets: list[Puppet] = []
    s = meet - speed * first_s
    for gap in (0.0, *gaps):
        s -= gap + TYPICAL_LENGTH if gap else 0.0
        if s < 4.0:
            break
        near = math.dist(path.point(s), (context.ego.x, context.ego.y)) < APPEAR_M
        if near and context.ego_speed > WAITING:
            continue  # nobody appears out of nothing beside an ego that drives
        chosen = random_vehicle(context.rng, "car")
        kind = Model(model, chosen.colour) if model is not None else chosen
        colour = None if model is not None else kind.colour
        try:
            puppets.append(
                context.puppet(role, kind.type_id, path, s, speed, colour, careful=True, brake=5.0)
            )
        except SpawnBlocked:
            continue
    if not puppets:
        raise NoPlace("no room for a stream")
    return puppets


def keep_pace(
    context: Context,
    vehicles: Sequence[Puppet],
    meet: float,
    ego_s: float,
    speed: float,
    late: float,
) -> Iterator[None]:
    """Ticks in which a stream keeps pace with the ego: its first is at ``meet`` ``late`` seconds after the ego is at ``ego_s``.

    From :data:`TOO_LATE_S` before that on it drives on at ``speed``, whatever the ego does.
    """
    while not context.arrives(ego_s, TOO_LATE_S):
        left = meet - vehicles[0].s
        wanted = left / (context.expected(ego_s) + late)
        for vehicle in vehicles:
            vehicle.speed = min(max(wanted, 0.7 * speed), 1.3 * speed)
        yield
    for vehicle in vehicles:
        vehicle.speed = speed

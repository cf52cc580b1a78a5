"""States of a car that is moved along a route as a test wants it, without physics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from driveproof.maps import Route, SignalKind, TownMap
from driveproof.scene import LightState
from driveproof.sim.client import ActorState, Collision, WorldState

EGO, LENGTH, WIDTH = 7, 4.9, 1.85
DT = 0.1


def car(
    number: int, x: float, y: float, heading: float, speed: float, *, z: float = 0.0
) -> ActorState:
    """A car with its box centre at a pose, moving along its heading."""
    return ActorState(
        number,
        "vehicle.lincoln.mkz_2020",
        "vehicle",
        "hero" if number == EGO else "",
        x,
        y,
        z,
        heading,
        speed * math.cos(heading),
        speed * math.sin(heading),
        speed,
        length=LENGTH,
        width=WIDTH,
        height=1.5,
        base_type="car",
    )


def on_route(route: Route, front: float, speed: float, aside: float = 0.0) -> ActorState:
    """The ego with its front bumper at arc length ``front`` of a route, ``aside`` metres left of it."""
    s = front - LENGTH / 2.0
    x, y = route.line.at(s).tolist()
    heading = float(route.line.heading(s))
    z = float(np.interp(s, route.line.arc, route.z))
    x, y = x - aside * math.sin(heading), y + aside * math.cos(heading)
    return car(EGO, x, y, heading, speed, z=z)


def states(
    egos: Iterable[ActorState],
    *,
    others: Sequence[ActorState] = (),
    lights: dict[str, LightState] | None = None,
    collisions: dict[int, tuple[Collision, ...]] | None = None,
    dt: float = DT,
) -> list[WorldState]:
    """One state for each ego, ``dt`` seconds apart; ``collisions`` by number of the state."""
    return [
        WorldState(
            frame=n,
            time=100.0 + n * dt,
            actors={ego.id: ego, **{o.id: o for o in others}},
            lights=lights or {},
            collisions=(collisions or {}).get(n, ()),
        )
        for n, ego in enumerate(egos)
    ]


def drive(route: Route, low: float, high: float, speed: float = 8.0) -> list[ActorState]:
    """The ego driving with its front from ``low`` to ``high`` metres."""
    fronts = [*np.arange(low, high, speed * DT).tolist(), high]
    return [on_route(route, front, speed) for front in fronts]


def stand(route: Route, front: float, seconds: float) -> list[ActorState]:
    """The ego standing."""
    return [on_route(route, front, 0.0)] * round(seconds / DT)


def route_over(town: TownMap, kind: SignalKind) -> tuple[Route, float, str]:
    """A route of about 80 m over the stop line of a signal, the line's place on it, and the signal's id."""
    lanes = town.lanes
    for signal in town.signals:
        if signal.kind is not kind:
            continue
        lane, arc = signal.lanes[0], float(signal.stop_arcs[0])
        ahead = [i for i in lanes.successors(lane).tolist() if lanes.length[i] > 10.0]
        if arc < 40.0 or not ahead or np.ptp(np.unwrap(lanes.heading[lanes.points(lane)])) > 0.02:
            continue
        start = lanes.polyline(lane).at(arc - 38.0)
        heading = float(lanes.polyline(lane).heading(arc - 38.0))
        goal = lanes.polyline(ahead[0]).at(float(lanes.length[ahead[0]]) - 0.5)
        route = town.route([*start, heading], goal)
        middle = signal.stop_lines[0].mean(0)[:2]
        at, aside = route.line.project(middle)
        if abs(float(aside)) < 0.5:
            return route, float(at), signal.key
    raise AssertionError(f"{town.name} has no straight approach to a {kind}")

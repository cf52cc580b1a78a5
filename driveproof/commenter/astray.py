"""Put astray, does the expert come back? Starts anywhere beside a route, turned anyhow, driven by keys."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from driveproof.commenter.live import LiveExpert, expert_driver
from driveproof.geometry import wrap_angle
from driveproof.maps import Route
from driveproof.sim.client import ActorState, Session, SpawnBlocked
from driveproof.sim.drivers import Roads
from driveproof.sim.drivers.fleet import EGO
from driveproof.sim.scenarios.stage import as_control

ROUTE_M, BESIDE_M = 120.0, 6.0
LIMIT_S = 40.0
BACK_M, BACK_RAD, BACK_S = 1.0, math.radians(20.0), 1.0
"""Nearer to the route and less turned from it for so long, the ego is back."""
STANDS_S = 5.0
"""Who stands so long with a reason has said why not."""
ATTEMPTS = 20


@dataclass(frozen=True)
class Return:
    """What came of a start beside a route.

    Attributes
    ----------
    seed, town
        Which.
    pose
        x, y, heading of the start, world frame.
    beside, turned
        Metres left of the route and radians turned left from it, at the start.
    back
        Whether the ego came back to the route.
    said
        Why it does not go on, in the terms of the decision; "" if it gives no reason.
    seconds
        Simulated until then.
    touched
        What it collided with.
    """

    seed: int
    town: str
    pose: tuple[float, float, float]
    beside: float
    turned: float
    back: bool
    said: str
    seconds: float
    touched: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Back without a collision, or it says why not."""
        return (self.back and not self.touched) or bool(self.said)


def come_back(session: Session, roads: Roads, seed: int) -> Return:
    """Start somewhere within 6 m of a random route of the session's town, at any heading, and drive.

    Raises
    ------
    SpawnBlocked
        If no place is free.
    """
    rng = _seeded(seed, session.town.name)
    for attempt in range(ATTEMPTS):
        route = session.town.random_route(rng, ROUTE_M)
        s = float(rng.uniform(10.0, min(50.0, route.length / 2.0)))
        beside = float(rng.uniform(-BESIDE_M, BESIDE_M))
        turned = float(rng.uniform(-math.pi, math.pi))
        along = float(route.line.heading(s))
        x, y = route.line.at(s)
        pose = (
            float(x) - beside * math.sin(along),
            float(y) + beside * math.cos(along),
            float(wrap_angle(along + turned)),
        )
        try:
            ego = session.spawn_vehicle(EGO, pose, float(np.interp(s, route.line.arc, route.z)))
        except SpawnBlocked:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        break
    try:
        session.watch_collisions(ego)
        back, said, seconds, touched = _drive(session, roads, ego, route)
    finally:
        session.destroy([ego.id])
    return Return(seed, session.town.name, pose, beside, turned, back, said, seconds, touched)


def _seeded(seed: int, town: str) -> np.random.Generator:
    digest = hashlib.sha256(f"astray/{seed}/{town}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def _drive(
    session: Session, roads: Roads, ego: object, route: Route
) -> tuple[bool, str, float, tuple[str, ...]]:
    driver = expert_driver(session, roads, ego, route)
    expert = driver.source
    assert isinstance(expert, LiveExpert)
    number = int(ego.id)  # type: ignore[attr-defined]  # a carla.Vehicle
    touched: dict[str, None] = {}
    state = session.tick()
    begin = on_route = standing = state.time
    while state.time - begin < LIMIT_S:
        session.apply({number: as_control(driver.control(state))})
        state = session.tick()
        touched.update(dict.fromkeys(contact.other_type for contact in state.collisions))
        actor = state.actors[number]
        on_route = on_route if _on(route, actor) else state.time
        standing = standing if abs(actor.speed) < 0.2 else state.time
        if state.time - on_route > BACK_S:
            return True, "", round(state.time - begin, 2), tuple(touched)
        if state.time - standing > STANDS_S and (said := why_not(expert)):
            return False, said, round(state.time - begin, 2), tuple(touched)
    return False, why_not(expert), LIMIT_S, tuple(touched)


def _on(route: Route, actor: ActorState) -> bool:
    s, beside = route.line.project((actor.x, actor.y))
    turned = float(wrap_angle(actor.heading - float(route.line.heading(float(s)))))
    return abs(float(beside)) < BACK_M and abs(turned) < BACK_RAD


def why_not(expert: LiveExpert) -> str:
    """Why the expert does not go on, in the terms of its decision: help needed, a move put off, a brake."""
    decision = expert.decision
    if decision is None:
        return ""
    if decision.recovery is not None and decision.recovery.hopeless:
        return decision.recovery.maneuver.value
    if decision.move.postponed is not None:
        return decision.move.postponed.value
    return decision.brake.reason.value if decision.brake.level.value == "stop" else ""

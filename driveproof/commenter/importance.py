"""Which objects matter, and in which order.

Considered (Bench2Drive-VL): what takes part in traffic, is not behind (x > -1.5 m), has enough lidar points and is seen by
the front camera; besides, whoever meets the ego's way, what must be passed, role actors, and the lights and signs that
govern the ego. Order: roles, dangerous things (paper), then lights and signs, those on the ego's road in its direction,
distance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from driveproof.commenter.conflicts import Conflict
from driveproof.commenter.context import Context
from driveproof.commenter.decision import ExpertDecision
from driveproof.commenter.frame import Agent
from driveproof.commenter.naming import kind_of
from driveproof.commenter.signs import Signs
from driveproof.commenter.traffic import Moving
from driveproof.questions import ObjectKind, ObjectRef
from driveproof.questions import terms as t
from driveproof.questions.objects import EMERGENCY, VEHICLES

BEHIND_M = -1.5
POINTS, BICYCLE_POINTS, WALKER_POINTS = 15, 10, 5
SIGHT_M = 60.0
DANGER_S, DANGER_M = 4.0, 15.0
FRONT = "CAM_FRONT"


@dataclass(frozen=True)
class Important:
    """The objects that matter, the most important first; ``rows`` are agent rows by tag."""

    refs: tuple[ObjectRef, ...]
    rows: dict[str, int]

    @property
    def vehicles(self) -> tuple[ObjectRef, ...]:
        """Those that are vehicles."""
        return tuple(ref for ref in self.refs if ref.kind in VEHICLES)


def find_important(
    context: Context,
    facts: dict[int, Moving],
    conflicts: list[Conflict],
    signs: Signs,
    decision: ExpertDecision,
    roles: frozenset[str],
) -> Important:
    """Select, name and rank."""
    dangerous = {c.row for c in conflicts if _is_dangerous(c)} | set(decision.brake.rows)
    special = dangerous | {c.row for c in conflicts} | set(decision.move.rows)
    refs: list[tuple[tuple[int, int, int, int, float], ObjectRef]] = []
    rows: dict[str, int] = {}
    for row, agent in enumerate(context.frame.agents):
        role = agent.id in roles
        if not (role or row in special or _considered(context, row, agent)):
            continue
        ref = context.ref(agent, role=role, dangerous=row in dangerous)
        rows[ref.tag] = row
        about = facts.get(row)
        same = about is not None and about.course is t.Course.SAME
        sign = int(ref.kind not in VEHICLES and ref.kind is not ObjectKind.PEDESTRIAN)
        refs.append(
            ((int(not role), int(row not in dangerous), 1 - sign, int(not same), ref.distance), ref)
        )
    for signal in signs.affecting:
        braking = decision.brake.signal == signal.id
        ref = context.sign_ref(signal, dangerous=braking)
        refs.append(((1, int(not braking), 0, 1, ref.distance), ref))
    refs.sort(key=lambda pair: (*pair[0], pair[1].tag))
    return Important(tuple(ref for _, ref in refs), rows)


def _is_dangerous(conflict: Conflict) -> bool:
    return conflict.distance < DANGER_M or (0.0 < conflict.time < DANGER_S)


def _considered(context: Context, row: int, agent: Agent) -> bool:
    x, y, _ = context.local[row].tolist()
    if (
        agent.parked
        or x < BEHIND_M
        or x * x + y * y > SIGHT_M**2
        or abs(agent.z - context.frame.ego.z) > 30.0
    ):
        return False
    kind = kind_of(agent)
    least = {ObjectKind.BICYCLE: BICYCLE_POINTS, ObjectKind.PEDESTRIAN: WALKER_POINTS}.get(
        kind, POINTS
    )
    if agent.points < least:
        return False
    if agent.kind == "prop" and agent.height < 0.2:
        return False
    front = [camera for camera in context.frame.cameras if camera.name == FRONT]
    return FRONT in context.ref(agent).cameras if front else abs(y) < 0.7 * x + 2.0


_CROSSING = (
    "DynamicObjectCrossing",
    "ParkingCrossingPedestrian",
    "PedestrianCrossing",
    "VehicleTurningRoutePedestrian",
)
_CUTTING = ("ParkingCutIn", "StaticCutIn", "HighwayCutIn")


def infer_roles(
    context: Context, facts: dict[int, Moving], decision: ExpertDecision
) -> frozenset[str]:
    """Who a scenario is about: as the live scenario says, else by loose rules on what such scenarios look like."""
    if context.frame.roles.ids:
        return context.frame.roles.ids
    scenario, agents = context.frame.scenario, context.frame.agents
    found: set[str] = set()
    if decision.obstruction is not None and scenario:
        found |= {agents[row].id for row in decision.obstruction.rows}
    for row, agent in enumerate(agents):
        x, y, _ = context.local[row].tolist()
        kind, near = kind_of(agent), -40.0 < x < 40.0 and abs(y) < 25.0
        about = facts.get(row)
        if not near:
            continue
        if scenario.startswith(_CROSSING) and kind is ObjectKind.PEDESTRIAN and x > 0.0:
            found.add(agent.id)
        if (
            scenario.startswith(("VehicleTurningRoute", "CrossingBicycleFlow"))
            and kind is ObjectKind.BICYCLE
        ):
            found.add(agent.id)
        if (
            scenario.startswith(_CUTTING)
            and about is not None
            and about.intent is t.Intent.CUTTING_IN
        ):
            found.add(agent.id)
        if (
            scenario.startswith(("YieldToEmergencyVehicle", "OppositeVehicle"))
            and kind in EMERGENCY
        ):
            found.add(agent.id)
        if scenario.startswith("HardBreak") and row in decision.brake.rows:
            found.add(agent.id)
    return frozenset(found)


def unranked(refs: tuple[ObjectRef, ...]) -> tuple[ObjectRef, ...]:
    """The same things grouped by kind, for lists without order."""
    order = {kind: place for place, kind in enumerate(ObjectKind)}
    return tuple(sorted((replace(ref) for ref in refs), key=lambda r: (order[r.kind], r.tag)))

"""The door for EPDMS cases: JSON of the schema ``navsim-epdms-golden/1``, checked before anything is computed.

Units and frames: m, s, rad; world frame for ego, map and agents; plans in the ego frame. Step k is k * 0.1 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.rules.case_schema import Document, Map, PreviousFrame, Proposal, Trajectory
from driveproof.rules.plan import plan_poses
from driveproof.rules.roads import LANES, MapPolygon, PolygonKind, RoadMap
from driveproof.rules.score import Grouping, Previous, Scores, score_plans
from driveproof.rules.states import DT, HORIZON, STEPS, VehicleShape
from driveproof.rules.traffic import Signals, Track, Traffic
from driveproof.rules.variants import Quirks, Variant
from driveproof.rules.world import History, World


@dataclass(frozen=True)
class Case:
    """One scene with its proposals, ready to score: names of N plans ``[N, 41, 3]``, and the rivals."""

    id: str
    world: World
    names: tuple[str, ...]
    plans: Float
    reference: Float | None = None
    human: Float | None = None
    previous: Previous | None = None

    def score(self, *, variant: Variant | Quirks = "navsim", grouping: Grouping = "pair") -> Scores:
        """Score all proposals (see :func:`driveproof.rules.score.score_plans`)."""
        return score_plans(
            self.world,
            self.plans,
            reference=self.reference,
            human=self.human,
            previous=self.previous,
            variant=variant,
            grouping=grouping,
        )


def read_case(path: str | Path) -> Case:
    """Read and check one case.

    Raises
    ------
    BadInput
        With the path and the field: not JSON, another schema, NaN, a plan or track shorter than 4 s, a ring or an
        agent without area, a light without its polygon. A ring that crosses itself is read by the even-odd rule, as the
        reference does, and named in ``case.world.roads.flawed``.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(error.strerror or "cannot be read", path=path) from None
    try:
        return case_of(data)
    except BadInput as error:
        raise BadInput(error.problem, path=path, field=error.field) from None


def case_of(data: bytes | str) -> Case:
    """A case from JSON text; raises ``BadInput`` with the field but without a path."""
    try:
        document = Document.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(first["msg"], field=field or None) from None
    if document.num_poses != HORIZON or abs(document.dt - DT) > 1e-9:
        raise BadInput(f"expected {HORIZON} poses at {DT} s", field="num_poses, dt")
    world = _world(document)
    names = [proposal.name for proposal in document.proposals]
    if not names:
        raise BadInput("no proposal to score", field="proposals")
    if len(set(names)) != len(names):
        raise BadInput("two proposals have the same name", field="proposals")
    plans = _plans(world.ego, document.proposals)
    reference = _rival(world.ego, document.reference_trajectory, "reference_trajectory")
    human = _rival(world.ego, document.human_trajectory, "human_trajectory")
    previous = _previous(document.previous_frame, names)
    return Case(document.id, world, tuple(names), plans, reference, human, previous)


def _plans(ego: Float, parts: list[Proposal]) -> Float:
    """Plans ``[N, 41, 3]``: in one go where all have the same spacing, as files of many proposals do."""
    if len({(part.dt, len(part.poses)) for part in parts}) == 1:
        try:
            poses = np.array([part.poses for part in parts]).reshape(len(parts), -1, 3)
            return plan_poses(ego[:3], poses, parts[0].dt)
        except ValueError:
            pass  # one by one, to say which
    return np.array([_plan(ego, part, f"proposals[{n}]") for n, part in enumerate(parts)])


def _rival(ego: Float, part: Trajectory | None, field: str) -> Float | None:
    return None if part is None else _plan(ego, part, field)


def _plan(ego: Float, part: Trajectory, field: str) -> Float:
    try:
        return plan_poses(ego[:3], np.array(part.poses).reshape(-1, 3), part.dt)
    except ValueError as error:
        raise BadInput(str(error), field=field) from None


def _world(document: Document) -> World:
    try:
        shape = VehicleShape(**document.vehicle.model_dump())
    except ValueError as error:
        raise BadInput(str(error), field="vehicle") from None
    past = document.ego_history
    history = None
    if past is not None:
        history = History(
            np.array([state.t for state in past]),
            np.array([state.array() for state in past]).reshape(-1, 8),
        )
    ego = document.ego.array()
    if not np.isfinite(ego).all():
        raise BadInput("not finite", field="ego")
    roads = _roads(document.map)
    return World(ego, shape, roads, _traffic(document), _signals(document, roads), history)


def _roads(part: Map) -> RoadMap:
    route = frozenset(part.route_lane_ids)
    polygons = []
    for polygon in part.polygons:
        kind = PolygonKind[polygon.type]
        on_route = kind in LANES and polygon.id in route
        polygons.append(
            MapPolygon(polygon.id, kind, polygon.exterior, on_route, polygon.centerline or None)
        )
    return RoadMap.of(polygons, part.centerline or None)


def _traffic(document: Document) -> Traffic:
    absent = (np.nan,) * 5
    tracks = []
    for n, agent in enumerate(document.agents):
        rows = [absent if state is None else state for state in agent.states]
        states = np.array(rows, np.float64).reshape(-1, 5)
        exists = np.array([state is not None for state in agent.states], dtype=bool)
        broken = exists & ~np.isfinite(states).all(-1)
        if broken.any():
            step = int(broken.argmax())
            raise BadInput("not finite", field=f"agents[{n}] {agent.token}: states[{step}]")
        tracks.append(Track(agent.token, agent.type, agent.length, agent.width, states))
    return Traffic.of(tracks)


def _signals(document: Document, roads: RoadMap) -> Signals:
    """Lights of lanes off the route are left out: no rule reads them."""
    lanes = {roads.ids[n]: int(n) for n in np.flatnonzero(roads.lanes)}
    route = frozenset(document.map.route_lane_ids)
    polygon, red = [], []
    for n, light in enumerate(document.traffic_lights):
        field = f"traffic_lights[{n}] {light.lane_connector_id}"
        if len(light.red) < STEPS:
            raise BadInput(f"{len(light.red)} states, {STEPS} are needed", field=field)
        if light.lane_connector_id not in route:
            continue
        if light.lane_connector_id not in lanes:
            raise BadInput("the map has no lane of that id", field=field)
        polygon.append(lanes[light.lane_connector_id])
        red.append(light.red[:STEPS])
    if not polygon:
        return Signals.none()
    return Signals(np.array(polygon, np.int64), np.array(red, bool))


def _previous(part: PreviousFrame | None, names: list[str]) -> Previous | None:
    if part is None:
        return None
    ego = part.ego.array()
    if not np.isfinite(ego).all():
        raise BadInput("not finite", field="previous_frame.ego")
    if not DT / 2 < -part.t < 0.55:
        raise BadInput("must lie less than 0.55 s before this frame", field="previous_frame.t")
    plans = []
    for name in names:
        plan = part.proposals.get(name, part.proposals.get("default"))
        if plan is None:
            raise BadInput(f"neither {name!r} nor 'default'", field="previous_frame.proposals")
        plans.append(_plan(ego, plan, f"previous_frame.proposals.{name}"))
    return Previous(ego, np.array(plans), -part.t)

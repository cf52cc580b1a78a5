"""What a scenario has to work with: the session, the ego and its way, and words to place actors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps import SignalKind
from driveproof.scene import LightState
from driveproof.sim.client import ActorState, Session, WorldState
from driveproof.sim.criteria import Criteria
from driveproof.sim.drivers import Crossing, Path, Roads
from driveproof.sim.routes import Parameter, Place
from driveproof.sim.scenarios.cast import Cast, Puppet
from driveproof.sim.scenarios.places import Conflict, NoPlace, conflicts, crossing_at, meeting

WAITING, WAITING_M = 0.5, 40.0
"""Slower than the first (m/s) and nearer than the second (m), the ego waits for something."""


STARTING = 5.0
"""Mean speed that is expected of who starts, m/s."""


@dataclass
class Context:
    """Where a scenario happens.

    Attributes
    ----------
    session, roads
        The simulator, and paths on its town.
    path
        The ego's way as drivers see it; all ``s`` are metres along it.
    trigger
        Where on it the story begins.
    ego_id
        Actor id of the ego.
    rng
        The source of all choices.
    parameters
        Of the route file.
    criteria
        Who watches the ego, if anybody does: told what a scenario allows or expects.
    """

    session: Session
    roads: Roads
    path: Path
    trigger: float
    ego_id: int
    rng: np.random.Generator
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    criteria: Criteria | None = None
    time: float = 0.0
    ego_s: float = 0.0
    ego_speed: float = 0.0
    has_driven: bool = False
    holds_lights: bool = False

    def __post_init__(self) -> None:
        self.cast = Cast(self.session)
        self._near: float | None = None

    # --- the ego -----------------------------------------------------------------------------------

    @property
    def ego(self) -> ActorState:
        """The ego in the last state."""
        return self.session.state.actors[self.ego_id]

    def see(self, state: WorldState) -> None:
        """Take over a state."""
        ego = state.actors[self.ego_id]
        self.time, self.ego_speed = state.time, ego.speed
        self.has_driven = self.has_driven or ego.speed > 2.0
        self.ego_s = self._near = self.path.project(ego.x, ego.y, self._near)

    def eta(self, s: float) -> float:
        """Seconds until the ego's front bumper is at ``s`` at its present speed."""
        return max(s - self.ego_s - self.ego.length / 2.0, 0.0) / max(self.ego_speed, 0.5)

    def expected(self, s: float) -> float:
        """As :meth:`eta`, for an ego that may still have to gather speed."""
        return max(s - self.ego_s - self.ego.length / 2.0, 0.0) / max(self.ego_speed, STARTING)

    def arrives(self, s: float, seconds: float) -> bool:
        """Whether the ego is at ``s`` within so many seconds, or, having driven, waits before it."""
        waits = self.has_driven and self.ego_speed < WAITING and s - self.ego_s < WAITING_M
        return waits or self.eta(s) <= seconds

    # --- parameters --------------------------------------------------------------------------------

    def number(self, key: str, default: float) -> float:
        """A number of the route file, or a default."""
        value = self.parameters.get(key, default)
        return float(value) if isinstance(value, float | int) else default

    def interval(self, key: str, default: tuple[float, float]) -> tuple[float, float]:
        """An interval of the route file (a number stands for itself), or a default."""
        value = self.parameters.get(key, default)
        if isinstance(value, tuple):
            return float(value[0]), float(value[1])
        return (float(value), float(value)) if isinstance(value, float | int) else default

    def word(self, key: str, default: str) -> str:
        """A word of the route file, or a default."""
        value = self.parameters.get(key, default)
        return value if isinstance(value, str) else default

    def at(self, key: str) -> Place | None:
        """A place of the route file, if it names one."""
        value = self.parameters.get(key)
        return value if isinstance(value, Place) else None

    def uniform(self, low: float, high: float) -> float:
        """A number between ``low`` and ``high``."""
        return float(self.rng.uniform(low, high))

    # --- the road ----------------------------------------------------------------------------------

    def pose(self, s: float, offset: float = 0.0) -> Float:
        """Pose ``[3]`` at ``s``, ``offset`` metres to the left; before its begin the way is straight."""
        pose = self.path.pose(s, offset)
        if s < 0.0:
            pose[:2] += s * np.array([np.cos(pose[2]), np.sin(pose[2])])
        return pose

    def height(self, s: float) -> float:
        """Height of the road, m."""
        return float(self.path.z[self.path.index(s)])

    def edges(self, s: float) -> tuple[float, float]:
        """Metres from the lane's centre to the left and right edge of what is driven on, verges included."""
        i = self.path.index(s)
        return float(self.path.left[i]), float(self.path.right[i] + self.path.verge[i])

    def half_lane(self, s: float) -> float:
        """Half the width of the ego's lane, m."""
        x, y = self.path.point(s)
        match = self.roads.town.nearest_lane([x, y], float(self.path.heading[self.path.index(s)]))
        lanes = self.roads.town.lanes
        part = lanes.points(int(match.lane[0]))
        return float(np.interp(match.arc[0], lanes.arc[part], lanes.width[part])) / 2.0

    def crossing(self) -> Crossing:
        """The first junction after the trigger; NoPlace if there is none."""
        return crossing_at(self.path, self.trigger)

    def conflicts(self, crossing: Crossing) -> list[Conflict]:
        """The ways that meet the ego's in a junction."""
        end, junction = crossing.end, crossing.junction_id
        return conflicts(self.roads, self.path, crossing.start, end, junction)

    def named_way(self, after: float) -> Conflict | None:
        """The way of the actors that a route file names, where it first meets the ego's beyond ``after``; None if none.

        Raises
        ------
        NoPlace
            If no road leads there, or it does not meet the ego's way.
        """
        begin, end = self.at("start_actor_flow"), self.at("end_actor_flow")
        if begin is None or end is None:
            return None
        town = self.roads.town
        lane = town.nearest_lane([begin.x, begin.y])
        part = town.lanes.points(int(lane.lane[0]))
        heading = float(np.interp(lane.arc[0], town.lanes.arc[part], town.lanes.heading[part]))
        try:
            route = town.route([begin.x, begin.y, heading], [end.x, end.y])
        except BadInput as error:
            raise NoPlace(f"the flow of the route file: {error}") from None
        ways = list(dict.fromkeys(route.lanes.tolist()))
        back = self.roads.walk_back(ways[0], 160.0, self.roads.straightest)
        return meeting(self.path, after, self.roads.path([*back, *ways]))

    def beside(self, s: float, side: int) -> float | None:
        """Offset of the neighbour lane of the same direction, left (1) or right (-1); None if there is none."""
        town = self.roads.town
        match = town.nearest_lane(self.path.point(s), float(self.path.heading[self.path.index(s)]))
        lane = int(match.lane[0])
        lanes = town.lanes
        other = int((lanes.left if side > 0 else lanes.right)[lane])
        same = bool((lanes.left_same if side > 0 else lanes.right_same)[lane])
        if other < 0 or not same or not self.roads.drivable(other):
            return None
        widths = [float(lanes.width[lanes.points(i)].mean()) for i in (lane, other)]
        return side * sum(widths) / 2.0

    def oncoming(self, s: float, back: float) -> tuple[Path, float]:
        """The way of those who come towards the ego at ``s``, and where on it that is.

        The way starts at least ``back`` metres before that place, seen by them, if the road is that long.
        Raises NoPlace if there is no lane of the other direction beside the ego's road.
        """
        here = self.pose(s)
        away = np.pi + float(here[2])
        for offset in np.arange(2.0, 16.0, 1.0).tolist():
            x, y = self.path.point(s, offset)
            match = self.roads.town.nearest_lane([x, y], away)
            if abs(float(match.heading_error[0])) < 0.5 and float(match.distance[0]) < 1.5:
                lane = int(match.lane[0])
                before = self.roads.walk_back(lane, back, self.roads.straightest)
                after = self.roads.walk(lane, 150.0, self.roads.straightest)
                start = float(self.roads.town.lanes.length[before].sum())
                return self.roads.path([*before, *after]), start + float(match.arc[0])
        raise NoPlace("no oncoming lane")

    # --- actors ------------------------------------------------------------------------------------

    def vehicle(
        self,
        role: str,
        type_id: str,
        pose: Sequence[float] | Float,
        z: float,
        speed: float = 0.0,
        colour: tuple[int, int, int] | None = None,
    ) -> int:
        """Put down a vehicle; its actor id."""
        place = [float(value) for value in pose]
        actor = self.session.spawn_vehicle(type_id, place, z, role, colour, speed)
        return self.cast.add(role, int(actor.id))

    def prop(self, role: str, type_id: str, pose: Sequence[float] | Float, z: float) -> int:
        """Put down a thing; its actor id."""
        place = [float(value) for value in pose]
        return self.cast.add(role, int(self.session.spawn_prop(type_id, place, z, role).id))

    def walker(self, role: str, type_id: str, pose: Sequence[float] | Float, z: float) -> int:
        """Put down a pedestrian; its actor id."""
        place = [float(value) for value in pose]
        return self.cast.add(role, int(self.session.spawn_walker(type_id, place, z, role).id))

    def puppet(
        self,
        role: str,
        type_id: str,
        path: Path,
        s: float,
        speed: float,
        colour: tuple[int, int, int] | None = None,
        **more: Any,
    ) -> Puppet:
        """A vehicle that follows ``path`` from ``s`` at ``speed``."""
        z = float(path.z[path.index(s)])
        actor = self.vehicle(role, type_id, path.pose(s), z, speed, colour)
        return self.cast.drive(actor, path, speed, **more)

    # --- lights ------------------------------------------------------------------------------------

    def hold_lights(self, crossing: Crossing, own: LightState) -> None:
        """Freeze all lights; at ``crossing`` the ego's and those of its axis show ``own``, the others the contrary."""
        town = self.roads.town
        cross = LightState.RED if own is not LightState.RED else LightState.GREEN
        course = float(self.path.heading[self.path.index(crossing.start - 2.0)])
        states: dict[str, LightState] = {}
        for signal in town.signals:
            here = signal.junction == crossing.junction_id
            if here and signal.kind is SignalKind.TRAFFIC_LIGHT and signal.lanes:
                end = town.lanes.points(signal.lanes[0]).stop - 1
                turned = float(town.lanes.heading[end]) - course
                states[signal.key] = own if abs(np.cos(turned)) > 0.7 else cross
        self.session.freeze_lights()
        self.session.set_lights(states)
        self.holds_lights = True

    def free_lights(self) -> None:
        """Let the lights change again, if :meth:`hold_lights` froze them."""
        if self.holds_lights:
            self.session.freeze_lights(False)
            self.holds_lights = False

    def ego_light(self, crossing: Crossing) -> str | None:
        """Signal id of the light that governs the ego at a junction, if one does."""
        for stop in self.path.stops:
            if stop.kind == "light" and crossing.start - 25.0 < stop.s < crossing.end:
                return stop.signal_id
        return None

"""Scenes in driving terms on the lanes of a town: an ego on a lane, others ahead, beside and behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from driveproof.commenter import Agent, Commentary, Commenter, Frame, Roles, Signal, Window
from driveproof.geometry import Polyline
from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.scene import Command, LightState

DT, BACK = 0.5, 4
SIZES = {"walker": (0.5, 0.5, 1.8), "prop": (1.0, 1.0, 1.0), "vehicle": (4.6, 1.9, 1.5)}


@dataclass
class RoadScene:
    """An ego ``s`` metres along a lane; places of others are metres ahead of it along the lane, and to the left.

    ``lateral`` and ``turned`` (radians) put the ego beside the middle of the lane, and turn it left.
    """

    town: TownMap
    lane: int
    s: float = 20.0
    speed: float = 8.0
    lateral: float = 0.0
    turned: float = 0.0
    scenario: str = ""
    command: Command = Command.FOLLOW
    near: tuple[float, float] | None = None
    weather: dict[str, float] = field(default_factory=dict)
    agents: list[tuple[Agent, float]] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def line(self) -> Polyline:
        """The middle of the lane and of what follows it straight on."""
        lanes = self.town.lanes
        points, lane = [lanes.centre[lanes.points(self.lane), :2]], self.lane
        for _ in range(3):
            following = lanes.successors(lane).tolist()
            if not following:
                break
            lane = int(following[0])
            points.append(lanes.centre[lanes.points(lane), :2])
        return Polyline(np.concatenate(points))

    def place(self, ahead: float, left: float) -> tuple[float, float, float]:
        """Pose of a place on the road: x, y and the lane's heading."""
        heading = float(self.line.heading(self.s + ahead))
        x, y = self.line.at(self.s + ahead).tolist()
        return x - left * math.sin(heading), y + left * math.cos(heading), heading

    def put(
        self,
        kind: str,
        ahead: float,
        left: float = 0.0,
        speed: float = 0.0,
        turned: float = 0.0,
        *,
        type_id: str = "",
        base: str = "car",
        drift: float = 0.0,
        **more: object,
    ) -> str:
        """Somebody at a place, turned left by ``turned``, drifting ``drift`` m/s to the left; its id."""
        x, y, heading = self.place(ahead, left)
        pose = (x, y, heading + turned)
        return self.put_at(kind, pose, speed, type_id=type_id, base=base, drift=drift, **more)

    def put_at(
        self,
        kind: str,
        pose: tuple[float, float, float],
        speed: float = 0.0,
        *,
        type_id: str = "",
        base: str = "car",
        drift: float = 0.0,
        **more: object,
    ) -> str:
        """As :meth:`put`, at a world pose."""
        length, width, height = SIZES[kind]
        names = {"walker": "walker.pedestrian.0001", "prop": "static.prop.streetbarrier"}
        agent = Agent(
            str(len(self.agents) + 2),
            type_id or names.get(kind, "vehicle.tesla.model3"),
            base if kind == "vehicle" else "",
            kind,  # type: ignore[arg-type]
            pose[0],
            pose[1],
            height / 2.0,
            pose[2],
            length,
            width,
            height,
            speed=speed,
        )
        self.agents.append((replace(agent, **more), drift))  # type: ignore[arg-type]
        return agent.id

    def sign(self, type_id: str, ahead: float, left: float = -3.0, **more: object) -> Signal:
        """A light or sign that governs the ego, its stop line beside it."""
        x, y, _ = self.place(ahead, left)
        stop = self.place(ahead, 0.0)[:2]
        signal = Signal(f"s{len(self.signals)}", type_id, x, y, stop, affects_ego=True)
        self.signals.append(replace(signal, **more))  # type: ignore[arg-type]
        return self.signals[-1]

    def light(self, state: LightState, ahead: float) -> Signal:
        """A traffic light."""
        return self.sign("traffic.traffic_light", ahead, state=state)

    def frame(self, ago: float = 0.0, index: int = 20) -> Frame:
        """The moment so many seconds ago, everybody moved back along its heading."""
        x, y, heading = self.place(-self.speed * ago * math.cos(self.turned), self.lateral)
        ego = Agent("1", "vehicle.lincoln.mkz_2020", "car", "vehicle", x, y, 0.75,
                    heading + self.turned, 4.9, 1.84, 1.5, speed=self.speed)  # fmt: skip
        others = []
        for agent, drift in self.agents:
            back_x = agent.speed * math.cos(agent.heading) - drift * math.sin(agent.heading)
            back_y = agent.speed * math.sin(agent.heading) + drift * math.cos(agent.heading)
            others.append(replace(agent, x=agent.x - ago * back_x, y=agent.y - ago * back_y))
        near = self.near or self.place(12.0, 0.0)[:2]
        return Frame(index, index / 10.0, self.scenario, ego, tuple(others), tuple(self.signals),
                     self.command, self.command, near, near, self.weather,
                     roles=Roles(self.roles))  # fmt: skip

    def window(self) -> Window:
        """The moment and two seconds before it."""
        past = [self.frame(k * DT, 20 - 5 * k) for k in range(BACK, 0, -1)]
        return Window(tuple(past), self.frame())

    def say(self, commenter: Commenter | None = None) -> Commentary:
        """What the expert says of it."""
        return (commenter or Commenter(self.town)).comment(self.window())


def lane_with(
    town_name: str,
    *,
    left: str = "any",
    right: str = "any",
    least: float = 80.0,
    limit: float = math.inf,
) -> tuple[TownMap, int]:
    """A straight lane outside junctions whose neighbours are "same", "opposite", "none" or "any"."""
    town = load_town(town_name)
    lanes = town.lanes

    def kind(lane: int, beside: np.ndarray, same: np.ndarray) -> str:
        other = int(beside[lane])
        if other < 0 or lanes.kind[other] != LaneKind.DRIVING:
            return "none"
        return "same" if same[lane] else "opposite"

    for lane in lanes.of_kind(LaneKind.DRIVING).tolist():
        straight = np.ptp(np.unwrap(lanes.heading[lanes.points(lane)])) < 0.05
        if lanes.junction[lane] >= 0 or lanes.length[lane] < least or not straight:
            continue
        if lanes.speed_limit[lane] > limit:
            continue
        fits_left = left in ("any", kind(lane, lanes.left, lanes.left_same))
        if fits_left and right in ("any", kind(lane, lanes.right, lanes.right_same)):
            return town, lane
    raise AssertionError(f"{town_name} has no such lane")

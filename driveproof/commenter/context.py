"""A moment with everything about it that several rooms of the expert need, computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from driveproof.commenter.clips import Window
from driveproof.commenter.frame import Agent, Frame, Signal
from driveproof.commenter.naming import name_agent, name_signal
from driveproof.commenter.path import ego_path, lane_behind, lane_course
from driveproof.commenter.road import Road, road_at
from driveproof.geometry import Polyline, poses_to_local
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, TownMap
from driveproof.maps.nearest import LaneMatch
from driveproof.questions import ObjectRef


@dataclass(frozen=True)
class Context:
    """A window of frames in a town."""

    window: Window
    town: TownMap

    @property
    def frame(self) -> Frame:
        """The moment itself."""
        return self.window.now

    def at_speed(self, speed: float) -> Context:
        """The same moment with an ego that is faster or slower; what has been computed of it is kept."""
        now = replace(self.frame, ego=replace(self.frame.ego, speed=speed))
        other = Context(replace(self.window, now=now), self.town)
        other.__dict__.update(
            {k: v for k, v in self.__dict__.items() if k not in ("window", "town")}
        )
        return other

    @cached_property
    def road(self) -> Road:
        """Where on the road the ego is."""
        frame, ego = self.frame, self.frame.ego
        return road_at(
            self.town, (ego.x, ego.y, ego.heading), frame.command_near, frame.near or frame.far
        )

    @cached_property
    def course(self) -> Polyline:
        """The middle of the lanes that the ego is about to take, world frame."""
        return lane_course(self.town, self.frame, self.road)

    @cached_property
    def path(self) -> Polyline:
        """The way that the ego is about to take: from where it is to the course, world frame."""
        return ego_path(self.course, self.frame)

    @cached_property
    def _places(self) -> Float:
        points = np.array([[a.x, a.y] for a in self.frame.agents]).reshape(-1, 2)
        if not len(points):
            return np.zeros((4, 0))
        along, lateral = self.path.project(points)
        s, beside = self.course.project(points)
        back, other = lane_behind(self.town, self.frame, self.road).project(points)
        behind = self.local[:, 0] < 0.0
        there = (np.where(behind, -back, along), np.where(behind, -other, lateral))
        return np.stack([*there, np.where(behind, -back, s), np.where(behind, -other, beside)])

    def path_place(self, row: int) -> tuple[float, float]:
        """Metres along the ego's path to an agent's centre, and metres left of it; behind the ego along its lane."""
        return float(self._places[0, row]), float(self._places[1, row])

    def lane_place(self, row: int) -> tuple[float, float]:
        """As :meth:`path_place`, along the middle of the ego's lanes."""
        return float(self._places[2, row]), float(self._places[3, row])

    @cached_property
    def local(self) -> Float:
        """``[N, 3]`` poses of the agents in the ego frame, in the order of ``frame.agents``."""
        ego = self.frame.ego
        poses = np.array([[a.x, a.y, a.heading] for a in self.frame.agents]).reshape(-1, 3)
        return poses_to_local(poses, np.array([ego.x, ego.y, ego.heading]))

    @cached_property
    def lanes(self) -> LaneMatch:
        """The driving lane nearest to each agent, along its heading."""
        poses = np.array([[a.x, a.y, a.heading] for a in self.frame.agents]).reshape(-1, 3)
        return self.town.nearest_lane(poses[:, :2], poses[:, 2])

    @cached_property
    def by_id(self) -> dict[str, int]:
        """Agent id -> its row."""
        return {agent.id: row for row, agent in enumerate(self.frame.agents)}

    def agent(self, agent_id: str) -> Agent:
        """The agent of an id; KeyError if it is not there."""
        return self.frame.agents[self.by_id[agent_id]]

    @cached_property
    def past(self) -> dict[str, tuple[Agent, float]]:
        """Agent id -> the agent half a second ago and the seconds since, where the window reaches so far."""
        before = self.window.ago(0.5)
        if before is None or before is self.frame:
            return {}
        seconds = self.frame.time - before.time
        return {agent.id: (agent, seconds) for agent in before.agents}

    @cached_property
    def past_beside(self) -> Float:
        """``[N]`` metres left of the path that each agent was half a second ago; NaN without a past."""
        rows = [row for row, agent in enumerate(self.frame.agents) if agent.id in self.past]
        beside = np.full(len(self.frame.agents), np.nan)
        if rows:
            before = [self.past[self.frame.agents[row].id][0] for row in rows]
            _, lateral = self.path.project(np.array([[a.x, a.y] for a in before]))
            # the path begins at the ego: behind that it goes on straight
            local = np.array([self.frame.local(a.x, a.y) for a in before])
            beside[rows] = np.where(local[:, 0] < 0.0, local[:, 1], lateral)
        return beside

    def beside_road(self, kind: LaneKind) -> Float:
        """``[N]`` metres from each agent to the border of the nearest lane of a kind, negative inside; inf if none."""
        if kind not in self._borders:
            poses = np.array([[a.x, a.y] for a in self.frame.agents]).reshape(-1, 2)
            try:
                match = self.town.nearest_lane(poses, kinds=(kind,))
            except ValueError:  # the town has no lanes of this kind
                self._borders[kind] = np.full(len(poses), np.inf)
            else:
                lanes = self.town.lanes
                self._borders[kind] = match.distance - lanes.width[lanes.offset[match.lane]] / 2.0
        return self._borders[kind]

    @cached_property
    def _borders(self) -> dict[LaneKind, Float]:
        return {}

    @cached_property
    def _names(self) -> dict[str, ObjectRef]:
        return {}

    def ref(self, agent: Agent, *, role: bool = False, dangerous: bool = False) -> ObjectRef:
        """How answers name an agent."""
        if agent.id not in self._names:
            self._names[agent.id] = name_agent(self.frame, agent)
        name = self._names[agent.id]
        return replace(name, is_role=role, is_dangerous=dangerous) if role or dangerous else name

    def sign_ref(self, signal: Signal, *, dangerous: bool = False) -> ObjectRef:
        """How answers name a light or sign."""
        return name_signal(self.frame, signal, dangerous=dangerous)

"""Annotations as Bench2Drive writes them: CARLA's left-handed frame, degrees, half extents.

Beyond the original there is one key ``driveproof``: why the expert drives as it does, and the roles of a scenario.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap
from driveproof.sim.client import ActorState, WorldState
from driveproof.sim.drivers import DriverDecision, Path
from driveproof.sim.recorder.commands import commands
from driveproof.sim.recorder.matrices import angles_of, inverse, pose_matrix, rounded, rows
from driveproof.sim.recorder.rig import LIDAR, Mount
from driveproof.sim.recorder.signals import SignalBoxes

RANGE = 75.0
"""Actors and signals further from the ego (in x or y) are not annotated, m."""
FAR_AHEAD = 60.0
"""Metres along the path at which the far target lies."""
NEAR_AHEAD = 8.0
GRAVITY = 9.81
BRAKE_LAMP, RIGHT_BLINKER, LEFT_BLINKER = 0x8, 0x10, 0x20


@dataclass(frozen=True)
class Pedals:
    """What a vehicle is told: 0 to 1, steer -1 to 1 with right positive."""

    throttle: float = 0.0
    steer: float = 0.0
    brake: float = 0.0
    hand_brake: bool = False
    reverse: bool = False


@dataclass(frozen=True)
class Moment:
    """All that an annotation tells of.

    Attributes
    ----------
    state, ego_id
        The world and who in it is the ego.
    ego_pose
        Ego actor to world ``[4, 4]`` in CARLA's frame.
    s, front
        Arc lengths of the ego's rear axle and front bumper on its path, m.
    pedals, lamps, colours
        Of vehicles, by actor id; lamps are bits of ``carla.VehicleLightState``, colours "r,g,b".
    points
        Lidar points by actor id; None estimates them without occlusion.
    decision
        The expert's; None if nobody says why.
    roles
        Actor ids by the role that a scenario gives them.
    """

    state: WorldState
    ego_id: int
    ego_pose: Float
    s: float
    front: float
    pedals: Mapping[int, Pedals]
    lamps: Mapping[int, int]
    colours: Mapping[int, str]
    points: Mapping[int, int] | None = None
    decision: DriverDecision | None = None
    roles: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass
class Annotator:
    """Turns the moments of one drive along ``path`` into annotations.

    Actors are numbered in the order in which they appear, the ego first: the same drive gives the same
    numbers however many actors the server has had before.
    """

    town: TownMap
    path: Path
    weather: Mapping[str, float]
    mounts: Sequence[Mount]
    noise: np.random.Generator
    gnss_noise: float = 0.6
    """Standard deviation of the position estimate ``x, y``, m."""
    _numbers: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._signals = SignalBoxes(self.town, self.path)

    def annotate(self, now: Moment) -> dict[str, Any]:
        """The annotation of a moment."""
        ego = now.state.actors[now.ego_id]
        others = [
            actor
            for actor in now.state.actors.values()
            if actor.id != ego.id and abs(actor.x - ego.x) < RANGE and abs(actor.y - ego.y) < RANGE
        ]
        actors = [ego, *others]
        for actor in actors:
            self._numbers.setdefault(actor.id, len(self._numbers) + 1)
        poses = np.array([[a.x, a.y, a.heading] for a in actors])
        lanes = self.town.nearest_lane(poses[:, :2], poses[:, 2]).lane.tolist()
        boxes = [self._ego_box(ego, now, lanes[0])]
        boxes += [self._box(a, ego, now, lane) for a, lane in zip(others, lanes[1:], strict=True)]
        boxes += self._signals.near(ego.x, ego.y, now.front, now.state.lights, RANGE)
        told = now.pedals[ego.id]
        yaw = angles_of(now.ego_pose)[2]
        x, y = now.ego_pose[:2, 3] + self.noise.normal(0.0, self.gnss_noise, 2)
        brakes = bool(now.lamps.get(ego.id, 0) & BRAKE_LAMP) or told.brake > 0.0
        anno: dict[str, Any] = {
            "x": _r(x),
            "y": _r(y),
            "throttle": _r(told.throttle),
            "steer": _r(told.steer),
            "brake": _r(told.brake),
            "reverse": told.reverse,
            "theta": _r(math.radians(yaw + 90.0)),
            "speed": _r(ego.speed),
            **self._navigation(now),
            "should_brake": brakes,
            "only_ap_brake": False,
            "weather": {key: _r(value) for key, value in self.weather.items()},
            "acceleration": rounded((ego.accel, -ego.speed * ego.yaw_rate, GRAVITY)),
            "angular_velocity": rounded((0.0, 0.0, -ego.yaw_rate)),
            "bounding_boxes": boxes,
            "sensors": self._sensors(now.ego_pose, now.points is not None),
        }
        beyond = self._reason(now.decision) if now.decision is not None else {}
        if now.roles:
            beyond["roles"] = {role: self._known(ids) for role, ids in sorted(now.roles.items())}
        if beyond:
            anno["driveproof"] = beyond
        return anno

    def _known(self, actor_ids: Sequence[int]) -> list[str]:
        """The numbers of those actors that have been annotated."""
        return [str(self._numbers[n]) for n in actor_ids if n in self._numbers]

    def _reason(self, decision: DriverDecision) -> dict[str, Any]:
        number = self._numbers.get(decision.agent_id) if decision.agent_id is not None else None
        return {
            "reason": decision.reason.value,
            "target_speed": _r(decision.target_speed),
            "agent_id": None if number is None else str(number),
            "signal_id": decision.signal_id,
            "lateral_offset": _r(decision.lateral_offset),
        }

    def _ego_box(self, ego: ActorState, now: Moment, lane: int) -> dict[str, Any]:
        box = self._box(ego, ego, now, lane)
        box["class"] = "ego_vehicle"
        box["location"] = rounded(now.ego_pose[:3, 3])
        box["rotation"] = rounded(angles_of(now.ego_pose))
        box["world2ego"] = rows(inverse(now.ego_pose))
        del box["state"]
        return box

    def _box(self, actor: ActorState, ego: ActorState, now: Moment, lane: int) -> dict[str, Any]:
        x, y, z = actor.x, -actor.y, actor.z
        yaw = math.degrees(math.remainder(-actor.heading, math.tau))
        distance = math.hypot(actor.x - ego.x, actor.y - ego.y)
        box: dict[str, Any] = {
            "class": {"walker": "walker", "prop": "traffic_sign"}.get(actor.kind, "vehicle"),
            "id": str(self._numbers[actor.id]),
            "type_id": actor.type_id,
            "base_type": actor.base_type or actor.kind,
            "location": rounded((x, y, z)),
            "rotation": rounded((0.0, 0.0, yaw)),
            "center": rounded((x, y, z + actor.height / 2.0)),
            "extent": rounded((actor.length / 2.0, actor.width / 2.0, actor.height / 2.0)),
            "color": now.colours.get(actor.id, ""),
            "speed": _r(actor.speed),
            "distance": _r(distance),
        }
        if actor.kind == "prop":
            return {**box, "affects_ego": False}
        points = now.points
        box["num_points"] = _guess(actor, distance) if points is None else points.get(actor.id, 0)
        if actor.kind == "vehicle":
            box |= self._vehicle_keys(actor, now, lane)
        return box

    def _vehicle_keys(self, actor: ActorState, now: Moment, lane: int) -> dict[str, Any]:
        told, lamps = now.pedals.get(actor.id, Pedals()), now.lamps.get(actor.id, 0)
        table = self.town.lanes
        return {
            "state": "static" if told.hand_brake else "dynamic",
            "brake": 1.0 if lamps & BRAKE_LAMP else 0.0,
            "light_state": str(lamps),
            "indicator": _indicator(lamps),
            "road_id": int(table.road[lane]),
            "lane_id": int(table.lane[lane]),
            "section_id": int(table.section[lane]),
        }

    def _navigation(self, now: Moment) -> dict[str, Any]:
        near, far = commands(self.path, now.front, now.s)
        near_x, near_y = self.path.point(now.front + NEAR_AHEAD)
        far_x, far_y = self.path.point(now.front + FAR_AHEAD)
        return {
            "x_command_far": _r(far_x),
            "y_command_far": _r(-far_y),
            "command_far": int(far),
            "x_command_near": _r(near_x),
            "y_command_near": _r(-near_y),
            "command_near": int(near),
            "x_target": _r(far_x),
            "y_target": _r(-far_y),
            "next_command": int(far),
        }

    def _sensors(self, ego_pose: Float, lidar: bool) -> dict[str, Any]:
        sensors = {mount.sensor: _camera(mount, ego_pose) for mount in self.mounts if mount.sensor}
        if lidar:
            to_ego = pose_matrix(*LIDAR)
            to_world = ego_pose @ to_ego
            sensors["LIDAR_TOP"] = {
                "location": rounded(to_world[:3, 3]),
                "rotation": rounded(angles_of(to_world)),
                "world2lidar": rows(inverse(to_world)),
                "lidar2ego": rows(to_ego),
            }
        return sensors


def _camera(mount: Mount, ego_pose: Float) -> dict[str, Any]:
    to_world = ego_pose @ mount.cam2ego
    return {
        "location": rounded(to_world[:3, 3]),
        "rotation": rounded(angles_of(to_world)),
        "world2cam": rows(inverse(to_world)),
        **mount.fixed,
    }


def _guess(actor: ActorState, distance: float) -> int:
    """About how many points a 64-beam lidar would return: area over squared distance, without occlusion."""
    return int(4000.0 * actor.height * actor.width / max(distance, 2.0) ** 2)


def _indicator(lamps: int) -> str:
    names = {LEFT_BLINKER: "left", RIGHT_BLINKER: "right", LEFT_BLINKER | RIGHT_BLINKER: "hazard"}
    return names.get(lamps & (LEFT_BLINKER | RIGHT_BLINKER), "")


def _r(value: float) -> float:
    return round(float(value), 4)

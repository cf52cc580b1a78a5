"""Annotations as Bench2Drive writes them: CARLA's left-handed frame, degrees, half extents.

Beyond the original there is one key ``driveproof``: why the expert drives as it does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from driveproof.collect.rig import Mount, inverse_pose_matrix
from driveproof.collect.weather import Weather
from driveproof.geometry.arrays import Float
from driveproof.maps import MapSignal, SignalKind
from driveproof.scene import AgentKind, Command, LightState
from driveproof.sim.world import AgentState, Path, WorldSnapshot
from driveproof.sim.world.roads import Roads

RANGE = 75.0
"""Agents and signals further from the ego are not annotated, m."""
AFFECT = 50.0
"""Metres along the route within which a light or sign affects the ego."""
COMMAND_AHEAD = 35.0
"""Metres before a junction from which its command is the near one."""
FAR_AHEAD = 60.0
GNSS_NOISE = 0.6
"""Standard deviation of the position estimate ``x, y``, m."""
_LIGHTS = (LightState.RED, LightState.YELLOW, LightState.GREEN, LightState.OFF, LightState.UNKNOWN)
_MAX_STEER, _MAX_ACCEL = 0.75, 3.0


@dataclass
class Annotator:
    """Turns snapshots of one drive into annotations."""

    roads: Roads
    path: Path
    weather: Weather
    mounts: tuple[Mount, ...]
    rng: np.random.Generator

    @cached_property
    def _signals(self) -> tuple[list[MapSignal], Float]:
        kinds = (
            SignalKind.TRAFFIC_LIGHT,
            SignalKind.STOP,
            SignalKind.YIELD,
            SignalKind.SPEED_LIMIT,
        )
        signals = [s for s in self.roads.town.signals if s.kind in kinds]
        return signals, np.array([s.position[:2] for s in signals]).reshape(-1, 2)

    def annotate(self, now: WorldSnapshot) -> dict[str, Any]:
        """The annotation of a moment."""
        ego = now.ego
        near = [a for a in now.agents if abs(a.x - ego.x) < RANGE and abs(a.y - ego.y) < RANGE]
        poses = np.array([[a.x, a.y, a.heading] for a in near])
        match = self.roads.town.nearest_lane(poses[:, :2], poses[:, 2])
        boxes = [
            self._box(agent, ego, int(lane)) for agent, lane in zip(near, match.lane, strict=True)
        ]
        z = ego.z
        x, y, yaw = ego.x, -ego.y, math.degrees(-ego.heading)
        noise = self.rng.normal(0.0, GNSS_NOISE, 2).tolist()
        return {
            "x": _r(x + noise[0]),
            "y": _r(y + noise[1]),
            "throttle": _r(min(max(ego.accel, 0.0) / _MAX_ACCEL, 1.0)),
            "steer": _r(-ego.steer / _MAX_STEER),
            "brake": 1.0 if ego.braking else 0.0,
            "reverse": False,
            "theta": _r(math.radians(yaw + 90.0)),
            "speed": _r(ego.speed),
            **self._navigation(now, front=now.ego_s + ego.body.front),
            "should_brake": ego.braking,
            "only_ap_brake": False,
            "weather": self.weather.values(),
            "acceleration": [_r(ego.accel), _r(-ego.speed * ego.yaw_rate), 9.81],
            "angular_velocity": [0.0, 0.0, _r(-ego.yaw_rate)],
            "bounding_boxes": [*boxes, *self._signal_boxes(now)],
            "sensors": {m.sensor: _sensor(m, x, y, z, yaw) for m in self.mounts},
            "driveproof": {
                "reason": now.decision.reason.value,
                "target_speed": _r(now.decision.target_speed),
                "agent_id": _text(now.decision.agent_id),
                "signal_id": now.decision.signal_id,
                "lateral_offset": _r(now.decision.lateral_offset),
            },
        }

    def _box(self, agent: AgentState, ego: AgentState, lane: int) -> dict[str, Any]:
        body, x, y, z = agent.body, agent.x, -agent.y, agent.z
        yaw = math.degrees(math.remainder(-agent.heading, math.tau))
        distance = math.hypot(x - ego.x, y + ego.y)
        box: dict[str, Any] = {
            "class": "vehicle",
            "id": str(agent.agent_id),
            "type_id": body.type_id,
            "base_type": body.base_type,
            "location": [_r(x), _r(y), _r(z)],
            "rotation": [0.0, 0.0, _r(yaw)],
            "center": [_r(x), _r(y), _r(z + body.height / 2.0)],
            "extent": [_r(body.length / 2), _r(body.width / 2), _r(body.height / 2)],
            "color": ",".join(map(str, body.colour)),
            "speed": _r(agent.speed),
            "distance": _r(distance),
        }
        table = self.roads.town.lanes
        if agent is ego:
            box["class"] = "ego_vehicle"
            box["world2ego"] = _rounded(inverse_pose_matrix(x, y, z, yaw))
        elif agent.kind is AgentKind.PEDESTRIAN:
            box["class"] = "walker"
        elif agent.kind is AgentKind.OBSTACLE:
            box["class"] = "traffic_sign"
            box["affects_ego"] = False
            return box
        else:
            box["state"] = "static" if agent.parked else "dynamic"
        box["num_points"] = _lidar_points(agent, distance)
        if agent.kind is AgentKind.VEHICLE:
            box["brake"] = 1.0 if agent.braking else 0.0
            box["indicator"] = agent.indicator
            box["road_id"] = int(table.road[lane])
            box["lane_id"] = int(table.lane[lane])
            box["section_id"] = int(table.section[lane])
        return box

    def _signal_boxes(self, now: WorldSnapshot) -> list[dict[str, Any]]:
        signals, places = self._signals
        if not signals:
            return []
        close = np.abs(places - (now.ego.x, now.ego.y)).max(1) < RANGE
        front = now.ego_s + now.ego.body.front
        affecting = next(
            (p.signal_id for p in self.path.stops if front - 1.0 < p.s < front + AFFECT), None
        )
        return [
            _signal_box(signals[i], signals[i].key == affecting, now, self.path)
            for i in np.flatnonzero(close).tolist()
        ]

    def _navigation(self, now: WorldSnapshot, front: float) -> dict[str, Any]:
        near, far = commands(self.path, front, now.ego_s)
        near_x, near_y = self.path.point(front + 8.0)
        far_x, far_y = self.path.point(front + FAR_AHEAD)
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


def commands(path: Path, front: float, rear: float) -> tuple[Command, Command]:
    """What a navigator says now and next, with the bumper at ``front`` and the rear axle at ``rear``."""
    ahead = [c for c in path.crossings if c.end > rear and c.command is not Command.FOLLOW]
    near = Command.FOLLOW
    if ahead and ahead[0].start < front + COMMAND_AHEAD:
        near = ahead.pop(0).command
    far = ahead[0].command if ahead and ahead[0].start < front + 120.0 else Command.FOLLOW
    return near, far


def _signal_box(signal: MapSignal, affects: bool, now: WorldSnapshot, path: Path) -> dict[str, Any]:
    x, y, z = signal.position.tolist()
    box: dict[str, Any] = {
        "class": "traffic_sign",
        "id": signal.key,
        "type_id": f"traffic.{signal.kind.value}",
        "location": [_r(x), _r(-y), _r(z)],
        "rotation": [0.0, 0.0, _r(math.degrees(math.remainder(-signal.heading, math.tau)))],
        "distance": _r(math.hypot(x - now.ego.x, y - now.ego.y)),
        "affects_ego": affects,
    }
    if signal.kind is SignalKind.SPEED_LIMIT:
        box["type_id"] = f"traffic.speed_limit.{round(signal.value * 3.6)}"
        return box
    if signal.kind is SignalKind.TRAFFIC_LIGHT:
        box["class"] = "traffic_light"
        box["state"] = _LIGHTS.index(now.lights.get(signal.key, LightState.OFF))
    if len(signal.stop_lines):
        place = signal.stop_lines[0].mean(0)
        if affects:
            stop = next((p for p in path.stops if p.signal_id == signal.key), None)
            if stop is not None:
                place[:2] = path.point(stop.s)
        box["trigger_volume_location"] = [_r(place[0]), _r(-place[1]), _r(place[2])]
        box["trigger_volume_rotation"] = [0.0, 0.0, 0.0]
        box["trigger_volume_extent"] = [0.5, 1.75, 0.5]
    return box


def _sensor(mount: Mount, x: float, y: float, z: float, yaw: float) -> dict[str, Any]:
    c, s = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    place = (x + c * mount.x - s * mount.y, y + s * mount.x + c * mount.y, z + mount.z)
    turned = math.remainder(yaw + mount.yaw, 360.0)
    return {
        "location": [_r(value) for value in place],
        "rotation": [0.0, 0.0, _r(turned)],
        "intrinsic": _rounded(mount.intrinsic),
        "world2cam": _rounded(inverse_pose_matrix(*place, turned)),
        "cam2ego": _rounded(mount.cam2ego),
        "fov": mount.fov,
        "image_size_x": mount.width,
        "image_size_y": mount.height,
    }


def _lidar_points(agent: AgentState, distance: float) -> int:
    """About how many points a 64-beam lidar would return: area over squared distance, without occlusion."""
    return int(4000.0 * agent.body.height * agent.body.width / max(distance, 2.0) ** 2)


def _rounded(matrix: list[list[float]]) -> list[list[float]]:
    return [[_r(value) for value in row] for row in matrix]


def _r(value: float) -> float:
    return round(float(value), 4)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)

"""Signs, trigger volumes before stop lines, and which light or speed limit governs a vehicle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry import points_to_local, wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneKind, MapSignal, SignalKind, TownMap
from driveproof.sim.engine.actor import Actor
from driveproof.sim.engine.commands import Box, LightState
from driveproof.sim.engine.lights import LightTable
from driveproof.sim.engine.pose import Pose3
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle_table import VehicleTable

#: A light's volume reaches this far before the stop line (m) and barely beyond it; that of a sign lies around its line.
LIGHT_DEPTH_M, SIGN_DEPTH_M, BEYOND_M = 12.0, 5.0, 0.3
#: Half height of the volumes, and how far a vehicle may be above or below, metres.
HALF_HEIGHT_M, LEVEL_M = 1.5, 4.0
#: Speed limit (m/s) where neither sign nor lane says one: CARLA's 30 km/h.
UNKNOWN_LIMIT = 30.0 / 3.6
#: Lane limits are looked up once in so many steps (a multiple of the next).
_LIMIT_EVERY = 20
#: Volumes are looked up once in so many steps: a vehicle is told of its light a step late at most.
_LIGHT_EVERY = 2
_CANDIDATES = 6


class TrafficSign(Actor):
    """A stop, yield or speed-limit sign. Its plate looks along the actor's -y axis.

    ``signal`` is the map's signal, ``trigger`` the volume over the governed lanes in the actor's frame.
    """

    signal: MapSignal
    trigger: Box

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)

    @property
    def signal_id(self) -> str:
        """OpenDRIVE id."""
        return self.signal.key

    @property
    def bounding_box(self) -> Box:
        """The trigger volume, as CARLA has it."""
        return self.trigger


def type_of(signal: MapSignal) -> str:
    """CARLA's type id of a signal's actor."""
    if signal.kind is SignalKind.SPEED_LIMIT:
        return f"traffic.speed_limit.{round(signal.value * 3.6)}"
    return f"traffic.{signal.kind.value}"


def pose_of(signal: MapSignal) -> Pose3:
    """Where its actor stands: at the head, turned so that the face looks along -y."""
    x, y, z = signal.position.tolist()
    return Pose3(x, y, z, yaw=float(wrap_angle(signal.heading + np.pi / 2.0)))


def volumes(signal: MapSignal) -> Float:
    """Trigger volumes ``[L, 6]``, one a governed lane: centre x, y, z, heading of the lane, half length, half width."""
    depth = LIGHT_DEPTH_M if signal.kind is SignalKind.TRAFFIC_LIGHT else SIGN_DEPTH_M
    left, right = signal.stop_lines[:, 0], signal.stop_lines[:, 1]
    delta = left - right
    width = np.hypot(delta[:, 0], delta[:, 1])
    heading = np.arctan2(-delta[:, 0], delta[:, 1])
    middle = (left + right) / 2.0
    back = (depth - BEYOND_M) / 2.0
    return np.stack(
        [
            middle[:, 0] - back * np.cos(heading),
            middle[:, 1] - back * np.sin(heading),
            middle[:, 2],
            heading,
            np.full(len(width), (depth + BEYOND_M) / 2.0),
            np.maximum(width / 2.0 - 0.2, 0.3),
        ],
        axis=1,
    )


def trigger_box(signal: MapSignal, pose: Pose3) -> Box:
    """One box in the actor's frame (x across the road) around the volumes of the lanes that the face looks at."""
    boxes = volumes(signal)
    facing = np.cos(boxes[:, 3] - signal.heading) < -0.7
    boxes = boxes[facing] if facing.any() else boxes[:1]
    frame = np.array([pose.x, pose.y, pose.yaw])
    centres = points_to_local(boxes[:, :2], frame)
    # the volumes' corners in the actor's frame, where they stand nearly square
    turn = boxes[:, 3] - pose.yaw
    cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    reach = np.stack(
        [boxes[:, 4] * cos + boxes[:, 5] * sin, boxes[:, 4] * sin + boxes[:, 5] * cos], axis=1
    )
    low, high = (centres - reach).min(0), (centres + reach).max(0)
    (x, y), (a, b) = ((low + high) / 2.0).tolist(), ((high - low) / 2.0).tolist()
    return Box((x, y, float(boxes[:, 2].mean()) - pose.z), (a, b, HALF_HEIGHT_M))


@dataclass(frozen=True)
class _Volumes:
    box: Float
    owner: Int
    tree: cKDTree | None

    @staticmethod
    def of(signals: list[tuple[int, MapSignal]]) -> _Volumes:
        boxes = [volumes(signal) for _, signal in signals]
        owner = np.repeat([number for number, _ in signals], [len(box) for box in boxes])
        box = np.concatenate([np.zeros((0, 6)), *boxes])
        return _Volumes(box, owner.astype(np.int64), cKDTree(box[:, :2]) if len(box) else None)

    def holding(self, pose: Float, z: Float, half_length: Float) -> Int:
        """``[N]`` owner of the nearest volume that a vehicle (centre and heading ``[N, 3]``) is in, -1 for none."""
        answer = np.full(len(pose), -1, dtype=np.int64)
        if self.tree is None or not len(pose):
            return answer
        reach = self.box[:, 4].max() + half_length.max() + 2.0
        count = min(_CANDIDATES, len(self.box))
        gaps, numbers = self.tree.query(pose[:, :2], k=count, distance_upper_bound=reach)
        distance, found = (
            np.asarray(gaps).reshape(-1, count),
            np.asarray(numbers).reshape(-1, count),
        )
        near = np.flatnonzero(np.isfinite(distance[:, 0]))
        if not len(near):
            return answer
        box = self.box[np.minimum(found[near], len(self.box) - 1)]
        gap = pose[near, None, :2] - box[..., :2]
        cos, sin = np.cos(box[..., 3]), np.sin(box[..., 3])
        along = np.abs(gap[..., 0] * cos + gap[..., 1] * sin)
        across = np.abs(gap[..., 1] * cos - gap[..., 0] * sin)
        ahead = np.cos(pose[near, None, 2] - box[..., 3])
        inside = np.isfinite(distance[near]) & (ahead > 0.5)
        inside &= along < box[..., 4] + half_length[near, None] * ahead
        inside &= (across < box[..., 5]) & (np.abs(z[near, None] - box[..., 2]) < LEVEL_M)
        best = inside.argmax(1)
        hit = inside[np.arange(len(near)), best]
        answer[near[hit]] = self.owner[found[near[hit], best[hit]]]
        return answer


class Governance:
    """Finds for every vehicle the light and the speed limit that hold for it."""

    def __init__(
        self, town: TownMap, lights: list[tuple[int, MapSignal]], signs: list[MapSignal]
    ) -> None:
        self._town = town
        self._lights = _Volumes.of(lights)
        limits = [sign for sign in signs if sign.kind is SignalKind.SPEED_LIMIT]
        self._values = np.array([sign.value for sign in limits])
        self._limits = _Volumes.of(list(enumerate(limits)))
        self._slot: Int = np.zeros(0, dtype=np.int64)
        driving = town.lanes.kind == LaneKind.DRIVING
        self._lanes_say = bool(np.isfinite(town.lanes.speed_limit[driving]).any())

    def lane_limit(self, pose: Float) -> Float:
        """``[N]`` speed limits of the lanes at ``pose`` ``[N, 3]``, NaN where the map is silent."""
        lane = self._town.nearest_lane(pose[:, :2], pose[:, 2]).lane
        return self._town.lanes.speed_limit[lane]

    def update(
        self, table: ActorTable, vehicles: VehicleTable, lights: LightTable, frame: int
    ) -> None:
        """Write ``light_id``, ``light_state`` and ``speed_limit`` of all vehicles."""
        if not len(vehicles):
            return
        rows = vehicles.row
        if frame % _LIGHT_EVERY == 0 or len(self._slot) != len(rows):
            pose = table.position[rows].copy()
            pose[:, 2] = table.rotation[rows, 2]
            z, half = table.position[rows, 2], table.half_extent[rows, 0]
            self._slot = self._lights.holding(pose, z, half)
            if len(self._values):
                sign = self._limits.holding(pose, z, half)
                vehicles.speed_limit[sign >= 0] = self._values[sign[sign >= 0]]
            if self._lanes_say and frame % _LIMIT_EVERY == 0:
                limit = self.lane_limit(pose)
                known = np.isfinite(limit)
                vehicles.speed_limit[known] = limit[known]
        governed = np.flatnonzero(self._slot >= 0)
        vehicles.light_id[:] = 0
        vehicles.light_state[:] = LightState.GREEN
        if len(governed):
            slot = self._slot[governed]
            vehicles.light_id[governed] = lights.id[slot]
            vehicles.light_state[governed] = lights.state[slot]

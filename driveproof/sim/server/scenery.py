"""What stands still in a town and what a ray meets: buildings, lights, signs, poles, the ground and all actors.

Right-handed, metres, radians.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, SignalKind, TownMap
from driveproof.render.buildings import town_blocks
from driveproof.render.labels import Label
from driveproof.sim.engine import ActorKind, Engine, Pose3, StaticBox
from driveproof.sim.engine.ground import Ground
from driveproof.sim.engine.pose import rotation_matrices

#: Half sizes in metres of the lamps of a light and of the plate of a sign, and half the width of their poles.
LAMPS, PLATE, POLE = (0.2, 0.25, 0.6), (0.05, 0.35, 0.35), 0.1
#: A ray is looked at in steps of at least this many metres, and its hits are found to this many.
MIN_STEP_M, EXACT_M = 0.5, 1e-3
#: The land that belongs to no lane begins this far beyond the border of the last one.
VERGE_M = 0.3

_PAVED = {LaneKind.SIDEWALK: Label.SIDEWALK, LaneKind.NONE: Label.TERRAIN}
_SOLID = (ActorKind.VEHICLE, ActorKind.WALKER, ActorKind.PROP)


@dataclass(frozen=True, slots=True)
class Thing:
    """A part of the town: number and name, semantic tag, and a box (pose of its centre, half sizes ``(x, y, z)``)."""

    key: int
    name: str
    label: Label
    pose: Pose3
    half_extent: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a ray meets something: its place ``(x, y, z)``, what that is, and how far along the ray (metres)."""

    point: tuple[float, float, float]
    label: int
    distance: float


def building_boxes(town: TownMap) -> list[StaticBox]:
    """The buildings of a town above the ground, as the engine wants them."""
    blocks = town_blocks(town)
    rows = np.column_stack([blocks.poses, blocks.base, blocks.sizes / 2.0]).tolist()
    return [StaticBox(x, y, z + c, a, b, c, yaw) for x, y, yaw, z, a, b, c in rows]


class Scenery:
    """The static things of an engine's town, and rays among them and the actors.

    Parameters
    ----------
    ground
        The surface that rays meet.
    """

    def __init__(self, engine: Engine, ground: Ground) -> None:
        self._engine = engine
        self._ground = ground

    @cached_property
    def things(self) -> tuple[Thing, ...]:
        """Buildings, then the heads and poles of the signals; numbered from 1."""
        town = self._engine.town
        buildings = [
            (Label.BUILDING, Pose3(b.x, b.y, b.z, yaw=b.heading), (b.half_x, b.half_y, b.half_z))
            for b in building_boxes(town)
        ]
        found = [*buildings, *self._signals(town)]
        return tuple(
            Thing(key, f"{label.name.title()}_{key:05d}", label, pose, half)
            for key, (label, pose, half) in enumerate(found, 1)
        )

    def prepare(self) -> None:
        """Build now what is otherwise built when it is first asked for: a large town takes seconds."""
        assert self._boxes

    def of_label(self, label: int) -> list[Thing]:
        """The things with this semantic tag; all of them for 255."""
        return [thing for thing in self.things if label in (255, thing.label)]

    def heads(self, signal_id: str) -> list[Thing]:
        """The lamps of the traffic light with this OpenDRIVE id."""
        lamps = self.of_label(Label.TRAFFIC_LIGHT)
        lights = [s for s in self._engine.town.signals if s.kind is SignalKind.TRAFFIC_LIGHT]
        return [thing for thing, s in zip(lamps, lights, strict=True) if s.key == signal_id]

    def project(self, start: Float, direction: Float, reach: float) -> Hit | None:
        """The first thing that a ray from ``start`` ``[3]`` along ``direction`` ``[3]`` meets within ``reach`` metres."""
        length = float(np.linalg.norm(direction))
        if not (np.isfinite([*start, length, reach]).all() and length > 0.0 and reach > 0.0):
            return None
        hits = self.cast(start, np.asarray(start) + np.asarray(direction) / length * reach)
        return hits[0] if hits else None

    def cast(self, start: Float, end: Float) -> list[Hit]:
        """All surfaces between two points ``[3]``, nearest first: one hit a thing, at the side where the ray enters."""
        start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        reach = float(np.linalg.norm(end - start))
        if not np.isfinite(reach) or reach < EXACT_M:
            return []
        ray = (end - start) / reach
        found = [(d, label) for d, label in self._box_hits(start, ray) if d <= reach]
        down = self._ground_hit(start, ray, reach)
        if down is not None:
            x, y, z = (start + down * ray).tolist()
            found.append((down, int(self._surface_label(x, y, z))))
        return [
            Hit((p[0], p[1], p[2]), label, distance)
            for distance, label in sorted(found)
            for p in [(start + distance * ray).tolist()]
        ]

    def _heights(self, x: Float, y: Float, near_z: Float) -> Float:
        return self._ground.surface(x, y, near_z)[0]

    def _signals(self, town: TownMap) -> list[tuple[Label, Pose3, tuple[float, float, float]]]:
        found: list[tuple[Label, Pose3, tuple[float, float, float]]] = []
        for signal in town.signals:
            light = signal.kind is SignalKind.TRAFFIC_LIGHT
            label, half = (Label.TRAFFIC_LIGHT, LAMPS) if light else (Label.TRAFFIC_SIGN, PLATE)
            x, y, z = signal.position.tolist()
            found.append((label, Pose3(x, y, z, yaw=signal.heading), half))
            # the road at the stop line is as high as at the pole, and known without looking
            line = signal.stop_lines[..., 2]
            ground = float(
                line.mean()
                if line.size
                else self._heights(np.array([x]), np.array([y]), np.array([z]))[0]
            )
            rise = (z - half[2] - ground) / 2.0
            if rise > 0.0:
                found.append((Label.POLE, Pose3(x, y, ground + rise), (POLE, POLE, rise)))
        return found

    @cached_property
    def _boxes(self) -> tuple[Float, Float, Float, Float]:
        """Centres, rotations and half sizes ``[N, 3]`` and labels ``[N]`` of the things."""
        poses = [thing.pose for thing in self.things]
        return (
            np.array([p.position for p in poses]).reshape(-1, 3),
            np.array([p.rotation for p in poses]).reshape(-1, 3),
            np.array([thing.half_extent for thing in self.things]).reshape(-1, 3),
            np.array([thing.label for thing in self.things], dtype=np.float64),
        )

    def _box_hits(self, start: Float, ray: Float) -> list[tuple[float, int]]:
        """Distance and label of every box that the ray enters (slab method); boxes around the start do not count."""
        table = self._engine.table
        rows = np.flatnonzero(np.isin(table.kind, _SOLID))
        centre, rotation, half, label = self._boxes
        turned = np.einsum(
            "nij,nj->ni", rotation_matrices(table.rotation[rows]), table.box_offset[rows]
        )
        centre = np.concatenate([centre, table.position[rows] + turned])
        rotation = np.concatenate([rotation, table.rotation[rows]])
        half = np.concatenate([half, table.half_extent[rows]])
        label = np.concatenate([label, table.label[rows]])
        axes = rotation_matrices(rotation)
        origin = np.einsum("nji,nj->ni", axes, start - centre)
        along = np.einsum("nji,j->ni", axes, ray)
        along = np.where(np.abs(along) < 1e-12, 1e-12, along)
        low, high = (-half - origin) / along, (half - origin) / along
        enter = np.minimum(low, high).max(1)
        leave = np.maximum(low, high).min(1)
        hit = np.flatnonzero((enter <= leave) & (enter >= 0.0))
        return [(float(enter[k]), int(label[k])) for k in hit.tolist()]

    def _ground_hit(self, start: Float, ray: Float, reach: float) -> float | None:
        """Distance to where the ray goes below the ground, or None if it starts there or never does."""

        def gap(distance: float) -> float:
            x, y, z = start + distance * ray
            return float(z - self._heights(np.array([x]), np.array([y]), np.array([z]))[0])

        distance, above = 0.0, gap(0.0)
        if above < 0.0:
            return None
        while distance < reach:
            # between two levels of a road the nearer one may change: never step past half of the free height
            following = min(distance + max(MIN_STEP_M, above / 2.0), reach)
            above = gap(following)
            if above <= 0.0:
                low, high = distance, following
                while high - low > EXACT_M:
                    middle = (low + high) / 2.0
                    low, high = (middle, high) if gap(middle) > 0.0 else (low, middle)
                return high
            distance = following
        return None

    def _surface_label(self, x: float, y: float, z: float) -> Label:
        """What covers the ground at a place."""
        town = self._engine.town
        best = Label.TERRAIN
        for kinds in ((LaneKind.DRIVING, LaneKind.BIDIRECTIONAL), tuple(LaneKind)):
            if not len(town.lanes.of_kind(*kinds)):
                continue
            match = town.nearest_lane([x, y], kinds=kinds)
            lane = int(match.lane[0])
            part = town.lanes.points(lane)
            width = float(np.interp(match.arc[0], town.lanes.arc[part], town.lanes.width[part]))
            if match.distance[0] <= width / 2.0 + VERGE_M:
                best = _PAVED.get(LaneKind(int(town.lanes.kind[lane])), Label.ROAD)
                break
        return best

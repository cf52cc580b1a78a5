"""An engine with an ego vehicle on an open stretch of road, and hands to build with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from driveproof.maps import LaneKind, TownMap
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Actor, Pose3
from driveproof.sim.engine.engine import Engine

FLAT, HILLY = "Town01", "Town04"


@dataclass
class World:
    """An engine, the ego in it, and hands to build with."""

    engine: Engine
    ego: Actor

    def at(self, x: float, y: float, rise: float = 0.0, yaw: float = 0.0) -> Pose3:
        """A pose at an ego-frame place, ``rise`` metres above the ground."""
        pose = self.ego.pose
        cos, sin = np.cos(pose.yaw), np.sin(pose.yaw)
        px, py = pose.x + cos * x - sin * y, pose.y + sin * x + cos * y
        z = self.engine.ground_height(px, py, pose.z)
        return Pose3(px, py, z + rise, yaw=pose.yaw + yaw)

    def spawn(self, type_id: str, x: float, y: float, rise: float = 0.0, yaw: float = 0.0) -> Actor:
        """Something at an ego-frame place that stays where it is put."""
        actor = self.engine.spawn(type_id, {}, self.at(x, y, rise, yaw))
        actor.simulate_physics = False
        return actor

    def sensor(
        self, name: str, pose: Pose3 | None = None, attributes: Mapping[str, str] | None = None
    ) -> Actor:
        """A sensor on the ego, by default 1.8 m above its origin."""
        blueprint = self.engine.library[f"sensor.{name}"]
        values = blueprint.values(attributes or {})
        mount = pose or Pose3(z=1.8)
        return self.engine.spawn(blueprint.id, values, mount, parent=self.ego.id)


def _longest(town: TownMap, steepest: bool) -> int:
    """Row of the middle of a long lane; with ``steepest`` of the one that climbs most."""
    lanes = town.lanes
    long = lanes.of_kind(LaneKind.DRIVING)
    long = long[(lanes.length[long] > 60.0) & ~lanes.is_junction[long]]
    rise = [np.ptp(lanes.centre[lanes.points(k), 2]) / lanes.length[k] for k in long.tolist()]
    best = long[int(np.argmax(rise))] if steepest else long[int(lanes.length[long].argmax())]
    part = lanes.points(int(best))
    return (part.start + part.stop) // 2


def build_world(town: TownMap, hilly: bool) -> World:
    """A world whose ego has come to rest."""
    engine = Engine(town, library(), seed=3)
    row = _longest(town, steepest=hilly)
    x, y, z = town.lanes.centre[row].tolist()
    yaw = float(town.lanes.heading[row])
    ego = engine.spawn("vehicle.lincoln.mkz_2020", {}, Pose3(x, y, z + 0.05, yaw=yaw))
    for _ in range(10):
        engine.step(0.05)
    return World(engine, ego)

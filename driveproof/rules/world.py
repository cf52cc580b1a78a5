"""Everything a rule may look at: the scene in arrays, and a batch of simulated proposals in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Bool, Float
from driveproof.rules.areas import CENTER, Areas, lane_driven, locate
from driveproof.rules.roads import RoadMap
from driveproof.rules.states import N_STATE, VehicleShape, ego_points
from driveproof.rules.traffic import Signals, Traffic
from driveproof.rules.variants import NAVSIM, Quirks


@dataclass(frozen=True)
class History:
    """Logged rear-axle states before step 0: ``times`` ``[H]`` ascending, last 0 s; ``states`` ``[H, 8]``.

    Columns: x, y, heading (world), vx, vy, ax, ay (ego frame), steering angle.
    """

    times: Float
    states: Float

    def __post_init__(self) -> None:
        if self.states.shape != (len(self.times), 8) or len(self.times) < 2:
            raise BadInput(
                "expected two or more states with eight numbers each", field="ego_history"
            )
        if not (np.isfinite(self.times).all() and np.isfinite(self.states).all()):
            raise BadInput("not finite", field="ego_history")
        if (np.diff(self.times) <= 0.0).any():
            raise BadInput("times must ascend", field="ego_history")
        if self.times[0] > -1.5 + 1e-6 or abs(self.times[-1]) > 1e-6:
            raise BadInput("must reach from -1.5 s to 0 s", field="ego_history")


@dataclass(frozen=True)
class World:
    """One scene: the ego at step 0 (``[11]``), its shape, the map, traffic, lights, the past."""

    ego: Float
    shape: VehicleShape
    roads: RoadMap
    traffic: Traffic
    signals: Signals = field(default_factory=Signals.none)
    history: History | None = None

    def __post_init__(self) -> None:
        if self.ego.shape != (N_STATE,):
            raise BadInput(f"expected {N_STATE} numbers", field="ego")
        if not np.isfinite(self.ego).all():
            raise BadInput("not finite", field="ego")

    @cached_property
    def others(self) -> Traffic:
        """The traffic without what touches the ego at step 0, as NAVSIM's log replay drops it."""
        return self.traffic.without_contact_at_start(self.ego, self.shape)

    def without_history(self) -> World:
        """The same scene for a plan that is judged without the past (the human filter does)."""
        return replace(self, history=None)


@dataclass(frozen=True)
class Batch:
    """N simulated proposals ``states`` ``[N, 41, 11]`` in one world, and what several rules derive from them."""

    world: World
    states: Float
    quirks: Quirks = NAVSIM
    keep_touching: bool = False
    """Judge agents that touch the ego at step 0, too (v1 does)."""

    def __len__(self) -> int:
        return len(self.states)

    @property
    def traffic(self) -> Traffic:
        """The tracks that are judged."""
        return self.world.traffic if self.keep_touching else self.world.others

    @cached_property
    def points(self) -> Float:
        """Corners, centre and rear axle ``[N, 41, 6, 2]``."""
        return ego_points(self.states, self.world.shape)

    @cached_property
    def centers(self) -> Float:
        """Box centres ``[N, 41, 2]``."""
        return np.ascontiguousarray(self.points[:, :, CENTER])

    @cached_property
    def areas(self) -> Areas:
        """Where on the map the box is."""
        return locate(self.points, self.world.roads)

    @cached_property
    def lane(self) -> tuple[Float, Bool]:
        """Distance to the centreline of the lane driven in and "against its direction" (corrected variant only)."""
        return lane_driven(self.points, self.states, self.world.roads)

    @property
    def has_map(self) -> bool:
        """Whether any polygon makes an area drivable."""
        return bool(self.world.roads.drivable.any())

    @property
    def has_lanes(self) -> bool:
        """Whether the map has a lane."""
        return bool(self.world.roads.lanes.any())

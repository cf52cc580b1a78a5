"""The JSON of an EPDMS case as types: schema ``navsim-epdms-golden/1``; unknown keys are ignored."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import BaseModel

from driveproof.geometry.arrays import Float
from driveproof.rules.states import DT, HORIZON


class Vehicle(BaseModel):
    """Size of the ego, metres."""

    length: float
    width: float
    wheel_base: float
    rear_axle_to_center: float


class State(BaseModel):
    """A rear-axle state: pose in the world, velocity and acceleration in the ego frame."""

    x: float
    y: float
    heading: float
    vx: float
    vy: float
    ax: float
    ay: float
    steering_angle: float = 0.0


class Ego(State):
    """The ego at step 0 (or of the previous frame)."""

    steering_rate: float = 0.0
    angular_velocity: float = 0.0
    angular_acceleration: float = 0.0

    def array(self) -> Float:
        """The eleven numbers of a state."""
        motion = [self.x, self.y, self.heading, self.vx, self.vy, self.ax, self.ay]
        steering = [self.steering_angle, self.steering_rate]
        return np.array([*motion, *steering, self.angular_velocity, self.angular_acceleration])


class Past(State):
    """A logged state ``t`` seconds after step 0."""

    t: float

    def array(self) -> list[float]:
        """The eight numbers of a past state."""
        motion = [self.x, self.y, self.heading, self.vx, self.vy, self.ax, self.ay]
        return [*motion, self.steering_angle]


class Polygon(BaseModel):
    """A map polygon; the centreline of a lane in driving direction."""

    id: str
    type: Literal[
        "ROADBLOCK",
        "ROADBLOCK_CONNECTOR",
        "LANE",
        "LANE_CONNECTOR",
        "INTERSECTION",
        "CARPARK_AREA",
        "DRIVABLE_AREA",
    ]
    exterior: list[tuple[float, float]]
    centerline: list[tuple[float, float, float]] | None = None


class Map(BaseModel):
    """The map around the ego and the route through it."""

    polygons: list[Polygon]
    route_lane_ids: list[str]
    centerline: list[tuple[float, float, float]] | None = None


class Light(BaseModel):
    """A light by the lane connector that it governs; ``red`` a step."""

    lane_connector_id: str
    red: list[bool]


class Agent(BaseModel):
    """A track; a state is null where the track does not exist."""

    token: str
    type: str
    length: float
    width: float
    states: list[tuple[float, float, float, float, float] | None]


class Trajectory(BaseModel):
    """Planned rear-axle poses at dt, 2 dt, … in the ego frame."""

    dt: float
    frame: Literal["ego"] = "ego"
    poses: list[tuple[float, float, float]]


class Proposal(Trajectory):
    """A trajectory with a name."""

    name: str


class PreviousFrame(BaseModel):
    """The ego and its plans, at most 0.55 s earlier."""

    t: float
    ego: Ego
    proposals: dict[str, Trajectory]


class Document(BaseModel):
    """One case."""

    schema_: Literal["navsim-epdms-golden/1"] = "navsim-epdms-golden/1"
    id: str
    num_poses: int = HORIZON
    dt: float = DT
    vehicle: Vehicle
    ego: Ego
    ego_history: list[Past] | None = None
    map: Map
    traffic_lights: list[Light] = []
    agents: list[Agent] = []
    reference_trajectory: Trajectory | None = None
    human_trajectory: Trajectory | None = None
    proposals: list[Proposal]
    previous_frame: PreviousFrame | None = None

    model_config = {"alias_generator": lambda name: name.rstrip("_"), "populate_by_name": True}

"""Ego states and the ego box: the columns of a state array, the vehicle's shape, its corners.

A state is 11 numbers of the **rear axle**: x, y [m], heading [rad] in the world; vx, vy [m/s] and ax, ay
[m/s²] in the ego frame; steering angle [rad], steering rate [rad/s], yaw rate [rad/s], yaw acceleration
[rad/s²]. Step k is k * 0.1 s; 41 steps (0 … 40) make the horizon of 4 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float

DT = 0.1
"""Seconds between two simulated steps."""
HORIZON = 40
"""Simulated steps after step 0."""
STEPS = HORIZON + 1

X, Y, HEADING, VX, VY, AX, AY, STEER, STEER_RATE, YAW_RATE, YAW_ACCEL = range(11)
N_STATE = 11


@dataclass(frozen=True)
class VehicleShape:
    """Size of the ego vehicle in metres; the defaults are nuPlan's Chrysler Pacifica."""

    length: float = 5.176
    width: float = 2.297
    wheel_base: float = 3.089
    rear_axle_to_center: float = 1.461

    def __post_init__(self) -> None:
        for name in ("length", "width", "wheel_base"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ValueError(f"VehicleShape.{name}: must be a positive number, got {value}")
        if not np.isfinite(self.rear_axle_to_center):
            raise ValueError("VehicleShape.rear_axle_to_center: not finite")


def shape_of(length: float, width: float) -> VehicleShape:
    """A vehicle of that size in metres with its axles where NAVSIM's vehicle has them, in proportion."""
    standard = VehicleShape()
    scale = length / standard.length
    return VehicleShape(
        length, width, standard.wheel_base * scale, standard.rear_axle_to_center * scale
    )


def box_centers(states: Float, shape: VehicleShape) -> Float:
    """Box centres ``[..., 2]`` in the world of rear-axle states ``[..., >=3]``."""
    heading = states[..., HEADING]
    offset = np.stack([np.cos(heading), np.sin(heading)], axis=-1) * shape.rear_axle_to_center
    centers: Float = states[..., :2] + offset
    return centers


def ego_points(states: Float, shape: VehicleShape) -> Float:
    """Six points of each state, ``[..., 6, 2]``: front left, rear left, rear right, front right, centre, rear axle."""
    cos, sin = np.cos(states[..., HEADING]), np.sin(states[..., HEADING])
    center = box_centers(states, shape)
    forward = np.stack([cos, sin], axis=-1) * (shape.length / 2.0)
    left = np.stack([-sin, cos], axis=-1) * (shape.width / 2.0)
    corners = [center + forward + left, center - forward + left]
    corners += [center - forward - left, center + forward - left]
    return np.stack([*corners, center, states[..., :2]], axis=-2)

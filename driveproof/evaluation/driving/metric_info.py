"""``metric_info.json`` of Bench2Drive: the ego's motion at every tick, in CARLA's world.

``{tick: {acceleration, angular_velocity, forward_vector, right_vector, location, rotation}}``: vectors of three,
left-handed, metres and seconds; angular velocity in degrees a second and rotation (roll, pitch, yaw) in degrees, as
CARLA's client gives them. There is no time in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from driveproof.errors import BadInput
from driveproof.evaluation.driving.motion import Motion
from driveproof.files import atomic_open, read_json
from driveproof.geometry.arrays import Float
from driveproof.geometry.carla_frame import (
    from_carla_points,
    from_carla_yaw,
    to_carla_points,
    to_carla_yaw,
)

TICK_S = 0.05
"""Seconds between ticks of the leaderboard (20 Hz)."""
Vector = tuple[float, float, float]


@dataclass(frozen=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Tick:
    """One entry."""

    acceleration: Vector
    angular_velocity: Vector
    forward_vector: Vector
    right_vector: Vector
    location: Vector
    rotation: Vector


_ADAPTER = TypeAdapter(dict[int, Tick])


def write_metric_info(path: str | Path, motion: Motion) -> None:
    """Write the table of a drive in their form, whole or not at all."""
    cos, sin, zero = np.cos(motion.heading), np.sin(motion.heading), np.zeros(len(motion))
    forward = np.stack([cos, sin, zero], axis=1)
    left = np.stack([-sin, cos, zero], axis=1)
    accel = motion.accel_lon[:, None] * forward + motion.accel_lat[:, None] * left
    columns = {
        "acceleration": to_carla_points(accel),
        "angular_velocity": np.stack([zero, zero, -np.degrees(motion.yaw_rate)], axis=1),
        "forward_vector": to_carla_points(forward),
        "right_vector": to_carla_points(-left),
        "location": to_carla_points(np.stack([motion.x, motion.y, motion.z], axis=1)),
        "rotation": np.stack([zero, zero, to_carla_yaw(motion.heading)], axis=1),
    }
    content = {
        str(tick): {name: (values[tick] + 0.0).tolist() for name, values in columns.items()}
        for tick in range(len(motion))
    }
    with atomic_open(path) as stream:
        json.dump(content, stream, allow_nan=False)


def read_metric_info(path: str | Path, tick_s: float = TICK_S) -> Motion:
    """The motion in such a file; pedals and completion, which it lacks, are zero.

    Parameters
    ----------
    tick_s
        Seconds between ticks.

    Raises
    ------
    BadInput
        Naming the tick and the key.
    """
    content: Any = read_json(path)
    try:
        ticks = _ADAPTER.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"not a metric_info: {first['msg']}", path=path, field=field) from None
    if not ticks:
        raise BadInput("there is no tick in it", path=path)
    numbers = sorted(ticks)

    def column(name: str) -> Float:
        return np.array([getattr(ticks[n], name) for n in numbers], dtype=np.float64)

    accel, place = column("acceleration"), from_carla_points(column("location"))
    zero = np.zeros(len(numbers))
    return Motion(
        time=tick_s * np.array(numbers, dtype=np.float64),
        x=place[:, 0],
        y=place[:, 1],
        z=place[:, 2],
        heading=from_carla_yaw(column("rotation")[:, 2]),
        speed=_speed(place, column("forward_vector"), tick_s * np.array(numbers)),
        accel_lon=(accel * column("forward_vector")).sum(axis=1),
        accel_lat=-(accel * column("right_vector")).sum(axis=1),
        yaw_rate=-np.radians(column("angular_velocity")[:, 2]),
        throttle=zero,
        brake=zero,
        steer=zero,
        completion=zero,
    )


def _speed(place: Float, forward: Float, time: Float) -> Float:
    """m/s along the heading, from how the place changes."""
    if len(place) < 2:
        return np.zeros(len(place))
    velocity = np.gradient(place, time, axis=0)
    return np.asarray((velocity * from_carla_points(forward)).sum(axis=1))

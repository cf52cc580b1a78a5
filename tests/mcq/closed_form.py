"""Closed-form driving: constant yaw rate, constant acceleration down to standstill."""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.scene import Command, Scene


def drive(speed: float, acceleration: float = 0.0, yaw_rate: float = 0.0) -> Float:
    """``[10, 3]`` poses at 0.5 .. 5.0 s of a car that brakes to a stop at most."""
    times = np.linspace(0, 5, 501)
    speeds = np.maximum(speed + acceleration * times, 0)
    heading = yaw_rate * times * (speeds > 0)
    heading = np.maximum.accumulate(np.abs(heading)) * np.sign(yaw_rate)
    step = times[1]
    x = np.concatenate([[0], np.cumsum(speeds[:-1] * np.cos(heading[:-1])) * step])
    y = np.concatenate([[0], np.cumsum(speeds[:-1] * np.sin(heading[:-1])) * step])
    return np.stack([x, y, heading], axis=-1)[50::50]


def make_scene(
    key: str, speed: float, acceleration: float = 0.0, yaw_rate: float = 0.0, source: str = "closed"
) -> Scene:
    return Scene(
        record_key=key,
        scene_key=key.rsplit("/", 1)[0],
        source=source,
        timestamp_s=0.0,
        history=np.array([[-speed * t, 0, 0] for t in (1.5, 1.0, 0.5, 0.0)]),
        future=drive(speed, acceleration, yaw_rate),
        velocity=np.array([speed, 0.0]),
        acceleration=np.array([acceleration, 0.0]),
        command=Command.FOLLOW,
        situation="closed form",
    )


def many_scenes(n_drives: int = 12, per_drive: int = 30, seed: int = 0) -> list[Scene]:
    rng = np.random.default_rng(seed)
    scenes = []
    for number in range(n_drives):
        for frame in range(per_drive):
            kind = frame % 5
            speed = float(rng.uniform(4, 14))
            acceleration = -speed / 3 if kind == 0 else -0.8 * speed / 5 if kind == 1 else 0.0
            yaw = float(rng.choice([-1, 1]) * rng.uniform(0.15, 0.4)) if kind == 2 else 0.0
            speed = float(rng.uniform(0, 1.5)) if kind == 3 else speed
            scenes.append(make_scene(f"closed/{number:02d}/{frame:04d}", speed, acceleration, yaw))
    return scenes

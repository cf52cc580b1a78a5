"""Small, exact stand-ins for tests and examples: closed-form logs and scenes."""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import rotate
from driveproof.scene import (
    AgentKind,
    AgentTracks,
    Command,
    Log,
    Scene,
    WindowReport,
    WindowRules,
    scenes_of,
)


def motion(
    times: Float, *, speed: float = 8.0, acceleration: float = 0.0, yaw_rate: float = 0.0
) -> tuple[Float, Float]:
    """Closed-form motion from the origin along x: constant acceleration until standstill, constant curvature.

    Returns
    -------
    Poses ``[T, 3]`` and body velocities ``[T, 2]`` at ``times`` ``[T]`` (seconds, may be negative).
    """
    stop = -speed / acceleration if acceleration < 0 else np.inf
    clock = np.minimum(times, stop)
    distance = speed * clock + 0.5 * acceleration * clock**2
    now = speed + acceleration * clock
    curvature = yaw_rate / speed if speed else 0.0
    heading = curvature * distance
    if abs(curvature) > 1e-12:
        x, y = np.sin(heading) / curvature, (1.0 - np.cos(heading)) / curvature
    else:
        x, y = distance, np.zeros_like(distance)
    return np.stack([x, y, heading], axis=-1), np.stack([now, np.zeros_like(now)], axis=-1)


def make_log(
    *,
    log_id: str = "log",
    speed: float = 8.0,
    acceleration: float = 0.0,
    yaw_rate: float = 0.0,
    seconds: float = 12.0,
    rate: float = 10.0,
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    command: Command = Command.FOLLOW,
    agents: AgentTracks | None = None,
    source: str = "made",
) -> Log:
    """A log of closed-form motion that starts at the pose ``origin`` of its world."""
    times = np.arange(round(seconds * rate) + 1) / rate
    poses, velocity = motion(times, speed=speed, acceleration=acceleration, yaw_rate=yaw_rate)
    world = np.concatenate(
        [rotate(poses[:, :2], origin[2]) + np.array(origin[:2]), poses[:, 2:] + origin[2]], axis=1
    )
    return Log(
        source=source,
        log_id=log_id,
        times=times,
        poses=world,
        velocity=velocity,
        command=np.full(len(times), int(command)),
        agents=agents,
    )


def make_scene(**kwargs: object) -> Scene:
    """The first usable moment of :func:`make_log` (same arguments)."""
    log = make_log(**kwargs)  # type: ignore[arg-type]
    return next(scenes_of(log, WindowRules(), WindowReport()))


def make_lead(
    distance: float, speed: float, times: Float, *, track_id: str = "lead"
) -> AgentTracks:
    """One car that starts ``distance`` metres ahead on the x axis and drives at constant ``speed``."""
    x = distance + speed * times
    zero = np.zeros_like(x)
    states = np.stack([x, zero, zero, np.full_like(x, speed), zero], axis=-1)[None]
    return AgentTracks(
        (track_id,),
        (AgentKind.VEHICLE,),
        times,
        np.array([[4.5, 1.9, 1.5]]),
        states,
        np.ones(states.shape[:2], dtype=bool),
    )

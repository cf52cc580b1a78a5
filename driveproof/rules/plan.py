"""A planned trajectory as the simulator wants it: absolute poses every 0.1 s, the ego pose first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import poses_to_world
from driveproof.rules.states import DT, HORIZON, STEPS


def plan_poses(origin: ArrayLike, relative: ArrayLike, dt: float) -> Float:
    """Plans in the world at steps 0 … 40, interpolated linearly.

    Parameters
    ----------
    origin
        Ego rear-axle pose ``[3]`` at step 0 in the world.
    relative
        Planned rear-axle poses ``[..., T, 3]`` at dt, 2 dt, … in the ego frame of ``origin``.
    dt
        Seconds between planned poses; ``T * dt`` must reach 4 s.

    Returns
    -------
    Poses ``[..., 41, 3]``; x and y are interpolated linearly, the heading along its unwrapped course.

    Raises
    ------
    ValueError
        If the plan does not reach the horizon, ``dt`` is not positive or a pose is not finite.
    """
    origin, relative = np.asarray(origin, np.float64), np.asarray(relative, np.float64)
    if not (np.isfinite(dt) and dt > 0.0):
        raise ValueError(f"dt must be positive, got {dt}")
    if relative.ndim < 2 or relative.shape[-1] != 3:
        raise ValueError(f"poses: expected [..., T, 3], got {relative.shape}")
    if not np.isfinite(relative).all():
        raise ValueError("poses: not finite")
    knots = relative.shape[-2]
    if knots * dt < HORIZON * DT - 1e-6:
        raise ValueError(f"{knots} poses at {dt:g} s end before {HORIZON * DT:g} s")
    world = poses_to_world(relative, origin)
    start = np.broadcast_to(origin, (*world.shape[:-2], 1, 3))
    path = np.concatenate([start, world], axis=-2)
    path[..., 2] = np.unwrap(path[..., 2], axis=-1)
    position = np.minimum(np.arange(STEPS) * DT / dt, knots)
    # A step that falls on a planned pose must hit it exactly, in spite of 3 * 0.1 != 0.3.
    position = np.where(np.abs(position - np.rint(position)) < 1e-9, np.rint(position), position)
    before = np.minimum(position.astype(np.int64), knots - 1)
    share = (position - before)[:, None]
    poses = path[..., before, :] * (1.0 - share) + path[..., before + 1, :] * share
    poses[..., 2] = (poses[..., 2] + np.pi) % (2.0 * np.pi) - np.pi
    return np.asarray(poses, np.float64)

"""Cutting scenes out of logs: resampling to the common grid, and rejecting what cannot be trusted.

A moment is rejected, with a reason that is counted, when

* ``short_history`` / ``short_future``: the log does not reach 1.5 s back or 5 s ahead,
* ``gap``: two consecutive samples inside the window are further apart than ``max_gap_s``,
* ``jump``: the ego would move faster than ``max_speed`` or turn faster than ``max_yaw_rate``,
* ``not_finite``: a pose or velocity inside the window is NaN or infinite,
* ``clock``: time does not increase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float, Int
from driveproof.geometry.kinematics import differentiate
from driveproof.geometry.se2 import points_to_local, poses_to_local, rotate, wrap_angle
from driveproof.scene.log import Log
from driveproof.scene.types import (
    FUTURE_TIMES,
    HISTORY_TIMES,
    AgentTracks,
    ImageRef,
    Scene,
    TrafficSignal,
)

_TOLERANCE_S = 1e-3


@dataclass(frozen=True)
class WindowRules:
    """What makes a moment of a log usable.

    ``stride_s`` is the distance between moments where the log names no anchors; ``agent_step_s`` the
    grid on which agents are kept; ``image_tolerance_s`` how far a picture may be from its nominal time.
    """

    stride_s: float = 0.5
    max_gap_s: float = 0.6
    max_speed: float = 60.0
    max_yaw_rate: float = 2.5
    image_tolerance_s: float = 0.15
    agent_step_s: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 < value < float("inf"):
                raise BadInput(f"must be a positive number of finite size, not {value}", field=name)


@dataclass
class WindowReport:
    """What became of the moments of one or more logs."""

    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    def merge(self, other: WindowReport) -> None:
        """Add the counts of ``other``."""
        self.kept += other.kept
        self.rejected.update(other.rejected)

    @property
    def total(self) -> int:
        """Moments looked at."""
        return self.kept + sum(self.rejected.values())


def scenes_of(log: Log, rules: WindowRules, report: WindowReport) -> Iterator[Scene]:
    """Yield the usable moments of ``log``; count every moment, kept or rejected, in ``report``."""
    moments = _anchors(log, rules)
    if len(log.times) < 2:
        report.rejected["short_history"] += len(moments)
        return
    if (np.diff(log.times) <= 0).any():
        report.rejected["clock"] += len(moments)
        return
    velocity = log.velocity if log.velocity is not None else _velocity_from_poses(log)
    for index in moments:
        reason = _reject_reason(log, velocity, index, rules)
        if reason:
            report.rejected[reason] += 1
            continue
        report.kept += 1
        yield _cut(log, velocity, index, rules)


def _anchors(log: Log, rules: WindowRules) -> list[int]:
    if log.anchors is not None:
        return list(log.anchors)
    if not len(log.times):
        return []
    # nan-safe: a broken clock is still counted once per stride it claims to cover
    span = log.times[-1] - log.times[0]
    if not np.isfinite(span) or span <= 0 or (np.diff(log.times) <= 0).any():
        return list(range(len(log.times)))
    grid = np.arange(0.0, span + _TOLERANCE_S, rules.stride_s) + log.times[0]
    return sorted({int(i) for i in np.abs(log.times[None, :] - grid[:, None]).argmin(1)})


def _reject_reason(log: Log, velocity: Float, index: int, rules: WindowRules) -> str:
    t0 = log.times[index]
    if log.times[0] > t0 + HISTORY_TIMES[0] + _TOLERANCE_S:
        return "short_history"
    if log.times[-1] < t0 + FUTURE_TIMES[-1] - _TOLERANCE_S:
        return "short_future"
    first = max(int(np.searchsorted(log.times, t0 + HISTORY_TIMES[0] + _TOLERANCE_S)) - 1, 0)
    last = int(np.searchsorted(log.times, t0 + FUTURE_TIMES[-1] - _TOLERANCE_S)) + 1
    times, poses = log.times[first:last], log.poses[first:last]
    if not (np.isfinite(poses).all() and np.isfinite(velocity[index]).all()):
        return "not_finite"
    step = np.diff(times)
    if (step > rules.max_gap_s).any():
        return "gap"
    moved = np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1)
    turned = np.abs(wrap_angle(np.diff(poses[:, 2])))
    # 5 cm and 0.05 rad of measurement noise are no jump, however short the step
    jumped = (moved > rules.max_speed * step + 0.05) | (turned > rules.max_yaw_rate * step + 0.05)
    too_fast = np.hypot(*velocity[index]) > rules.max_speed
    return "jump" if jumped.any() or too_fast else ""


def _interpolate(log: Log, times: Float) -> Float:
    """Ego poses ``[K, 3]`` in the world at ``times``, linear, headings unwrapped first."""
    # only the window: a NaN elsewhere in the log must not spread through the unwrapping
    first = max(int(np.searchsorted(log.times, times[0] + _TOLERANCE_S)) - 1, 0)
    last = int(np.searchsorted(log.times, times[-1] - _TOLERANCE_S)) + 1
    clock, poses = log.times[first:last], log.poses[first:last]
    columns = (poses[:, 0], poses[:, 1], np.unwrap(poses[:, 2]))
    return np.stack([np.interp(times, clock, column) for column in columns], axis=-1)


def _cut(log: Log, velocity: Float, index: int, rules: WindowRules) -> Scene:
    t0, origin = float(log.times[index]), log.poses[index]
    acceleration = log.acceleration
    missing = set(log.missing)
    if acceleration is None:
        world = rotate(velocity, log.poses[:, 2])
        low, high = max(index - 1, 0), min(index + 1, len(log.times) - 1)
        rate = (world[high] - world[low]) / (log.times[high] - log.times[low])
        acceleration_now = rotate(rate, -origin[2])
    else:
        acceleration_now = acceleration[index]
    if not np.isfinite(acceleration_now).all():
        acceleration_now = np.zeros(2)
        missing.add("acceleration")
    name = log.frame_names[index] if log.frame_names is not None else f"{index:06d}"
    return Scene(
        record_key=f"{log.scene_key}/{name}",
        scene_key=log.scene_key,
        source=log.source,
        timestamp_s=t0,
        history=poses_to_local(_interpolate(log, t0 + HISTORY_TIMES), origin),
        future=poses_to_local(_interpolate(log, t0 + FUTURE_TIMES), origin),
        velocity=velocity[index],
        acceleration=acceleration_now,
        command=log.command_at(index),
        images=_images(log, t0, rules.image_tolerance_s),
        agents=_agents(log.agents, t0, origin, rules.agent_step_s),
        signals=tuple(_local_signal(s, origin) for s in log.signals.get(index, ())),
        town=log.town,
        world_pose=origin,
        situation=log.situation,
        missing=frozenset(missing),
    )


def _images(log: Log, t0: float, tolerance: float) -> dict[str, tuple[ImageRef | None, ...]]:
    found: dict[str, tuple[ImageRef | None, ...]] = {}
    for camera, (times, refs) in log.images.items():
        if not len(times):
            continue
        row: list[ImageRef | None] = []
        for wanted in t0 + HISTORY_TIMES:
            nearest = int(np.abs(times - wanted).argmin())
            row.append(refs[nearest] if abs(times[nearest] - wanted) <= tolerance else None)
        found[camera] = tuple(row)
    return found


def _agents(tracks: AgentTracks | None, t0: float, origin: Float, step: float) -> AgentTracks:
    """Tracks on a grid of ``step`` seconds over the window, nearest sample within half a step, scene frame."""
    span = FUTURE_TIMES[-1] - HISTORY_TIMES[0]
    grid = np.linspace(HISTORY_TIMES[0], FUTURE_TIMES[-1], round(span / step) + 1).round(6)
    if tracks is None or not len(tracks):
        return AgentTracks.empty(grid)
    nearest: Int = np.abs(tracks.times[None, :] - (t0 + grid)[:, None]).argmin(1)
    close = np.abs(tracks.times[nearest] - (t0 + grid)) <= step / 2 + _TOLERANCE_S
    valid = tracks.valid[:, nearest] & close
    seen = valid.any(1)
    states = tracks.states[seen][:, nearest]
    local = np.concatenate(
        [poses_to_local(states[..., :3], origin), rotate(states[..., 3:], -origin[2])], axis=-1
    )
    local[~valid[seen]] = np.nan
    keep = np.flatnonzero(seen)
    return AgentTracks(
        track_ids=tuple(tracks.track_ids[i] for i in keep),
        kinds=tuple(tracks.kinds[i] for i in keep),
        times=grid,
        dimensions=tracks.dimensions[keep],
        states=local,
        valid=valid[keep],
    )


def _local_signal(signal: TrafficSignal, origin: Float) -> TrafficSignal:
    x, y = points_to_local(np.array(signal.position), origin)
    return TrafficSignal(
        signal.signal_id,
        signal.kind,
        (float(x), float(y)),
        signal.state,
        signal.affects_ego,
        signal.distance,
        signal.value,
    )


def _velocity_from_poses(log: Log) -> Float:
    """Ego velocity ``[T, 2]`` in its own frame, differentiated from the poses."""
    return rotate(differentiate(log.poses[:, :2], log.times), -log.poses[:, 2])

"""Logs whose ego is one of many recorded road users on a common clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from driveproof.datasets.checks import check_velocity
from driveproof.geometry.arrays import Bool, Float
from driveproof.geometry.se2 import rotate
from driveproof.scene import AgentKind, AgentTracks, Log, TrafficSignal
from driveproof.scene.log_map import LogMap

NOMINAL_DIMENSIONS = {
    AgentKind.VEHICLE: (4.5, 1.9, 1.6),
    AgentKind.PEDESTRIAN: (0.6, 0.6, 1.75),
    AgentKind.CYCLIST: (1.8, 0.7, 1.7),
    AgentKind.OBSTACLE: (0.5, 0.5, 1.0),
}
"""Length, width, height in metres where a source records none; the log then misses "agent_dimensions"."""


def build_tracks(
    times: Float,
    ids: list[str],
    kinds: list[AgentKind],
    dimensions: list[tuple[float, ...]],
    states: list[Float],
    valid: list[Bool],
) -> AgentTracks:
    """Tracks from per-object lists; samples that are not finite become invalid.

    ``states`` are ``[T, 5]`` each: x, y, heading, vx, vy in the log's world.
    """
    shape = (len(ids), len(times))
    stacked = np.array(states, dtype=np.float64).reshape(*shape, 5)
    usable: Bool = np.array(valid, dtype=bool).reshape(shape) & np.isfinite(stacked).all(-1)
    stacked[~usable] = np.nan
    sizes = np.array(dimensions, dtype=np.float64).reshape(-1, 3)
    return AgentTracks(tuple(ids), tuple(kinds), times, sizes, stacked, usable)


def ego_log(
    tracks: AgentTracks,
    ego: int,
    path: str | Path,
    *,
    source: str,
    log_id: str,
    signals: Mapping[int, tuple[TrafficSignal, ...]] | None = None,
    name_frames: bool = False,
    situation: str = "",
    town: str = "",
    frame_origin: str = "box_center",
    missing: frozenset[str] = frozenset(),
    ego_size: tuple[float, float] | None = None,
    load_map: Callable[[], LogMap] | None = None,
) -> Log:
    """The log that track number ``ego`` drove, with the other tracks as road users.

    Samples at which the ego is not valid are left out; the windows then find a gap. ``signals`` are
    keyed by the tracks' own time index. ``name_frames`` puts the track's name into the frame names, for
    files in which every track is an ego.

    Raises
    ------
    BadInput
        If the recorded velocity contradicts the positions.
    """
    seen = np.flatnonzero(tracks.valid[ego])
    states, times = tracks.states[ego, seen], tracks.times[seen]
    poses, velocity = states[:, :3], rotate(states[:, 3:], -states[:, 2])
    name = tracks.track_ids[ego]
    check_velocity(velocity, poses, times, path, f"velocity of track {name}")
    others = np.delete(np.arange(len(tracks)), ego)
    agents = replace(
        tracks,
        track_ids=tuple(tracks.track_ids[i] for i in others),
        kinds=tuple(tracks.kinds[i] for i in others),
        dimensions=tracks.dimensions[others],
        states=tracks.states[others],
        valid=tracks.valid[others],
    )
    known = signals or {}
    return Log(
        source=source,
        log_id=log_id,
        times=times,
        poses=poses,
        velocity=velocity,
        agents=agents,
        signals={row: known[i] for row, i in enumerate(seen.tolist()) if i in known},
        frame_names=tuple(f"{name}@{i:06d}" for i in seen) if name_frames else None,
        frame_origin=frame_origin,
        situation=situation,
        town=town,
        missing=missing,
        ego_size=ego_size or _size(tracks, ego, missing),
        load_map=load_map,
    )


def _size(tracks: AgentTracks, ego: int, missing: frozenset[str]) -> tuple[float, float] | None:
    """Length and width of the ego's own track; None where the source records no dimensions."""
    if "agent_dimensions" in missing:
        return None
    width, length = sorted(
        float(side) for side in tracks.dimensions[ego, :2]
    )  # some sources swap them
    return (length, width) if np.isfinite(length) and width > 0.0 else None

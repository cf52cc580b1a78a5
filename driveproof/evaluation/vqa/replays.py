"""What happened after a frame, from the clip itself: for the scoring of planned waypoints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from driveproof.commenter.annotation import RATE_HZ
from driveproof.commenter.clips import open_clips
from driveproof.commenter.frame import Frame
from driveproof.evaluation.vqa.waypoints import Replay

STEPS, STEP_FRAMES = 8, round(0.5 * RATE_HZ)


class ClipReplays:
    """Replays of the clips in some archives; the frames of one clip are held at a time."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._paths = {_stem(Path(path)): Path(path) for path in paths}
        self._name = ""
        self._frames: dict[int, Frame] = {}

    def __call__(self, clip: str, frame: int) -> Replay | None:
        """What happened in the four seconds after a frame; None if the log does not tell."""
        if clip != self._name:
            self._load(clip)
        now = self._frames.get(frame)
        later = [self._frames.get(frame + STEP_FRAMES * k) for k in range(1, STEPS + 1)]
        if now is None or any(f is None for f in later):
            return None
        return replay_of(now, [f for f in later if f is not None])

    def _load(self, clip: str) -> None:
        self._name, self._frames = clip, {}
        path = self._paths.get(clip)
        if path is None:
            return
        for found in open_clips(path):
            if found.name == clip:
                self._frames = {frame.index: frame for frame in found.frames}


def _stem(path: Path) -> str:
    return (
        path.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar").removesuffix(".zip")
    )


def replay_of(now: Frame, later: list[Frame]) -> Replay:
    """The eight frames after ``now``, half a second apart, seen from the ego at ``now``."""
    expert = np.array([now.local(f.ego.x, f.ego.y) for f in later])
    rows: dict[str, list[tuple[float, float, float]]] = {}
    sizes: dict[str, tuple[float, float]] = {}
    absent = (math.nan, math.nan, math.nan)
    for step, frame in enumerate(later):
        for agent in frame.agents:
            if agent.kind == "prop":
                continue
            poses = rows.setdefault(agent.id, [absent] * len(later))
            x, y = now.local(agent.x, agent.y)
            poses[step] = (x, y, now.local_heading(agent.heading))
            sizes[agent.id] = (agent.length, agent.width)
    poses_array = np.array(list(rows.values()), dtype=np.float64).reshape(-1, len(later), 3)
    dimensions = np.array([sizes[key] for key in rows], dtype=np.float64).reshape(-1, 2)
    return Replay(expert, poses_array, dimensions, (now.ego.length, now.ego.width))

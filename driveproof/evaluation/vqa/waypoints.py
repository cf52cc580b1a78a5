"""Planned waypoints against what the others did: collisions and progress.

Source: Bench2Drive-VL's evaluator: 0.6 · 0.5^(road users hit) + 0.4 · min(1, way / expert's way).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.geometry.arrays import Float

SAFETY, PROGRESS = 0.6, 0.4
GROWTH_M = 0.1
REACH_M = 60.0
STANDING_M = 1.0
"""If the expert's own way is shorter, any way is progress enough."""
ROUNDING_M = 0.1
"""What eight points of two decimals may lose of a way."""


@dataclass(frozen=True)
class Replay:
    """What happened in the four seconds after the question, in the ego frame at the question.

    Attributes
    ----------
    expert
        ``[8, 2]`` the ego's own logged positions, half a second apart, metres.
    poses
        ``[N, 8, 3]`` x, y, heading of N others' box centres; NaN where absent.
    dimensions
        ``[N, 2]`` full length and width, metres.
    ego
        Full length and width of the ego, metres.
    """

    expert: Float
    poses: Float
    dimensions: Float
    ego: tuple[float, float]


def score_waypoints(waypoints: Float, replay: Replay) -> float:
    """0 to 1 for ``[8, 2]`` planned positions, metres."""
    hits = road_users_hit(waypoints, replay)
    way, expert = _length(waypoints), _length(replay.expert)
    enough = expert <= STANDING_M or way >= expert - ROUNDING_M
    progress = 1.0 if enough else way / expert
    return SAFETY * 0.5**hits + PROGRESS * progress


def road_users_hit(waypoints: Float, replay: Replay) -> int:
    """How many of the others the ego's box, grown by 0.1 m, touches at any of the eight times."""
    ego = np.concatenate([waypoints, _headings(waypoints)[:, None]], axis=1)
    own = box_corners(
        ego, np.full(8, replay.ego[0] + 2 * GROWTH_M), np.full(8, replay.ego[1] + 2 * GROWTH_M)
    )
    hit = 0
    for poses, (length, width) in zip(replay.poses, replay.dimensions, strict=True):
        near = np.isfinite(poses).all(1) & (np.hypot(poses[:, 0], poses[:, 1]) < REACH_M)
        if not near.any():
            continue
        boxes = box_corners(poses[near], np.full(near.sum(), length), np.full(near.sum(), width))
        hit += bool(boxes_overlap(own[near], boxes).any())
    return hit


def _headings(points: Float) -> Float:
    """Direction of travel at each point; a standing ego keeps its heading."""
    steps = np.diff(np.vstack([np.zeros(2), points]), axis=0)
    headings = np.zeros(len(points))
    last = 0.0
    for index, (dx, dy) in enumerate(steps):
        if np.hypot(dx, dy) > 0.2:
            last = float(np.arctan2(dy, dx))
        headings[index] = last
    return headings


def _length(points: Float) -> float:
    return float(np.linalg.norm(np.diff(np.vstack([np.zeros(2), points]), axis=0), axis=1).sum())

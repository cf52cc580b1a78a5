"""Plain building blocks beside the sidewalks, so that streets look like streets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry import box_corners
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.maps import LaneKind, LaneTable

_SPACING_M = 16.0
_PALETTE = np.array(
    [[148, 132, 118], [128, 134, 142], [166, 152, 132], [116, 104, 98], [140, 146, 138]], float
)


@dataclass(frozen=True)
class Buildings:
    """Blocks: ``poses`` ``[N, 3]``, ``sizes`` ``[N, 3]`` (length, width, height), ``colours`` ``[N, 3]``, ordered by x."""

    poses: Float
    sizes: Float
    colours: Float

    def near(self, x: float, y: float, reach: float) -> Int:
        """Blocks whose centre lies within ``reach`` metres of (x, y)."""
        low, high = np.searchsorted(self.poses[:, 0], [x - reach, x + reach])
        delta = self.poses[low:high, :2] - (x, y)
        return np.asarray(low + np.flatnonzero((delta**2).sum(1) < reach**2), dtype=np.int64)


def build_blocks(lanes: LaneTable) -> Buildings:
    """A block every 16 m along the outer border of each sidewalk, unless it would stand on a lane.

    Sizes and colours come from a hash of the place: the same town has the same blocks.
    """
    places = [_along_sidewalk(lanes, lane) for lane in lanes.of_kind(LaneKind.SIDEWALK).tolist()]
    frontage = np.concatenate([np.zeros((0, 3)), *places])
    dice = _dice(frontage)
    length, depth = 9.0 + 5.0 * dice[0], 8.0 + 4.0 * dice[1]
    height = 5.0 + 13.0 * dice[2] ** 2
    inward = frontage[:, 2] + np.pi / 2.0
    back = 1.0 + depth / 2.0
    poses = frontage.copy()
    poses[:, 0] -= np.cos(inward) * back
    poses[:, 1] -= np.sin(inward) * back
    sizes = np.column_stack([length, depth, height])
    keep = _clear(lanes, poses, sizes)
    keep[keep] &= _apart(poses[keep], sizes[keep])
    order = np.flatnonzero(keep)[np.argsort(poses[keep, 0], kind="stable")]
    colours = _PALETTE[(dice[3] * len(_PALETTE)).astype(int)]
    return Buildings(poses[order], sizes[order], colours[order])


def _along_sidewalk(lanes: LaneTable, lane: int) -> Float:
    """Frontage points ``[n, 3]``; the street lies to the left of their heading."""
    part = lanes.points(lane)
    length = lanes.length[lane]
    if length < _SPACING_M:
        return np.zeros((0, 3))
    border = lanes.border(
        lane, -1
    )  # a sidewalk's right border is its outer one (traffic keeps right)
    s = np.arange(_SPACING_M / 2.0, length, _SPACING_M)
    x, y = (np.interp(s, lanes.arc[part], border[:, k]) for k in (0, 1))
    heading = np.interp(s, lanes.arc[part], np.unwrap(lanes.heading[part]))
    return np.column_stack([x, y, heading])


def _dice(places: Float) -> Float:
    """``[4, N]`` numbers in [0, 1) from the places, the same on every machine."""
    cell = np.round(places[:, :2] * 4.0).astype(np.int64).astype(np.uint64)
    state = cell[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ cell[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    rolls = []
    for _ in range(4):
        state = (state ^ (state >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        rolls.append((state >> np.uint64(40)).astype(np.float64) / 2.0**24)
    return np.stack(rolls)


def _clear(lanes: LaneTable, poses: Float, sizes: Float) -> Bool:
    """Whether a block stands on no lane (checked at a grid of its points)."""
    solid = np.flatnonzero((lanes.kind != LaneKind.NONE)[lanes.lane_of_point] & (lanes.width > 0.3))
    tree = cKDTree(lanes.centre[solid, :2])
    free = np.ones(len(poses), dtype=bool)
    for share in (0.0, 0.5, 1.0):
        probes = box_corners(poses, sizes[:, 0] * share, sizes[:, 1] * share).reshape(-1, 2)
        distance, nearest = tree.query(probes, k=4)
        touched = (distance < lanes.width[solid][nearest] / 2.0 + 0.5).any(axis=1)
        free &= ~touched.reshape(len(poses), 4).any(axis=1)
    return free


def _apart(poses: Float, sizes: Float) -> Bool:
    """Drops the later one of two blocks that overlap, judged by their inscribed circles."""
    keep = np.ones(len(poses), dtype=bool)
    if len(poses) == 0:
        return keep
    radius = sizes[:, :2].min(axis=1) / 2.0
    pairs = cKDTree(poses[:, :2]).query_pairs(2.0 * float(radius.max()), output_type="ndarray")
    gap = np.linalg.norm(poses[pairs[:, 0], :2] - poses[pairs[:, 1], :2], axis=1)
    for first, second in sorted(pairs[gap < radius[pairs].sum(axis=1)].tolist()):
        keep[second] &= not keep[first]
    return keep

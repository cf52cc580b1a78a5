"""Plain building blocks beside the sidewalks, so that streets look like streets."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry import box_corners
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.maps import LaneKind, LaneTable, TownMap
from driveproof.render.labels import Label, Texture
from driveproof.render.mesh import Mesh, join, mesh_of

#: Metres between blocks, and the shortest piece of sidewalk that has one: corners are often made of short pieces.
_SPACING_M, _SHORTEST_M = 16.0, 2.0
#: How deep blocks reach below the ground at their front, so that slopes leave no gap, metres.
SUNK_M = 3.0
_PALETTE = np.array(
    [[148, 132, 118], [128, 134, 142], [166, 152, 132], [116, 104, 98], [140, 146, 138]], float
)


@dataclass(frozen=True)
class Buildings:
    """Blocks, ordered by x; they are solid, and stand ``SUNK_M`` deep in the ground.

    Parameters
    ----------
    poses
        ``[N, 3]`` x, y, heading of their centres; the street lies to the left of the heading.
    base
        ``[N]`` height of the ground at their front, metres.
    sizes
        ``[N, 3]`` length, width, height above the ground, metres.
    colours
        ``[N, 3]`` RGB.
    """

    poses: Float
    base: Float
    sizes: Float
    colours: Float

    def near(self, x: float, y: float, reach: float) -> Int:
        """Blocks whose centre lies within ``reach`` metres of (x, y)."""
        low, high = np.searchsorted(self.poses[:, 0], [x - reach, x + reach])
        delta = self.poses[low:high, :2] - (x, y)
        return np.asarray(low + np.flatnonzero((delta**2).sum(1) < reach**2), dtype=np.int64)


_BLOCKS: OrderedDict[str, Buildings] = OrderedDict()
_KEEP_TOWNS = 2


def town_blocks(town: TownMap) -> Buildings:
    """The blocks of a town, kept for the towns used last."""
    if town.digest not in _BLOCKS:
        _BLOCKS[town.digest] = build_blocks(town.lanes)
        while len(_BLOCKS) > _KEEP_TOWNS:
            _BLOCKS.popitem(last=False)
    return _BLOCKS[town.digest]


def build_blocks(lanes: LaneTable) -> Buildings:
    """A block every 16 m, at least one a piece, along the outer border of each sidewalk, unless it would stand on a lane.

    Sizes and colours come from a hash of the place: the same town has the same blocks.
    """
    places = [_along_sidewalk(lanes, lane) for lane in lanes.of_kind(LaneKind.SIDEWALK).tolist()]
    frontage = np.concatenate([np.zeros((0, 4)), *places])
    dice = _dice(frontage)
    length, depth = 9.0 + 5.0 * dice[0], 8.0 + 4.0 * dice[1]
    height = 5.0 + 13.0 * dice[2] ** 2
    inward = frontage[:, 2] + np.pi / 2.0
    back = 1.0 + depth / 2.0
    poses = frontage[:, :3].copy()
    poses[:, 0] -= np.cos(inward) * back
    poses[:, 1] -= np.sin(inward) * back
    sizes = np.column_stack([length, depth, height])
    keep = _clear(lanes, poses, sizes)
    keep[keep] &= _apart(poses[keep], sizes[keep])
    order = np.flatnonzero(keep)[np.argsort(poses[keep, 0], kind="stable")]
    colours = _PALETTE[(dice[3] * len(_PALETTE)).astype(int)]
    return Buildings(poses[order], frontage[order, 3], sizes[order], colours[order])


def _along_sidewalk(lanes: LaneTable, lane: int) -> Float:
    """Frontage points ``[n, 4]`` (x, y, heading, height); the street lies to the left of their heading."""
    part = lanes.points(lane)
    length = lanes.length[lane]
    if length < _SHORTEST_M:
        return np.zeros((0, 4))
    border = lanes.border(
        lane, -1
    )  # a sidewalk's right border is its outer one (traffic keeps right)
    s = np.arange(min(_SPACING_M, length) / 2.0, length, _SPACING_M)
    x, y, z = (np.interp(s, lanes.arc[part], border[:, k]) for k in range(3))
    heading = np.interp(s, lanes.arc[part], np.unwrap(lanes.heading[part]))
    return np.column_stack([x, y, heading, z])


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


def blocks_mesh(blocks: Buildings, members: Int) -> Mesh:
    """Four walls with windows and a roof for each of these blocks."""
    poses, sizes, base = blocks.poses[members], blocks.sizes[members], blocks.base[members]
    ring = box_corners(poses, sizes[:, 0], sizes[:, 1])
    low = np.dstack([ring, np.repeat(base[:, None] - SUNK_M, 4, axis=1)])
    high = np.dstack([ring, np.repeat((base + sizes[:, 2])[:, None], 4, axis=1)])
    parts = [mesh_of(high, 0.7 * blocks.colours[members], Label.BUILDING)]
    for start in range(4):
        after = (start + 1) % 4
        walls = np.stack([low[:, start], low[:, after], high[:, after], high[:, start]], axis=1)
        along = ring[:, after] - ring[:, start]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        anchor = np.column_stack([ring[:, start], along, base])
        parts.append(
            mesh_of(
                walls,
                blocks.colours[members],
                Label.BUILDING,
                texture=Texture.FACADE,
                anchor=anchor,
            )
        )
    return join(parts)

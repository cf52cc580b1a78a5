"""Where people walk: a graph of the sidewalks' centre lines, joined at their ends and over crosswalks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneKind, TownMap

#: Way points lie about this far apart along a sidewalk (m); ends nearer than the second number are one corner;
#: a crosswalk's end joins the sidewalk within the third.
_STEP_M, _CORNER_M, _KERB_M = 4.0, 4.0, 8.0


class Walkways:
    """The sidewalks and crosswalks of a town, built at first use."""

    def __init__(self, town: TownMap) -> None:
        nodes, edges = _sidewalks(town)
        nodes, edges = _crosswalks(town, nodes, edges)
        self.nodes: Float = nodes
        self.edges: Int = edges
        self._tree = cKDTree(nodes[:, :2]) if len(nodes) else None
        length = np.linalg.norm(nodes[edges[:, 0], :2] - nodes[edges[:, 1], :2], axis=1)
        size = (len(nodes), len(nodes))
        self._graph = coo_matrix((length + 1e-6, (edges[:, 0], edges[:, 1])), size).tocsr()
        self._part: Int = (
            connected_components(self._graph, directed=False)[1].astype(np.int64)
            if len(nodes)
            else np.zeros(0, dtype=np.int64)
        )

    def random_point(self, rng: np.random.Generator) -> Float | None:
        """A random place ``[3]`` on a walkway, None where a town has none."""
        if not len(self.edges):
            return None
        a, b = self.edges[int(rng.integers(len(self.edges)))]
        share = float(rng.random())
        return np.asarray((1.0 - share) * self.nodes[a] + share * self.nodes[b])

    def path(self, start: Float, goal: Float) -> list[Float]:
        """Points ``[2]`` from near ``start`` ``[2]`` to near ``goal`` ``[2]``, empty where no way leads."""
        if self._tree is None:
            return []
        first = int(self._tree.query(start)[1])
        mine = np.flatnonzero(self._part == self._part[first])
        gaps = ((self.nodes[mine, :2] - goal) ** 2).sum(1)
        last = int(mine[gaps.argmin()])
        _, before = dijkstra(self._graph, directed=False, indices=[first], return_predecessors=True)
        way = [last]
        while way[-1] != first:
            way.append(int(before[0, way[-1]]))
        points = [self.nodes[node, :2].copy() for node in reversed(way)]
        if gaps.min() < _KERB_M**2:
            points.append(np.array(goal))
        return points


def _sidewalks(town: TownMap) -> tuple[Float, Int]:
    """Nodes ``[N, 3]`` and undirected edges ``[E, 2]`` along sidewalks, with ends near each other joined."""
    lanes = town.lanes
    nodes: list[Float] = []
    edges: list[tuple[int, int]] = []
    ends: list[int] = []
    count = 0
    for lane in lanes.of_kind(LaneKind.SIDEWALK).tolist():
        part = lanes.points(lane)
        if lanes.length[lane] < 0.5 or lanes.width[part].max() < 0.5:
            continue
        at = lanes.arc[part]
        want = np.linspace(0.0, at[-1], 1 + max(1, round(float(at[-1]) / _STEP_M)))
        nodes.append(np.stack([np.interp(want, at, lanes.centre[part, k]) for k in range(3)], 1))
        numbers = range(count, count + len(want))
        edges += pairwise(numbers)
        ends += [numbers[0], numbers[-1]]
        count += len(want)
    every = np.concatenate([np.zeros((0, 3)), *nodes])
    if ends:
        tree = cKDTree(every[ends])
        pairs = tree.query_pairs(_CORNER_M, output_type="ndarray")
        edges += [(ends[a], ends[b]) for a, b in pairs.tolist() if ends[a] != ends[b]]
    return every, np.array(sorted(set(edges)), dtype=np.int64).reshape(-1, 2)


def _crosswalks(town: TownMap, nodes: Float, edges: Int) -> tuple[Float, Int]:
    """Add a way over each crosswalk, from the middle of one short side to that of the other."""
    added, joined = [nodes], [edges]
    tree = cKDTree(nodes) if len(nodes) else None
    count = len(nodes)
    for outline in town.crosswalks:
        ends = crosswalk_ends(outline)
        added.append(ends)
        joined.append(np.array([[count, count + 1]]))
        if tree is not None:
            for k, end in enumerate(ends):
                gap, node = tree.query(end)
                if gap < _KERB_M:
                    joined.append(np.array([[int(node), count + k]]))
        count += 2
    return np.concatenate(added), np.concatenate(joined)


def crosswalk_ends(outline: Float) -> Float:
    """``[2, 3]`` the middles of the two ends of a crosswalk, along its longer way."""
    centre = outline.mean(0)
    _, _, axes = np.linalg.svd(outline[:, :2] - centre[:2])
    along = (outline[:, :2] - centre[:2]) @ axes[0]
    ends = np.repeat(centre[None], 2, axis=0)
    ends[:, :2] += np.array([[along.min()], [along.max()]]) * axes[0]
    return ends

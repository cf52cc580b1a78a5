"""Navigation meshes in the binary format that CARLA's clients read (a Detour tile set of version 7).

Detour's axes are x, up, and CARLA's y; see :func:`navigation_file`. All numbers are little-endian.
"""

from __future__ import annotations

import struct

import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.sim.server.walkable import Walkable

_SET_MAGIC, _SET_VERSION = b"TESM", 1
_TILE_MAGIC, _TILE_VERSION = b"VAND", 7
#: Areas and flags of CARLA's walkers: sidewalk and crosswalk.
_AREAS, _FLAGS = (1, 2), (0x02, 0x04)
#: Metres: height and radius of people, and the step that they can climb.
_HEIGHT, _RADIUS, _CLIMB = 1.8, 0.3, 0.5
#: Boxes of the search tree are rounded to a share of a metre, coarser in towns that need it for 16 bits.
_QUANTUM_M, _QUANTA = 0.25, 65_000
_MAX_CORNERS, _MAX_TRIANGLES = 0xFFFF, 0x7FFF
#: A triangle is its own detail: corners 0, 1, 2, all three edges on the border.
_DETAIL = bytes((0, 1, 2, 0b010101))

_POLYGON = np.dtype(
    [
        ("first_link", "<u4"),
        ("corners", "<u2", 6),
        ("neighbours", "<u2", 6),
        ("flags", "<u2"),
        ("count", "u1"),
        ("area_and_type", "u1"),
    ]
)
_POLYGON_DETAIL = np.dtype(
    [("corner", "<u4"), ("triangle", "<u4"), ("corners", "u1"), ("triangles", "u1"), ("pad", "<u2")]
)
_NODE = np.dtype([("low", "<u2", 3), ("high", "<u2", 3), ("index", "<i4")])
_LINK_BYTES = 12


def navigation_file(mesh: Walkable) -> bytes:
    """The file of a mesh.

    Raises
    ------
    ValueError
        If the mesh is empty or has more corners or triangles than one tile can hold.
    """
    if not 0 < len(mesh.triangles) <= _MAX_TRIANGLES or len(mesh.corners) > _MAX_CORNERS:
        raise ValueError(f"{len(mesh.triangles)} triangles do not fit into one tile")
    corners = mesh.corners[:, [0, 2, 1]] * (1.0, 1.0, -1.0)
    tile = _tile(corners.astype("<f4"), mesh.triangles, mesh.crossing)
    low, high = corners.min(0), corners.max(0)
    bits = int(len(mesh.triangles) - 1).bit_length()
    header = _SET_MAGIC + struct.pack(
        "<2i5f2i",
        _SET_VERSION,
        1,
        *low.tolist(),
        float(high[0] - low[0]),
        float(high[2] - low[2]),
        1,
        1 << bits,
    )
    # a reference is salt, tile and polygon from the top; the first tile has salt 1 and index 0
    return header + struct.pack("<Ii", 1 << bits, len(tile)) + tile


def _tile(corners: Float, triangles: Int, crossing: Int) -> bytes:
    count = len(triangles)
    neighbours = _neighbours(triangles)
    polygons = np.zeros(count, dtype=_POLYGON)
    polygons["first_link"] = 0xFFFFFFFF
    polygons["corners"][:, :3] = triangles
    polygons["neighbours"][:, :3] = neighbours
    polygons["flags"] = np.array(_FLAGS)[crossing]
    polygons["count"] = 3
    polygons["area_and_type"] = np.array(_AREAS)[crossing]
    details = np.zeros(count, dtype=_POLYGON_DETAIL)
    details["triangle"] = np.arange(count)
    details["triangles"] = 1
    links = int((neighbours > 0).sum())
    low, high = corners.min(0), corners.max(0)
    scale = min(1.0 / _QUANTUM_M, _QUANTA / float((high - low).max()))
    nodes = _search_tree(corners[triangles], low, scale)
    header = _TILE_MAGIC + struct.pack(
        "<4iI9i10f",
        _TILE_VERSION,
        *(0, 0, 0, 0),
        *(count, len(corners), links, count, 0, count, len(nodes), 0, count),
        *(_HEIGHT, _RADIUS, _CLIMB),
        *low.tolist(),
        *high.tolist(),
        scale,
    )
    return b"".join(
        [
            header,
            corners.tobytes(),
            polygons.tobytes(),
            bytes(links * _LINK_BYTES),
            details.tobytes(),
            _DETAIL * count,
            nodes.tobytes(),
        ]
    )


def _neighbours(triangles: Int) -> Int:
    """``[T, 3]`` one more than the triangle beyond each edge (corner k to k + 1), 0 at the border."""
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    size = int(triangles.max()) + 1
    there, back = start * size + end, end * size + start
    order = np.argsort(there, kind="stable")
    place = np.searchsorted(there[order], back)
    found = order[np.minimum(place, len(order) - 1)]
    matched = there[found] == back
    return np.where(matched, found // 3 + 1, 0).reshape(-1, 3)


def _search_tree(shapes: Float, origin: Float, scale: float) -> np.ndarray:
    """Nodes of a bounding volume tree in depth-first order; inner ones hold minus the way to the next branch."""
    low = np.floor((shapes.min(1) - origin) * scale).clip(0, 0xFFFF).astype(np.int64)
    high = np.ceil((shapes.max(1) - origin) * scale).clip(0, 0xFFFF).astype(np.int64)
    middle = low + high
    nodes = np.zeros(2 * len(shapes) - 1, dtype=_NODE)
    written = 0
    waiting: list[Int] = [np.arange(len(shapes))]
    while waiting:
        items = waiting.pop()
        node = nodes[written]
        node["low"], node["high"] = low[items].min(0), high[items].max(0)
        if len(items) == 1:
            node["index"] = items[0]
        else:
            node["index"] = 1 - 2 * len(items)
            spread = high[items].max(0) - low[items].min(0)
            items = items[np.argsort(middle[items, int(spread.argmax())], kind="stable")]
            half = len(items) // 2
            waiting += [items[half:], items[:half]]
        written += 1
    return nodes

"""Navigation files: connected triangles in the layout that Detour reads."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.sim.server.detour import _neighbours, _search_tree, navigation_file
from driveproof.sim.server.navigation import navigation_bytes, navigation_name
from driveproof.sim.server.walkable import Walkable, walkable


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town10HD")


@pytest.fixture(scope="module")
def mesh(town: TownMap) -> Walkable:
    found = walkable(town)
    assert found is not None
    return found


def test_people_can_walk_from_everywhere_to_everywhere(mesh: Walkable) -> None:
    beyond = _neighbours(mesh.triangles)
    here, edge = np.nonzero(beyond)
    there = beyond[here, edge] - 1
    graph = coo_matrix((np.ones(len(here)), (here, there)), shape=(len(beyond),) * 2)
    assert connected_components(graph)[0] == 1
    assert 0 < mesh.crossing.sum() < len(mesh.crossing)


def test_neighbours_share_an_edge_and_triangles_turn_left(mesh: Walkable) -> None:
    beyond = _neighbours(mesh.triangles)
    for here, edge in zip(*np.nonzero(beyond), strict=True):
        start, end = mesh.triangles[here][[edge, (edge + 1) % 3]]
        assert {start, end} <= set(mesh.triangles[beyond[here, edge] - 1].tolist())
    a, b, c = (mesh.corners[mesh.triangles[:, k], :2] for k in range(3))
    assert (np.cross(b - a, c - a) > 0).all()


def test_pavement_triangles_lie_on_sidewalks_or_the_curbs_of_crosswalks(
    town: TownMap, mesh: Walkable
) -> None:
    centres = mesh.corners[mesh.triangles[mesh.crossing == 0]].mean(1)
    match = town.nearest_lane(centres[:, :2], kinds=(LaneKind.SIDEWALK,))
    assert np.quantile(match.distance, 0.95) < 3.0
    assert np.abs(centres[:, 2]).max() < 1.0


def test_the_file_says_what_it_holds(mesh: Walkable) -> None:
    data = navigation_file(mesh)
    magic, version, tiles = struct.unpack_from("<4s2i", data)
    assert (magic, version, tiles) == (b"TESM", 1, 1)
    (size,) = struct.unpack_from("<i", data, 44)
    assert len(data) == 48 + size
    magic, version, *_, polygons, corners, links = struct.unpack_from("<4s4iI3i", data, 48)
    assert (magic, version) == (b"VAND", 7)
    assert (polygons, corners) == (len(mesh.triangles), len(mesh.corners))
    assert links == (_neighbours(mesh.triangles) > 0).sum()
    assert data == navigation_file(mesh)


def test_the_search_tree_finds_every_triangle_where_it_lies(mesh: Walkable) -> None:
    shapes = mesh.corners[mesh.triangles]
    origin = shapes.reshape(-1, 3).min(0)
    nodes = _search_tree(shapes, origin, 4.0)
    for wanted in range(0, len(shapes), 97):
        place = np.floor((shapes[wanted].mean(0) - origin) * 4.0)
        found, at = set(), 0
        while at < len(nodes):
            node = nodes[at]
            inside = (node["low"] <= place).all() and (place <= node["high"]).all()
            if node["index"] >= 0 and inside:
                found.add(int(node["index"]))
            at += 1 if inside or node["index"] >= 0 else -int(node["index"])
        assert wanted in found


def test_too_many_triangles_are_refused(mesh: Walkable) -> None:
    many = np.tile(mesh.triangles, (40, 1))
    with pytest.raises(ValueError, match="do not fit"):
        navigation_file(Walkable(mesh.corners, many, np.zeros(len(many), dtype=np.int64)))


@pytest.mark.slow
def test_files_are_kept_and_towns_without_pavements_have_none(
    town: TownMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIVEPROOF_CACHE", str(tmp_path))
    data = navigation_bytes(town)
    assert (tmp_path / "maps" / navigation_name(town)).read_bytes() == data
    assert navigation_bytes(town) == data
    assert navigation_bytes(load_town("Town06")) == b""

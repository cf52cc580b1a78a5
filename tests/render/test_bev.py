"""The view from above: scale, directions, colours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driveproof.geometry import points_to_world, poses_to_world
from driveproof.maps import LaneKind, TownMap
from driveproof.render import Box, DebugShape, LightView, View, render_bev
from driveproof.render.buildings import build_blocks
from driveproof.scene import LightState


def box(ego: np.ndarray, x: float, y: float, colour: tuple[int, int, int]) -> Box:
    pose = poses_to_world([x, y, 0.0], ego)
    return Box(*(float(v) for v in pose), length=4.0, width=2.0, height=1.5, colour=colour)


def centre_of(image: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    rows, columns = np.nonzero((image == colour).all(-1))
    assert len(rows)
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5])


def test_ahead_is_up_and_left_is_left(view: View, ego: np.ndarray) -> None:
    ahead, left = box(ego, 10.0, 0.0, (250, 0, 250)), box(ego, 0.0, 8.0, (0, 250, 250))
    image = render_bev(replace(view, boxes=(ahead, left)), range_m=40.0, px=320)
    scale = 320 / 80.0
    assert centre_of(image, (250, 0, 250)) == pytest.approx([160.0, 160.0 - 10.0 * scale], abs=0.6)
    assert centre_of(image, (0, 250, 250)) == pytest.approx([160.0 - 8.0 * scale, 160.0], abs=0.6)
    size = (image == (250, 0, 250)).all(-1)
    assert np.flatnonzero(size.any(1)).size == pytest.approx(4.0 * scale, abs=3)
    assert np.flatnonzero(size.any(0)).size == pytest.approx(2.0 * scale, abs=3)


def test_lane_borders_are_at_scale(view: View) -> None:
    image = render_bev(view, range_m=20.0, px=400).astype(int)
    row = image[60]  # 14 m ahead
    yellow = np.flatnonzero(row[:, 0] - row[:, 2] > 80)
    white = np.flatnonzero(row.min(axis=1) > 170)
    assert 200 - (yellow.mean() + 0.5) == pytest.approx(1.75 * 10.0, abs=1.5)
    assert (white[white < 240].mean() + 0.5) - 200 == pytest.approx(1.75 * 10.0, abs=1.5)


def test_trajectory_and_lights(view: View, ego: np.ndarray) -> None:
    waypoints = np.column_stack([np.linspace(2, 20, 10), np.linspace(0, 5, 10)])
    light = LightView(
        np.append(poses_to_world([15.0, -6.0, 0.0], ego)[:2], 5.0), 0.0, LightState.RED
    )
    image = render_bev(replace(view, lights=(light,)), 40.0, 320, [waypoints], [(1, 255, 2)])
    assert (image[160 - 80, 160 - 20] == (1, 255, 2)).all()
    assert (image[160 - 60, 160 + 24] == (255, 44, 34)).all()


def test_same_view_same_bytes(view: View) -> None:
    assert np.array_equal(render_bev(view), render_bev(replace(view)))


def test_no_building_stands_on_a_lane(town: TownMap) -> None:
    blocks = build_blocks(town.lanes)
    assert len(blocks.poses) >= 5
    driving = town.lanes.kind[town.lanes.lane_of_point] == LaneKind.DRIVING
    points = town.lanes.centre[driving, :2]
    for pose, (length, width, _) in zip(blocks.poses, blocks.sizes, strict=True):
        local = points - pose[:2]
        cos, sin = np.cos(pose[2]), np.sin(pose[2])
        x, y = local @ [cos, sin], local @ [-sin, cos]
        assert not ((np.abs(x) < length / 2.0) & (np.abs(y) < width / 2.0)).any()
    again = build_blocks(town.lanes)
    assert np.array_equal(blocks.sizes, again.sizes)


def test_drawn_shapes_lie_where_they_were_drawn(view: View, ego: np.ndarray) -> None:
    def world(x: float, y: float) -> np.ndarray:
        return np.append(points_to_world([x, y], ego), 0.0)

    shapes = (
        DebugShape("point", world(20.0, 0.0)[None], (255, 0, 255), 0.8),
        DebugShape("line", np.stack([world(0.0, 10.0), world(30.0, 10.0)]), (0, 255, 255), 0.5),
        DebugShape("arrow", np.stack([world(0, -10), world(25, -10)]), (255, 255, 0), 0.5),
        DebugShape("string", world(-20.0, 0.0)[None], (1, 2, 3), text="here"),
    )
    plain = render_bev(view, 40.0, 400)
    drawn = render_bev(replace(view, shapes=shapes), 40.0, 400)
    assert drawn[200 - 100, 200].tolist() == [255, 0, 255]
    assert drawn[200 - 75, 200 - 50].tolist() == [0, 255, 255]
    assert drawn[200 - 60, 200 + 50].tolist() == [255, 255, 0]
    assert (plain[280:310, 200:260] != drawn[280:310, 200:260]).any()

"""The raster: exact depths, nothing through walls, no gaps between neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.geometry.arrays import Float
from driveproof.render import Camera
from driveproof.render.mesh import EMPTY, join, mesh_of
from driveproof.render.raster import Lens, Raster

WIDTH, HEIGHT = 64, 40


def lens(yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0, at: Float | None = None) -> Lens:
    camera = Camera(yaw=yaw, pitch=pitch, roll=roll, width=WIDTH, height=HEIGHT)
    origin = np.zeros(3) if at is None else at
    return Lens(origin, camera.rotation, camera.focal, WIDTH, HEIGHT)


def rays(view: Lens) -> Float:
    """``[H, W, 3]`` through the middle of each pixel, forward component 1, in the world."""
    u, v = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    local = np.stack(
        [np.ones_like(u), (WIDTH / 2 - u) / view.focal, (HEIGHT / 2 - v) / view.focal], -1
    )
    return np.asarray(local @ view.axes.T)


angles = st.floats(-0.6, 0.6)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(angles, angles, angles, st.floats(3.0, 60.0), st.floats(-0.7, 0.7), st.floats(-0.7, 0.7))
def test_depth_is_that_of_the_plane_in_every_pixel(
    yaw: float, pitch: float, roll: float, away: float, lean: float, turn: float
) -> None:
    view = lens(yaw, pitch, roll)
    centre = view.axes @ np.array([away, 0.0, 0.0])
    normal = view.axes @ np.array([-1.0, lean, turn])
    normal /= np.linalg.norm(normal)
    side = np.cross(normal, [0.3, 0.2, 0.9])
    side /= np.linalg.norm(side)
    up = np.cross(normal, side)
    half = 0.3 * away
    ring = centre + half * np.array([-side - up, side - up, side + up, -side + up])
    raster = Raster(view)
    raster.draw(mesh_of(ring[None], (1, 2, 3), 4, sided=True))
    seen = raster.ids == 0
    assert seen.any()
    expected = (centre @ normal) / (rays(view) @ normal)
    assert 1.0 / raster.inverse[seen] == pytest.approx(expected[seen], rel=2e-5)
    hits = rays(view) * expected[..., None]
    inside = (np.abs((hits - centre) @ side) < half) & (np.abs((hits - centre) @ up) < half)
    assert (inside == seen)[inside | seen].mean() > 0.97  # but for pixels on the very border


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), angles, angles)
def test_a_fan_of_triangles_has_no_gaps(seed: int, pitch: float, roll: float) -> None:
    """Triangles around a point cover what their common outline covers."""
    rng = np.random.default_rng(seed)
    view = lens(0.0, pitch, roll)
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 12))
    if np.diff(angle, append=angle[0] + 2.0 * np.pi).max() > 2.5:
        return
    rim = np.column_stack([np.full(12, 8.0), 3.0 * np.cos(angle), 3.0 * np.sin(angle)])
    rim = rim[::-1] @ view.axes.T  # counter-clockwise for who looks at it
    middle = np.array([8.0, *rng.uniform(-0.5, 0.5, 2)]) @ view.axes.T
    fan = np.stack([np.stack([middle, rim[k], rim[(k + 1) % 12]]) for k in range(12)])
    raster = Raster(view)
    raster.draw(mesh_of(fan, (0, 0, 0), 1, sided=True))
    whole = Raster(view)
    whole.draw(mesh_of(rim[None], (0, 0, 0), 1, sided=True))
    assert ((raster.ids >= 0) == (whole.ids >= 0)).mean() > 0.999
    rows, columns = np.nonzero(raster.ids >= 0)
    for row in np.unique(rows).tolist():
        span = columns[rows == row]
        assert len(span) == np.ptp(span) + 1


def test_the_nearer_wins_whatever_the_order() -> None:
    view = lens()
    square = np.array([[0, -9.0, -9], [0, -9, 9], [0, 9, 9], [0, 9, -9]])[::-1]
    ahead = np.array([1.0, 0.0, 0.0])
    near, far = square * 0.2 + 5.0 * ahead, square + 20.0 * ahead
    pictures = []
    for order in ((near, far), (far, near)):
        raster = Raster(view)
        for ring in order:
            raster.draw(mesh_of(ring[None], (0, 0, 0), 1, sided=True))
        pictures.append(raster.inverse)
    assert np.array_equal(*pictures)
    assert pictures[0][20, 32] == pytest.approx(0.2)


def test_backs_are_not_seen_and_the_near_plane_cuts() -> None:
    ring = np.array([[[-50.0, -3, -1], [50, -3, -1], [50, 3, -1], [-50, 3, -1]]])  # a floor below
    for turned, sided, visible in ((False, False, True), (True, False, False), (True, True, True)):
        raster = Raster(lens())
        raster.draw(mesh_of(ring[:, ::-1] if turned else ring, (0, 0, 0), 1, sided=sided))
        assert (raster.ids >= 0).any() == visible
    floor = 1.0 / raster.inverse[HEIGHT - 1, WIDTH // 2]
    assert floor == pytest.approx(lens().focal / (HEIGHT / 2 - 0.5), rel=1e-4)


def test_empty_meshes_and_joins() -> None:
    raster = Raster(lens())
    assert raster.draw(EMPTY) == 0
    one = mesh_of(np.ones((2, 3, 3)), (1, 2, 3), 5, owner=[7, 8])
    both = join([one, EMPTY, mesh_of(np.ones((1, 4, 3)), (0, 0, 0), 6)])
    assert both.first.tolist() == [0, 3, 6, 10]
    assert both.where(np.array([False, True, True])).owner.tolist() == [8, 0]
    assert both.where(np.array([False, True, True])).first.tolist() == [0, 3, 7]

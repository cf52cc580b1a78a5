"""Camera pictures: things appear where the camera's geometry says, and look as they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.geometry import box_corners, points_to_local, points_to_world, poses_to_world
from driveproof.maps import SignalKind, TownMap, town_from_opendrive
from driveproof.render import (
    BENCH2DRIVE_CAMERAS,
    Box,
    Camera,
    LightView,
    SignView,
    View,
    Weather,
    draw_trajectory,
    render_camera,
    signs_of,
)
from driveproof.render.labels import Label
from driveproof.render.picture import Picture
from driveproof.render.street import lens_of, scene_of
from driveproof.scene import LightState

FRONT = BENCH2DRIVE_CAMERAS["front"]


def box_at(ego: np.ndarray, x: float, y: float, heading: float = 0.0, **more: object) -> Box:
    """A box at an ego-frame pose, by default a car."""
    pose = poses_to_world([x, y, heading], ego)
    sizes = {"length": 4.5, "width": 1.9, "height": 1.5} | more
    return Box(*(float(value) for value in pose), **sizes)  # type: ignore[arg-type]


def changed(a: np.ndarray, b: np.ndarray, by: int = 12) -> np.ndarray:
    return np.abs(a.astype(int) - b.astype(int)).max(axis=-1) > by


def extent(mask: np.ndarray) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return columns[0], columns[-1] + 1, rows[0], rows[-1] + 1


def light_at(ego: np.ndarray, x: float, y: float, state: LightState) -> LightView:
    place = points_to_world([x, y], ego)
    return LightView(np.append(place, 5.0), float(ego[2] + np.pi), state)


@given(st.floats(1.0, 60.0), st.floats(-0.9, 0.9), st.floats(-0.5, 0.5), st.floats(-1.0, 1.0))
def test_projection_is_that_of_the_intrinsic_matrix(
    depth: float, aside: float, rise: float, yaw: float
) -> None:
    camera = Camera(x=1.2, y=-0.3, z=1.5, yaw=yaw, width=320, height=200)
    local = np.array([depth, aside * depth, rise * depth])  # forward, left, up
    cos, sin = np.cos(yaw), np.sin(yaw)
    ego = np.array(
        [
            1.2 + cos * local[0] - sin * local[1],
            -0.3 + sin * local[0] + cos * local[1],
            1.5 + local[2],
        ]
    )
    pixel, measured = camera.project(ego)
    optical = camera.intrinsics @ [-local[1], -local[2], local[0]]
    assert measured == pytest.approx(depth)
    assert pixel == pytest.approx(optical[:2] / optical[2], abs=1e-6)


def test_edge_of_the_field_of_view_is_the_edge_of_the_picture() -> None:
    edge = np.tan(FRONT.fov / 2.0) * 10.0
    pixel, _ = FRONT.project([FRONT.x + 10.0, edge, FRONT.z])
    assert pixel == pytest.approx([0.0, FRONT.height / 2.0])
    behind, depth = FRONT.project([-5.0, 0.0, 1.0])
    assert np.isnan(behind).all()
    assert depth < 0.0
    high = Camera(pitch=0.1).project([FRONT.x + 10.0, 0.0, FRONT.z])[0]
    assert high[1] > FRONT.height / 2.0  # looking up, what is level sinks


def test_car_ahead_covers_its_projected_box(view: View, ego: np.ndarray) -> None:
    car = replace(view, boxes=(box_at(ego, 15.0, 0.0),))
    labels = Picture(scene_of(car), lens_of(car, FRONT)).labels()
    corners = box_corners([15.0, 0.0, 0.0], 4.5, 1.9)
    cuboid = np.concatenate([np.column_stack([corners, np.full(4, z)]) for z in (0.0, 1.5)])
    pixels, _ = FRONT.project(cuboid)
    left, right, top, bottom = extent(labels == Label.CAR)
    assert left == pytest.approx(pixels[:, 0].min(), abs=1)
    assert right == pytest.approx(pixels[:, 0].max(), abs=1)
    assert top == pytest.approx(pixels[:, 1].min(), abs=1)
    assert bottom == pytest.approx(pixels[:, 1].max(), abs=2)  # the wheels are not at the very end
    drawn = extent(changed(render_camera(view, FRONT), render_camera(car, FRONT)))
    assert drawn[0] <= left
    assert drawn[1] >= right


def test_left_is_left_in_every_camera(view: View, ego: np.ndarray) -> None:
    for side in (1.0, -1.0):
        car = replace(view, boxes=(box_at(ego, 14.0, 4.0 * side),))
        left, right, *_ = extent(changed(render_camera(view, FRONT), render_camera(car, FRONT)))
        assert (FRONT.width / 2.0 - (left + right) / 2.0) * side > 10.0
        name, other = ("front_left", "front_right")[:: int(side)]
        beside = replace(view, boxes=(box_at(ego, 4.5, 5.0 * side),))
        for camera, seen in ((name, True), (other, False)):
            eye = BENCH2DRIVE_CAMERAS[camera]
            assert changed(render_camera(view, eye), render_camera(beside, eye)).any() == seen


def test_brake_lights_shine_red_to_who_follows(view: View, ego: np.ndarray) -> None:
    def redness(brake: bool, heading: float) -> int:
        boxes = (box_at(ego, 12.0, 0.0, heading, brake=brake, colour=(90, 90, 90)),)
        image = render_camera(replace(view, boxes=boxes), FRONT).astype(int)
        return int(((image[..., 0] > 200) & (image[..., 1] < 90)).sum())

    assert redness(False, 0.0) == 0
    assert redness(True, 0.0) >= 10
    assert redness(True, np.pi) == 0  # seen from the front


def test_indicator_shines_on_its_side(view: View, ego: np.ndarray) -> None:
    images = {
        side: render_camera(replace(view, boxes=(box_at(ego, 8.0, 0.0, indicator=side),)), FRONT)
        for side in ("", "left", "right")
    }
    left = extent(changed(images[""], images["left"]))
    right = extent(changed(images[""], images["right"]))
    assert left[1] < FRONT.width / 2.0 < right[0]


@pytest.mark.parametrize("distance", [15.0, 30.0, 50.0])
@pytest.mark.parametrize("weather", list(Weather))
def test_light_shows_its_state_at_its_projected_place(
    view: View, ego: np.ndarray, distance: float, weather: Weather
) -> None:
    def pixel(state: LightState, z: float) -> np.ndarray:
        shown = replace(view, lights=(light_at(ego, distance, -3.0, state),), weather=weather)
        (u, v), _ = FRONT.project([distance - 0.21, -3.0, z])
        return render_camera(shown, FRONT)[int(v), int(u)].astype(int)

    red, green = pixel(LightState.RED, 5.4), pixel(LightState.GREEN, 4.6)
    assert red[0] > red[1] + 60
    assert green[1] > green[0] + 60


def test_lamp_spans_three_pixels_and_shines_forward_only(view: View, ego: np.ndarray) -> None:
    dark = render_camera(replace(view, lights=(light_at(ego, 50.0, 0.0, LightState.OFF),)), FRONT)
    light = light_at(ego, 50.0, 0.0, LightState.RED)
    left, right, top, bottom = extent(
        changed(dark, render_camera(replace(view, lights=(light,)), FRONT), 40)
    )
    assert 3 <= right - left <= 8
    assert 3 <= bottom - top <= 8
    away = replace(light, heading=float(ego[2]))
    dark_away = replace(away, state=LightState.OFF)
    assert np.array_equal(
        render_camera(replace(view, lights=(away,)), FRONT),
        render_camera(replace(view, lights=(dark_away,)), FRONT),
    )


def test_a_truck_hides_what_is_behind_it(view: View, ego: np.ndarray) -> None:
    truck = box_at(ego, 12.0, 0.0, length=9.0, width=2.5, height=3.4)
    hidden = (
        box_at(ego, 30.0, 0.0, brake=True),
        box_at(ego, 26.0, 0.2, kind="pedestrian", width=0.6, length=0.6),
    )
    alone = render_camera(replace(view, boxes=(truck,)), FRONT)
    both = render_camera(replace(view, boxes=(*hidden, truck)), FRONT)
    assert np.array_equal(alone, both)


def test_stop_sign_is_red_at_its_plate(view: View, town: TownMap) -> None:
    (sign,) = signs_of(town)
    assert sign.kind is SignalKind.STOP
    shown = render_camera(replace(view, signs=(sign,)), FRONT.scaled(3))
    mask = changed(render_camera(view, FRONT.scaled(3)), shown)
    reds = (shown[..., 0].astype(int) > shown[..., 1].astype(int) + 80) & mask
    place = points_to_local(sign.position[:2], view.ego)
    (u, v), _ = FRONT.scaled(3).project([*place, sign.position[2]])
    assert reds.sum() > 20
    rows, columns = np.nonzero(reds)
    assert columns.mean() == pytest.approx(u, abs=2)
    assert rows.mean() == pytest.approx(v, abs=2)
    turned = SignView(sign.position, sign.heading + np.pi, sign.kind)
    back = render_camera(replace(view, signs=(turned,)), FRONT.scaled(3)).astype(int)
    assert not (back[..., 0] > back[..., 1] + 80)[mask].any()


def test_lane_mark_lies_where_the_lane_ends(view: View) -> None:
    """The yellow line is 1.75 m to the left of the ego, the white one 1.75 m to the right."""
    camera = Camera(width=896, height=512)
    image = render_camera(view, camera).astype(int)
    for distance in (6.0, 10.0, 20.0):
        (u, v), _ = camera.project([distance, 1.75, 0.0])
        patch = image[int(v), int(u) - 4 : int(u) + 5]
        assert (patch[:, 0] - patch[:, 2]).max() > 60  # yellow
        (u, v), _ = camera.project([distance, -1.75, 0.0])
        assert image[int(v), int(u) - 4 : int(u) + 5].min(axis=1).max() > 150  # white
        (u, v), _ = camera.project([distance, 0.0, 0.0])
        assert image[int(v), int(u)].max() < 100  # asphalt


def test_weather_changes_light_not_geometry(view: View, ego: np.ndarray) -> None:
    busy = replace(view, boxes=(box_at(ego, 12.0, 0.0),))
    images = {w: render_camera(replace(busy, weather=w), FRONT).astype(float) for w in Weather}
    assert images[Weather.NIGHT].mean() < 0.5 * images[Weather.CLEAR].mean()
    contrast = {w: image[: FRONT.height // 2 + 20].std() for w, image in images.items()}
    assert contrast[Weather.FOG] < contrast[Weather.CLEAR]


def test_things_around_and_inside_the_camera_do_not_break_it(view: View, ego: np.ndarray) -> None:
    for x in (-3.0, 0.0, 0.5, 1.0, 3.0, 80.0, 500.0):
        for kind in ("vehicle", "truck", "pedestrian", "cyclist", "cone", "barrier", "obstacle"):
            image = render_camera(
                replace(view, boxes=(box_at(ego, x, 0.3, 0.4, kind=kind),)), FRONT
            )
            assert image.shape == (128, 224, 3)
            assert image.dtype == np.uint8


def test_plain_without_a_town_and_supersampling(view: View, ego: np.ndarray) -> None:
    plain = replace(view, town=None, boxes=(box_at(ego, 12.0, 1.0),))
    coarse, fine = render_camera(plain, FRONT), render_camera(plain, FRONT, supersample=3)
    assert fine.shape == coarse.shape
    assert np.abs(fine.astype(int) - coarse).mean() < 3.0


def test_trajectory_is_drawn_on_the_road(view: View) -> None:
    image = render_camera(view, FRONT)
    waypoints = np.column_stack([np.linspace(3, 30, 10), np.zeros(10)])
    drawn = draw_trajectory(image, FRONT, waypoints, colour=(0, 255, 0))
    (u, v), _ = FRONT.project([12.0, 0.0, 0.0])
    assert drawn[int(v), int(u), 1] > image[int(v), int(u), 1] + 60
    assert not changed(image, drawn)[: FRONT.height // 2].any()
    assert np.array_equal(draw_trajectory(image, FRONT, np.zeros((10, 2))), image)


def test_same_view_same_bytes(view: View, ego: np.ndarray) -> None:
    busy = replace(
        view,
        boxes=(box_at(ego, 12.0, 0.0, brake=True), box_at(ego, 20.0, 3.5)),
        lights=(light_at(ego, 40.0, -3.0, LightState.RED),),
    )
    first = render_camera(busy, FRONT)
    assert np.array_equal(first, render_camera(busy, FRONT))
    assert np.array_equal(first, render_camera(replace(busy), FRONT))


def test_a_bridge_does_not_cover_the_road_below(town: TownMap) -> None:
    """A second road crosses 8 m above: from below the line of the road goes on, from above it is hidden."""
    road = town.opendrive[town.opendrive.index("<road") : town.opendrive.index("</OpenDRIVE>")]
    middle = points_to_world([100.0, 0.0], [0.0, 0.0, 0.5])
    start = points_to_world([-100.0, 0.0], [*middle, 0.5 + np.pi / 2.0])
    bridge = road.replace('id="1" length', 'id="2" length').replace(
        'x="0" y="0" hdg="0.5"', f'x="{start[0]}" y="{start[1]}" hdg="{0.5 + np.pi / 2.0}"'
    )
    bridge = bridge.replace(
        "<lanes>",
        '<elevationProfile><elevation s="0" a="8" b="0" c="0" d="0"/></elevationProfile><lanes>',
    )
    crossed = town_from_opendrive("Bridge", f"<OpenDRIVE>{road}{bridge}</OpenDRIVE>")
    below = View(crossed, np.array([*points_to_world([86.0, -1.75], [0.0, 0.0, 0.5]), 0.5]))
    (u, v), _ = Camera(width=896, height=512).project([12.0, 1.75, 0.0])
    for view, line in ((below, True), (replace(below, ego_z=8.0), False)):
        image = render_camera(view, Camera(width=896, height=512)).astype(int)
        patch = image[int(v), int(u) - 4 : int(u) + 5]
        assert ((patch[:, 0] - patch[:, 2]).max() > 60) == line

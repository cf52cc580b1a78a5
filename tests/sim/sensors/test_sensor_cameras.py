"""Cameras: what they show lies where geometry says, and every picture of a moment tells the same."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sensor_world import FLAT, HILLY, World

from driveproof.geometry.arrays import Float
from driveproof.render import DebugShape
from driveproof.render.labels import Label
from driveproof.sim.engine import Actor, LightState, Pose3, VehicleControl
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors import Sensor, UnmodelledSensor, make_sensor

#: Bench2Drive's cameras in the ego frame (right-handed): pose, field of view in degrees.
MOUNTS = {
    "front": (Pose3(0.80, 0.0, 1.60), 70.0),
    "front_left": (Pose3(0.27, 0.55, 1.60, yaw=math.radians(55.0)), 70.0),
    "front_right": (Pose3(0.27, -0.55, 1.60, yaw=math.radians(-55.0)), 70.0),
    "back": (Pose3(-2.0, 0.0, 1.60, yaw=math.pi), 110.0),
    "back_left": (Pose3(-0.32, 0.55, 1.60, yaw=math.radians(110.0)), 70.0),
    "back_right": (Pose3(-0.32, -0.55, 1.60, yaw=math.radians(-110.0)), 70.0),
    "top_down": (Pose3(0.0, 0.0, 50.0, pitch=-math.pi / 2.0), 110.0),
    "tilted": (Pose3(0.5, 0.2, 2.50, roll=0.3, pitch=-0.2, yaw=0.2), 90.0),
}
SIZE = {"image_size_x": "800", "image_size_y": "450"}


def image(world: World, actor: Actor) -> NDArray[np.uint8]:
    body = make_sensor(world.engine, actor).measure(world.engine)
    assert isinstance(body, bytes)
    width, height = np.frombuffer(body, "<u4", 2)
    return np.frombuffer(body, np.uint8, offset=12).reshape(height, width, 4)


def camera(world: World, kind: str, mount: str = "front", **more: str) -> Actor:
    pose, fov = MOUNTS[mount]
    return world.sensor(f"camera.{kind}", pose, SIZE | {"fov": str(fov)} | more)


def owners(picture: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The actor ids in an instance picture."""
    return picture[..., 1].astype(np.int64) + 256 * picture[..., 0].astype(np.int64)


def tags(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return picture[..., 2]


def depth_of(picture: NDArray[np.uint8]) -> Float:
    value = picture[..., 2] + 256.0 * picture[..., 1] + 65536.0 * picture[..., 0]
    return np.asarray(1000.0 * value / (2**24 - 1))


def corners(actor: Actor) -> Float:
    """``[8, 3]`` of its bounding box in the world."""
    box, pose = actor.bounding_box, actor.pose
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    local = np.array(box.offset) + signs * np.array(box.half_extent)
    return np.asarray(local @ rotation_matrices(pose.rotation).T + pose.position)


def project(points: Float, actor: Actor) -> tuple[Float, Float]:
    """Pixels and depth by the textbook: intrinsic matrix times optical axes (right, down, forward)."""
    pose, fov = actor.pose, math.radians(float(actor.attributes["fov"]))
    width, height = (int(actor.attributes[f"image_size_{axis}"]) for axis in "xy")
    local = (points - pose.position) @ rotation_matrices(pose.rotation)
    optical = np.stack([-local[..., 1], -local[..., 2], local[..., 0]], axis=-1)
    focal = width / (2.0 * math.tan(fov / 2.0))
    intrinsic = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    image_points = optical @ intrinsic.T
    return image_points[..., :2] / image_points[..., 2:], image_points[..., 2]


def place_before(world: World, actor: Actor, away: float, type_id: str) -> Actor:
    """Something half a metre above the ground (a steep road hides no edge of it) where the camera looks, turned so that no side is parallel to the picture."""
    ego, eye = world.ego.pose, actor.pose
    ahead = rotation_matrices(eye.rotation)[:, 0]
    reach = away if abs(ahead[2]) < 0.8 else 6.0
    flat = np.array([ahead[0], ahead[1]]) / max(float(np.hypot(ahead[0], ahead[1])), 1e-6)
    if abs(ahead[2]) > 0.8:
        flat = np.array([math.cos(ego.yaw), math.sin(ego.yaw)])
    delta = np.array([eye.x - ego.x, eye.y - ego.y]) + reach * flat
    cos, sin = math.cos(ego.yaw), math.sin(ego.yaw)
    local = np.array([[cos, sin], [-sin, cos]]) @ delta
    return world.spawn(type_id, float(local[0]), float(local[1]), 0.5, yaw=0.5)


@pytest.mark.parametrize("town", [FLAT, HILLY])
@pytest.mark.parametrize("mount", sorted(MOUNTS))
def test_instance_mask_fills_its_projected_box(
    build: Callable[[str], World], town: str, mount: str
) -> None:
    world = build(town)
    eye = camera(world, "instance_segmentation", mount)
    thing = place_before(world, eye, 7.0, "static.prop.container")
    pixels, depth = project(corners(thing), eye)
    assert (depth > 0.5).all()
    rows, columns = np.nonzero(owners(image(world, eye)) == thing.id)
    found = np.array([columns.min(), columns.max() + 1, rows.min(), rows.max() + 1])
    box = np.array(
        [*(pixels[:, 0].min(), pixels[:, 0].max()), pixels[:, 1].min(), pixels[:, 1].max()]
    )
    box = np.clip(box, 0.0, [800, 800, 450, 450])
    inward = (found - box) * [1, -1, 1, -1]
    assert (inward > -0.6).all()  # never outside, but for half a pixel
    assert (inward < 2.0).all()  # and everywhere at its border


@pytest.mark.parametrize(
    "type_id",
    [
        "vehicle.audi.a2",
        "vehicle.carlamotors.firetruck",
        "vehicle.diamondback.century",
        "vehicle.ford.ambulance",
        "walker.pedestrian.0005",
        "static.prop.constructioncone",
    ],
)
def test_bodies_stay_inside_their_boxes_and_reach_their_ends(world: World, type_id: str) -> None:
    eye = camera(world, "instance_segmentation")
    rise = 0.95 if type_id.startswith("walker") else 0.0
    thing = world.spawn(type_id, 14.0, 1.0, rise, yaw=0.4)
    rows, columns = np.nonzero(owners(image(world, eye)) == thing.id)
    pixels, _ = project(corners(thing), eye)
    low, high = pixels.min(0), pixels.max(0)
    assert columns.min() > low[0] - 0.6
    assert columns.max() + 1 < high[0] + 0.6
    assert rows.min() > low[1] - 0.6
    assert rows.max() + 1 < high[1] + 0.6
    assert np.ptp(columns) + 1 > 0.6 * (high[0] - low[0])
    assert np.ptp(rows) + 1 > 0.85 * (high[1] - low[1])


def test_pictures_of_one_moment_agree(world: World) -> None:
    thing = world.spawn("vehicle.tesla.model3", 12.0, 0.0)
    instance = image(world, camera(world, "instance_segmentation"))
    semantic = image(world, camera(world, "semantic_segmentation"))
    assert (tags(instance) == tags(semantic)).all()
    assert (semantic[..., :2] == 0).all()
    mine = owners(instance) == thing.id
    assert mine.sum() > 500
    assert (tags(semantic)[mine] == Label.CAR).all()
    seen = set(np.unique(tags(semantic)).tolist())
    assert {Label.ROAD, Label.SKY, Label.ROAD_LINE, Label.SIDEWALK, Label.TERRAIN} <= seen
    depth = depth_of(image(world, camera(world, "depth")))
    eye = camera(world, "depth")
    near = project(corners(thing), eye)[1].min()
    assert depth[mine].min() == pytest.approx(near, abs=0.02)
    assert depth[tags(semantic) == Label.SKY] == pytest.approx(1000.0)


def test_depth_of_a_level_road_is_height_over_slope(world: World) -> None:
    eye = camera(world, "depth")
    depth = depth_of(image(world, eye))
    focal = 800 / (2 * math.tan(math.radians(35.0)))
    ground = world.engine.ground_height(eye.pose.x, eye.pose.y, eye.pose.z)
    for row in (260, 300, 400):
        expected = (eye.pose.z - ground) * focal / (row + 0.5 - 225)
        assert depth[row, 400] == pytest.approx(expected, rel=0.01)


def test_a_camera_inside_the_body_sees_out_and_one_behind_sees_it(world: World) -> None:
    inside = world.sensor("camera.instance_segmentation", Pose3(0.3, 0.3, 1.2), SIZE)
    behind = world.sensor("camera.instance_segmentation", Pose3(-7.0, 0.0, 3.0, pitch=-0.2), SIZE)
    share = (owners(image(world, inside))[:225] == world.ego.id).mean()
    assert share < 0.02
    assert (owners(image(world, behind)) == world.ego.id).mean() > 0.02


def test_brake_lights_and_open_doors_show(world: World) -> None:
    car = world.spawn("vehicle.tesla.model3", 9.0, 0.0)
    eye = camera(world, "rgb")

    def red() -> int:
        picture = image(world, eye).astype(int)
        return int(((picture[..., 2] > 200) & (picture[..., 1] < 90)).sum())

    assert red() == 0
    car.control = VehicleControl(brake=0.5)
    assert red() > 60
    instance = camera(world, "instance_segmentation")
    before = (owners(image(world, instance)) == car.id).any(0).sum()
    car.set_door(0, True)
    assert (owners(image(world, instance)) == car.id).any(0).sum() > before + 20


@pytest.mark.parametrize("distance", [12.0, 30.0, 50.0])
def test_traffic_lights_show_their_state_to_who_they_face(world: World, distance: float) -> None:
    light = world.engine.lights[0]
    signal = light.signal
    away = np.array([math.cos(signal.heading), math.sin(signal.heading)])
    place = signal.position[:2] + distance * away
    pose = Pose3(*place.tolist(), float(signal.position[2]) - 1.0, yaw=signal.heading + math.pi)
    eye = world.engine.spawn(
        "sensor.camera.rgb", world.engine.library["sensor.camera.rgb"].values(SIZE), pose
    )
    colours = {}
    for state in (LightState.RED, LightState.GREEN):
        world.engine.set_light_state(light.id, state)
        rise = 0.4 if state is LightState.RED else -0.4
        pixel, _ = project(signal.position + np.array([0.0, 0.0, rise]), eye)
        colours[state] = image(world, eye)[int(pixel[1]), int(pixel[0])].astype(int)
    assert colours[LightState.RED][2] > colours[LightState.RED][1] + 80
    assert colours[LightState.GREEN][1] > colours[LightState.GREEN][2] + 80


def test_weather_shows(world: World) -> None:
    world.spawn("vehicle.tesla.model3", 30.0, 0.0)
    eye = camera(world, "rgb")
    clear = image(world, eye).astype(float)
    weather = world.engine.weather
    weather.sun_altitude_angle = -40.0
    night = image(world, eye).astype(float)
    weather.sun_altitude_angle, weather.fog_density = 45.0, 80.0
    fog = image(world, eye).astype(float)
    weather.fog_density, weather.precipitation, weather.wetness = 2.0, 90.0, 90.0
    rain = image(world, eye).astype(float)
    assert night[..., :3].mean() < 0.5 * clear[..., :3].mean()
    assert fog[180:300].std() < 0.6 * clear[180:300].std()
    assert np.abs(rain - clear).mean() > 10.0


def test_same_state_same_bytes(build: Callable[[str], World]) -> None:
    first, second = build(HILLY), build(HILLY)
    for kind in ("rgb", "depth", "instance_segmentation"):
        one, two = (camera(w, kind) for w in (first, second))
        body = make_sensor(first.engine, one).measure(first.engine)
        assert body == make_sensor(second.engine, two).measure(second.engine)
        assert body == make_sensor(first.engine, one).measure(first.engine)


def test_normals_of_a_level_road_point_up(world: World) -> None:
    picture = image(world, camera(world, "normals"))
    assert picture[400, 400, :3].tolist() == pytest.approx([128, 255, 128], abs=3)


def test_hostile_attributes_are_cut(world: World) -> None:
    actor = world.sensor("camera.rgb")
    actor.attributes |= {"image_size_x": "nan", "image_size_y": "-7", "fov": "1e9"}
    assert image(world, actor).shape == (1, 800, 4)


def test_unmodelled_sensors_say_so(world: World) -> None:
    actor = world.sensor("other.v2x")
    with pytest.raises(UnmodelledSensor, match="not modelled"):
        make_sensor(world.engine, actor)


def test_drawn_shapes_are_seen_from_above_only(world: World) -> None:
    """Who drives must not see what somebody drew for himself."""
    place = world.at(6.0, 2.0)
    shape = DebugShape("point", np.array([[place.x, place.y, place.z]]), (255, 0, 255), 1.0)
    above, front = camera(world, "rgb", "top_down"), camera(world, "rgb", "front")
    seen = image(world, front)
    world.engine.debug_shapes = [shape]  # type: ignore[attr-defined]
    pixel, _ = project(shape.points[0], above)
    assert image(world, above)[int(pixel[1]), int(pixel[0])].tolist() == [255, 0, 255, 255]
    assert (image(world, front) == seen).all()


def flow_of(world: World, sensor: Sensor) -> NDArray[np.float32]:
    body = sensor.measure(world.engine)
    assert isinstance(body, bytes)
    return np.frombuffer(body, "<f4", offset=12).reshape(450, 800, 2)


def test_flow_of_the_world_and_of_what_moves_in_it(world: World) -> None:
    car = world.spawn("vehicle.tesla.model3", 14.0, 0.0)
    eye = camera(world, "optical_flow")
    sensor = make_sensor(world.engine, eye)
    assert np.abs(flow_of(world, sensor)).max() < 1e-6  # there is no picture before the first
    assert np.abs(flow_of(world, sensor)).max() < 1e-5  # nothing has moved
    before, _ = project(corners(car), eye)
    mine = owners(image(world, camera(world, "instance_segmentation"))) == car.id
    pose = car.pose
    aside = np.array([-math.sin(pose.yaw), math.cos(pose.yaw)])
    car.pose = Pose3(pose.x + 0.5 * aside[0], pose.y + 0.5 * aside[1], pose.z, yaw=pose.yaw)
    flow = flow_of(world, sensor)
    now = owners(image(world, camera(world, "instance_segmentation"))) == car.id
    after, _ = project(corners(car), eye)
    moved = (after - before)[:, 0] / 800
    assert moved.max() < -0.005  # to the left
    assert flow[now, 0].min() >= moved.min() - 1e-4
    assert flow[now, 0].max() <= moved.max() + 1e-4
    assert np.abs(flow[~now & ~mine]).max() < 1e-5


def test_flow_of_a_turning_camera_is_that_of_its_projection(world: World) -> None:
    eye = camera(world, "optical_flow")
    sensor = make_sensor(world.engine, eye)
    flow_of(world, sensor)
    ego = world.ego.pose
    world.ego.pose = Pose3(ego.x, ego.y, ego.z, ego.roll, ego.pitch, ego.yaw + 0.05)
    world.engine.step(1e-4)
    sky = flow_of(world, sensor)[10]
    focal = 800 / (2 * math.tan(math.radians(35.0)))
    assert sky[400, 0] * 800 == pytest.approx(math.tan(0.05) * focal, rel=0.05)


def test_events_come_from_what_changes(world: World) -> None:
    car = world.spawn("vehicle.tesla.model3", 14.0, 0.0)
    eye = camera(world, "dvs")
    sensor = make_sensor(world.engine, eye)

    def events() -> NDArray[np.void]:
        body = sensor.measure(world.engine)
        assert isinstance(body, bytes)
        kind = np.dtype([("x", "<u2"), ("y", "<u2"), ("t", "<i8"), ("pol", "u1")])
        return np.frombuffer(body, kind, offset=12)

    assert len(events()) == 0
    world.engine.time += 0.05
    assert len(events()) == 0
    pose = car.pose
    aside = np.array([-math.sin(pose.yaw), math.cos(pose.yaw)])
    car.pose = Pose3(pose.x + aside[0], pose.y + aside[1], pose.z, yaw=pose.yaw)
    begin, world.engine.time = world.engine.time, world.engine.time + 0.05
    found = events()
    assert len(found) > 500
    assert (np.diff(found["t"]) >= 0).all()
    assert found["t"].min() >= begin * 1e9
    assert found["t"].max() <= world.engine.time * 1e9 + 1
    pixels, _ = project(corners(car), eye)
    assert found["y"].min() >= pixels[:, 1].min() - 2
    assert set(np.unique(found["pol"]).tolist()) == {0, 1}


@pytest.mark.parametrize(
    "pose",
    [
        Pose3(1e7, -1e7, 3.0),
        Pose3(0.0, 0.0, -500.0, pitch=1.0),
        Pose3(100.0, 0.0, 9e4, pitch=-math.pi / 2),
        Pose3(roll=math.pi, pitch=0.7, z=2.0),
    ],
)
def test_cameras_anywhere_give_a_picture(world: World, pose: Pose3) -> None:
    values = world.engine.library["sensor.camera.rgb"].values(SIZE)
    actor = world.engine.spawn("sensor.camera.rgb", values, pose)
    picture = image(world, actor)
    assert picture.shape == (450, 800, 4)
    assert (picture[..., 3] == 255).all()

"""Lidars, radar and the obstacle sensor: distances that one can calculate."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sensor_world import HILLY, World

from driveproof.render.labels import Label
from driveproof.sim.engine import Actor, Pose3
from driveproof.sim.sensors import ObstacleEvent, Sensor, make_sensor

QUIET = {"dropoff_general_rate": "0", "dropoff_intensity_limit": "0", "dropoff_zero_intensity": "0"}
DENSE = {"channels": "32", "points_per_second": "288000", "rotation_frequency": "20", "range": "60"}
MOUNT = Pose3(z=1.9)


def body(world: World, sensor: Sensor) -> bytes:
    message = sensor.measure(world.engine)
    assert isinstance(message, bytes)
    return message


def points(message: bytes, width: int) -> tuple[float, NDArray[np.uint32], NDArray[np.float32]]:
    """Angle at the end, points per channel, and the points."""
    angle, channels = struct.unpack_from("<fI", message)
    counts = np.frombuffer(message, "<u4", channels, 8)
    rows = np.frombuffer(message, "<f4", offset=8 + 4 * channels).reshape(-1, width)
    assert counts.sum() == len(rows)
    return angle, counts, rows


def lidar(world: World, semantic: bool = False, **more: str) -> Sensor:
    kind = "lidar.ray_cast_semantic" if semantic else "lidar.ray_cast"
    actor = world.sensor(kind, MOUNT, DENSE | ({} if semantic else QUIET) | more)
    return make_sensor(world.engine, actor)


def labels(rows: NDArray[np.float32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Actor ids and tags of semantic points."""
    numbers = np.ascontiguousarray(rows[:, 4:]).view(np.uint32)
    return numbers[:, 0], numbers[:, 1]


def test_points_of_a_wall_lie_on_it(world: World) -> None:
    wall = world.spawn("static.prop.container", 12.0, -2.0)
    _, _, rows = points(body(world, lidar(world, semantic=True)), 6)
    owner, tag = labels(rows)
    mine = rows[owner == wall.id]
    assert len(mine) > 20
    assert (tag[owner == wall.id] == Label.STATIC).all()
    half_length, half_width = wall.bounding_box.half_extent[:2]
    # y is positive to the right in CARLA's frame: the thing stands on the right.
    assert mine[:, 0].min() == pytest.approx(12.0 - half_length, abs=0.02)
    assert mine[:, 1].max() <= 2.0 + half_width + 0.02
    assert mine[:, 1].min() == pytest.approx(2.0 - half_width, abs=0.15)
    front = np.abs(mine[:, 0] - (12.0 - half_length)) < 1e-3
    direction = mine[front, :3] / np.linalg.norm(mine[front, :3], axis=1, keepdims=True)
    assert mine[front, 3] == pytest.approx(
        direction[:, 0], abs=1e-4
    )  # cosine with the face's normal


def test_level_ground_lies_at_the_height_of_the_mount(world: World) -> None:
    _, _, rows = points(body(world, lidar(world, semantic=True)), 6)
    owner, tag = labels(rows)
    road = rows[(owner == 0) & (tag == Label.ROAD)]
    assert len(road) > 1000
    assert road[:, 2] == pytest.approx(-1.9, abs=0.05)
    distance = np.linalg.norm(road[:, :3], axis=1)
    assert road[:, 3] == pytest.approx(1.9 / distance, abs=0.03)
    assert Label.SIDEWALK in tag
    assert (owner == world.ego.id).any()  # rays that look steeply down meet the own roof


def test_hilly_ground_lies_where_vehicles_stand(build: Callable[[str], World]) -> None:
    world = build(HILLY)
    sensor = lidar(world, semantic=True)
    _, _, rows = points(body(world, sensor), 6)
    _, tag = labels(rows)
    road = rows[tag == Label.ROAD, :3].astype(np.float64) * [1.0, -1.0, 1.0]
    matrix = sensor.actor.pose.matrix()
    ground = road @ matrix[:3, :3].T + matrix[:3, 3]
    near = ground[np.linalg.norm(road, axis=1) < 25.0]
    assert np.ptp(near[:, 2]) > 1.0  # it is a hill
    expected = [world.engine.ground_height(x, y, z) for x, y, z in near.tolist()]
    error = np.abs(near[:, 2] - expected)
    assert np.median(error) < 0.05
    assert np.percentile(error, 95) < 0.3


def test_layout_intensity_and_turning(world: World) -> None:
    world.spawn("static.prop.container", 10.0, 0.0)
    sensor = lidar(world, rotation_frequency="5", atmosphere_attenuation_rate="0.01")
    angle, counts, rows = points(body(world, sensor), 4)
    assert len(counts) == 32
    assert angle == pytest.approx(math.radians(90.0))
    # The first quarter turn begins behind and goes left: in CARLA's frame x and y are both negative.
    assert rows[:, 0].max() < 0.1
    assert rows[:, 1].max() < 0.1
    distance = np.linalg.norm(rows[:, :3], axis=1)
    assert rows[:, 3] == pytest.approx(np.exp(-0.01 * distance), abs=1e-3)
    elevation = np.degrees(np.arcsin(rows[:, 2] / distance))
    lowest = elevation[len(rows) - counts[-1] :]
    assert lowest == pytest.approx(
        -30.0, abs=0.01
    )  # channels run from the upper to the lower limit
    world.engine.step(0.05)
    second, _, rows = points(body(world, sensor), 4)
    assert second == pytest.approx(math.radians(180.0))
    assert rows[:, 1].max() < 0.1
    assert rows[:, 0].min() > -0.1


def test_drops_and_noise_follow_their_seed(world: World) -> None:
    rough = {"dropoff_general_rate": "0.45", "noise_stddev": "0.1"}
    clean = points(body(world, lidar(world)), 4)[2]
    one = body(world, lidar(world, noise_seed="7", **rough))
    assert one == body(world, lidar(world, noise_seed="7", **rough))
    assert one != body(world, lidar(world, noise_seed="8", **rough))
    assert len(points(one, 4)[2]) == pytest.approx(0.55 * len(clean), rel=0.05)


def test_radar_measures_how_fast_one_comes_nearer(world: World) -> None:
    car = world.spawn("vehicle.tesla.model3", 20.0, 0.0)
    away = np.array([math.cos(world.ego.pose.yaw), math.sin(world.ego.pose.yaw), 0.0])
    car.velocity = 3.0 * away
    world.ego.velocity = 8.0 * away
    actor = world.sensor("other.radar", Pose3(2.0, 0.0, 1.0), {"points_per_second": "20000"})
    rows = np.frombuffer(body(world, make_sensor(world.engine, actor)), "<f4").reshape(-1, 4)
    ahead = rows[(np.abs(rows[:, 1]) < 0.04) & (rows[:, 3] < 25.0)]
    assert len(ahead) > 10
    assert ahead[:, 0] == pytest.approx(-5.0, abs=0.1)
    rear = 20.0 - car.bounding_box.half_extent[0] - 2.0
    assert ahead[:, 3].min() == pytest.approx(rear, abs=0.1)
    assert np.abs(rows[:, 1]).max() <= math.radians(15.0) + 1e-6


def obstacle(world: World, **more: str) -> list[ObstacleEvent]:
    actor: Actor = world.sensor("other.obstacle", Pose3(2.0, 0.0, 1.0), {"distance": "10"} | more)
    found = make_sensor(world.engine, actor).measure(world.engine)
    assert isinstance(found, list)
    return found  # type: ignore[return-value]


def test_obstacle_in_the_tube_and_beside_it(world: World) -> None:
    assert obstacle(world) == []
    box = world.spawn("static.prop.container", 9.0, 1.2, yaw=0.0)
    assert obstacle(world, hit_radius="0.2") == []  # half a width beside the tube
    (event,) = obstacle(world, hit_radius="1.0")
    assert (event.self_id, event.other_id) == (world.ego.id, box.id)
    assert event.distance == pytest.approx(7.0 - box.bounding_box.half_extent[0] - 1.0, abs=0.05)
    assert obstacle(world, hit_radius="1.0", only_dynamics="true") == []

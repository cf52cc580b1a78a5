"""Sensors: frames in step with the world, streams to several clients, measurements that make sense."""

from __future__ import annotations

import math
import queue
import threading
import time

import numpy as np
import pytest

carla = pytest.importorskip("carla")


def listening(sensor) -> queue.Queue:
    """A queue that fills with the sensor's measurements."""
    box: queue.Queue = queue.Queue()
    sensor.listen(box.put)
    return box


def test_a_camera_delivers_each_frame_of_synchronous_mode(world) -> None:
    blueprint = world.get_blueprint_library().find("sensor.camera.rgb")
    blueprint.set_attribute("image_size_x", "160")
    blueprint.set_attribute("image_size_y", "120")
    camera = world.spawn_actor(blueprint, carla.Transform(carla.Location(z=10.0)))
    images = listening(camera)
    for _ in range(40):
        frame = world.tick()
        stamp = world.get_snapshot().timestamp
        image = images.get(timeout=5.0)
        assert image.frame == stamp.frame == frame
        assert image.timestamp == stamp.elapsed_seconds
        assert (image.width, image.height) == (160, 120)
        assert image.fov == pytest.approx(90.0)
    camera.stop()
    camera.destroy()


def test_cameras_stand_where_the_frame_says(world) -> None:
    blueprint = world.get_blueprint_library().find("sensor.camera.rgb")
    blueprint.set_attribute("image_size_x", "64")
    blueprint.set_attribute("image_size_y", "48")
    cameras = [world.spawn_actor(blueprint, carla.Transform(carla.Location(z=10.0))) for _ in "ab"]
    boxes = [listening(camera) for camera in cameras]
    for step in range(15):
        for camera in cameras:
            camera.set_transform(carla.Transform(carla.Location(x=float(step), z=10.0)))
        frame = world.tick()
        for camera, box in zip(cameras, boxes, strict=True):
            image = box.get(timeout=5.0)
            assert image.frame == frame
            assert image.transform.location.x == pytest.approx(step, abs=1e-3)
            assert camera.get_transform().location.x == pytest.approx(step, abs=1e-3)
    for camera in cameras:
        camera.stop()
        camera.destroy()


@pytest.mark.slow
def test_sensor_tick_thins_the_frames_of_every_sensor(world) -> None:
    # speaks only of what is near, or is not modelled
    silent = {
        "sensor.other.obstacle",
        "sensor.other.v2x",
        "sensor.other.v2x_custom",
        "sensor.camera.dvs",
        "sensor.camera.optical_flow",
    }
    counts, sensors = {}, []
    for blueprint in world.get_blueprint_library().filter("sensor.*"):
        if blueprint.id in silent or not blueprint.has_attribute("sensor_tick"):
            continue
        blueprint.set_attribute("sensor_tick", "1.0")
        if blueprint.has_attribute("image_size_x"):
            blueprint.set_attribute("image_size_x", "32")
            blueprint.set_attribute("image_size_y", "24")
        sensor = world.spawn_actor(blueprint, carla.Transform(carla.Location(z=5.0)))
        counts[blueprint.id] = 0

        def count(data, name=blueprint.id) -> None:
            counts[name] += 1

        sensor.listen(count)
        sensors.append(sensor)
    for _ in range(50):
        world.tick()
    time.sleep(0.5)
    for sensor in sensors:
        sensor.stop()
        sensor.destroy()
    assert counts == dict.fromkeys(counts, math.ceil(50 * 0.05 / 1.0))
    assert "sensor.lidar.ray_cast" in counts


@pytest.mark.slow
def test_several_clients_hear_one_sensor(client, carla_server) -> None:
    world = client.load_world("Town01")
    blueprint = world.get_blueprint_library().find("sensor.other.gnss")
    blueprint.set_attribute("sensor_tick", "0.1")
    sensor = world.spawn_actor(blueprint, carla.Transform(carla.Location(50.0, 20.0, 1.0)))
    own = listening(sensor)
    world.wait_for_tick(5.0)
    heard = []

    def hear() -> None:
        guest = carla.Client(carla_server.host, carla_server.port)
        guest.set_timeout(20.0)
        twin = next(a for a in guest.get_world().get_actors() if a.id == sensor.id)
        box = listening(twin)
        fix = box.get(timeout=10.0)
        heard.append((fix.latitude, fix.longitude))
        box.get(timeout=10.0)
        twin.stop()

    guests = [threading.Thread(target=hear) for _ in range(5)]
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join(30.0)
    mine = own.get(timeout=5.0)
    time.sleep(0.3)
    sensor.stop()
    sensor.destroy()
    assert len(heard) == 5
    for fix in heard:
        assert fix == pytest.approx((mine.latitude, mine.longitude), abs=1e-4)


def test_lidar_counts_agree(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    point.location.z += 1.8
    plain = library.find("sensor.lidar.ray_cast")
    semantic = library.find("sensor.lidar.ray_cast_semantic")
    for blueprint in (plain, semantic):
        for name, value in (("channels", "64"), ("range", "50"), ("points_per_second", "100000")):
            blueprint.set_attribute(name, value)
        blueprint.set_attribute("rotation_frequency", "20")
    for blueprint, width in ((plain, 16), (semantic, 24)):
        lidar = world.spawn_actor(blueprint, point)
        box = listening(lidar)
        world.tick()
        for _ in range(5):
            world.tick()
        for _ in range(6):
            scan = box.get(timeout=5.0)
            total = sum(scan.get_point_count(k) for k in range(scan.channels))
            assert scan.channels == 64
            assert total == len(scan) == len(list(scan)) == len(bytes(scan.raw_data)) // width
            assert total > 500
        lidar.stop()
        lidar.destroy()


def test_dropped_and_noisy_lidars_differ_as_told(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    point.location.z += 1.8
    totals = {}
    for rate in ("0.0", "0.9"):
        blueprint = library.find("sensor.lidar.ray_cast")
        blueprint.set_attribute("range", "50")
        blueprint.set_attribute("dropoff_general_rate", rate)
        blueprint.set_attribute("dropoff_zero_intensity", "0.0")
        lidar = world.spawn_actor(blueprint, point)
        box = listening(lidar)
        world.tick()
        totals[rate] = len(box.get(timeout=5.0))
        lidar.stop()
        lidar.destroy()
    assert 0 < totals["0.9"] < 0.4 * totals["0.0"]


def test_a_crash_is_felt_by_the_sensors_of_a_car(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    car = world.spawn_actor(library.find("vehicle.lincoln.mkz_2020"), point)
    ahead = point.location + point.get_forward_vector() * 16.0
    other = world.spawn_actor(
        library.find("vehicle.audi.tt"), carla.Transform(ahead, point.rotation)
    )
    bump = world.spawn_actor(library.find("sensor.other.collision"), carla.Transform(), car)
    watch = library.find("sensor.other.obstacle")
    watch.set_attribute("distance", "12")
    watch.set_attribute("only_dynamics", "true")
    eye = world.spawn_actor(watch, carla.Transform(carla.Location(x=2.6, z=0.8)), car)
    inertia = world.spawn_actor(library.find("sensor.other.imu"), carla.Transform(), car)
    boxes = {sensor.type_id: listening(sensor) for sensor in (bump, eye, inertia)}
    for _ in range(15):
        world.tick()
    resting = [boxes["sensor.other.imu"].get(timeout=5.0) for _ in range(15)][-1]
    assert resting.accelerometer.z == pytest.approx(9.81, abs=0.3)
    car.set_target_velocity(point.get_forward_vector() * 14.0)
    for _ in range(40):
        world.tick()
    time.sleep(0.2)
    hit = boxes["sensor.other.collision"].get(timeout=5.0)
    assert hit.actor.id == car.id
    assert hit.other_actor.id == other.id
    assert hit.normal_impulse.length() > 100.0
    seen = boxes["sensor.other.obstacle"].get(timeout=5.0)
    assert seen.other_actor.id == other.id
    assert 0.0 < seen.distance <= 12.0
    assert other.get_location().distance(ahead) > 0.5
    for sensor in (bump, eye, inertia):
        sensor.stop()
        sensor.destroy()


def test_radar_sees_an_oncoming_car_with_its_speed(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    ahead = point.location + point.get_forward_vector() * 30.0
    facing = carla.Rotation(yaw=point.rotation.yaw + 180.0)
    car = world.spawn_actor(library.find("vehicle.audi.a2"), carla.Transform(ahead, facing))
    blueprint = library.find("sensor.other.radar")
    blueprint.set_attribute("points_per_second", "20000")
    place = carla.Transform(point.location + carla.Location(z=0.3), point.rotation)
    radar = world.spawn_actor(blueprint, place)
    box = listening(radar)
    for _ in range(10):
        world.tick()
    car.set_target_velocity(facing.get_forward_vector() * 10.0)
    world.tick()
    world.tick()
    sweeps = [box.get(timeout=5.0) for _ in range(12)]
    fast = [d for d in sweeps[-1] if abs(d.velocity) > 5.0]
    assert fast
    assert np.median([abs(d.velocity) for d in fast]) == pytest.approx(10.0, abs=1.5)
    assert 20.0 < np.median([d.depth for d in fast]) < 31.0
    radar.stop()
    radar.destroy()


def test_crossing_a_marking_is_told(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    car = world.spawn_actor(library.find("vehicle.audi.a2"), point)
    sensor = world.spawn_actor(library.find("sensor.other.lane_invasion"), carla.Transform(), car)
    box = listening(sensor)
    for _ in range(10):
        world.tick()
    car.set_target_velocity(point.get_forward_vector() * 6.0 + point.get_right_vector() * -4.0)
    for _ in range(40):
        world.tick()
        car.set_target_velocity(point.get_forward_vector() * 6.0 + point.get_right_vector() * -4.0)
    event = box.get(timeout=5.0)
    assert event.crossed_lane_markings
    sensor.stop()
    sensor.destroy()


def test_cameras_that_go_with_frames_on_their_way_hurt_nobody(client, world) -> None:
    blueprint = world.get_blueprint_library().find("sensor.camera.rgb")
    blueprint.set_attribute("image_size_x", "128")
    blueprint.set_attribute("image_size_y", "128")
    for _ in range(8):
        camera = world.spawn_actor(blueprint, carla.Transform(carla.Location(z=10.0)))
        box = listening(camera)
        world.tick()
        box.get(timeout=5.0)
        camera.stop()
        camera.destroy()
    assert world.tick() > 0
    assert not world.get_actors().filter("sensor.*")


def test_pictures_hold_what_their_kind_says(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    ahead = carla.Transform(point.location + point.get_forward_vector() * 12.0, point.rotation)
    car = world.spawn_actor(library.find("vehicle.tesla.model3"), ahead)
    for _ in range(20):
        world.tick()
    place = carla.Transform(point.location + carla.Location(z=1.2), point.rotation)
    pictures = {}
    for kind in ("rgb", "depth", "semantic_segmentation", "instance_segmentation"):
        blueprint = library.find(f"sensor.camera.{kind}")
        blueprint.set_attribute("image_size_x", "200")
        blueprint.set_attribute("image_size_y", "150")
        camera = world.spawn_actor(blueprint, place)
        box = listening(camera)
        world.tick()
        image = box.get(timeout=5.0)
        pixels = np.frombuffer(image.raw_data, dtype=np.uint8).reshape(150, 200, 4)
        pictures[kind] = pixels[:, :, 2::-1].astype(float)
        camera.stop()
        camera.destroy()
    assert pictures["rgb"].std() > 5.0
    tags = pictures["semantic_segmentation"][..., 0]
    assert {1.0, 14.0} <= set(np.unique(tags).tolist())
    body = tags == 14.0
    depth = pictures["depth"] @ (1.0, 256.0, 65536.0) / (2**24 - 1) * 1000.0
    distance = ahead.location.distance(place.location)
    assert np.median(depth[body]) == pytest.approx(distance - 2.4, abs=1.0)
    assert (pictures["instance_segmentation"][..., 0] == tags).mean() > 0.98
    names = pictures["instance_segmentation"][body][:, 1:] @ (1.0, 256.0)
    assert len(np.unique(names)) >= 1
    assert car.is_alive

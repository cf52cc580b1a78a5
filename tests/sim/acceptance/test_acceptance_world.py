"""Weather, debug shapes, recorder, environment objects, rays, spectator."""

from __future__ import annotations

import pytest

carla = pytest.importorskip("carla")


def test_weather_comes_back_as_set(world) -> None:
    for weather in (carla.WeatherParameters.HardRainNoon, carla.WeatherParameters.ClearSunset):
        world.set_weather(weather)
        world.tick()
        assert world.get_weather() == weather
    own = carla.WeatherParameters(cloudiness=12.0, sun_altitude_angle=-30.0, fog_density=40.0)
    own.dust_storm = 7.0
    world.set_weather(own)
    assert world.get_weather() == own


def test_debug_shapes_of_every_kind_are_taken(world) -> None:
    here, there = carla.Location(z=1.0), carla.Location(10.0, 5.0, 1.0)
    colour = carla.Color(255, 0, 0)
    debug = world.debug
    debug.draw_point(here, 0.1, colour, 1.0)
    debug.draw_line(here, there, 0.1, colour, 1.0)
    debug.draw_arrow(here, there, 0.1, 0.2, colour, 1.0)
    box = carla.BoundingBox(there, carla.Vector3D(1.0, 2.0, 1.0))
    debug.draw_box(box, carla.Rotation(yaw=30.0), 0.1, colour, 1.0)
    debug.draw_string(here, "hello", False, colour, 1.0)
    for _ in range(30):
        world.tick()
    assert world.tick() > 0


def test_recorder_calls_are_answered(client, world) -> None:
    assert isinstance(client.start_recorder("acceptance.log", True), str)
    for _ in range(3):
        world.tick()
    client.stop_recorder()
    for answer in (
        client.show_recorder_file_info("acceptance.log", False),
        client.show_recorder_collisions("acceptance.log", "a", "a"),
        client.show_recorder_actors_blocked("acceptance.log", 10.0, 10.0),
        client.replay_file("acceptance.log", 0.0, 0.0, 0),
    ):
        assert isinstance(answer, str)
    client.set_replayer_time_factor(1.0)
    client.stop_replayer(True)
    assert world.tick() > 0


def test_the_town_lists_its_objects_and_their_boxes(world) -> None:
    label = carla.CityObjectLabel
    for kind in (label.Buildings, label.TrafficLight, label.TrafficSigns, label.Poles):
        objects = world.get_environment_objects(kind)
        assert all(thing.type == kind for thing in objects)
        boxes = world.get_level_bbs(kind)
        assert len(boxes) >= len(objects)
        if kind != label.TrafficSigns:
            assert objects
            assert all(box.extent.z > 0.0 for box in boxes)
    everything = world.get_environment_objects(label.Any)
    assert len({thing.id for thing in everything}) == len(everything)
    world.enable_environment_objects({everything[0].id}, False)
    world.enable_environment_objects({everything[0].id}, True)
    assert world.get_names_of_all_objects()
    car = world.spawn_actor(
        world.get_blueprint_library().find("vehicle.audi.a2"), world.get_map().get_spawn_points()[0]
    )
    world.tick()
    assert any(
        box.location.distance(car.get_location()) < 2.0 for box in world.get_level_bbs(label.Car)
    )


def test_rays_meet_the_ground_cars_and_houses(world) -> None:
    label = carla.CityObjectLabel
    point = world.get_map().get_spawn_points()[0]
    above = point.location + carla.Location(z=30.0)
    ground = world.ground_projection(above, 100.0)
    assert ground.label == label.Roads
    assert ground.location.z == pytest.approx(point.location.z - 0.5, abs=0.15)
    assert world.ground_projection(above, 5.0) is None
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.tesla.model3"), point)
    for _ in range(30):
        world.tick()
    hit = world.project_point(above, carla.Vector3D(0.0, 0.0, -1.0), 100.0)
    assert hit.label == label.Car
    assert hit.location.z - ground.location.z == pytest.approx(1.49, abs=0.2)
    through = world.cast_ray(above, above - carla.Location(z=40.0))
    assert [point.label for point in through] == [label.Car, label.Roads]
    house = world.get_environment_objects(label.Buildings)[0].bounding_box
    far = house.location + carla.Location(0.0, 0.0, 60.0)
    roof = world.project_point(far, carla.Vector3D(0.0, 0.0, -1.0), 100.0)
    assert roof.label == label.Buildings
    assert car.is_alive


def test_the_spectator_goes_where_it_is_sent(world) -> None:
    spectator = world.get_spectator()
    place = carla.Transform(carla.Location(12.0, -7.0, 40.0), carla.Rotation(pitch=-60.0, yaw=33.0))
    spectator.set_transform(place)
    world.tick()
    got = world.get_spectator().get_transform()
    assert got.location.distance(place.location) < 1e-3
    assert got.rotation.pitch == pytest.approx(-60.0, abs=1e-3)
    assert got.rotation.yaw == pytest.approx(33.0, abs=1e-3)


def test_lamps_of_streets_can_be_asked_for(world) -> None:
    manager = world.get_lightmanager()
    assert manager.get_all_lights() is not None

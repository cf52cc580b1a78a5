"""What the unmodified client can ask for, one request after the other."""

from __future__ import annotations

import math
from typing import Any

import pytest
from server_probe import ask, connection

from driveproof.sim.client import ServerHandle

pytestmark = pytest.mark.slow

carla = pytest.importorskip("carla")


#: Ticks after which what was put at a spawn point, half a metre up, stands.
FALL = 12


def spawn(world: Any, type_id: str = "vehicle.tesla.model3", at: int = 0, **attributes: str) -> Any:
    blueprint = world.get_blueprint_library().find(type_id)
    for key, value in attributes.items():
        blueprint.set_attribute(key, value)
    actor = world.spawn_actor(blueprint, world.get_map().get_spawn_points()[at])
    ticks(world, FALL)
    return actor


def ticks(world: Any, count: int) -> None:
    for _ in range(count):
        world.tick()


def test_the_version_is_the_clients_own(client: Any) -> None:
    assert client.get_server_version() == client.get_client_version() == "0.9.16"


def test_maps_and_blueprints(client: Any, world: Any) -> None:
    assert "/Game/Carla/Maps/Town10HD" in client.get_available_maps()
    town = world.get_map()
    assert town.name == "Carla/Maps/Town01"
    assert len(town.get_spawn_points()) > 50
    assert town.to_opendrive().lstrip().startswith("<?xml")
    library = world.get_blueprint_library()
    assert library.find("sensor.camera.rgb").get_attribute("fov").as_float() == 90.0
    assert library.find("vehicle.tesla.model3").get_attribute("number_of_wheels").as_int() == 4


def test_a_vehicle_stands_where_it_was_put(world: Any) -> None:
    point = world.get_map().get_spawn_points()[3]
    car = spawn(world, at=3, role_name="hero", color="10,20,30")
    seen = car.get_transform()
    assert (seen.location.x, seen.location.y) == pytest.approx(
        (point.location.x, point.location.y), abs=0.05
    )
    assert math.remainder(seen.rotation.yaw - point.rotation.yaw, 360.0) == pytest.approx(
        0.0, abs=0.1
    )
    assert car.attributes["role_name"] == "hero"
    assert car.attributes["color"] == "10,20,30"
    assert car.bounding_box.extent.x == pytest.approx(2.39589, abs=1e-4)
    assert list(car.semantic_tags) == [carla.CityObjectLabel.Car]
    assert world.get_actor(car.id).type_id == car.type_id
    assert world.get_snapshot().find(car.id).get_transform() == seen
    assert world.try_spawn_actor(world.get_blueprint_library().find(car.type_id), seen) is None
    with pytest.raises(RuntimeError, match="Spawn failed because of collision at spawn position"):
        world.spawn_actor(world.get_blueprint_library().find(car.type_id), seen)


def test_steering_to_the_right_turns_to_the_right(world: Any) -> None:
    car = spawn(world)
    before = car.get_transform()
    car.apply_control(carla.VehicleControl(throttle=0.6, steer=0.5))
    ticks(world, 35)
    after = car.get_transform()
    assert math.remainder(after.rotation.yaw - before.rotation.yaw, 360.0) > 3.0
    way = after.location - before.location
    assert way.dot(before.get_right_vector()) > 0.02
    assert car.get_velocity().length() > 1.0
    assert car.get_angular_velocity().z > 1.0, "degrees a second, clockwise from above"
    control = car.get_control()
    assert (control.throttle, control.steer) == pytest.approx((0.6, 0.5))
    assert control.gear >= 1


def test_transforms_and_motions_come_back_exactly(world: Any) -> None:
    car = spawn(world)
    car.set_simulate_physics(False)
    for yaw in (-179.75, -90.0, 0.0, 12.345678, 179.5):
        wanted = carla.Transform(
            carla.Location(123.456, -78.9, 10.5), carla.Rotation(pitch=4.25, yaw=yaw, roll=-3.5)
        )
        car.set_transform(wanted)
        world.tick()
        assert car.get_transform() == wanted
    car.set_location(carla.Location(1.0, 2.0, 30.0))
    world.tick()
    assert car.get_transform().rotation == wanted.rotation
    assert car.get_location() == carla.Location(1.0, 2.0, 30.0)


def test_velocities_and_forces(world: Any) -> None:
    car = spawn(world)
    ahead = car.get_transform().get_forward_vector()
    car.set_target_velocity(ahead * 8.0)
    world.tick()
    assert car.get_velocity().dot(ahead) == pytest.approx(8.0, abs=0.5)
    car.enable_constant_velocity(carla.Vector3D(5.0, 0.0, 0.0))
    ticks(world, 3)
    assert car.get_velocity().length() == pytest.approx(5.0, abs=0.1)
    car.disable_constant_velocity()
    car.add_impulse(ahead * 4000.0)
    car.add_force(ahead * 10.0)
    car.add_torque(carla.Vector3D(0.0, 0.0, 10.0))
    car.add_angular_impulse(carla.Vector3D(0.0, 0.0, 10.0))
    car.set_target_angular_velocity(carla.Vector3D(0.0, 0.0, 1.0))
    car.set_enable_gravity(True)
    car.set_collisions(True)
    world.tick()
    assert car.get_velocity().dot(ahead) > 5.5


def test_ackermann_lamps_doors_wheels_and_telemetry(world: Any) -> None:
    car = spawn(world, "vehicle.lincoln.mkz_2020")
    car.apply_ackermann_controller_settings(carla.AckermannControllerSettings(0.2, 0, 0.1, 0.02))
    assert car.get_ackermann_controller_settings().speed_kp == pytest.approx(0.2)
    car.apply_ackermann_control(carla.VehicleAckermannControl(speed=6.0, acceleration=3.0))
    ticks(world, 40)
    assert car.get_velocity().length() > 1.0
    lamps = carla.VehicleLightState(carla.VehicleLightState.LowBeam | carla.VehicleLightState.Brake)
    car.set_light_state(lamps)
    world.tick()
    assert car.get_light_state() == lamps
    assert world.get_vehicles_light_states()[car.id] == lamps
    car.open_door(carla.VehicleDoor.All)
    car.close_door(carla.VehicleDoor.FL)
    car.apply_control(carla.VehicleControl(steer=1.0))
    ticks(world, 20)
    assert car.get_wheel_steer_angle(carla.VehicleWheelLocation.FL_Wheel) > 5.0
    car.set_wheel_steer_direction(carla.VehicleWheelLocation.FR_Wheel, 12.0)
    assert car.get_wheel_steer_angle(carla.VehicleWheelLocation.FR_Wheel) == pytest.approx(12.0)
    assert len(car.get_telemetry_data().wheels) == 4
    assert car.get_traffic_light_state() in carla.TrafficLightState.values.values()
    assert car.get_speed_limit() > 0.0
    assert car.get_failure_state() == carla.VehicleFailureState.NONE
    assert car.get_component_names()
    assert car.get_component_world_transform(car.get_component_names()[0]) == car.get_transform()
    assert car.get_socket_names() == []


def test_physics_read_back_as_they_were_written(world: Any) -> None:
    car = spawn(world)
    physics = car.get_physics_control()
    assert len(physics.wheels) == 4
    middle = sum((wheel.position for wheel in physics.wheels), carla.Vector3D()) / 4.0
    here = car.get_location()
    assert (middle.x / 100.0, middle.y / 100.0) == pytest.approx((here.x, here.y), abs=0.6)
    physics.mass = 2345.0
    physics.moi = 2.5
    physics.max_rpm = 7000.0
    physics.gear_switch_time = 0.25
    physics.steering_curve = [carla.Vector2D(0.0, 1.0), carla.Vector2D(60.0, 0.5)]
    wheels = physics.wheels
    wheels[0].max_steer_angle = 50.0
    wheels[0].lat_stiff_value = 20.0
    physics.wheels = wheels
    car.apply_physics_control(physics)
    world.tick()
    again = car.get_physics_control()
    assert (again.mass, again.moi, again.max_rpm) == (2345.0, 2.5, 7000.0)
    assert again.gear_switch_time == 0.25
    assert (again.wheels[0].max_steer_angle, again.wheels[0].lat_stiff_value) == (50.0, 20.0)
    assert again.steering_curve[1].y == 0.5


def test_walkers_walk_and_have_bones(world: Any) -> None:
    walker = spawn(world, "walker.pedestrian.0001", at=5)
    start = walker.get_location()
    walker.apply_control(carla.WalkerControl(carla.Vector3D(0.0, 1.0, 0.0), 2.0, False))
    ticks(world, 40)
    assert walker.get_location().y - start.y == pytest.approx(4.0, abs=0.6)
    assert walker.get_control().speed == pytest.approx(2.0)
    assert walker.get_control().direction.y == pytest.approx(1.0)
    bones = {bone.name: bone for bone in walker.get_bones().bone_transforms}
    head = bones["crl_Head__C"].world.location
    assert head.z - walker.get_location().z > 0.5
    walker.set_bones(carla.WalkerBoneControlIn([("crl_Head__C", carla.Transform())]))
    walker.blend_pose(0.5)
    walker.show_pose()
    walker.get_pose_from_animation()
    assert len(walker.get_bone_names()) == len(walker.get_bone_world_transforms())
    assert len(walker.get_bone_names()) == len(walker.get_bone_relative_transforms())


def test_weather_spectator_and_debug(world: Any) -> None:
    storm = carla.WeatherParameters.HardRainNoon
    world.set_weather(storm)
    assert world.get_weather() == storm
    view = carla.Transform(carla.Location(1, 2, 30), carla.Rotation(pitch=-80.0))
    world.get_spectator().set_transform(view)
    world.tick()
    assert world.get_spectator().get_transform() == view
    place = carla.Location(1, 2, 3)
    world.debug.draw_point(place)
    world.debug.draw_line(place, carla.Location(), life_time=0.5)
    world.debug.draw_arrow(place, carla.Location(), life_time=0.0)
    world.debug.draw_box(carla.BoundingBox(place, carla.Vector3D(1, 1, 1)), carla.Rotation())
    world.debug.draw_string(place, "here", life_time=1.0)
    world.tick()


def test_traffic_lights(world: Any) -> None:
    lights = world.get_actors().filter("traffic.traffic_light*")
    light = lights[0]
    light.set_green_time(7.0)
    light.set_yellow_time(2.5)
    light.set_red_time(1.5)
    light.set_state(carla.TrafficLightState.Green)
    light.freeze(True)
    ticks(world, 3)
    assert light.is_frozen()
    assert light.get_state() == carla.TrafficLightState.Green
    assert (light.get_green_time(), light.get_yellow_time(), light.get_red_time()) == (
        7.0,
        2.5,
        1.5,
    )
    group = light.get_group_traffic_lights()
    assert light.id in [other.id for other in group]
    assert light.get_pole_index() < len(group)
    assert light.trigger_volume.extent.x > 0.0
    assert light.get_light_boxes()
    light.freeze(False)
    light.reset_group()
    world.reset_all_traffic_lights()
    world.freeze_all_traffic_lights(False)
    ticks(world, 2)
    assert not light.is_frozen()
    landmark = next(
        mark for mark in world.get_map().get_all_landmarks() if mark.id == light.get_opendrive_id()
    )
    assert world.get_traffic_light(landmark).id == light.id


def test_questions_about_the_town(world: Any) -> None:
    car = spawn(world)
    above = car.get_location() + carla.Location(z=30.0)
    down = world.ground_projection(above, 100.0)
    assert down.location.z == pytest.approx(car.bounding_box.extent.z * 2, abs=0.2)
    assert down.label == carla.CityObjectLabel.Car
    met = world.cast_ray(above, above - carla.Location(z=60.0))
    assert [point.label for point in met] == [
        carla.CityObjectLabel.Car,
        carla.CityObjectLabel.Roads,
    ]
    assert world.project_point(above, carla.Vector3D(0, 0, 1), 10.0) is None
    lights = world.get_level_bbs(carla.CityObjectLabel.TrafficLight)
    assert len(lights) == len(world.get_actors().filter("traffic.traffic_light*"))
    cars = world.get_level_bbs(carla.CityObjectLabel.Car)
    assert len(cars) == 1
    assert cars[0].location.distance(car.get_location()) < 2.0
    parts = world.get_environment_objects(carla.CityObjectLabel.Any)
    assert len({part.id for part in parts}) == len(parts) >= len(lights)
    world.enable_environment_objects({parts[0].id}, False)
    names = world.get_names_of_all_objects()
    assert "driveproof" in names[0]


def test_what_only_an_engine_with_a_renderer_has_is_answered(client: Any, world: Any) -> None:
    assert "not recorded" in client.start_recorder("drive.log")
    client.stop_recorder()
    assert "not found" in client.show_recorder_file_info("drive.log", True)
    assert "not found" in client.show_recorder_collisions("drive.log", "a", "a")
    assert "not found" in client.show_recorder_actors_blocked("drive.log", 10.0, 1.0)
    assert "not found" in client.replay_file("drive.log", 0.0, 0.0, 0)
    client.stop_replayer(False)
    client.set_replayer_time_factor(1.0)
    client.set_replayer_ignore_hero(True)
    client.set_replayer_ignore_spectator(True)
    world.load_map_layer(carla.MapLayer.Buildings)
    world.unload_map_layer(carla.MapLayer.Buildings)
    assert world.get_lightmanager().get_all_lights() == []


def test_destroyed_actors_leave_their_boxes(server: ServerHandle, world: Any) -> None:
    car = spawn(world)
    half = car.bounding_box.extent.x
    assert car.is_alive
    assert car.destroy()
    with connection(server) as opened:
        box = ask(opened, "get_actor_bounding_box", car.id)[3][0][1]
    assert box[1][0] == pytest.approx(half), "a traffic manager may still ask"
    world.tick()
    assert car.id not in [actor.id for actor in world.get_actors()]


def test_attached_actors_follow(world: Any) -> None:
    car = spawn(world)
    library = world.get_blueprint_library()
    sensor = world.spawn_actor(
        library.find("sensor.other.imu"), carla.Transform(carla.Location(x=2.0, z=1.0)), car
    )
    car.apply_control(carla.VehicleControl(throttle=0.8))
    ticks(world, 40)
    assert sensor.parent.id == car.id
    offset = car.get_transform().get_matrix()
    wanted = [offset[k][0] * 2.0 + offset[k][2] + offset[k][3] for k in range(3)]
    seen = sensor.get_location()
    assert (seen.x, seen.y, seen.z) == pytest.approx(wanted, abs=1e-3)
    sensor.set_transform(carla.Transform(carla.Location(x=0.0, z=3.0)))
    world.tick()
    assert sensor.get_location().distance(car.get_location()) == pytest.approx(3.0, abs=1e-3)


def test_an_unknown_town_is_refused_and_nothing_changes(client: Any, world: Any) -> None:
    with pytest.raises(RuntimeError, match="Town99"):
        client.load_world("Town99")
    assert client.get_world().id == world.id

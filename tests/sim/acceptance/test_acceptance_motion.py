"""How vehicles move: physics controls, pedals, impulses, friction, telemetry, lights and doors."""

from __future__ import annotations

import math

import pytest

carla = pytest.importorskip("carla")

WHEEL = (
    "tire_friction",
    "damping_rate",
    "max_steer_angle",
    "radius",
    "max_brake_torque",
    "max_handbrake_torque",
    "lat_stiff_max_load",
    "lat_stiff_value",
    "long_stiff_value",
)
BODY = (
    "max_rpm",
    "moi",
    "damping_rate_full_throttle",
    "damping_rate_zero_throttle_clutch_engaged",
    "damping_rate_zero_throttle_clutch_disengaged",
    "use_gear_autobox",
    "gear_switch_time",
    "clutch_strength",
    "final_ratio",
    "mass",
    "drag_coefficient",
    "use_sweep_wheel_collision",
)


def ticks(world, count: int) -> None:
    """Let the world make ``count`` steps."""
    for _ in range(count):
        world.tick()


def changed(vehicle, body=None, wheel=None):
    """The vehicle's physics with some fields changed, of all wheels alike."""
    physics = vehicle.get_physics_control()
    for name, value in (body or {}).items():
        setattr(physics, name, value)
    wheels = list(physics.wheels)
    for name, value in (wheel or {}).items():
        for each in wheels:
            setattr(each, name, value)
    physics.wheels = wheels
    return physics


def numbers(physics) -> dict[str, float]:
    """Every number of a physics control, wheels included."""
    found = {name: float(getattr(physics, name)) for name in BODY}
    for k, wheel in enumerate(physics.wheels):
        found |= {f"{k}.{name}": float(getattr(wheel, name)) for name in WHEEL}
    for k, gear in enumerate(physics.forward_gears):
        found |= {f"gear{k}": gear.ratio, f"up{k}": gear.up_ratio, f"down{k}": gear.down_ratio}
    for name in ("torque_curve", "steering_curve"):
        for k, point in enumerate(getattr(physics, name)):
            found |= {f"{name}{k}x": point.x, f"{name}{k}y": point.y}
    return found


@pytest.fixture
def avenue(enter):
    """Town05 with a long straight road northwards: the world and the start of a lane of it."""
    world = enter("Town05")
    return world, carla.Transform(carla.Location(36.0, -200.0, 0.3), carla.Rotation(yaw=90.0))


def beside(start, metres: float):
    """The same start some metres to the left (against x on the avenue)."""
    place = carla.Location(start.location.x - metres, start.location.y, start.location.z)
    return carla.Transform(place, start.rotation)


def test_physics_of_every_vehicle_come_back_as_set(world) -> None:
    point = world.get_map().get_spawn_points()[0]
    for blueprint in world.get_blueprint_library().filter("vehicle.*"):
        vehicle = world.spawn_actor(blueprint, point)
        assert len(vehicle.get_physics_control().wheels) == 4, blueprint.id
        for change in (
            changed(vehicle, {"drag_coefficient": 5.0, "mass": 1234.5, "max_rpm": 4321.0}),
            changed(vehicle, wheel={"tire_friction": 2.5, "long_stiff_value": 987.0}),
        ):
            vehicle.apply_physics_control(change)
            world.tick()
            got = numbers(vehicle.get_physics_control())
            assert got == pytest.approx(numbers(change), rel=1e-5), blueprint.id
        vehicle.destroy()


def test_a_vehicle_falls_and_then_stands(world) -> None:
    point = world.get_map().get_spawn_points()[0]
    point.location.z += 4.0
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.tesla.model3"), point)
    world.tick()
    begin = car.get_location().z
    ticks(world, 8)
    assert car.get_velocity().z < -1.0
    assert car.get_location().z < begin - 0.5
    ticks(world, 60)
    assert car.get_velocity().length() < 0.1
    ground = world.get_map().get_waypoint(point.location).transform.location.z
    assert car.get_location().z == pytest.approx(ground, abs=0.1)


def test_without_gravity_nothing_falls(world) -> None:
    point = world.get_map().get_spawn_points()[0]
    point.location.z += 3.0
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.audi.a2"), point)
    car.set_enable_gravity(False)
    world.tick()
    begin = car.get_location().z
    ticks(world, 20)
    assert car.get_location().z == pytest.approx(begin, abs=0.05)


def test_throttle_speeds_up_the_brake_stops_and_reverse_goes_back(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.lincoln.mkz_2020"), start)
    ticks(world, 10)
    car.apply_control(carla.VehicleControl(throttle=1.0))
    ticks(world, 80)
    fast = car.get_velocity().y
    assert fast > 8.0
    assert car.get_acceleration().length() > 0.5
    control = car.get_control()
    assert (control.throttle, control.brake, control.gear >= 1) == (1.0, 0.0, True)
    car.apply_control(carla.VehicleControl(brake=1.0))
    ticks(world, 80)
    assert car.get_velocity().length() < 0.2
    here = car.get_location().y
    car.apply_control(carla.VehicleControl(throttle=0.6, reverse=True))
    ticks(world, 60)
    assert car.get_location().y < here - 1.0
    car.apply_control(carla.VehicleControl(hand_brake=True))
    ticks(world, 80)
    assert car.get_velocity().length() < 0.3


def test_steering_right_turns_right(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.audi.tt"), start)
    ticks(world, 10)
    car.apply_control(carla.VehicleControl(throttle=0.4, steer=0.3))
    ticks(world, 50)
    turned = (car.get_transform().rotation.yaw - 90.0 + 180.0) % 360.0 - 180.0
    assert turned > 5.0
    assert car.get_angular_velocity().z > 1.0
    wheel = car.get_wheel_steer_angle(carla.VehicleWheelLocation.FL_Wheel)
    assert 1.0 < wheel < 70.0


def test_target_velocity_and_frictionless_tyres_keep_the_speed(client, avenue) -> None:
    world, start = avenue
    wanted = 100.0 / 3.6
    for name in ("vehicle.tesla.model3", "vehicle.carlamotors.firetruck", "vehicle.yamaha.yzf"):
        blueprint = world.get_blueprint_library().find(name)
        rolling = world.spawn_actor(blueprint, start)
        floating = world.spawn_actor(blueprint, beside(start, 4.0))
        floating.set_enable_gravity(False)
        ticks(world, 10)
        rolling.apply_physics_control(
            changed(rolling, {"drag_coefficient": 0.0}, {"tire_friction": 0.0})
        )
        floating.apply_physics_control(changed(floating, {"drag_coefficient": 0.0}))
        world.tick()
        for vehicle in (rolling, floating):
            vehicle.set_target_velocity(carla.Vector3D(0.0, wanted, 0.0))
        world.tick()
        for vehicle in (rolling, floating):
            assert vehicle.get_velocity().y == pytest.approx(wanted, abs=1e-3), name
        ticks(world, 100)
        for vehicle in (rolling, floating):
            assert vehicle.get_velocity().y == pytest.approx(wanted, abs=0.1), name
            vehicle.destroy()


def test_more_friction_brakes_shorter(avenue) -> None:
    world, start = avenue
    for name in ("vehicle.audi.a2", "vehicle.mitsubishi.fusorosa", "vehicle.vespa.zx125"):
        blueprint = world.get_blueprint_library().find(name)
        frictions = (0.0, 0.5, 3.0)
        vehicles = [world.spawn_actor(blueprint, beside(start, 4.2 * k)) for k in range(3)]
        ticks(world, 10)
        for vehicle, friction in zip(vehicles, frictions, strict=True):
            vehicle.apply_physics_control(
                changed(vehicle, {"drag_coefficient": 0.0}, {"tire_friction": friction})
            )
        ticks(world, 2)
        for vehicle in vehicles:
            vehicle.set_target_velocity(carla.Vector3D(0.0, 100.0 / 3.6, 0.0))
        ticks(world, 20)
        begin = [vehicle.get_location().y for vehicle in vehicles]
        for vehicle in vehicles:
            vehicle.apply_control(carla.VehicleControl(brake=1.0))
        ticks(world, 150)
        far = [v.get_location().y - b for v, b in zip(vehicles, begin, strict=True)]
        assert far[1] < 0.75 * far[0], (name, far)
        assert far[2] < 0.75 * far[1], (name, far)
        for vehicle in vehicles:
            vehicle.destroy()


def test_a_friction_volume_acts_only_inside(avenue) -> None:
    world, start = avenue
    library = world.get_blueprint_library()
    trigger = library.find("static.trigger.friction")
    for name, value in (("friction", 5.0), ("extent_x", 300.0), ("extent_y", 2000.0)):
        trigger.set_attribute(name, str(value))
    trigger.set_attribute("extent_z", "700.0")
    volume = world.spawn_actor(trigger, carla.Transform(carla.Location(36.0, -150.0, 1.0)))
    car = world.spawn_actor(library.find("vehicle.audi.tt"), start)
    ticks(world, 10)
    car.apply_physics_control(changed(car, {"drag_coefficient": 0.0}, {"tire_friction": 0.0}))
    world.tick()
    car.set_target_velocity(carla.Vector3D(0.0, 50.0 / 3.6, 0.0))
    seen = {}
    for _ in range(140):
        world.tick()
        y = car.get_location().y
        friction = car.get_physics_control().wheels[0].tire_friction
        place = "before" if y < -172.0 else "inside" if -168.0 < y < -132.0 else "between"
        place = "after" if y > -128.0 else place
        seen.setdefault(place, set()).add(round(friction, 3))
    assert seen["before"] == {0.0}
    assert seen["inside"] == {5.0}
    volume.destroy()


def test_stiffer_tyres_get_away_no_slower(avenue) -> None:
    world, start = avenue
    blueprint = world.get_blueprint_library().find("vehicle.dodge.charger_2020")
    cars = [world.spawn_actor(blueprint, beside(start, 5.0 * k)) for k in range(2)]
    ticks(world, 10)
    for car, stiffness in zip(cars, (100.0, 2000.0), strict=True):
        car.apply_physics_control(
            changed(car, {"drag_coefficient": 0.0}, {"long_stiff_value": stiffness})
        )
    world.tick()
    for car in cars:
        car.apply_control(carla.VehicleControl(throttle=1.0))
    ticks(world, 100)
    soft, hard = (car.get_location().y for car in cars)
    assert hard >= soft > start.location.y + 5.0


def test_how_wheels_sweep_changes_nothing_on_a_plain_road(avenue) -> None:
    world, start = avenue
    blueprint = world.get_blueprint_library().find("vehicle.nissan.patrol")
    cars = [world.spawn_actor(blueprint, beside(start, 5.0 * k)) for k in range(2)]
    ticks(world, 10)
    for car, sweep in zip(cars, (False, True), strict=True):
        car.apply_physics_control(changed(car, {"use_sweep_wheel_collision": sweep}))
    world.tick()
    for car in cars:
        car.set_target_velocity(carla.Vector3D(0.0, 20.0, 0.0))
    ticks(world, 100)
    a, b = cars
    assert a.get_velocity().y == pytest.approx(b.get_velocity().y, abs=0.5)
    assert a.get_location().y == pytest.approx(b.get_location().y, abs=0.5)


@pytest.mark.parametrize("sticky", ["true", "false"])
def test_controls_stick_unless_told_otherwise(avenue, sticky: str) -> None:
    world, start = avenue
    blueprint = world.get_blueprint_library().find("vehicle.audi.a2")
    blueprint.set_attribute("sticky_control", sticky)
    gone = {}
    for pattern in ("once", "always", "released"):
        car = world.spawn_actor(blueprint, start)
        ticks(world, 10)
        car.apply_control(carla.VehicleControl(throttle=1.0))
        for _ in range(60):
            world.tick()
            if pattern == "always":
                car.apply_control(carla.VehicleControl(throttle=1.0))
            if pattern == "released":
                car.apply_control(carla.VehicleControl())
        gone[pattern] = car.get_location().y - start.location.y
        car.destroy()
        world.tick()
    same_as = "always" if sticky == "true" else "released"
    assert gone["once"] == pytest.approx(gone[same_as], abs=1e-3)
    assert gone["always"] > gone["released"] + 3.0


def test_impulses_and_forces_push_as_newton_says(avenue) -> None:
    world, start = avenue
    blueprint = world.get_blueprint_library().find("vehicle.audi.tt")
    car = world.spawn_actor(blueprint, start)
    ticks(world, 20)
    car.apply_physics_control(changed(car, {"drag_coefficient": 0.0}, {"tire_friction": 0.0}))
    world.tick()
    mass = car.get_physics_control().mass
    car.add_impulse(carla.Vector3D(0.0, mass * 5.0, 0.0))
    world.tick()
    assert car.get_velocity().y == pytest.approx(5.0, abs=0.3)
    for _ in range(20):
        car.add_force(carla.Vector3D(0.0, mass * 2.0, 0.0))
        world.tick()
    assert car.get_velocity().y == pytest.approx(7.0, abs=0.5)
    car.add_angular_impulse(carla.Vector3D(0.0, 0.0, mass * 50.0))
    world.tick()
    assert car.get_angular_velocity().z > 0.5


def test_constant_velocity_holds_until_it_ends(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.tesla.model3"), start)
    ticks(world, 10)
    car.enable_constant_velocity(carla.Vector3D(12.0, 0.0, 0.0))
    ticks(world, 40)
    assert car.get_velocity().y == pytest.approx(12.0, abs=0.1)
    car.disable_constant_velocity()
    car.apply_control(carla.VehicleControl(brake=1.0))
    ticks(world, 80)
    assert car.get_velocity().length() < 0.5


def test_angular_velocity_turns(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.audi.tt"), start)
    ticks(world, 20)
    car.apply_physics_control(changed(car, wheel={"tire_friction": 0.0}))
    car.set_target_angular_velocity(carla.Vector3D(0.0, 0.0, 40.0))
    world.tick()
    assert car.get_angular_velocity().z == pytest.approx(40.0, abs=4.0)
    ticks(world, 10)
    turned = (car.get_transform().rotation.yaw - 90.0 + 180.0) % 360.0 - 180.0
    assert turned > 5.0


def test_without_physics_a_vehicle_stays_where_it_is_put(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.tesla.model3"), start)
    world.tick()
    car.set_simulate_physics(False)
    high = carla.Transform(start.location + carla.Location(z=8.0), start.rotation)
    car.set_transform(high)
    ticks(world, 30)
    assert car.get_location().distance(high.location) < 0.02
    car.set_simulate_physics(True)
    ticks(world, 40)
    assert car.get_location().z < 2.0


def test_ackermann_reaches_the_speed_it_is_told(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.tesla.model3"), start)
    ticks(world, 10)
    gains = car.get_ackermann_controller_settings()
    gains.speed_kp = gains.speed_kp + 0.1
    car.apply_ackermann_controller_settings(gains)
    world.tick()
    assert car.get_ackermann_controller_settings().speed_kp == pytest.approx(gains.speed_kp)
    car.apply_ackermann_control(carla.VehicleAckermannControl(speed=6.0, acceleration=3.0))
    ticks(world, 160)
    assert 3.0 < car.get_velocity().length() < 7.5


def test_telemetry_is_alive(avenue) -> None:
    world, start = avenue
    car = world.spawn_actor(world.get_blueprint_library().find("vehicle.lincoln.mkz_2017"), start)
    ticks(world, 5)
    car.apply_control(carla.VehicleControl(throttle=1.0))
    ticks(world, 30)
    if not hasattr(car, "get_telemetry_data"):
        pytest.skip("this client has no telemetry")
    data = car.get_telemetry_data()
    assert data.throttle == pytest.approx(1.0)
    assert data.engine_rpm > 100.0
    assert data.gear >= 1
    assert data.speed == pytest.approx(car.get_velocity().length(), rel=0.1)
    assert len(data.wheels) == 4
    assert max(abs(wheel.omega) for wheel in data.wheels) > 1.0
    assert all(
        math.isfinite(value)
        for wheel in data.wheels
        for value in (wheel.lat_slip, wheel.long_slip, wheel.torque, wheel.tire_load)
    )


def test_lamps_and_doors(world) -> None:
    library = world.get_blueprint_library()
    car = world.spawn_actor(
        library.find("vehicle.lincoln.mkz_2020"), world.get_map().get_spawn_points()[0]
    )
    world.tick()
    state = carla.VehicleLightState
    wanted = state(state.Position | state.LowBeam | state.LeftBlinker)
    car.set_light_state(wanted)
    world.tick()
    assert car.get_light_state() == wanted
    assert dict(world.get_vehicles_light_states())[car.id] == wanted
    car.open_door(carla.VehicleDoor.All)
    world.tick()
    car.close_door(carla.VehicleDoor.FL)
    world.tick()
    car.set_wheel_steer_direction(carla.VehicleWheelLocation.FR_Wheel, 20.0)
    world.tick()
    car.show_debug_telemetry(True)
    world.tick()
    assert car.is_alive

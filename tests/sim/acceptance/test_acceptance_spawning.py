"""Spawning, destroying, attaching, batches, and what actors tell about themselves."""

from __future__ import annotations

import random

import pytest

carla = pytest.importorskip("carla")

Spawn = getattr(carla.command, "SpawnActor", None)


@pytest.mark.slow
def test_every_vehicle_fits_on_every_spawn_point_at_once(client, enter) -> None:
    world = enter("Town02")
    points = world.get_map().get_spawn_points()
    for blueprint in world.get_blueprint_library().filter("vehicle.*"):
        answers = client.apply_batch_sync([Spawn(blueprint, point) for point in points], False)
        errors = [answer.error for answer in answers if answer.error]
        assert not errors, blueprint.id
        frame = world.tick()
        snapshot = world.get_snapshot()
        assert snapshot.frame == frame
        assert all(snapshot.has_actor(actor.id) for actor in world.get_actors())
        for answer, point in zip(answers, points, strict=True):
            pose = snapshot.find(answer.actor_id).get_transform()
            assert pose.location.x == pytest.approx(point.location.x, abs=5e-3)
            assert pose.location.y == pytest.approx(point.location.y, abs=5e-3)
            for angle in ("pitch", "yaw", "roll"):
                wanted = getattr(point.rotation, angle)
                assert getattr(pose.rotation, angle) == pytest.approx(wanted, abs=5e-3)
        client.apply_batch_sync([carla.command.DestroyActor(a.actor_id) for a in answers], True)
        assert not world.get_actors().filter("vehicle.*")


@pytest.mark.slow
@pytest.mark.parametrize("town", ["Town03", "Town07"])
def test_vehicles_stay_where_they_are_born_on_slopes(client, enter, town: str) -> None:
    world = enter(town)
    points = world.get_map().get_spawn_points()
    blueprints = world.get_blueprint_library().filter("vehicle.*")
    dice = random.Random(7)
    answers = client.apply_batch_sync([Spawn(dice.choice(blueprints), p) for p in points], True)
    assert not [answer.error for answer in answers if answer.error]
    snapshot = world.get_snapshot()
    for answer, point in zip(answers, points, strict=True):
        pose = snapshot.find(answer.actor_id).get_transform()
        assert pose.location.x == pytest.approx(point.location.x, abs=5e-3)
        assert pose.location.y == pytest.approx(point.location.y, abs=5e-3)
        assert pose.rotation.pitch == pytest.approx(point.rotation.pitch, abs=5e-3)
        assert pose.rotation.yaw == pytest.approx(point.rotation.yaw, abs=5e-3)
    for _ in range(60):
        world.tick()
    for answer, point in zip(answers, points, strict=True):
        car = world.get_actor(answer.actor_id)
        if abs(point.rotation.pitch) > 10.0:
            continue  # here an unbraked car rolls
        gone = car.get_location().distance(point.location)
        assert gone < 1.0, (car.type_id, gone, point.rotation.pitch)
    client.apply_batch_sync([carla.command.DestroyActor(a.actor_id) for a in answers], True)


def test_a_taken_place_is_refused_with_carlas_words(client, world) -> None:
    blueprint = world.get_blueprint_library().find("vehicle.audi.a2")
    point = world.get_map().get_spawn_points()[0]
    first = world.spawn_actor(blueprint, point)
    assert world.try_spawn_actor(blueprint, point) is None
    with pytest.raises(RuntimeError, match="collision at spawn position"):
        world.spawn_actor(blueprint, point)
    (answer,) = client.apply_batch_sync([Spawn(blueprint, point)])
    assert "collision" in answer.error
    assert first.destroy()
    assert world.try_spawn_actor(blueprint, point) is not None


def test_props_of_every_kind_stack_in_the_sky(client, world) -> None:
    dice = random.Random(1)
    points = world.get_map().get_spawn_points()
    batch = []
    for floor, prop in enumerate(world.get_blueprint_library().filter("static.prop.*")):
        place = dice.choice(points)
        place.location.z += 100.0 * floor
        batch.append(Spawn(prop, place))
    answers = client.apply_batch_sync(batch)
    assert not [answer.error for answer in answers if answer.error]
    world.tick()
    assert len(world.get_actors().filter("static.prop.*")) == len(batch)


def test_actors_know_what_they_are(world) -> None:
    blueprint = world.get_blueprint_library().find("vehicle.mercedes.sprinter")
    blueprint.set_attribute("role_name", "hero")
    blueprint.set_attribute("color", "1,2,3")
    van = world.spawn_actor(blueprint, world.get_map().get_spawn_points()[2])
    world.tick()
    (found,) = world.get_actors().filter("vehicle.*")
    assert found.id == van.id
    assert found.attributes["role_name"] == "hero"
    assert found.attributes["color"] == "1,2,3"
    assert found.attributes["base_type"] == "van"
    assert list(found.semantic_tags)
    assert found.is_alive
    extent = van.bounding_box.extent
    assert (extent.x, extent.y, extent.z) == pytest.approx((2.9576, 0.9942, 1.2803), abs=1e-3)
    corners = van.bounding_box.get_world_vertices(van.get_transform())
    assert len(corners) == 8
    assert isinstance(van, carla.Vehicle)
    assert van.destroy()
    world.tick()
    assert not van.is_alive
    assert not world.get_actors().filter("vehicle.*")


def test_children_follow_their_parents(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[1]
    car = world.spawn_actor(library.find("vehicle.tesla.model3"), point)
    place = carla.Transform(carla.Location(x=1.5, y=0.4, z=2.4), carla.Rotation(pitch=-15.0))
    camera = world.spawn_actor(library.find("sensor.camera.rgb"), place, attach_to=car)
    assert camera.parent.id == car.id
    for _ in range(30):
        world.tick()
    car.set_transform(carla.Transform(point.location + carla.Location(z=0.2), point.rotation))
    world.tick()
    body = car.get_transform()
    wanted = body.transform(carla.Location(x=1.5, y=0.4, z=2.4))
    assert camera.get_location().distance(wanted) < 0.01
    turned = camera.get_transform().rotation.pitch - body.rotation.pitch
    assert turned == pytest.approx(-15.0, abs=0.05)
    camera.set_transform(carla.Transform(carla.Location(x=-3.0)))
    world.tick()
    assert car.get_location().distance(camera.get_location()) == pytest.approx(3.0, abs=0.02)
    camera.destroy()


def test_a_chain_of_commands_acts_on_what_was_just_spawned(client, world) -> None:
    new = carla.command.FutureActor
    points = world.get_map().get_spawn_points()
    library = world.get_blueprint_library()
    batch = [
        Spawn(library.find("vehicle.audi.tt"), point)
        .then(carla.command.ApplyVehicleControl(new, carla.VehicleControl(throttle=0.6)))
        .then(
            carla.command.SetVehicleLightState(
                new, carla.VehicleLightState(carla.VehicleLightState.Position)
            )
        )
        for point in points[:5]
    ]
    answers = client.apply_batch_sync(batch, True)
    cars = [world.get_actor(answer.actor_id) for answer in answers]
    for _ in range(30):
        world.tick()
    assert all(car.get_velocity().length() > 0.5 for car in cars)
    assert {car.get_light_state() for car in cars} == {carla.VehicleLightState.Position}
    answers = client.apply_batch_sync(
        [carla.command.DestroyActor(car) for car in cars] + [carla.command.DestroyActor(999_999)],
        True,
    )
    assert [bool(answer.error) for answer in answers] == [False] * 5 + [True]


def test_every_command_of_a_batch_is_understood(client, world) -> None:
    command, zero = carla.command, carla.Vector3D()
    library = world.get_blueprint_library()
    car = world.spawn_actor(
        library.find("vehicle.lincoln.mkz_2020"), world.get_map().get_spawn_points()[0]
    )
    walker = world.spawn_actor(
        library.find("walker.pedestrian.0015"),
        carla.Transform(world.get_map().get_spawn_points()[4].location + carla.Location(z=1.0)),
    )
    world.tick()
    batch = [
        command.ApplyVehicleControl(car, carla.VehicleControl(brake=1.0)),
        command.ApplyVehicleAckermannControl(car, carla.VehicleAckermannControl()),
        command.ApplyWalkerControl(walker, carla.WalkerControl()),
        command.ApplyWalkerState(walker, walker.get_transform(), 0.0),
        command.ApplyVehiclePhysicsControl(car, car.get_physics_control()),
        command.ApplyTransform(car, car.get_transform()),
        command.ApplyTargetVelocity(car, zero),
        command.ApplyTargetAngularVelocity(car, zero),
        command.ApplyImpulse(car, zero),
        command.ApplyForce(car, zero),
        command.ApplyAngularImpulse(car, zero),
        command.ApplyTorque(car, zero),
        command.SetSimulatePhysics(car, True),
        command.SetEnableGravity(car, True),
        command.SetVehicleLightState(car, carla.VehicleLightState(3)),
        command.DestroyActor(walker),
    ]
    assert [answer.error for answer in client.apply_batch_sync(batch, True)] == [""] * len(batch)


def test_bones_and_components_are_told(world) -> None:
    library = world.get_blueprint_library()
    points = world.get_map().get_spawn_points()
    car = world.spawn_actor(library.find("vehicle.tesla.model3"), points[0])
    walker = world.spawn_actor(library.find("walker.pedestrian.0020"), points[3])
    world.tick()
    bones = walker.get_bones().bone_transforms
    assert len(bones) > 30
    assert {"crl_root", "crl_hips__C", "crl_Head__C"} <= {bone.name for bone in bones}
    head = next(bone for bone in bones if bone.name == "crl_Head__C")
    assert 0.3 < head.world.location.z - walker.get_location().z < 1.0
    walker.blend_pose(0.5)
    walker.show_pose()
    walker.hide_pose()
    if hasattr(car, "get_component_names"):
        names = car.get_component_names()
        assert any("Mesh" in name for name in names)
        with pytest.raises(RuntimeError):
            car.get_component_world_transform("NoSuchPart")
        assert len(walker.get_bone_names()) == len(walker.get_bone_world_transforms()) > 30
        assert len(car.get_socket_names()) == len(car.get_socket_world_transforms())

"""Pedestrians: by control, by the client's controllers, hit by cars."""

from __future__ import annotations

import pytest

carla = pytest.importorskip("carla")


def on_pavement(world):
    """A random place of the navigation, a little above it."""
    place = world.get_random_location_from_navigation()
    assert place is not None
    place.z += 1.0
    return place


def test_a_walker_goes_where_it_is_told(world) -> None:
    blueprint = world.get_blueprint_library().find("walker.pedestrian.0018")
    walker = world.spawn_actor(blueprint, carla.Transform(on_pavement(world)))
    for _ in range(10):
        world.tick()
    begin = walker.get_location()
    walker.apply_control(carla.WalkerControl(carla.Vector3D(0.0, 1.0, 0.0), 1.6, False))
    for _ in range(40):
        world.tick()
    gone = walker.get_location() - begin
    assert gone.y == pytest.approx(3.2, abs=0.4)
    assert abs(gone.x) < 0.2
    assert walker.get_control().speed == pytest.approx(1.6)
    assert walker.get_velocity().length() == pytest.approx(1.6, abs=0.1)
    assert walker.get_transform().rotation.yaw == pytest.approx(90.0, abs=5.0)
    walker.apply_control(carla.WalkerControl(carla.Vector3D(0.0, 1.0, 0.0), 0.0, True))
    world.tick()
    world.tick()
    assert walker.get_velocity().z > 0.5
    walker.apply_control(carla.WalkerControl())
    for _ in range(40):
        world.tick()
    assert walker.get_velocity().length() < 0.1


@pytest.mark.slow
def test_controllers_walk_pedestrians_to_their_goals(client, world) -> None:
    library = world.get_blueprint_library()
    spawn, attach = carla.command.SpawnActor, carla.Transform()
    blueprints = library.filter("walker.pedestrian.*")
    batch = [spawn(b, carla.Transform(on_pavement(world))) for b in list(blueprints)[:12]]
    walkers = [a.actor_id for a in client.apply_batch_sync(batch, True) if not a.error]
    assert len(walkers) >= 8
    controller = library.find("controller.ai.walker")
    answers = client.apply_batch_sync([spawn(controller, attach, w) for w in walkers], True)
    assert not [a.error for a in answers if a.error]
    world.tick()
    controllers = [world.get_actor(a.actor_id) for a in answers]
    begin = {w: world.get_actor(w).get_location() for w in walkers}
    for each in controllers:
        each.start()
        each.go_to_location(world.get_random_location_from_navigation())
        each.set_max_speed(1.4)
    for _ in range(160):
        world.tick()
    gone = [world.get_actor(w).get_location().distance(begin[w]) for w in walkers]
    assert sum(distance > 1.0 for distance in gone) >= len(walkers) * 0.7
    assert all(distance < 1.6 * 8.0 + 1.0 for distance in gone)
    heights = [world.get_actor(w).get_location().z for w in walkers]
    assert all(0.2 < height < 2.0 for height in heights)
    for each in controllers:
        each.stop()
    client.apply_batch_sync(
        [carla.command.DestroyActor(a.id) for a in controllers]
        + [carla.command.DestroyActor(w) for w in walkers],
        True,
    )
    assert not world.get_actors().filter("walker.*")


def test_a_car_knocks_a_walker_over_and_both_feel_it(world) -> None:
    library = world.get_blueprint_library()
    point = world.get_map().get_spawn_points()[0]
    car = world.spawn_actor(library.find("vehicle.lincoln.mkz_2017"), point)
    blueprint = library.find("walker.pedestrian.0007")
    blueprint.set_attribute("is_invincible", "false")
    place = point.location + point.get_forward_vector() * 14.0 + carla.Location(z=0.6)
    walker = world.spawn_actor(blueprint, carla.Transform(place))
    sensor = world.spawn_actor(library.find("sensor.other.collision"), carla.Transform(), car)
    events = []
    sensor.listen(events.append)
    for _ in range(10):
        world.tick()
    car.set_target_velocity(point.get_forward_vector() * 12.0)
    for _ in range(30):
        world.tick()
    sensor.stop()
    sensor.destroy()
    assert walker.id in {event.other_actor.id for event in events}
    assert walker.get_location().distance(place) > 0.5

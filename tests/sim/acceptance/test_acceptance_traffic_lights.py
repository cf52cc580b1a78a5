"""Traffic lights: states, times, groups, what they govern, and what vehicles learn of them."""

from __future__ import annotations

import pytest

carla = pytest.importorskip("carla")

GREEN, YELLOW, RED = (
    carla.TrafficLightState.Green,
    carla.TrafficLightState.Yellow,
    carla.TrafficLightState.Red,
)


@pytest.fixture
def lights(world):
    found = sorted(world.get_actors().filter("traffic.traffic_light*"), key=lambda a: a.id)
    assert found
    return found


def test_states_and_times_can_be_set(world, lights) -> None:
    light = lights[0]
    light.set_green_time(3.0)
    light.set_yellow_time(1.5)
    light.set_red_time(2.5)
    light.set_state(GREEN)
    world.tick()
    assert light.get_state() == light.state == GREEN
    times = (light.get_green_time(), light.get_yellow_time(), light.get_red_time())
    assert times == pytest.approx((3.0, 1.5, 2.5))
    before = light.get_elapsed_time()
    world.tick()
    assert light.get_elapsed_time() == pytest.approx(before + 0.05, abs=1e-3)


def test_a_frozen_world_of_lights_stands_still_and_goes_on(world, lights) -> None:
    for light in lights:
        light.set_state(RED)
    lights[0].freeze(True)
    world.tick()
    assert all(light.is_frozen() for light in lights)
    for _ in range(200):
        world.tick()
    assert {light.get_state() for light in lights} == {RED}
    lights[0].freeze(False)
    world.tick()
    assert not any(light.is_frozen() for light in lights)
    seen = set()
    for _ in range(600):
        world.tick()
        seen |= {light.get_state() for light in lights}
    assert {GREEN, YELLOW, RED} <= seen


def test_lights_of_a_group_never_contradict_each_other(world, lights) -> None:
    groups = {frozenset(a.id for a in light.get_group_traffic_lights()) for light in lights}
    assert {actor for group in groups for actor in group} == {light.id for light in lights}
    world.reset_all_traffic_lights()
    crossing = {}
    for light in lights:
        crossing[light.id] = light.get_transform().rotation.yaw
    for _ in range(300):
        world.tick()
        for group in groups:
            green = [world.get_actor(i) for i in group if world.get_actor(i).get_state() == GREEN]
            yaws = [crossing[light.id] for light in green]
            for yaw in yaws:
                across = abs((yaw - yaws[0] + 90.0) % 180.0 - 90.0)
                assert across < 45.0, "crossing streets are green together"


def test_lights_know_their_lanes_and_stop_lines(world, lights) -> None:
    for light in lights:
        stops = light.get_stop_waypoints()
        lanes = light.get_affected_lane_waypoints()
        assert stops, light.get_opendrive_id()
        assert lanes
        assert all(w.lane_type == carla.LaneType.Driving for w in stops)
        volume = light.trigger_volume
        centre = light.get_transform().transform(volume.location)
        assert min(centre.distance(w.transform.location) for w in stops) < 25.0
        assert light.get_pole_index() >= 0
        assert len(light.get_light_boxes()) >= 1
        for box in light.get_light_boxes():
            assert box.location.distance(light.get_location()) < 40.0


def test_a_car_before_a_light_knows_it(world, lights) -> None:
    told = 0
    for light in lights[:6]:
        (stop, *_) = light.get_stop_waypoints()
        back = stop.previous(4.0)
        if not back:
            continue
        place = back[0].transform
        place.location.z += 0.3
        car = world.try_spawn_actor(
            world.get_blueprint_library().find("vehicle.tesla.model3"), place
        )
        if car is None:
            continue
        for state in (RED, GREEN):
            light.set_state(state)
            light.freeze(True)
            for _ in range(3):
                world.tick()
            assert car.is_at_traffic_light()
            assert car.get_traffic_light_state() == state
            near = car.get_traffic_light()
            assert near is not None
            assert near.get_state() == state
            light.freeze(False)
        told += 1
        car.destroy()
        world.tick()
    assert told >= 3


def test_waypoints_lead_to_their_lights(world, lights) -> None:
    found = 0
    for point in world.get_map().get_spawn_points():
        waypoint = world.get_map().get_waypoint(point.location)
        found += len(world.get_traffic_lights_from_waypoint(waypoint, 60.0))
    assert found > 10


def test_signs_are_actors_with_speed_limits(enter) -> None:
    world = enter("Town01")
    signs = world.get_actors().filter("traffic.speed_limit.*")
    assert signs
    assert all(sign.type_id.rsplit(".", 1)[1].isdigit() for sign in signs)
    car = world.spawn_actor(
        world.get_blueprint_library().find("vehicle.tesla.model3"),
        world.get_map().get_spawn_points()[0],
    )
    world.tick()
    assert 20.0 <= car.get_speed_limit() <= 130.0

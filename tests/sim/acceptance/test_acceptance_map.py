"""The map that the client builds from what the server sends."""

from __future__ import annotations

import random

import pytest

carla = pytest.importorskip("carla")


@pytest.mark.parametrize("town", ["Town02", "Town03", "Town04"])
def test_every_spawn_point_lies_on_a_driving_lane(client, town: str) -> None:
    town_map = client.load_world(town).get_map()
    points = town_map.get_spawn_points()
    assert len(points) > 40
    for point in points:
        waypoint = town_map.get_waypoint(point.location, project_to_road=False)
        assert waypoint is not None
        assert waypoint.lane_type == carla.LaneType.Driving
        turned = (waypoint.transform.rotation.yaw - point.rotation.yaw + 180.0) % 360.0 - 180.0
        assert abs(turned) < 5.0
        assert abs(point.rotation.pitch) < 20.0
        assert 0.0 < point.location.z - waypoint.transform.location.z < 1.0


def test_waypoints_lead_along_roads(client) -> None:
    town_map = client.load_world("Town03").get_map()
    topology = town_map.get_topology()
    assert len(topology) > 100
    dice = random.Random(3)
    everywhere = list(town_map.generate_waypoints(4.0))
    for waypoint in dice.sample(everywhere, 50):
        for _ in range(10):
            assert waypoint.lane_width > 0.0
            waypoint.get_left_lane()
            waypoint.get_right_lane()
            following = waypoint.next(4.0)
            if not following:
                break
            waypoint = dice.choice(following)


def test_signs_crossings_and_the_globe(client) -> None:
    town_map = client.load_world("Town10HD").get_map()
    assert len(town_map.get_crosswalks()) >= 16 * 4
    lights = town_map.get_all_landmarks_of_type("1000001")
    assert lights
    assert all(landmark.id for landmark in lights)
    here = town_map.transform_to_geolocation(carla.Location(100.0, -50.0, 3.0))
    east = town_map.transform_to_geolocation(carla.Location(200.0, -50.0, 3.0))
    assert here.altitude == pytest.approx(3.0)
    assert (east.longitude - here.longitude) * 111_320.0 == pytest.approx(100.0, rel=0.05)
    assert "<OpenDRIVE" in town_map.to_opendrive()


def test_every_light_of_the_map_is_an_actor(client) -> None:
    world = client.load_world("Town10HD")
    for landmark in world.get_map().get_all_landmarks_of_type("1000001"):
        actor = world.get_traffic_light(landmark)
        assert actor is not None
        assert actor.get_opendrive_id() == landmark.id
        assert world.get_traffic_light_from_opendrive_id(landmark.id).id == actor.id


def test_junctions_know_their_lights(client) -> None:
    world = client.load_world("Town10HD")
    waypoint = next(w for w in world.get_map().generate_waypoints(5.0) if w.is_junction)
    junction = waypoint.get_junction()
    assert junction.bounding_box.extent.x > 1.0
    assert junction.get_waypoints(carla.LaneType.Driving)
    assert isinstance(list(world.get_traffic_lights_in_junction(junction.id)), list)

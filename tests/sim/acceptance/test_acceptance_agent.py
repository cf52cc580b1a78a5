"""A small driving agent of our own on nothing but the client's API: plans on the topology, follows, stops, brakes."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx
import pytest

pytestmark = pytest.mark.slow

carla = pytest.importorskip("carla")

STEP_M = 2.0
CRUISE = 7.0


@dataclass
class Agent:
    """Drives a vehicle along the shortest way through the topology.

    Parameters
    ----------
    vehicle, goal
        What and where to.
    """

    vehicle: object
    goal: object
    way: list = field(default_factory=list)
    stopped_for: set = field(default_factory=set)

    def __post_init__(self) -> None:
        self.world = self.vehicle.get_world()
        self.map = self.world.get_map()
        self.wheel = math.radians(self.vehicle.get_physics_control().wheels[0].max_steer_angle)
        self.lights = self.world.get_actors().filter("traffic.traffic_light*")
        self.way = self.plan()

    def plan(self) -> list:
        """Waypoints every two metres from the vehicle to the goal."""
        graph, at = nx.DiGraph(), {}

        def key(waypoint) -> tuple:
            place = waypoint.transform.location
            found = (round(place.x), round(place.y), round(place.z))
            at[found] = waypoint
            return found

        for begin, end in self.map.get_topology():
            length = begin.transform.location.distance(end.transform.location)
            graph.add_edge(key(begin), key(end), weight=length, pair=(begin, end))
        here = self.map.get_waypoint(self.vehicle.get_location())
        there = self.map.get_waypoint(self.goal)
        start = self.edge_of(graph, here)
        finish = self.edge_of(graph, there)
        nodes = nx.shortest_path(graph, start[1], finish[0], weight="weight")
        way = self.along(here, graph.edges[start]["pair"][1])
        for edge in pairwise(nodes):
            way += self.along(*graph.edges[edge]["pair"])
        return way + self.along(graph.edges[finish]["pair"][0], there)

    def edge_of(self, graph, waypoint) -> tuple:
        """The edge of the topology on which a waypoint lies."""
        lane = (waypoint.road_id, waypoint.section_id, waypoint.lane_id)
        for edge, data in graph.edges.items():
            begin = data["pair"][0]
            if (begin.road_id, begin.section_id, begin.lane_id) == lane:
                return edge
        raise LookupError(lane)

    def along(self, begin, end) -> list:
        """Waypoints between two of one lane."""
        found, waypoint = [begin], begin
        while waypoint.transform.location.distance(end.transform.location) > STEP_M:
            following = [w for w in waypoint.next(STEP_M) if w.road_id == end.road_id]
            following = following or waypoint.next(STEP_M)
            if not following or len(found) > 500:
                break
            waypoint = min(
                following,
                key=lambda w: w.transform.location.distance(end.transform.location),
            )
            found.append(waypoint)
        return found

    def blocked(self) -> bool:
        """Whether a vehicle is close ahead on the way."""
        here = self.vehicle.get_location()
        ahead = [w.transform.location for w in self.way[:8]]
        for other in self.world.get_actors().filter("vehicle.*"):
            place = other.get_location()
            if other.id != self.vehicle.id and place.distance(here) < 20.0:
                reach = 2.0 + other.bounding_box.extent.x
                if any(spot.distance(place) < reach for spot in ahead):
                    return True
        return False

    def at_red(self) -> bool:
        """Whether the next stop line on the way shows red or yellow, by the light's volume and stop waypoints."""
        lanes = {(w.road_id, w.lane_id) for w in self.way[:6]}
        for light in self.lights:
            centre = light.get_transform().transform(light.trigger_volume.location)
            if centre.distance(self.vehicle.get_location()) > 30.0:
                continue
            if light.get_state() == carla.TrafficLightState.Green:
                continue
            if any((w.road_id, w.lane_id) in lanes for w in light.get_stop_waypoints()):
                self.stopped_for.add(light.id)
                return True
        return False

    def drive(self):
        """The control for this tick."""
        pose = self.vehicle.get_transform()
        while len(self.way) > 1 and self.passed(pose, self.way[0]):
            self.way.pop(0)
        target = self.way[min(2, len(self.way) - 1)].transform.location - pose.location
        forward, right = pose.get_forward_vector(), pose.get_right_vector()
        angle = math.atan2(target.dot(right), target.dot(forward))
        speed = self.vehicle.get_velocity().length()
        halt = self.blocked() or self.at_red()
        wanted = 0.0 if halt else min(CRUISE, 3.0 + 6.0 * math.cos(2.0 * angle))
        steer = max(-1.0, min(1.0, angle / self.wheel * 1.6))
        if halt or wanted < speed - 1.0:
            return carla.VehicleControl(brake=0.7 if halt else 0.3, steer=steer)
        return carla.VehicleControl(
            throttle=max(0.0, min(0.7, 0.35 * (wanted - speed) + 0.15)), steer=steer
        )

    def passed(self, pose, waypoint) -> bool:
        delta = waypoint.transform.location - pose.location
        return delta.dot(pose.get_forward_vector()) < 2.0 or delta.length() < 3.0


def far_ahead(town_map, start, metres: float, dice: random.Random):
    """A place so far along the roads from ``start``, without changing lanes."""
    waypoint = town_map.get_waypoint(start)
    for _ in range(int(metres / 5.0)):
        waypoint = dice.choice(waypoint.next(5.0))
    while waypoint.is_junction:
        waypoint = waypoint.next(5.0)[0]
    return waypoint.transform.location


@pytest.mark.parametrize(("town", "number"), [("Town01", 3), ("Town10HD", 5)])
def test_an_agent_reaches_its_goal(enter, town: str, number: int) -> None:
    world = enter(town)
    start = world.get_map().get_spawn_points()[number]
    blueprint = world.get_blueprint_library().find("vehicle.lincoln.mkz_2017")
    car = world.spawn_actor(blueprint, start)
    bump = world.spawn_actor(
        world.get_blueprint_library().find("sensor.other.collision"), carla.Transform(), car
    )
    hits = []
    bump.listen(hits.append)
    for _ in range(10):
        world.tick()
    agent = Agent(car, far_ahead(world.get_map(), start.location, 120.0, random.Random(number)))
    assert len(agent.way) > 20
    for light in agent.lights:
        light.set_green_time(4.0)
        light.set_red_time(2.0)
        light.set_yellow_time(1.0)
    off = []
    for _ in range(1800):
        world.tick()
        car.apply_control(agent.drive())
        here = car.get_location()
        off.append(world.get_map().get_waypoint(here).transform.location.distance(here))
        if here.distance(agent.way[-1].transform.location) < 5.0:
            break
    bump.stop()
    bump.destroy()
    left = here.distance(agent.way[-1].transform.location)
    assert left < 5.0, (left, len(agent.way), agent.at_red(), agent.blocked(), str(here))
    assert not hits
    assert sorted(off)[int(0.95 * len(off))] < 1.5

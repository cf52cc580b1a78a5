"""What a polygon is (CARLA's CityObjectLabel) and what covers it."""

from __future__ import annotations

from enum import IntEnum


class Label(IntEnum):
    """Semantic tags with CARLA 0.9.16's numbers."""

    NONE = 0
    ROAD = 1
    SIDEWALK = 2
    BUILDING = 3
    WALL = 4
    FENCE = 5
    POLE = 6
    TRAFFIC_LIGHT = 7
    TRAFFIC_SIGN = 8
    VEGETATION = 9
    TERRAIN = 10
    SKY = 11
    PEDESTRIAN = 12
    RIDER = 13
    CAR = 14
    TRUCK = 15
    BUS = 16
    TRAIN = 17
    MOTORCYCLE = 18
    BICYCLE = 19
    STATIC = 20
    DYNAMIC = 21
    OTHER = 22
    WATER = 23
    ROAD_LINE = 24
    GROUND = 25
    BRIDGE = 26
    RAIL_TRACK = 27
    GUARD_RAIL = 28


class Texture(IntEnum):
    """Patterns that are computed in each pixel."""

    PLAIN = 0
    ASPHALT = 1
    FACADE = 2
    GRASS = 3
    PAINT = 4

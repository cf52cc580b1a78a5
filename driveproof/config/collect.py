"""Parameters of the stage ``collect``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from driveproof.config.base import Section

Positive = Annotated[int, Field(gt=0)]
Camera = Literal["front", "front_left", "front_right", "back", "back_left", "back_right"]


class CollectParams(Section):
    """Section ``collect`` of params.yaml.

    Attributes
    ----------
    towns
        Towns to drive in.
    clips
        How many drives to record.
    seconds
        Length of a drive.
    cameras
        Which of Bench2Drive's six: front, front_left, front_right, back, back_left, back_right.
    image_every
        A picture of each camera every so many frames of 0.1 s.
    bev_every
        The same for the view from above; 0 for none.
    lidar_points
        Rays of a lidar turn for the points on each object; 0 estimates them from size and distance.
    traffic
        Vehicles kept near the ego.
    weathers
        Numbers of the weathers to draw from (see ``driveproof.collect.weather``).
    weights
        Situation -> relative share; situations left out keep their own.
    simulator
        Command line of a CARLA server, "{port}" standing for its port; empty for the embedded server.
    workers
        Processes, each with a simulator of its own; the result does not depend on it.
    attempts
        How often a drive is set up anew before it is given up.
    """

    towns: tuple[str, ...] = ("Town01", "Town03", "Town05", "Town10HD")
    clips: Positive = 145
    seconds: Annotated[float, Field(ge=7.0, le=600.0)] = 20.0
    cameras: tuple[Camera, ...] = ("front", "front_left", "front_right")
    image_every: Positive = 5
    bev_every: Annotated[int, Field(ge=0)] = 10
    traffic: Annotated[int, Field(ge=0, le=60)] = 12
    lidar_points: Annotated[int, Field(ge=0, le=200_000)] = 0
    weathers: tuple[int, ...] = (0, 1, 2, 3, 5, 6, 8, 14)
    weights: dict[str, Annotated[float, Field(ge=0.0)]] = Field(default_factory=dict)
    front_width: Positive = 224
    front_height: Positive = 128
    side_width: Positive = 112
    side_height: Positive = 64
    bev_pixels: Positive = 128
    jpeg_quality: Annotated[int, Field(ge=1, le=100)] = 80
    simulator: tuple[str, ...] = ()
    workers: Positive = 2
    attempts: Positive = 12

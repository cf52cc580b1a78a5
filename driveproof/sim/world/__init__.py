"""A kinematic traffic world on real towns: deterministic, free of files and of drawing.

Frame: right-handed, x forward, y left; metres, seconds, radians. Poses are of the box centre.
"""

from driveproof.sim.world.agents import (
    Body,
    DriverDecision,
    LateralPlan,
    Obstacle,
    Reason,
    Vehicle,
    Walker,
)
from driveproof.sim.world.idm import Style
from driveproof.sim.world.lights import LightCycle, TrafficLights
from driveproof.sim.world.path import Crossing, Path, StopPoint
from driveproof.sim.world.scripts import SpeedPhase, SpeedScript
from driveproof.sim.world.snapshot import AgentState, WorldSnapshot
from driveproof.sim.world.world import World

__all__ = [
    "AgentState",
    "Body",
    "Crossing",
    "DriverDecision",
    "LateralPlan",
    "LightCycle",
    "Obstacle",
    "Path",
    "Reason",
    "SpeedPhase",
    "SpeedScript",
    "StopPoint",
    "Style",
    "TrafficLights",
    "Vehicle",
    "Walker",
    "World",
    "WorldSnapshot",
]

"""Drivers as clients: they see the states of a world and answer with throttle, brake and steer.

Frame: right-handed, x forward, y left; metres, seconds, radians. Poses are of the box centre.
"""

from driveproof.sim.drivers.agents import (
    Agent,
    Body,
    DriverDecision,
    Motion,
    Obstacle,
    Reason,
    Vehicle,
    Walker,
)
from driveproof.sim.drivers.drivers import Drivers
from driveproof.sim.drivers.expert import EXPERT_STYLE, ExpertDriver, ObliviousDriver
from driveproof.sim.drivers.idm import Style
from driveproof.sim.drivers.lateral import LateralPlan
from driveproof.sim.drivers.path import Crossing, LaneChange, Path, StopPoint
from driveproof.sim.drivers.roads import Maneuver, Roads
from driveproof.sim.drivers.scripts import SpeedPhase, SpeedScript
from driveproof.sim.drivers.traffic import Traffic
from driveproof.sim.drivers.walks import Walk
from driveproof.sim.drivers.world import WorldLike

__all__ = [
    "EXPERT_STYLE",
    "Agent",
    "Body",
    "Crossing",
    "DriverDecision",
    "Drivers",
    "ExpertDriver",
    "LaneChange",
    "LateralPlan",
    "Maneuver",
    "Motion",
    "ObliviousDriver",
    "Obstacle",
    "Path",
    "Reason",
    "Roads",
    "SpeedPhase",
    "SpeedScript",
    "StopPoint",
    "Style",
    "Traffic",
    "Vehicle",
    "Walk",
    "Walker",
    "WorldLike",
]

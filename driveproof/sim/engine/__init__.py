"""The physical world of the embedded simulator: actors, motion, collisions, traffic lights and signs.

No protocol, no files, no drawing. Frame: right-handed, x forward (east), y left (north), z up, metres,
seconds, radians; yaw positive left, pitch positive nose up, roll positive right side down. Only two things
keep CARLA's sign because drivers speak them: steering (``VehicleControl.steer``, ``AckermannControl.steer``)
is positive to the right.
"""

from driveproof.sim.engine.actor import Actor, Collision
from driveproof.sim.engine.commands import (
    AckermannControl,
    AckermannSettings,
    ActorKind,
    Attachment,
    Box,
    LightState,
    LightTiming,
    VehicleControl,
    WalkerControl,
    Weather,
)
from driveproof.sim.engine.contacts import StaticBox
from driveproof.sim.engine.engine import Engine
from driveproof.sim.engine.errors import NoSuchActor, SpawnBlocked, UnknownBlueprint
from driveproof.sim.engine.ground import FlatGround, Ground, LaneGround
from driveproof.sim.engine.lights import LightTable, TrafficLight
from driveproof.sim.engine.pose import Pose3
from driveproof.sim.engine.signals import TrafficSign
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle import Vehicle
from driveproof.sim.engine.vehicle_table import Gear, VehiclePhysics, VehicleTable, Wheel
from driveproof.sim.engine.walker import Walker
from driveproof.sim.engine.walker_controller import WalkerController
from driveproof.sim.engine.walkways import Walkways

__all__ = [
    "AckermannControl",
    "AckermannSettings",
    "Actor",
    "ActorKind",
    "ActorTable",
    "Attachment",
    "Box",
    "Collision",
    "Engine",
    "FlatGround",
    "Gear",
    "Ground",
    "LaneGround",
    "LightState",
    "LightTable",
    "LightTiming",
    "NoSuchActor",
    "Pose3",
    "SpawnBlocked",
    "StaticBox",
    "TrafficLight",
    "TrafficSign",
    "UnknownBlueprint",
    "Vehicle",
    "VehicleControl",
    "VehiclePhysics",
    "VehicleTable",
    "Walker",
    "WalkerControl",
    "WalkerController",
    "Walkways",
    "Weather",
    "Wheel",
]

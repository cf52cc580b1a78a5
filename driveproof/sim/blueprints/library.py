"""The whole blueprint library."""

from __future__ import annotations

from functools import cache

from driveproof.sim.blueprints.model import BlueprintLibrary
from driveproof.sim.blueprints.props import props
from driveproof.sim.blueprints.sensors import sensors
from driveproof.sim.blueprints.vehicles import vehicles
from driveproof.sim.blueprints.walkers import walkers


@cache
def library() -> BlueprintLibrary:
    """The blueprints of CARLA 0.9.16, built once."""
    return BlueprintLibrary([*vehicles(), *walkers(), *props(), *sensors()])

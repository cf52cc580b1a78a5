"""Blueprint library: what can be spawned, with CARLA 0.9.16's ids, attributes and true sizes."""

from driveproof.sim.blueprints.library import library
from driveproof.sim.blueprints.model import (
    AttributeSpec,
    AttributeType,
    Blueprint,
    BlueprintLibrary,
    PropSpec,
    SemanticTag,
    VehicleSpec,
    WalkerSpec,
)

__all__ = [
    "AttributeSpec",
    "AttributeType",
    "Blueprint",
    "BlueprintLibrary",
    "PropSpec",
    "SemanticTag",
    "VehicleSpec",
    "WalkerSpec",
    "library",
]

"""What an actor of a blueprint is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.sim.blueprints import Blueprint, PropSpec, VehicleSpec, WalkerSpec
from driveproof.sim.engine.commands import ActorKind

#: Mass of a pedestrian a metre of height, and density of things that one can push, kg and kg/m³.
_WALKER_MASS, _PROP_DENSITY = 43.0, 60.0


@dataclass(frozen=True)
class Body:
    """Row values of a new actor: what it is, its box, its mass, and whether physics moves it."""

    kind: ActorKind
    half_extent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    box_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    label: int = 0
    mass: float = float("inf")
    physics: bool = False
    foot: float = 0.0


def body_of(blueprint: Blueprint) -> Body:
    """The body that an actor of ``blueprint`` has; vehicles stand on their origin, walkers carry it at mid-height."""
    spec = blueprint.spec
    if isinstance(spec, VehicleSpec):
        return Body(
            ActorKind.VEHICLE,
            spec.half_extent,
            spec.box_offset,
            int(spec.semantic_tag),
            spec.mass,
            physics=True,
        )
    if isinstance(spec, WalkerSpec):
        return Body(
            ActorKind.WALKER,
            spec.half_extent,
            spec.box_offset,
            int(spec.semantic_tag),
            _WALKER_MASS * spec.height,
            physics=True,
            foot=spec.height / 2.0,
        )
    if isinstance(spec, PropSpec):
        volume = 8.0 * float(np.prod(spec.half_extent))
        return Body(
            ActorKind.PROP,
            spec.half_extent,
            spec.box_offset,
            int(spec.semantic_tag),
            max(_PROP_DENSITY * volume, 0.5),
        )
    first = blueprint.id.split(".", 1)[0]
    kinds = {"sensor": ActorKind.SENSOR, "controller": ActorKind.CONTROLLER}
    return Body(kinds.get(first, ActorKind.OTHER))

"""What happens to some vehicles in every step: tyres in friction volumes, and controls that do not stick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from driveproof.sim.engine.actor import Actor
from driveproof.sim.engine.commands import VehicleControl
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.engine.vehicle import Vehicle

FRICTION_VOLUME = "static.trigger.friction"
_CENTIMETRE = 0.01


class Habits:
    """The vehicles and volumes of one engine that want to be looked after."""

    def __init__(self) -> None:
        self._volumes: list[Actor] = []
        self._fleeting: list[Vehicle] = []
        self._own: dict[Vehicle, list[float]] = {}

    def add(self, actor: Actor) -> None:
        """Look after a new actor if it is one of them."""
        if actor.type_id == FRICTION_VOLUME:
            self._volumes.append(actor)
        elif isinstance(actor, Vehicle) and not _sticks(actor):
            self._fleeting.append(actor)

    def remove(self, actor: Actor) -> None:
        """Forget an actor."""
        for group in (self._volumes, self._fleeting):
            if actor in group:
                group.remove(actor)  # type: ignore[arg-type]  # it is in there
        if isinstance(actor, Vehicle):
            self._own.pop(actor, None)

    def before_step(self, vehicles: list[Vehicle]) -> None:
        """Tyres take the friction of the volume that their vehicle's origin is in, and get back their own outside."""
        if not (self._volumes or self._own):
            return
        for vehicle in vehicles:
            volume = next((v for v in self._volumes if _holds(v, vehicle)), None)
            if volume is not None and vehicle not in self._own:
                self._own[vehicle] = [wheel.friction for wheel in vehicle.physics.wheels]
                _set_friction(
                    vehicle, [float(volume.attributes["friction"])] * len(self._own[vehicle])
                )
            elif volume is None and vehicle in self._own:
                _set_friction(vehicle, self._own.pop(vehicle))

    def after_step(self) -> None:
        """Vehicles whose controls do not stick let go of them."""
        for vehicle in self._fleeting:
            vehicle.set_pedals(VehicleControl())


def _sticks(vehicle: Vehicle) -> bool:
    return vehicle.attributes.get("sticky_control", "true").lower() == "true"


def _holds(volume: Actor, vehicle: Vehicle) -> bool:
    """Whether a volume, whose half sizes are attributes in centimetres, holds the vehicle's origin."""
    half = np.array([float(volume.attributes[f"extent_{axis}"]) for axis in "xyz"]) * _CENTIMETRE
    pose = volume.pose
    local = (vehicle.pose.position - pose.position) @ rotation_matrices(pose.rotation)
    return bool((np.abs(local) <= half).all())


def _set_friction(vehicle: Vehicle, frictions: list[float]) -> None:
    wheels = zip(vehicle.physics.wheels, frictions, strict=False)
    vehicle.physics = replace(
        vehicle.physics, wheels=tuple(replace(wheel, friction=value) for wheel, value in wheels)
    )

"""Which vehicles and walkers appear, and the facts about a model that a driver needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from driveproof.sim.blueprints import library
from driveproof.sim.blueprints.model import VehicleSpec
from driveproof.sim.drivers.control import Plant

EGO = "vehicle.lincoln.mkz_2020"
CONE = "static.prop.constructioncone"
WARNING = "static.prop.trafficwarning"
WHEELBASE_SHARE = 0.6
"""Wheelbase as a share of the length where no blueprint says it."""
WALKERS = 30
"""Walkers are drawn from the first so many of CARLA's."""

_MODELS = {
    "car": (
        "vehicle.lincoln.mkz_2020",
        "vehicle.audi.tt",
        "vehicle.audi.a2",
        "vehicle.dodge.charger_2020",
        "vehicle.nissan.patrol",
        "vehicle.mini.cooper_s",
    ),
    "van": ("vehicle.mercedes.sprinter",),
    "truck": ("vehicle.carlamotors.carlacola",),
}
_STRENGTH = {"van": 0.75, "truck": 0.6, "bus": 0.6, "motorcycle": 1.3, "bicycle": 0.5}
_COLOURS = (
    (190, 30, 35),
    (225, 225, 225),
    (25, 25, 30),
    (30, 90, 170),
    (150, 155, 160),
    (200, 160, 40),
    (40, 110, 60),
    (110, 60, 40),
)


@dataclass(frozen=True)
class Model:
    """A vehicle to spawn: blueprint and colour (red, green, blue, 0 to 255)."""

    type_id: str
    colour: tuple[int, int, int]


def random_vehicle(rng: np.random.Generator, kind: str | None = None) -> Model:
    """A vehicle of ``kind`` ("car", "van", "truck") or, mostly, a car, in a random colour."""
    if kind is None:
        kind = str(rng.choice(list(_MODELS), p=[0.82, 0.1, 0.08]))
    models = _MODELS[kind]
    type_id = models[int(rng.integers(len(models)))]
    return Model(type_id, _COLOURS[int(rng.integers(len(_COLOURS)))])


def random_walker(rng: np.random.Generator) -> str:
    """The blueprint of a pedestrian."""
    return f"walker.pedestrian.{int(rng.integers(1, WALKERS)):04d}"


@cache
def spec_of(type_id: str) -> VehicleSpec | None:
    """The physical facts of a vehicle model, None if the library does not know it."""
    blueprint = library().get(type_id)
    spec = blueprint.spec if blueprint is not None else None
    return spec if isinstance(spec, VehicleSpec) else None


def wheelbase_of(type_id: str, length: float) -> float:
    """Wheelbase of a model of this length, m."""
    spec = spec_of(type_id)
    return spec.wheelbase if spec is not None else WHEELBASE_SHARE * length


@cache
def plant_of(type_id: str) -> Plant:
    """What pedals and wheel of a model do."""
    spec = spec_of(type_id)
    if spec is None:
        return Plant()
    strength = _STRENGTH.get(spec.base_type, 1.0)
    return Plant(strength=strength, max_wheel=math.radians(spec.max_steer_deg))


def length_of(type_id: str) -> float:
    """Length of a model, m."""
    spec = spec_of(type_id)
    return 2.0 * spec.half_extent[0] if spec is not None else 5.0


def is_emergency(type_id: str) -> bool:
    """Whether a model is a police car, a fire engine or an ambulance."""
    spec = spec_of(type_id)
    return spec is not None and spec.special_type == "emergency"

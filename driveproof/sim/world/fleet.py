"""The vehicles and walkers of CARLA that the world knows, with their real dimensions."""

from __future__ import annotations

import numpy as np

from driveproof.sim.world.agents import Body

EGO = Body(4.892, 1.837, 1.49, 2.85, "vehicle.lincoln.mkz_2020", "car", (40, 60, 110))

_CARS = (
    (4.892, 1.837, 1.49, 2.85, "vehicle.lincoln.mkz_2020"),
    (4.181, 1.994, 1.385, 2.5, "vehicle.audi.tt"),
    (3.706, 1.79, 1.526, 2.45, "vehicle.audi.a2"),
    (4.719, 1.894, 1.3, 2.85, "vehicle.dodge.charger_2020"),
    (4.611, 2.0, 1.64, 2.7, "vehicle.nissan.patrol"),
    (3.807, 1.97, 1.475, 2.5, "vehicle.mini.cooper_s"),
)
_VANS = ((5.915, 1.989, 2.556, 3.6, "vehicle.mercedes.sprinter"),)
_TRUCKS = ((5.204, 2.2, 2.48, 3.2, "vehicle.carlamotors.carlacola"),)
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
WALKER = Body(0.4, 0.45, 1.75, 0.0, "walker.pedestrian.0001", "walker", (200, 120, 60))
_CLOTHES = ((200, 60, 60), (60, 80, 190), (230, 190, 60), (60, 140, 90), (220, 220, 220))
CONE = Body(0.34, 0.34, 0.6, 0.0, "static.prop.constructioncone", "prop", (255, 110, 20))
WARNING = Body(0.8, 1.2, 1.5, 0.0, "static.prop.trafficwarning", "prop", (255, 140, 30))


def random_vehicle(rng: np.random.Generator, kind: str | None = None) -> Body:
    """A vehicle of ``kind`` ("car", "van", "truck") or, mostly, a car, in a random colour."""
    if kind is None:
        kind = str(rng.choice(["car", "van", "truck"], p=[0.82, 0.1, 0.08]))
    models = {"car": _CARS, "van": _VANS, "truck": _TRUCKS}[kind]
    length, width, height, wheelbase, type_id = models[int(rng.integers(len(models)))]
    colour = _COLOURS[int(rng.integers(len(_COLOURS)))]
    return Body(length, width, height, wheelbase, type_id, kind, colour)


def random_walker(rng: np.random.Generator) -> Body:
    """A pedestrian in random clothes."""
    number = int(rng.integers(1, 30))
    height = float(rng.uniform(1.6, 1.9))
    clothes = _CLOTHES[int(rng.integers(len(_CLOTHES)))]
    type_id = f"walker.pedestrian.{number:04d}"
    return Body(0.4, 0.45, height, 0.0, type_id, "walker", clothes)

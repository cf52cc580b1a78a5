"""Which shape and colour an actor is drawn with, and its open doors."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.render.shapes import NAMES, Role
from driveproof.render.things import Things, joined, upright
from driveproof.sim.blueprints import VehicleSpec
from driveproof.sim.engine.commands import ActorKind

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine
    from driveproof.sim.engine.vehicle_table import VehicleTable

_SHAPES = {
    ("car", "emergency"): "police",
    ("van", "emergency"): "ambulance",
    ("truck", "emergency"): "firetruck",
}
_PROPS = (("cone", "cone"), ("warning", "warning"), ("barrier", "barrier"))
_CLOTHES = np.array(
    [
        [200, 60, 60],
        [60, 84, 190],
        [230, 190, 60],
        [62, 140, 92],
        [220, 220, 220],
        [120, 70, 150],
        [40, 44, 52],
    ],
    dtype=np.float64,
)
_STUFF = np.array(
    [[122, 96, 70], [86, 104, 92], [140, 140, 144], [70, 86, 120], [150, 80, 60]], dtype=np.float64
)
_EMERGENCY = {"police": (235, 236, 240), "ambulance": (240, 240, 238), "firetruck": (196, 24, 26)}
#: Place of a door's hinge as a share of the length, its side, of the doors 0 to 3.
DOORS = ((0.14, 1.0), (0.14, -1.0), (-0.10, 1.0), (-0.10, -1.0))
_DOOR_M, _DOOR_ANGLE = (0.95, 0.07), np.radians(65.0)


def shape_of(engine: Engine, actor: Actor) -> str:
    """Name of the shape of a vehicle, walker or prop."""
    if actor.kind == ActorKind.WALKER:
        return "pedestrian"
    blueprint = engine.library.get(actor.type_id)
    spec = blueprint.spec if blueprint is not None else None
    if isinstance(spec, VehicleSpec):
        name = _SHAPES.get((spec.base_type, spec.special_type), spec.base_type)
        return "cyclist" if name == "bicycle" else name
    return next((shape for word, shape in _PROPS if word in actor.type_id), "box")


def colour_of(actor: Actor) -> Float:
    """``[3]`` RGB: the attribute "color", else one that its name and number decide."""
    try:
        r, g, b = (float(part) for part in actor.attributes.get("color", "").split(","))
    except ValueError:
        dice = zlib.crc32(f"{actor.type_id} {actor.id}".encode())
        if actor.kind == ActorKind.WALKER:
            return np.asarray(_CLOTHES[dice % len(_CLOTHES)])
        if actor.kind == ActorKind.PROP:
            return np.asarray(_STUFF[zlib.crc32(actor.type_id.encode()) % len(_STUFF)])
        for word, colour in _EMERGENCY.items():
            if word in actor.type_id:
                return np.array(colour, dtype=np.float64)
        return np.array([150.0, 155.0, 165.0])
    return np.clip([r, g, b], 0.0, 255.0)


def doors_of(bodies: Things, rows: Int, vehicles: VehicleTable) -> Things:
    """The open side doors of vehicles, as panels that stick out; ``rows`` ``[N]`` are those of the bodies."""
    bits = np.zeros(int(max(rows.max(initial=0), vehicles.row.max(initial=0))) + 1, dtype=np.int64)
    bits[vehicles.row] = vehicles.doors
    parts = []
    for door, (along, side) in enumerate(DOORS):
        cars = bodies.where(bits[rows] >> door & 1 > 0)
        hinge = np.column_stack(
            [along * cars.sizes[:, 0], side * cars.sizes[:, 1] / 2.0, 0.18 * cars.sizes[:, 2]]
        )
        turn = upright(np.array(-side * _DOOR_ANGLE))
        middle = hinge - turn[:, 0] * _DOOR_M[0] / 2.0
        count = len(cars)
        sizes = np.column_stack([np.tile(_DOOR_M, (count, 1)), 0.7 * cars.sizes[:, 2]])
        parts.append(
            Things(
                np.full(count, NAMES.index("box")),
                cars.place + np.einsum("nij,nj->ni", cars.axes, middle),
                cars.axes @ turn,
                sizes,
                cars.colours,
                np.zeros((count, len(Role)), dtype=bool),
                cars.label,
                cars.owner,
            )
        )
    return joined(parts)

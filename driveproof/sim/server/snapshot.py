"""The world snapshot: 36 bytes of header and 119 bytes an actor, packed from the engine's tables in one go."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float
from driveproof.sim.engine import ActorKind, Engine, TrafficLight, TrafficSign, Walker

#: Bit of the simulation state: the map has changed, load it anew.
MAP_CHANGED = 1

#: The dynamic state of one actor: left-handed, metres, degrees, as the client reads it.
RECORD = np.dtype(
    [
        ("id", "<u4"),
        ("state", "u1"),
        ("location", "<f4", 3),
        ("rotation", "<f4", 3),
        ("velocity", "<f4", 3),
        ("angular_velocity", "<f4", 3),
        ("acceleration", "<f4", 3),
        ("detail", "u1", 54),
    ]
)
#: What the 54 bytes of detail begin with, by what the actor is.
VEHICLE = np.dtype(
    [
        ("pedals", "<f4", 3),
        ("switches", "u1", 3),
        ("gear", "<i4"),
        ("speed_limit", "<f4"),
        ("light_state", "u1"),
        ("has_light", "u1"),
        ("light_id", "<u4"),
        ("failure", "u1"),
    ]
)
LIGHT = np.dtype(
    [
        ("signal", "S32"),
        ("green", "<f4"),
        ("yellow", "<f4"),
        ("red", "<f4"),
        ("elapsed", "<f4"),
        ("pole", "<u4"),
        ("frozen", "u1"),
        ("state", "u1"),
    ]
)
WALKER = struct.Struct("<4fB")

_HEADER = struct.Struct("<QdfiiiI")
_ACTIVE = 1
_SIGNAL_BYTES = 32
_KMH = 3.6
_MIRROR = np.array([1.0, -1.0, 1.0])
_MIRROR_AXIS = np.degrees(-_MIRROR)

Bytes = NDArray[np.uint8]
Records = NDArray[Any]


class SnapshotPacker:
    """Packs snapshots of one engine; keeps the array and what does not change between ticks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ids: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._records: Records = np.zeros(0, dtype=RECORD)
        self._vehicles: Records = np.zeros(0, dtype=VEHICLE)
        self._lights: Records = np.zeros(0, dtype=LIGHT)
        self._walkers: list[tuple[int, Walker]] = []

    def pack(self, episode: int, stamp: float, delta_s: float, bits: int) -> bytes:
        """The body of a snapshot message; ``bits`` are the simulation state, ``stamp`` is wall-clock seconds."""
        table = self._engine.table
        if not np.array_equal(table.id, self._ids):
            self._arrange()
        records = self._records
        records["location"] = table.position * _MIRROR
        records["rotation"] = carla_degrees(table.rotation)
        records["velocity"] = table.velocity * _MIRROR
        records["angular_velocity"] = table.angular_velocity * _MIRROR_AXIS
        records["acceleration"] = table.acceleration * _MIRROR
        self._detail_vehicles()
        self._detail_lights()
        self._detail_walkers()
        return _HEADER.pack(episode, stamp, delta_s, 0, 0, 0, bits) + records.tobytes()

    def _arrange(self) -> None:
        """Lay the array out anew: actors have come or gone."""
        engine = self._engine
        self._ids = engine.table.id.copy()
        records = self._records = np.zeros(len(self._ids), dtype=RECORD)
        records["id"] = self._ids
        records["state"] = _ACTIVE
        self._vehicles = np.zeros(len(engine.vehicles), dtype=VEHICLE)
        self._lights = np.zeros(len(engine.light_table), dtype=LIGHT)
        self._walkers = []
        kinds = engine.table.kind
        for row in np.flatnonzero(kinds == ActorKind.TRAFFIC_SIGN).tolist():
            sign = engine.actors[int(self._ids[row])]
            assert isinstance(sign, TrafficSign)
            records["detail"][row, :_SIGNAL_BYTES] = _padded(sign.signal_id)
        for row in np.flatnonzero(kinds == ActorKind.WALKER).tolist():
            walker = engine.actors[int(self._ids[row])]
            assert isinstance(walker, Walker)
            self._walkers.append((row, walker))
        for slot, key in enumerate(engine.light_table.id.tolist()):
            light = engine.actors[key]
            assert isinstance(light, TrafficLight)
            self._lights["signal"][slot] = light.signal_id.encode()[:_SIGNAL_BYTES]

    def _detail_vehicles(self) -> None:
        table, out = self._engine.vehicles, self._vehicles
        if not len(out):
            return
        out["pedals"] = table.control[:, :3]
        out["switches"] = table.control[:, 3:6]
        out["gear"] = table.gear
        out["speed_limit"] = table.speed_limit * _KMH
        out["light_state"] = table.light_state
        out["has_light"] = table.light_id > 0
        out["light_id"] = table.light_id
        self._records["detail"][table.row, : VEHICLE.itemsize] = _raw(out)

    def _detail_lights(self) -> None:
        table, out = self._engine.light_table, self._lights
        if not len(out):
            return
        for name in ("green", "yellow", "red", "elapsed", "pole", "frozen", "state"):
            out[name] = getattr(table, name)
        self._records["detail"][table.row, : LIGHT.itemsize] = _raw(out)

    def _detail_walkers(self) -> None:
        detail = self._records["detail"]
        for row, walker in self._walkers:
            control = walker.walker_control
            x, y, z = control.direction
            packed = WALKER.pack(x, 0.0 - y, z, control.speed, control.jump)
            detail[row, : WALKER.size] = np.frombuffer(packed, dtype=np.uint8)


def carla_degrees(rotation: Float) -> Float:
    """Roll, pitch, yaw ``[N, 3]`` in radians as CARLA's pitch, yaw, roll in degrees within (-180, 180]."""
    degrees = np.degrees(rotation[:, (1, 2, 0)]) * _MIRROR
    wrapped: Float = 180.0 - np.mod(180.0 - degrees, 360.0)
    # Angles that are within bounds already are left alone, to the last bit.
    return np.where((degrees > -180.0) & (degrees <= 180.0), degrees, wrapped)


def _raw(records: Records) -> Bytes:
    return records.view(np.uint8).reshape(len(records), -1)


def _padded(text: str) -> Bytes:
    packed = text.encode()[:_SIGNAL_BYTES].ljust(_SIGNAL_BYTES, b"\0")
    return np.frombuffer(packed, dtype=np.uint8)

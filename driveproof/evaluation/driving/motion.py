"""How the ego moved, tick by tick: a table of right-handed SI values.

One row a tick: seconds since the episode began, pose of the box centre, motion in the body frame, what the
pedals and the wheel did (CARLA's: steer positive to the right), and how far the route was completed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import atomic_path
from driveproof.geometry.arrays import Float, as_float

UNITS = {
    "time": "s",
    "x": "m",
    "y": "m",
    "z": "m",
    "heading": "rad",
    "speed": "m/s",
    "accel_lon": "m/s2",
    "accel_lat": "m/s2",
    "yaw_rate": "rad/s",
    "throttle": "1",
    "brake": "1",
    "steer": "1",
    "completion": "1",
}
"""The columns, in order, with their units."""
SCHEMA = pa.schema(
    [pa.field(name, pa.float64(), metadata={"unit": unit}) for name, unit in UNITS.items()],
    metadata={"driveproof_table": "motion", "schema_version": "1"},
)
_RANGES = {
    "throttle": (0.0, 1.0),
    "brake": (0.0, 1.0),
    "steer": (-1.0, 1.0),
    "completion": (0.0, 1.0),
}
_SLACK = 1e-6


@dataclass(frozen=True)
class Motion:
    """A drive as columns ``[N]``, one value a tick; right-handed, metres, seconds, radians.

    ``heading`` counter-clockwise from x; ``speed`` along the heading; ``accel_lat`` positive to the left;
    ``yaw_rate`` positive to the left; pedals 0 to 1; ``steer`` -1 to 1, right positive; ``completion`` 0 to 1.

    Raises
    ------
    ValueError
        If columns differ in length, a value is not finite or out of range, or time does not ascend.
    """

    time: Float
    x: Float
    y: Float
    z: Float
    heading: Float
    speed: Float
    accel_lon: Float
    accel_lat: Float
    yaw_rate: Float
    throttle: Float
    brake: Float
    steer: Float
    completion: Float

    def __post_init__(self) -> None:
        length = len(self.time)
        for item in fields(self):
            values = as_float(getattr(self, item.name), (length,), item.name)
            object.__setattr__(self, item.name, values)
            if not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values))[0])
                raise ValueError(f"{item.name}: not finite in row {row}")
            low, high = _RANGES.get(item.name, (-np.inf, np.inf))
            beyond = (values < low - _SLACK) | (values > high + _SLACK)
            if beyond.any():
                row = int(np.flatnonzero(beyond)[0])
                raise ValueError(
                    f"{item.name}: {values[row]:g} in row {row} is not in {low:g} to {high:g}"
                )
        if (np.diff(self.time) <= 0.0).any():
            row = int(np.flatnonzero(np.diff(self.time) <= 0.0)[0]) + 1
            raise ValueError(f"time: does not ascend in row {row}")

    def __len__(self) -> int:
        return len(self.time)


def write_motion(path: str | Path, motion: Motion) -> None:
    """Write the table as parquet, whole or not at all."""
    table = pa.table({name: getattr(motion, name) for name in UNITS}, schema=SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_motion(path: str | Path) -> Motion:
    """The table of :func:`write_motion`.

    Raises
    ------
    BadInput
        If the file is no such table: a column is absent, of another type or unit, or holds what cannot be.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise BadInput("no such file", path=path) from None
    except (pa.ArrowException, OSError) as error:
        problem = str(error).splitlines()[0]
        raise BadInput(f"not a readable parquet file: {problem}", path=path) from None
    columns: dict[str, Float] = {}
    for name, unit in UNITS.items():
        if name not in table.column_names:
            raise BadInput("there is no such column", path=path, field=name)
        kept = (table.schema.field(name).metadata or {}).get(b"unit", b"").decode()
        if kept not in ("", unit):
            raise BadInput(f"is in {kept}, expected {unit}", path=path, field=name)
        if not pa.types.is_floating(table.schema.field(name).type):
            raise BadInput("holds no floating point numbers", path=path, field=name)
        columns[name] = table[name].to_numpy().astype(np.float64)
    try:
        return Motion(**columns)
    except ValueError as error:
        name, _, problem = str(error).partition(": ")
        raise BadInput(problem, path=path, field=name) from None

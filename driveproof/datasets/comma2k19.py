"""comma2k19: one folder a minute of driving, poses of the windscreen camera in ECEF, 20 Hz.

Frame origin: the camera. World: the tangent plane (east, north) at the first position. Heading: that of
the camera, less its mounting angle, which is estimated as the median angle to the course above 5 m/s.
Missing: navigation command, road users, signals, pictures (they are in a video).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from driveproof.datasets.checks import check_velocity, malformed
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import rotate, wrap_angle
from driveproof.scene import Log

_COURSE_SPEED = 5.0
_MISSING = frozenset({"command", "agents", "signals", "images"})
_COLUMNS = {"times": 1, "positions": 3, "velocities": 3, "orientations": 4}


def claims(path: Path) -> bool:
    """Whether the folder holds ``global_pose/frame_positions``."""
    return (path / "global_pose/frame_positions").is_file()


def read(path: Path) -> Iterator[Log]:
    """Yield the minute of one folder.

    Raises
    ------
    BadInput
        Naming the array.
    """
    arrays = {
        name: _load(path / f"global_pose/frame_{name}", width) for name, width in _COLUMNS.items()
    }
    count = len(arrays["times"])
    for name, array in arrays.items():
        if len(array) != count or not count:
            raise BadInput(f"{len(array)} rows for {count} times", path=path, field=f"frame_{name}")
    with malformed(path):
        axes = _tangent_plane(arrays["positions"][0])
        places = (arrays["positions"] - arrays["positions"][0]) @ axes.T
        velocity = arrays["velocities"] @ axes.T
        forward = _forward(arrays["orientations"]) @ axes.T
        heading = np.arctan2(forward[:, 1], forward[:, 0])
        course = np.arctan2(velocity[:, 1], velocity[:, 0])
        fast = np.hypot(velocity[:, 0], velocity[:, 1]) > _COURSE_SPEED
        mounting = float(np.median(wrap_angle(course - heading)[fast])) if fast.any() else 0.0
        poses = np.concatenate([places[:, :2], wrap_angle(heading + mounting)[:, None]], axis=1)
        times = arrays["times"][:, 0] - arrays["times"][0, 0]
        body = rotate(velocity[:, :2], -poses[:, 2])
    check_velocity(body, poses, times, path, "frame_velocities")
    yield Log(
        source="comma2k19",
        log_id="/".join(path.resolve().parts[-2:]),
        times=times,
        poses=poses,
        velocity=body,
        frame_origin="camera",
        missing=_MISSING,
    )


def _load(path: Path, width: int) -> Float:
    with malformed(path):
        array = np.load(path, allow_pickle=False)
        return np.asarray(array, dtype=np.float64).reshape(len(array), width)


def _tangent_plane(position: Float) -> Float:
    """Rows east, north, up in ECEF, at an ECEF position (up is geocentric: 0.2 degrees off at most)."""
    up = position / np.linalg.norm(position)
    east = np.cross([0.0, 0.0, 1.0], up)
    east /= np.linalg.norm(east)
    return np.stack([east, np.cross(up, east), up])


def _forward(quaternions: Float) -> Float:
    """The x axis (forward) of a device, in ECEF, from quaternions w, x, y, z."""
    w, x, y, z = quaternions.T
    return np.stack(
        [w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1
    )

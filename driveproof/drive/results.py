"""What came of a route, as its folder tells it: a record that can be read whole, with its motion, or none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from driveproof.drive.notes import RECORD_FILE
from driveproof.drive.plan import Episode
from driveproof.errors import BadInput
from driveproof.evaluation.driving.motion import read_motion
from driveproof.evaluation.driving.records import RouteRecord, read_record


def read_result(folder: Path, episode: Episode) -> RouteRecord:
    """The record of an episode whose files can be used; a broken one is as good as none, and says why.

    Raises
    ------
    BadInput
        If the record or the motion table that it names is absent or broken, or it is of another episode.
    """
    path = folder / RECORD_FILE
    try:
        record = read_record(path)
        if record.key != (episode.route, episode.repeat):
            raise BadInput(f"is of route {record.route_id}, repeat {record.repeat}", path=path)
        if record.motion is not None:
            read_motion(motion_path(folder, record.motion))
    except OSError as error:  # a folder in its place, no permission
        raise BadInput(error.strerror or str(error), path=error.filename or path) from None
    return record


def motion_path(folder: Path, name: str) -> Path:
    """Where the motion table that a record names lies.

    Raises
    ------
    BadInput
        If it is none of the route's own files.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadInput("lies outside its folder", path=folder / RECORD_FILE, field="motion")
    return path


def has_result(folder: Path, episode: Episode) -> bool:
    """Whether :func:`read_result` has one."""
    try:
        read_result(folder, episode)
    except BadInput:
        return False
    return True


def placed(record: RouteRecord, folder: Path) -> RouteRecord:
    """The record with its motion as a path from here, as scores want it."""
    if record.motion is None:
        return record
    return replace(record, motion=str(folder / record.motion))

"""Waymo Open End-to-End Driving: TFRecords of ``E2EDFrame`` messages, one moment of decision each.

Frame origin: middle of the rear axle; all states are already in the ego frame at t = 0. Rate: 4 Hz, 4 s
back and 5 s ahead, so the 2 Hz waypoints are every second state and nothing is interpolated. Missing:
headings (taken from the path), other road users, signals, pictures of the past. The test split has no
future and gives no scene. Clock of a log: seconds from t = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from driveproof.datasets import waymo_pb2
from driveproof.datasets.checks import check_velocity, malformed, one_line
from driveproof.datasets.motion import path_headings
from driveproof.datasets.tfrecord import looks_like_tfrecord, read_records
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import Command, ImageRef, Log

STEP_S = 0.25
CAMERAS = {1: "front", 2: "front_left", 3: "front_right"}
_COMMANDS = {1: Command.STRAIGHT, 2: Command.LEFT, 3: Command.RIGHT}
_ORIGIN_TOLERANCE_M = 0.1


def claims(path: Path) -> bool:
    """Whether the first record of a TFRecord is a frame with ego states."""
    if not looks_like_tfrecord(path):
        return False
    try:
        _, payload = next(read_records(path))
        frame = waymo_pb2.E2EDFrame.FromString(payload)
    except (BadInput, DecodeError):
        return False
    return bool(frame.frame.context.name and frame.past_states.pos_x)


def read(path: Path) -> Iterator[Log]:
    """Yield one log a record, with one anchor; frames of one drive share its scene key.

    Raises
    ------
    BadInput
        Naming the record and the field.
    """
    for index, (offset, payload) in enumerate(read_records(path)):
        field = f"record {index}"
        try:
            message = waymo_pb2.E2EDFrame.FromString(payload)
        except DecodeError as error:
            raise BadInput(f"no E2EDFrame: {one_line(error)}", path=path, field=field) from None
        if not message.frame.context.name:
            raise BadInput("no E2EDFrame: lacks frame.context.name", path=path, field=field)
        with malformed(path, field):
            log = _read_frame(message, path, f"{field}, {message.frame.context.name}")
        yield _with_images(log, message, path, offset, payload)


def _read_frame(message: waymo_pb2.E2EDFrame, path: Path, field: str) -> Log:
    past, future = message.past_states, message.future_states
    back = _columns(past.pos_x, past.pos_y, f"{field}: past_states.pos", path)
    ahead = _columns(future.pos_x, future.pos_y, f"{field}: future_states.pos", path)
    now = len(back) - 1
    if now < 0 or np.hypot(*back[now]) > _ORIGIN_TOLERANCE_M:
        raise BadInput("does not end at the ego (0, 0)", path=path, field=f"{field}: past_states")
    back[now] = 0.0
    velocity = np.full((len(back) + len(ahead), 2), np.nan)
    acceleration = velocity.copy()
    velocity[: now + 1] = _columns(
        past.vel_x, past.vel_y, f"{field}: past_states.vel", path, now + 1
    )
    if len(past.accel_x):
        acceleration[: now + 1] = _columns(
            past.accel_x, past.accel_y, f"{field}: past_states.accel", path, now + 1
        )
    headings = np.concatenate(
        [
            path_headings(back[::-1], 0.0)[::-1],
            path_headings(np.concatenate([np.zeros((1, 2)), ahead]), 0.0)[1:],
        ]
    )
    poses = np.concatenate([np.concatenate([back, ahead]), headings[:, None]], axis=1)
    times: Float = STEP_S * (np.arange(len(poses), dtype=np.float64) - now)
    _check_past(velocity[: now + 1], back, path, f"{field}: vel")
    name = message.frame.context.name
    drive, _, frame = name.rpartition("-")
    known = bool(drive) and frame.isdigit()
    return Log(
        source="waymo_e2e",
        log_id=drive if known else name,
        times=times,
        poses=poses,
        velocity=velocity,
        acceleration=acceleration,
        command=np.full(len(poses), _COMMANDS.get(message.intent, Command.UNKNOWN)),
        anchors=(now,),
        frame_names=(frame if known else name,) * len(poses),
        frame_origin="rear_axle",
        missing=frozenset({"agents", "signals", "heading", "past_images"}),
    )


def _check_past(velocity: Float, positions: Float, path: Path, field: str) -> None:
    """The past states, all in the frame of t = 0, must agree with each other."""
    poses = np.concatenate([positions, np.zeros((len(positions), 1))], axis=1)
    times: Float = STEP_S * np.arange(len(poses), dtype=np.float64)
    check_velocity(velocity, poses, times, path, field)


def _columns(x: object, y: object, field: str, path: Path, count: int | None = None) -> Float:
    """``[T, 2]`` from two repeated fields that must be equally long (``count`` if given)."""
    first, second = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    if len(first) != len(second) or count not in (None, len(first)):
        raise BadInput(f"{len(first)} x and {len(second)} y values", path=path, field=field)
    return np.stack([first, second], axis=-1)


def _with_images(
    log: Log, message: waymo_pb2.E2EDFrame, path: Path, offset: int, payload: bytes
) -> Log:
    """References to the JPEG bytes inside the file; matched by camera name, never by position."""
    images: dict[str, tuple[Float, tuple[ImageRef, ...]]] = {}
    for image in message.frame.images:
        start = payload.find(image.image) if image.image else -1
        if image.name in CAMERAS and start >= 0:
            ref = ImageRef.byte_range(path.as_posix(), offset + start, len(image.image))
            images[CAMERAS[image.name]] = (np.zeros(1), (ref,))
    return replace(log, images=images)

"""An episode as a film: mp4 or gif."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from driveproof.errors import BadInput, UserError
from driveproof.report.replay.episode import EVERY_S, Episode
from driveproof.report.replay.pictures import Shot
from driveproof.scene.images import Pixels

BAR_PX = 24
"""Height of the line of text."""


def write_film(
    path: Path, episode: Episode, pictures: Sequence[Shot], lines: Sequence[str]
) -> None:
    """Write the episode as a film of its moments, two a second: ``.mp4`` or ``.gif`` by the ending of ``path``.

    Parameters
    ----------
    lines
        What stands below each moment.

    Raises
    ------
    BadInput
        If there is nothing to show.
    UserError
        If the film cannot be written.
    """
    shown = [_filled([shot.front for shot in pictures]), _filled([shot.above for shot in pictures])]
    columns = [column for column in shown if column]
    if not columns:
        raise BadInput("neither motion nor pictures were recorded: no film", field=episode.key)
    frames = [_frame(images, line) for *images, line in zip(*columns, lines, strict=True)]
    if path.suffix == ".gif":
        _write_gif(path, frames)
    else:
        _write_mp4(path, frames)


def _filled(images: Sequence[Pixels | None]) -> list[Pixels]:
    """Black where a picture is absent; nothing if all are."""
    known = next((image for image in images if image is not None), None)
    if known is None:
        return []
    return [np.zeros_like(known) if image is None else image for image in images]


def _frame(images: Sequence[Pixels], line: str) -> Pixels:
    """Pictures side by side with a line of text below; the edges are even, as mp4 wants them."""
    height = max(image.shape[0] for image in images)
    padded = [
        np.pad(image, ((0, height - image.shape[0]), (0, 0), (0, 0)), constant_values=24)
        for image in images
    ]
    row = np.concatenate(padded, axis=1)
    bar: Pixels = np.full((BAR_PX, row.shape[1], 3), 24, np.uint8)
    plain = line.encode("ascii", "replace").decode()
    font = cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(bar, plain, (6, 16), font, 0.38, (235, 235, 235), 1, cv2.LINE_AA)
    whole = np.concatenate([row, bar])
    high, wide = (side % 2 for side in whole.shape[:2])
    return np.pad(whole, ((0, high), (0, wide), (0, 0)))


def _write_gif(path: Path, frames: Sequence[Pixels]) -> None:
    from PIL import Image

    first, *rest = [Image.fromarray(frame) for frame in frames]
    try:
        first.save(
            path,
            format="GIF",
            save_all=True,
            append_images=rest,
            duration=round(1000.0 * EVERY_S),
            loop=0,
        )
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", path=path) from None


def _write_mp4(path: Path, frames: Sequence[Pixels]) -> None:
    height, width = frames[0].shape[:2]
    code = cv2.VideoWriter.fourcc(*"mp4v")
    writer = cv2.VideoWriter(str(path), code, 1.0 / EVERY_S, (width, height))
    if not writer.isOpened():
        raise UserError("this OpenCV cannot write mp4", path=path, hint="--video gif")
    try:
        for frame in frames:
            writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    finally:
        writer.release()

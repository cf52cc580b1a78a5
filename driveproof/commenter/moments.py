"""Recorded moments with everything that a policy may be shown of them and what the expert says about them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from driveproof.commenter.clips import Window, open_clips
from driveproof.commenter.dataset import AnswerRow, read_answers
from driveproof.commenter.frame import Frame
from driveproof.commenter.inputs import marks_of
from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.prompts.asking import compose_question
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.prompts.messages import Message
from driveproof.questions import QUESTIONS
from driveproof.render.marks import Mark
from driveproof.scene import ImageRef

FRONT = "{clip}/camera/rgb_front/{frame:05d}.jpg"
"""Where an archive keeps the picture of the front camera."""


@dataclass(frozen=True)
class Moment:
    """One frame of a clip.

    Attributes
    ----------
    clip, frame
        Which.
    speed, command
        Of the ego, m/s, and the navigator's word (a key of ``COMMAND_WORDS``).
    marks
        Everybody around the ego; only a text mode shows them.
    picture
        Of the front camera.
    rows
        The questions of this moment with the expert's answers.
    """

    clip: str
    frame: int
    speed: float
    command: str
    marks: tuple[Mark, ...]
    picture: ImageRef
    rows: tuple[AnswerRow, ...]

    def request(self, mode: InputMode, row: AnswerRow) -> tuple[list[Message], list[ImageRef]]:
        """How a policy is asked ``row``.

        Raises
        ------
        BadInput
            If ``mode`` shows what is not recorded (see :func:`check_recorded`).
        """
        check_recorded(mode)
        pictures = [self.picture] if mode.shown is Shown.CAMERA else []
        return compose_question(
            mode,
            QUESTIONS[row.key.number],
            row.question,
            pictures,
            self.marks,
            ego_speed=self.speed,
            command=self.command,
        )


def check_recorded(mode: InputMode) -> None:
    """Refuse a mode for which recorded pictures would have to be drawn on or put together.

    Raises
    ------
    BadInput
        If the mode is neither a text list nor the plain picture of the front camera.
    """
    if mode.shown is Shown.TEXT or mode == InputMode(Shown.CAMERA):
        return
    raise BadInput(
        "recorded moments are shown as a list of actors or as the plain picture of the front camera",
        hint="shown: text, or shown: camera without references, history 1, cameras front",
    )


def read_moments(
    dataset: str | Path,
    archives: Iterable[Path],
    *,
    clips: Collection[str] | None = None,
    numbers: Collection[int] | None = None,
    every: int = 1,
) -> list[Moment]:
    """The moments of a dataset (``driveproof comment``), in its order, with what the recorded clips say of them.

    Parameters
    ----------
    archives
        The clips that the dataset comments on.
    clips
        Names of those that are wanted; None for all.
    numbers
        Questions that are kept; None for all.
    every
        Every so many moments of a clip are kept.

    Raises
    ------
    BadInput
        If a clip or a frame that the dataset comments on is not there.
    """
    paths = archives_by_clip(archives)
    moments: list[Moment] = []
    for clip, rows in groupby(read_answers(dataset, clips), key=lambda row: row.clip):
        if clip not in paths:
            raise BadInput(f"no recording of {clip}", path=dataset, hint="the clips that it is of?")
        frames = [
            (frame, tuple(r for r in asked if numbers is None or r.key.number in numbers))
            for frame, asked in groupby(rows, key=lambda row: row.frame)
        ][::every]
        asked_of = dict(frames)
        for _, found in frames_of(clip, paths[clip], asked_of):
            moments.append(_moment(clip, paths[clip], found, asked_of[found.index]))
    return moments


def archives_by_clip(archives: Iterable[Path]) -> dict[str, Path]:
    """The archive of each clip, by the name that both share."""
    return {path.name.split(".")[0]: path for path in archives}


def frames_of(clip: str, path: Path, wanted: Collection[int]) -> Iterator[tuple[str, Frame]]:
    """The town of a clip with each wanted frame, in order; few others are read.

    Raises
    ------
    BadInput
        If one is not there.
    """
    left = set(wanted)
    for found in open_clips(path, math.gcd(*wanted) or 1):
        if found.name != clip:
            continue
        for frame in found.frames:
            if frame.index in left:
                left.remove(frame.index)
                yield found.town, frame
    if left:
        raise BadInput(f"no frame {min(left)}", path=path, field=clip)


def _moment(clip: str, path: Path, frame: Frame, rows: tuple[AnswerRow, ...]) -> Moment:
    return Moment(
        clip,
        frame.index,
        frame.ego.speed,
        frame.command_near.name.lower(),
        marks_of(Window((), frame)),
        ImageRef(str(path), FRONT.format(clip=clip, frame=frame.index)),
        rows,
    )


def clips_of_split(path: str | Path, split: str) -> list[str]:
    """Names of the clips of a split of ``splits.json`` (scene key → split), sorted.

    Raises
    ------
    BadInput
        If the file is no such table, or no clip is in the split.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected an object from scene key to split", path=path)
    clips = sorted(key.rpartition("/")[2] for key, value in content.items() if value == split)
    if not clips:
        raise BadInput(f"no clip of the split {split}", path=path)
    return clips

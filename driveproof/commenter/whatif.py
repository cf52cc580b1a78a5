"""What the expert would say, were the ego of a recorded moment at another speed.

Recorded experts hold the speed that is right, and stand only where they have to wait. Whoever learns from them alone does not
know what to do at a wrong speed, and never starts. The picture of a single moment does not show the ego's speed and the
expert knows the answer at any, so that such moments need no new recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from driveproof.commenter.clips import Window
from driveproof.commenter.commentary import Commenter
from driveproof.commenter.dataset import AnswerRow, known_objects
from driveproof.commenter.frame import Frame
from driveproof.commenter.moments import Moment, archives_by_clip, frames_of
from driveproof.maps import TownMap, load_town
from driveproof.questions import QUESTIONS
from driveproof.questions.wording import Sentences

Speeds = Callable[[str, int], float]
"""Clip and frame → m/s."""


def at_other_speeds(
    moments: Sequence[Moment], archives: Iterable[Path], speeds: Speeds
) -> list[Moment]:
    """The same moments at other speeds, with those of their questions that depend on the ego's speed answered anew.

    Speed limits that were passed before the moment are forgotten: only the frame itself is read.

    Raises
    ------
    BadInput
        If a clip or a frame is not there.
    """
    paths = archives_by_clip(archives)
    found: list[Moment] = []
    for clip, listed in groupby(moments, key=lambda moment: moment.clip):
        by_frame = {moment.frame: moment for moment in listed}
        for town, frame in frames_of(clip, paths[clip], by_frame):
            speed = speeds(clip, frame.index)
            found += _imagined(by_frame[frame.index], load_town(town), frame, speed)
    return found


def _imagined(moment: Moment, town: TownMap, frame: Frame, speed: float) -> Iterator[Moment]:
    asked = [row for row in moment.rows if QUESTIONS[row.key.number].ego_speed]
    other = replace(frame, ego=replace(frame.ego, speed=speed))
    said = Commenter(town).comment(Window((), other))
    known = tuple(known_objects(said).values())
    write = Sentences()
    rows: list[AnswerRow] = []
    for row in asked:
        answer = said.answers.get(row.key)
        if answer is not None:
            text = write.write(row.key.number, answer)
            rows.append(replace(row, answer=answer, text=text, known=known, ego_speed=speed))
    if rows:
        yield replace(moment, speed=speed, rows=tuple(rows))

"""What is known of an episode, moment by moment: motion, decisions, and the recorded clip where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.errors import UserError
from driveproof.evaluation.driving.clips import CLIP_BEGINS_S, read_clip
from driveproof.evaluation.driving.decisions import DecisionLine, read_decisions
from driveproof.evaluation.driving.failures import Failure, failure_of
from driveproof.evaluation.driving.motion import Motion
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import motion_of
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap, load_town
from driveproof.scene import Log

EVERY_S = 0.5
"""Seconds between moments: decisions and pictures come twice a second."""
_SLACK = 1e-6


@dataclass(frozen=True)
class Moment:
    """A moment of an episode.

    Attributes
    ----------
    time
        Seconds since it began.
    decision
        Number of the decision that was last made, None before the first.
    """

    time: float
    decision: int | None


@dataclass(frozen=True)
class Episode:
    """An episode with everything that was kept of it.

    Attributes
    ----------
    record, failure
        What came of it, and why it is no success.
    motion, clip, town
        None where nothing was recorded, or the map is not there.
    decisions, moments
        In order of time.
    """

    record: RouteRecord
    failure: Failure | None
    motion: Motion | None
    decisions: tuple[DecisionLine, ...]
    clip: Log | None
    town: TownMap | None
    moments: tuple[Moment, ...]

    @property
    def key(self) -> str:
        """The name of its folder and of its page."""
        return f"{self.record.route_id}_rep{self.record.repeat}"

    def pose(self, time: float) -> Float | None:
        """Pose ``[3]`` of the ego's box centre in the world, None where no motion was recorded."""
        motion = self.motion
        if motion is None or not len(motion):
            return None
        columns = (motion.x, motion.y, np.unwrap(motion.heading))
        return np.array([np.interp(time, motion.time, column) for column in columns])


def read_episode(run: DriveRun, record: RouteRecord, most: int) -> Episode:
    """Everything that a run kept of a drive, looked at in at most ``most`` moments.

    Raises
    ------
    BadInput
        If a file of the drive is broken.
    """
    folder = run.folder(record)
    decisions = tuple(read_decisions(folder))
    motion = motion_of(record)
    failed = not (record.state.scored and record.success)
    end = record.game_s if motion is None or not len(motion) else float(motion.time[-1])
    return Episode(
        record,
        failure_of(record, decisions) if failed else None,
        motion,
        decisions,
        read_clip(folder),
        _town(record.town),
        _moments(end, decisions, most),
    )


def _town(name: str) -> TownMap | None:
    try:
        return load_town(name)
    except UserError:  # a drive can be looked at without a map
        return None


def _moments(end: float, decisions: Sequence[DecisionLine], most: int) -> tuple[Moment, ...]:
    """Moments ``EVERY_S`` apart from the first decision on and the end, thinned evenly to at most ``most``."""
    # by number, not by time: a drive may say that it took a thousand years
    count = int((max(end - CLIP_BEGINS_S, 0.0) + _SLACK) // EVERY_S) + 1
    last_s = CLIP_BEGINS_S + EVERY_S * (count - 1)
    total = count + (end - last_s > _SLACK)
    chosen = np.unique(np.linspace(0, total - 1, min(total, most)).round())
    times = np.where(chosen < count, CLIP_BEGINS_S + EVERY_S * chosen, end)
    made = np.array([line.time for line in decisions])
    last = np.searchsorted(made, times + _SLACK, side="right") - 1
    return tuple(
        Moment(round(time, 3), number if number >= 0 else None)
        for time, number in zip(times.tolist(), last.tolist(), strict=True)
    )

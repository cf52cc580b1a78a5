"""The time line of an episode: numbers for the page's script, and lines for its drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.report.replay.episode import Episode
from driveproof.sim.criteria import Infraction

WIDTH, HEIGHT = 1000, 120
"""Of the drawing, in its own units; the page stretches it."""
_MOST_POINTS = 600
_TOP, _BOTTOM = 14.0, 100.0


@dataclass(frozen=True)
class Mark:
    """Something on the time line: where it is drawn, when it was, and what it says."""

    x: float
    time: float | None
    text: str


@dataclass(frozen=True)
class Timeline:
    """What the drawing shows.

    Attributes
    ----------
    speed, limit
        Points of polylines as SVG writes them; "" where nothing is known.
    top
        Speed at the upper border, m/s.
    end
        Seconds at the right border.
    infractions, ticks
        Marks of infractions, and of the decisions: ``bad`` are those without an answer.
    """

    speed: str
    limit: str
    top: float
    end: float
    infractions: tuple[Mark, ...]
    ticks: tuple[float, ...]
    bad: tuple[float, ...]


def timeline_of(episode: Episode) -> Timeline:
    """The time line of an episode."""
    motion = episode.motion
    known = motion is not None and len(motion) > 0
    end = max(
        float(motion.time[-1]) if motion is not None and known else 0.0, episode.record.game_s, 0.1
    )
    speed = limit = ""
    top = 1.0
    if motion is not None and known:
        pick = np.unique(np.linspace(0, len(motion) - 1, _MOST_POINTS).round().astype(int))
        limits = _limits(episode, pick)
        top = max(1.0, float(motion.speed.max()), float(np.nanmax(limits, initial=0.0)))
        speed = _points(motion.time[pick], motion.speed[pick], end, top)
        limit = _points(motion.time[pick], limits, end, top)
    marks = tuple(_mark(one, end) for one in episode.record.infractions)
    ticks = tuple(_x(line.time, end) for line in episode.decisions)
    bad = tuple(_x(line.time, end) for line in episode.decisions if line.error)
    return Timeline(speed, limit, top, end, marks, ticks, bad)


def numbers_of(episode: Episode) -> list[dict[str, float | int | None]]:
    """What the ego did at every moment: time, speed, pedals, steer, completion (1 is the whole way), decision."""
    found: list[dict[str, float | int | None]] = []
    motion = episode.motion
    names = ("speed", "throttle", "brake", "steer", "completion")
    for moment in episode.moments:
        row: dict[str, float | int | None] = {"time": moment.time, "decision": moment.decision}
        if motion is not None and len(motion):
            tick = int(np.abs(motion.time - moment.time).argmin())
            row |= {name: round(float(getattr(motion, name)[tick]), 3) + 0.0 for name in names}
        found.append(row)
    return found


def _limits(episode: Episode, pick: Float) -> Float:
    """The speed limits ``[N]`` of the lanes at ticks, m/s; NaN where the map does not say."""
    motion, town = episode.motion, episode.town
    if motion is None or town is None:
        return np.full(len(pick), np.nan)
    places = np.column_stack([motion.x[pick], motion.y[pick]])
    lanes = town.nearest_lane(places, motion.heading[pick]).lane
    return np.asarray(town.lanes.speed_limit[lanes], np.float64)


def _points(times: Float, values: Float, end: float, top: float) -> str:
    kept = np.isfinite(values)
    rows = zip(times[kept].tolist(), values[kept].tolist(), strict=True)
    return " ".join(
        f"{_x(time, end):.1f},{_BOTTOM - (_BOTTOM - _TOP) * max(value, 0.0) / top:.1f}"
        for time, value in rows
    )


def _x(time: float, end: float) -> float:
    return round(WIDTH * min(max(time / end, 0.0), 1.0), 1)


def _mark(one: Infraction, end: float) -> Mark:
    known = math.isfinite(one.time)
    text = f"{one.kind.value.replace('_', ' ')}: {one.text}" if one.text else one.kind.value
    return Mark(_x(one.time, end) if known else float(WIDTH), one.time if known else None, text)

"""Figures of closed-loop driving: answers against driving, and one episode from above and over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driveproof.errors import UserError
from driveproof.evaluation.driving.decisions import DecisionLine, read_decisions
from driveproof.evaluation.driving.motion import Motion
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import motion_of
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, load_town
from driveproof.report.figures import COLOURS, INK, drawing, error_bars, to_svg

BORDER_M = 18.0
"""Ground shown around the way that was driven, metres."""
BAD = "#c62828"


def answers_and_driving(
    points: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]],
) -> str:
    """One cross a policy: the score of its answers across, its driving score up, both 0 to 100 with intervals."""
    with drawing(5.6, 3.6) as (figure, axes):
        for place, (name, answers, driving) in enumerate(points):
            x, y = answers["mean"], driving["mean"]
            axes.errorbar(
                [x],
                [y],
                xerr=error_bars(answers),
                yerr=error_bars(driving),
                fmt="o",
                color=COLOURS[place % len(COLOURS)],
                capsize=3,
                label=name,
            )
        axes.set_xlim(-3, 103)
        axes.set_ylim(-3, 103)
        axes.set_xlabel("score of the answers")
        axes.set_ylabel("driving score")
        axes.grid(alpha=0.15)
        axes.legend(fontsize=8)
        return to_svg(figure)


def episode_figures(policy: str, run: DriveRun, record: RouteRecord) -> list[tuple[str, str]]:
    """A drive from above and its speed over time, each with its caption; none without a motion table."""
    motion = motion_of(record)
    if motion is None or len(motion) < 2:
        return []
    what = f"{policy} on route {record.route_id} ({', '.join(record.scenarios) or 'no scenario'})"
    ends = f"{record.status}, {100.0 * record.completion:.0f} % of the way"
    return [
        (
            _from_above(record, motion),
            f"{what}: the way that was driven, {ends}. Crosses: infractions.",
        ),
        (
            _over_time(record, motion, read_decisions(run.folder(record))),
            "Its speed and the speed keys, decision by decision. Dashed: infractions.",
        ),
    ]


def _from_above(record: RouteRecord, motion: Motion) -> str:
    way = np.column_stack([motion.x, motion.y])
    low, high = way.min(0) - BORDER_M, way.max(0) + BORDER_M
    across, ahead = high - low
    scale = 4.6 / max(across, ahead)
    with drawing(scale * across + 0.8, scale * ahead + 0.7) as (figure, axes):
        for border in _borders(record.town, low, high):
            axes.plot(border[:, 0], border[:, 1], color=INK, lw=0.5, alpha=0.6)
        axes.plot(way[:, 0], way[:, 1], color=COLOURS[0], lw=2.2)
        axes.plot(*way[0], "o", color=COLOURS[2], ms=5)
        axes.plot(*way[-1], "s", color=COLOURS[0], ms=5)
        places = [one.place for one in record.failures if np.isfinite(one.place).all()]
        for x, y in places:
            axes.plot([x], [y], "x", color=BAD, ms=8, mew=2)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.set_xlabel("x, m")
        axes.set_ylabel("y, m")
        return to_svg(figure)


def _borders(town: str, low: Float, high: Float) -> list[Float]:
    """Borders ``[n, 2]`` of the lanes that reach into a rectangle; none where the town's map is not there."""
    try:
        lanes = load_town(town).lanes
    except UserError:
        return []
    inside = ((lanes.centre[:, :2] >= low) & (lanes.centre[:, :2] <= high)).all(axis=1)
    driving = lanes.kind == int(LaneKind.DRIVING)
    near = [n for n in np.unique(lanes.lane_of_point[inside]).tolist() if driving[n]]
    return [lanes.border(n, side)[:, :2] for n in near for side in (1, -1)]


def _over_time(record: RouteRecord, motion: Motion, decisions: Sequence[DecisionLine]) -> str:
    with drawing(6.4, 2.6) as (figure, axes):
        axes.plot(motion.time, motion.speed, color=COLOURS[0])
        keys = dict.fromkeys(_speed_key(line) for line in decisions)
        top = max(float(motion.speed.max()), 1.0)
        for place, key in enumerate(keys):
            times = [line.time for line in decisions if _speed_key(line) == key]
            height = np.full(len(times), top * 1.15)
            axes.plot(
                times,
                height,
                "|",
                color=COLOURS[(place + 1) % len(COLOURS)],
                ms=9,
                mew=2,
                label=key,
            )
        for one in record.failures:
            if math.isfinite(one.time):
                axes.axvline(one.time, color=BAD, lw=1, ls="--")
        axes.set_xlabel("s")
        axes.set_ylabel("m/s")
        axes.grid(alpha=0.15)
        if keys:
            axes.legend(fontsize=7, ncols=4, loc="lower right")
        return to_svg(figure)


def _speed_key(line: DecisionLine) -> str:
    """The second of the two keys, or what there was instead."""
    if line.keys:
        return line.keys.rpartition(", ")[2]
    return "error" if line.error else "pedals"

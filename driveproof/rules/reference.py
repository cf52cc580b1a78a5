"""A PDM-style reference: IDM on the route's centreline, the best of 15 candidates by the rules themselves.

After PDM-Closed (Dauner et al., 2023), which NAVSIM takes as the progress to match: five target speeds on three
lateral offsets, agents forecast at constant velocity. It uses the true present, so it is for scoring only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.geometry.polyline import Polyline
from driveproof.rules.score import score_plans
from driveproof.rules.states import DT, HORIZON, STEPS, VX, box_centers
from driveproof.rules.traffic import Signals, Traffic
from driveproof.rules.world import World

SPEED_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
OFFSETS = (-1.0, 0.0, 1.0)
FALLBACK_LIMIT = 15.0
"""m/s where the map knows no speed limit."""
MIN_GAP, HEADWAY, ACCELERATION, BRAKING, EXPONENT = 1.0, 1.5, 1.5, 3.0, 10.0
"""Parameters of the intelligent driver model (Treiber et al., 2000): m, s, m/s², m/s², 1."""
_FREE = 1e3


def forecast(traffic: Traffic) -> Traffic:
    """The traffic of step 0, each track at constant velocity; what is not there at step 0 is unknown."""
    now = traffic.keep(traffic.present[:, 0])
    time = np.arange(now.pose.shape[1]) * DT
    pose = np.repeat(now.pose[:, :1], len(time), axis=1)
    step = now.pose[:, 1, :2] - now.pose[:, 0, :2]
    lasts = now.present[:, 1] if len(now) else np.zeros(0, bool)
    velocity = np.where(lasts[:, None], step / DT, 0.0)
    pose[..., :2] += velocity[:, None] * time[:, None]
    speed = np.repeat(now.speed[:, :1], len(time), axis=1)
    return replace(now, pose=pose, present=np.ones(speed.shape, bool), speed=speed)


def candidates(world: World, speed_limit: float = FALLBACK_LIMIT) -> Float:
    """Fifteen plans ``[15, 41, 3]`` in the world: five target speeds on each of three offsets.

    Raises
    ------
    ValueError
        If the world has no route centreline.
    """
    if not len(world.roads.route):
        raise ValueError("a reference needs the route's centreline")
    expected = forecast(world.others)
    plans = []
    for offset in OFFSETS:
        line = _shifted(Polyline(world.roads.route), offset)
        gaps, speeds = _lead(world, line, expected)
        for share in SPEED_SHARES:
            way = _drive(world, share * speed_limit, gaps, speeds)
            start = float(line.project(world.ego[:2])[0])
            s = np.minimum(start + way, line.length)
            plans.append(np.concatenate([line.at(s), line.heading(s)[:, None]], axis=1))
            plans[-1][0] = world.ego[:3]
    return np.array(plans)


def reference_plan(world: World, speed_limit: float = FALLBACK_LIMIT) -> Float:
    """The best candidate ``[41, 3]`` by EPDMS among the forecast traffic; the first of equals."""
    plans = candidates(world, speed_limit)
    signals = world.signals if world.signals.known else Signals.none()
    guess = replace(world, traffic=forecast(world.others), signals=signals, history=None)
    scores = score_plans(guess, plans, grouping="group").epdms_raw
    return np.asarray(plans[int(np.argmax(np.nan_to_num(scores, nan=-1.0)))], np.float64)


def _shifted(line: Polyline, offset: float) -> Polyline:
    middle = line.resample(1.0)
    heading = middle.heading(middle.arc)
    normal = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    return Polyline(middle.points + offset * normal)


def _lead(world: World, line: Polyline, traffic: Traffic) -> tuple[Float, Float]:
    """At each step, arc length [m, from the ego] of the next rear bumper on the line and its speed along it, both ``[41]``.

    A red light on the route is a standing bumper at the near end of its connector.
    """
    start = float(line.project(box_centers(world.ego, world.shape))[0])
    ends, speeds = np.full(STEPS, _FREE), np.zeros(STEPS)
    width = world.shape.width / 2.0
    if len(traffic):
        xy = traffic.pose[:, :STEPS, :2]
        arc, side = line.project(xy)
        along = line.heading(arc)
        cos = np.abs(
            traffic.pose[:, :STEPS, 2] * np.cos(along) + traffic.pose[:, :STEPS, 3] * np.sin(along)
        )
        sin = np.sqrt(np.maximum(1.0 - cos**2, 0.0))
        reach = traffic.half[:, :1] * cos + traffic.half[:, 1:] * sin
        breadth = traffic.half[:, :1] * sin + traffic.half[:, 1:] * cos
        blocks = (np.abs(side) < width + breadth) & (arc > start)
        gap = np.where(blocks, arc - reach - start, _FREE)
        nearest = gap.argmin(0)
        ends = gap[nearest, np.arange(STEPS)]
        gained = np.diff(arc, axis=1, append=arc[:, -1:])
        gained[:, -1] = gained[:, -2]
        speeds = np.maximum(gained[nearest, np.arange(STEPS)] / DT, 0.0)
    for light, polygon in enumerate(world.signals.polygon):
        if not world.roads.on_route[polygon]:
            continue
        near = float(line.project(world.roads.rings[polygon])[0].min()) - start
        closer = world.signals.red[light] & (near > 0.0) & (near < ends)
        ends, speeds = np.where(closer, near, ends), np.where(closer, 0.0, speeds)
    return ends, speeds


def _drive(world: World, target: float, ends: Float, speeds: Float) -> Float:
    """Distance ``[41]`` driven under IDM towards ``target`` m/s behind a lead whose rear end is at ``ends``."""
    bumper = world.shape.length / 2.0
    v = max(float(world.ego[VX]), 0.0)
    way = np.zeros(STEPS)
    for k in range(HORIZON):
        gap = max(ends[k] - way[k] - bumper, 0.1)
        closing = v * (v - speeds[k]) / (2.0 * np.sqrt(ACCELERATION * BRAKING))
        wanted = MIN_GAP + max(v * HEADWAY + closing, 0.0)
        push = ACCELERATION * (1.0 - (v / max(target, 0.1)) ** EXPONENT - (wanted / gap) ** 2)
        push = max(push, -2.0 * BRAKING)
        way[k + 1] = way[k] + v * DT
        v = max(v + push * DT, 0.0)
    return way

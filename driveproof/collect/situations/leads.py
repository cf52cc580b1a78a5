"""Situations with a vehicle ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from driveproof.collect.plan import Placed, Plan, body_of
from driveproof.collect.staging import NoPlace, Stage, samples, shifted
from driveproof.sim.drivers import SpeedPhase, SpeedScript, Style, Vehicle
from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.drivers.path import STEP

MERGE_GAP = 3.0
"""Metres that must be free between the bumpers when a lane change begins."""


def lead_brakes(stage: Stage) -> Plan:
    """The lead brakes hard, to a stop or to a crawl, once or twice, and drives on."""
    ego = stage.ego_on_run(90.0)
    lead = stage.lead(ego, stage.uniform(12.0, 24.0), ego.speed)
    low = 0.0 if stage.rng.random() < 0.75 else stage.uniform(1.5, 4.0)
    brake = stage.uniform(4.0, 7.0)
    lead.script = SpeedScript(
        stage.uniform(2.0, 5.0),
        (
            SpeedPhase(stage.uniform(5.5, 9.0), low, brake),
            SpeedPhase(stage.uniform(4.0, 6.0), 30.0),
            SpeedPhase(stage.uniform(4.0, 8.0), 0.0, 4.0),
        ),
    )
    stage.ego_clear = 90.0
    return stage.open(ego, [lead])


def slow_lead(stage: Stage) -> Plan:
    """The lead drives well below the speed of the road."""
    ego = stage.ego_on_run(90.0)
    kind = "truck" if stage.rng.random() < 0.5 else None
    factor = stage.uniform(0.4, 0.65)
    lead = stage.lead(ego, stage.uniform(25.0, 40.0), factor * ego.speed, kind)
    lead.style = replace(Style(), speed_factor=factor)
    stage.ego_clear = 90.0
    return stage.open(ego, [lead])


def stop_and_go(stage: Stage) -> Plan:
    """A queue that stops and moves on again and again."""
    ego = stage.ego_on_run(80.0)
    speed = stage.uniform(2.5, 5.0)
    ego.speed = min(ego.speed, speed)
    lead = stage.lead(ego, stage.uniform(5.0, 9.0), ego.speed)
    phases = []
    for _ in range(4):
        phases.append(SpeedPhase(stage.uniform(3.0, 5.0), stage.uniform(3.0, 6.0)))
        phases.append(SpeedPhase(stage.uniform(3.0, 6.0), 0.0, stage.uniform(2.5, 4.5)))
    lead.script = SpeedScript(0.0, tuple(phases))
    stage.ego_clear = 90.0
    return stage.open(ego, [lead])


def cut_in(stage: Stage) -> Plan:
    """A vehicle of the neighbouring lane changes into the ego's lane closely ahead and slows down."""
    ego = stage.ego_on_run(90.0, neighbour=True)
    path, i = ego.path, ego.path.index(ego.s)
    from_left = path.left_own[i] >= path.right[i]
    beside = float(path.left_own[i] if from_left else -path.right[i]) / 1.5
    model = random_vehicle(stage.rng)
    body = body_of(model.type_id)
    start = ego.s_front + stage.uniform(6.0, 13.0) + body.length / 2.0
    speed = ego.speed * stage.uniform(0.95, 1.0)
    begin = start + speed * stage.uniform(0.3, 1.2)
    length = max(18.0, stage.uniform(2.7, 3.3) * speed)
    if path.in_junction[path.index(start) : path.index(begin + length)].any():
        raise NoPlace("lane change would reach into a junction")
    s = np.arange(samples(path)) * STEP
    t = np.clip((s - begin) / length, 0.0, 1.0)
    offset = beside * (1.0 - t * t * (3.0 - 2.0 * t))
    placed = Placed(model, shifted(path, offset), start - body.rear, speed)
    slower = SpeedPhase(stage.uniform(4.0, 7.0), speed * stage.uniform(0.4, 0.75), 2.5)
    placed.style = replace(Style(), speed_factor=1.0)
    placed.script = SpeedScript((begin + 0.6 * length - start) / max(speed, 1.0), (slower,))

    stay = shifted(path, np.full(samples(path), beside))

    def indicate(driven: Vehicle, others: Sequence[Vehicle]) -> None:
        intruder = others[0]
        closing = max(0.0, driven.speed - intruder.speed)
        gap = intruder.s_back - driven.s_front - 2.0 * closing
        if begin - 4.0 < intruder.s < begin + 4.0 and gap < MERGE_GAP:
            intruder.path = stay  # it has fallen back: nobody changes lanes into somebody
        changing = intruder.path is not stay and begin - 12.0 < intruder.s < begin + length
        intruder.indicator = ("right" if from_left else "left") if changing else ""

    stage.hooks.append(indicate)
    stage.ego_clear = 80.0
    return stage.open(ego, [placed])

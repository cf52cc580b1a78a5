"""PDMS of NAVSIM v1 (branch v1.1, 3e8291b): the metric of papers before EPDMS.

Against EPDMS: no traffic lights, no lane keeping, no extended comfort, no human filter; driving direction counts
inside intersections, too, and has weight 0; comfort looks at the plan alone, through windows as long as the plan;
infractions mask progress; time to collision is checked to the last step; nothing is dropped for touching the ego at
step 0. v1 needs tracks of 5 s for the last second's look ahead: what lies beyond the tracks is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.aggregate import pdms_v1
from driveproof.rules.drivable_area import drivable_area
from driveproof.rules.driving_direction import driving_direction
from driveproof.rules.ego_progress import MEANINGFUL, raw_progress
from driveproof.rules.history_comfort import BOUNDS
from driveproof.rules.no_collision import no_collision
from driveproof.rules.result import RuleResult, judged, unjudged
from driveproof.rules.savgol import smooth, yaw_acceleration, yaw_rate
from driveproof.rules.simulator import simulate
from driveproof.rules.states import AX, AY, HORIZON, STEPS
from driveproof.rules.time_to_collision import time_to_collision
from driveproof.rules.world import Batch, World

RULES_V1 = ("NC", "DAC", "DDC", "EP", "TTC", "C")


@dataclass(frozen=True)
class ScoresV1:
    """Verdicts of v1 on N plans: ``rules`` by code, simulated ``states`` ``[N, 41, 11]``, ``pdms`` ``[N]`` (NaN: unscored)."""

    rules: dict[str, RuleResult]
    states: Float
    pdms: Float

    def row(self, index: int) -> dict[str, float | None]:
        """Plain numbers of one plan; ``None`` is unscored."""
        row = {code: self.rules[code][index].value for code in RULES_V1}
        value = float(self.pdms[index])
        row["PDMS"] = None if np.isnan(value) else value
        return row


def plan_comfort(states: Float) -> RuleResult:
    """C of v1: the bounds of HC on rear-axle signals of the plan alone ``[N, 41, 11]``."""
    ax, ay, window = states[..., AX], states[..., AY], states.shape[1]
    signals = np.stack(
        [
            smooth(ax, window, 2),
            smooth(ay, window, 2),
            smooth(smooth(np.hypot(ax, ay), 8, 2), window, 2, 1),
            smooth(smooth(ax, 8, 2), window, 2, 1),
            yaw_acceleration(states, 3),
            yaw_rate(states),
        ],
        axis=1,
    )
    fine = ((signals > BOUNDS[:, :1]) & (signals < BOUNDS[:, 1:])).all((1, 2))
    reasons = np.where(fine, "comfortable", "out of the bounds of comfort").tolist()
    return judged(np.where(fine, 1.0, 0.0), reasons)


def _progress(raw: Float, mask: Float, rival: float) -> RuleResult:
    """EP of v1: masked progress against the better of {reference, plan}; an infraction leaves nothing."""
    if np.isnan(raw).all():
        return unjudged(len(raw), "there is no route centreline")
    earned = raw * mask
    bar = np.maximum(earned, rival)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(bar > MEANINGFUL, earned / bar, np.where(mask == 0.0, 0.0, 1.0))
    known = ~np.isnan(bar)
    reasons = [
        f"{metres:.2f} m of {best:.2f} m" if ok else "the progress to match is unknown"
        for metres, best, ok in zip(earned, bar, known, strict=True)
    ]
    done = judged(values, reasons)
    return RuleResult(np.where(known, values, np.nan), known, done.step, done.agents, done.reasons)


def score_plans_v1(world: World, plans: Float, reference: Float) -> ScoresV1:
    """PDMS of plans ``[N, 41, 3]``, each against the ``reference`` plan ``[41, 3]`` alone (world poses every 0.1 s)."""
    simulated = simulate(np.concatenate([reference[None], plans]), world.ego, world.shape)
    batch = Batch(world, simulated, keep_touching=True)
    rules = {
        "NC": no_collision(batch),
        "DAC": drivable_area(batch),
        "DDC": driving_direction(batch, ignore_junctions=False),
        "TTC": time_to_collision(batch, last_step=HORIZON),
        "C": plan_comfort(simulated),
    }
    mine = {code: _tail(result) for code, result in rules.items()}
    mask = rules["NC"].values * rules["DAC"].values
    raw = raw_progress(batch)
    mine["EP"] = _progress(raw[1:], mask[1:], float(raw[0] * mask[0]))
    if world.traffic.present.shape[1] < STEPS + 9:
        short = "; the tracks end before the last look ahead"
        ttc = mine["TTC"]
        reasons = tuple(reason + short for reason in ttc.reasons)
        mine["TTC"] = RuleResult(ttc.values, ttc.valid, ttc.step, ttc.agents, reasons)
    values = {code: result.values for code, result in mine.items()}
    return ScoresV1(mine, simulated[1:], pdms_v1(values))


def _tail(result: RuleResult) -> RuleResult:
    """The verdicts without the first, which is the reference's."""
    return RuleResult(
        result.values[1:], result.valid[1:], result.step[1:], result.agents[1:], result.reasons[1:]
    )

"""Score a batch of plans in one world: simulate, apply the nine rules, aggregate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.aggregate import MULTIPLIERS, RULES, epdms, forgive, multiplier
from driveproof.rules.drivable_area import drivable_area
from driveproof.rules.driving_direction import driving_direction
from driveproof.rules.ego_progress import ego_progress, raw_progress
from driveproof.rules.extended_comfort import extended_comfort
from driveproof.rules.history_comfort import history_comfort
from driveproof.rules.lane_keeping import lane_keeping
from driveproof.rules.no_collision import no_collision
from driveproof.rules.result import RuleResult, SubScore
from driveproof.rules.simulator import simulate
from driveproof.rules.time_to_collision import time_to_collision
from driveproof.rules.traffic_light import traffic_light
from driveproof.rules.variants import Quirks, Variant, quirks_of
from driveproof.rules.world import Batch, World

Grouping = Literal["pair", "group"]


@dataclass(frozen=True)
class Previous:
    """The frame before: its ego state ``[11]``, the plans ``[N, 41, 3]`` made then, and how many seconds ago."""

    ego: Float
    plans: Float
    gap: float = 0.5


@dataclass(frozen=True)
class Scores:
    """Verdicts on N plans.

    ``rules`` by code (NC … EC), ``states`` ``[N, 41, 11]``, ``epdms_raw`` ``[N]`` and, where a human plan was given,
    ``human`` (its values by code) and ``epdms_human_filtered`` ``[N]``; NaN: unscored, see the rules' reasons.
    """

    rules: dict[str, RuleResult]
    states: Float
    epdms_raw: Float
    human: dict[str, float] | None = None
    epdms_human_filtered: Float | None = None

    def __len__(self) -> int:
        return len(self.states)

    def verdicts(self, index: int) -> dict[str, SubScore]:
        """All nine verdicts on one plan, in the order of the tables."""
        return {code: self.rules[code][index] for code in RULES}

    def row(self, index: int) -> dict[str, float | None]:
        """Plain numbers of one plan: the nine rules and the aggregates; ``None`` is unscored."""
        row = {code: verdict.value for code, verdict in self.verdicts(index).items()}
        row["EPDMS_raw"] = _number(self.epdms_raw[index])
        if self.epdms_human_filtered is not None:
            row["EPDMS_human_filtered"] = _number(self.epdms_human_filtered[index])
        return row


def score_plans(
    world: World,
    plans: Float,
    *,
    reference: Float | None = None,
    human: Float | None = None,
    previous: Previous | None = None,
    variant: Variant | Quirks = "navsim",
    grouping: Grouping = "pair",
) -> Scores:
    """EPDMS of plans ``[N, 41, 3]`` (world poses every 0.1 s, see :func:`driveproof.rules.plan.plan_poses`).

    Parameters
    ----------
    world
        The scene.
    reference, human
        Plans ``[41, 3]`` of the progress reference (PDM-Closed in NAVSIM) and of the logged driver.
    previous
        The plans of half a second ago, for EC; without it EC is unjudged and its weight dropped.
    variant
        ``"navsim"`` reproduces the reference program, ``"corrected"`` repairs its known defects.
    grouping
        Against what EP is measured: ``"pair"`` judges each plan with the reference alone, as NAVSIM's script does,
        ``"group"`` all plans together (and the reference, if any). Without a reference it is always the group.
    """
    quirks = quirks_of(variant)
    extra = [plan[None] for plan in (reference, human) if plan is not None]
    simulated = simulate(
        np.concatenate([*extra, plans]), world.ego, world.shape,
        broken_jerk_penalty=quirks.broken_jerk_penalty,
    )  # fmt: skip
    skip = 1 if reference is not None else 0
    first = len(extra)
    batch = Batch(world, simulated[first:], quirks)
    rules = _rules(batch)
    raw = raw_progress(batch)
    earned = raw * multiplier(_seen(_values(rules), world))
    bar = earned if grouping == "pair" else np.full(len(raw), _best(earned))
    if reference is None:
        bar = np.full(len(raw), _best(earned))
    else:
        bar = np.maximum(bar, _earned(Batch(world, simulated[:1], quirks)))
    rules["EP"] = ego_progress(raw, bar)
    rules["EC"] = _extended(world, batch, previous)
    values = _values(rules)
    with_ec = previous is not None
    scores = epdms(values, with_ec=with_ec)
    if human is None:
        return Scores(rules, batch.states, scores)
    alone = Batch(world.without_history(), simulated[skip : skip + 1], quirks)
    driven = {code: float(column[0]) for code, column in _values(_rules(alone)).items()}
    filtered = epdms(forgive(values, driven), with_ec=with_ec)
    return Scores(rules, batch.states, scores, driven, filtered)


def _rules(batch: Batch) -> dict[str, RuleResult]:
    """All rules that need neither a rival nor a previous frame."""
    return {
        "NC": no_collision(batch),
        "DAC": drivable_area(batch),
        "DDC": driving_direction(batch),
        "TLC": traffic_light(batch),
        "TTC": time_to_collision(batch),
        "LK": lane_keeping(batch),
        "HC": history_comfort(batch),
    }


def _values(rules: dict[str, RuleResult]) -> dict[str, Float]:
    return {code: result.values for code, result in rules.items()}


def _earned(batch: Batch) -> float:
    """Progress times multipliers of a single plan."""
    codes = (no_collision, drivable_area, driving_direction, traffic_light)
    values = dict(zip(MULTIPLIERS, (rule(batch).values for rule in codes), strict=True))
    product = multiplier(_seen(values, batch.world))[0]
    return float(raw_progress(batch)[0] * product)


def _seen(values: dict[str, Float], world: World) -> dict[str, Float]:
    """Values by which progress is earned: lights that nobody recorded withhold none."""
    return values if world.signals.known else {**values, "TLC": np.ones_like(values["TLC"])}


def _best(earned: Float) -> float:
    """The best progress of a batch; unknown only if all are."""
    known = earned[~np.isnan(earned)]
    return float(known.max()) if len(known) else float("nan")


def _extended(world: World, batch: Batch, previous: Previous | None) -> RuleResult:
    if previous is None:
        return extended_comfort(batch.states, None, 0.0)
    before = simulate(
        previous.plans, previous.ego, world.shape,
        broken_jerk_penalty=batch.quirks.broken_jerk_penalty,
    )  # fmt: skip
    return extended_comfort(batch.states, before, previous.gap)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

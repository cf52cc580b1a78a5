"""From sub-scores to one number: EPDMS, its human filter, PDMS of v1.

EPDMS = NC DAC DDC TLC (5 EP + 5 TTC + 2 LK + 2 HC + 2 EC) / 16, or / 14 without EC.
PDMS (v1) = NC DAC (5 EP + 5 TTC + 2 C) / 12. Sources: NAVSIM v2.2 (359c7f7) and v1.1 (3e8291b).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from driveproof.geometry.arrays import Float

MULTIPLIERS = ("NC", "DAC", "DDC", "TLC")
WEIGHTS = {"EP": 5.0, "TTC": 5.0, "LK": 2.0, "HC": 2.0, "EC": 2.0}
RULES = (*MULTIPLIERS, *WEIGHTS)
"""Codes of the nine rules in the order of the tables."""
FILTERED = ("NC", "DAC", "DDC", "TLC", "TTC", "LK")
"""Rules that the human filter can forgive; EP and HC of a human judged alone are never 0."""
WEIGHTS_V1 = {"EP": 5.0, "TTC": 5.0, "C": 2.0}


def multiplier(values: Mapping[str, Float]) -> Float:
    """Product ``[N]`` of the multipliers; NaN where one is unknown."""
    return np.asarray(np.prod([values[code] for code in MULTIPLIERS], axis=0), np.float64)


def weighted_mean(values: Mapping[str, Float], weights: Mapping[str, float]) -> Float:
    """Weighted mean ``[N]`` of the rules named in ``weights``; NaN where one is unknown."""
    total = np.sum([weight * values[code] for code, weight in weights.items()], axis=0)
    return np.asarray(total / sum(weights.values()), np.float64)


def epdms(values: Mapping[str, Float], *, with_ec: bool) -> Float:
    """EPDMS ``[N]`` of sub-scores ``[N]`` by rule code; ``with_ec=False`` drops EC and its weight (one-stage script)."""
    weights = {code: weight for code, weight in WEIGHTS.items() if with_ec or code != "EC"}
    return multiplier(values) * weighted_mean(values, weights)


def epdms_of_judged(values: Mapping[str, Float]) -> Float:
    """EPDMS ``[N]`` over the rules that could be judged: an unknown multiplier is left out, an unknown weight dropped.

    Not comparable with EPDMS where a rule is left out; NaN where NC is unknown or no weighted rule is known.
    """
    product = np.prod([np.nan_to_num(values[code], nan=1.0) for code in MULTIPLIERS], axis=0)
    known = [weight * ~np.isnan(values[code]) for code, weight in WEIGHTS.items()]
    total = np.sum(
        [weight * np.nan_to_num(values[code]) for code, weight in WEIGHTS.items()], axis=0
    )
    divisor = np.sum(known, axis=0)
    mean = np.where(divisor > 0.0, total / np.maximum(divisor, 1.0), np.nan)
    return np.asarray(np.where(np.isnan(values["NC"]), np.nan, product * mean), np.float64)


def forgive(values: Mapping[str, Float], human: Mapping[str, float]) -> dict[str, Float]:
    """Sub-scores after the human filter: a rule that the human breaks wholly (exactly 0) counts as kept by everyone."""
    return {
        code: np.ones_like(column) if code in FILTERED and human[code] == 0.0 else column
        for code, column in values.items()
    }


def pdms_v1(values: Mapping[str, Float]) -> Float:
    """PDMS of NAVSIM v1 ``[N]`` from NC, DAC, EP, TTC and C as v1 defines them."""
    return values["NC"] * values["DAC"] * weighted_mean(values, WEIGHTS_V1)

"""DriveJudge's score of a clip: rules gated by context (equation 14), with every choice that the paper leaves open named.

S = Π_hard (g s + 1 - g) · Σ_soft g w s / Σ_soft g w; hard are NC, DAC and DDC, soft EP, TTC, LK and COMFORT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from driveproof.judge.criteria import HARD, SOFT, UNASKED, Values, criteria_of, weight_of
from driveproof.judge.gates import Gates, mean_gates

Empty = Literal["one", "ungated", "unscored"]


@dataclass(frozen=True)
class Reading:
    """How the paper's formula is read where it is silent.

    Attributes
    ----------
    empty
        The mean where no soft criterion applies, 0 / 0 in equation 14: "one" (there is nothing to complain of),
        "ungated" (the mean as if all applied) or "unscored".
    hard_gates
        Whether soft gates are rounded first; a half applies.
    shared
        In a pair, whether both trajectories are judged by one gate vector, the mean of the two; else each has its own.
    unasked
        Whether rules that no criterion stands for (TLC) multiply, ungated; the paper's data know no lights.
    margin
        Scores that differ by no more than this are a tie.
    """

    empty: Empty = "one"
    hard_gates: bool = False
    shared: bool = False
    unasked: bool = True
    margin: float = 1e-9

    def __post_init__(self) -> None:
        if self.empty not in ("one", "ungated", "unscored"):
            raise ValueError(f"Reading.empty: {self.empty!r} is not one, ungated or unscored")
        if not self.margin >= 0.0:
            raise ValueError(f"Reading.margin: {self.margin} is negative")


@dataclass(frozen=True)
class Verdict:
    """A score in [0, 1] with what it is made of; ``score`` is None where it could not be computed, ``why`` says why.

    ``product`` is that of the hard criteria and the unasked rules, ``mean`` that of the soft ones; ``unjudged`` names
    criteria without a value, which count as if waived.
    """

    score: float | None
    gates: Gates
    product: float | None = None
    mean: float | None = None
    unjudged: tuple[str, ...] = ()
    why: str = ""


def judge_score(rules: Values, gates: Gates, reading: Reading | None = None) -> Verdict:
    """Equation 14 on the values of the nine rules.

    Without a value for NC nothing is scored; other criteria without a value are left out and named.
    """
    reading = reading or Reading()
    used = gates.hard if reading.hard_gates else gates
    criteria = criteria_of(rules)
    unjudged = tuple(code for code, value in criteria.items() if value is None)
    if criteria["NC"] is None:
        return Verdict(None, used, unjudged=unjudged, why="NC is unjudged")
    product = 1.0
    for code in HARD:
        value = criteria[code]
        if value is not None:
            product *= used[code] * value + 1.0 - used[code]
    for code in UNASKED:
        value = rules.get(code)
        if reading.unasked and value is not None:
            product *= value
    mean = _mean(rules, criteria, used)
    if mean is None:
        if reading.empty == "unscored":
            return Verdict(None, used, product, None, unjudged, "no soft criterion applies")
        ungated = _mean(rules, criteria, None) if reading.empty == "ungated" else 1.0
        if ungated is None:
            return Verdict(None, used, product, None, unjudged, "no soft criterion is judged")
        mean = ungated
    return Verdict(product * mean, used, product, mean, unjudged)


def _mean(rules: Values, criteria: Values, gates: Gates | None) -> float | None:
    """Gated mean of the soft criteria, None where nothing applies."""
    total = earned = 0.0
    for code in SOFT:
        value = criteria[code]
        if value is not None:
            weight = weight_of(code, rules) * (1.0 if gates is None else gates[code])
            total += weight
            earned += weight * value
    return earned / total if total > 0.0 else None


def judge_pair(
    rules: Sequence[Values], gates: Sequence[Gates], reading: Reading | None = None
) -> tuple[Verdict, Verdict]:
    """Verdicts on two trajectories of one scene, with gates of their own or shared."""
    reading = reading or Reading()
    if reading.shared:
        gates = [mean_gates(gates)] * 2
    first, second = (
        judge_score(values, gate, reading) for values, gate in zip(rules, gates, strict=True)
    )
    return first, second


def preference(first: float | None, second: float | None, margin: float = 1e-9) -> str:
    """ "A" or "B" for the higher score, "tie" within the margin, "" where a score is missing."""
    if first is None or second is None:
        return ""
    if abs(first - second) <= margin:
        return "tie"
    return "A" if first > second else "B"

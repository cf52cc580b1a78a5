"""How long the world goes on while a policy thinks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.errors import BadInput
from driveproof.policy.driving import DriveDecision

LONGEST_S = 60.0
HINT = "none, fixed:SECONDS, or measured[:FACTOR]"


@dataclass(frozen=True)
class Latency:
    """Simulated seconds between the moment that a policy sees and the moment from which its decision holds.

    Attributes
    ----------
    fixed_s
        Always.
    factor
        Of the wall-clock seconds that the policy took; with it, runs are no longer repeatable to the bit.
    """

    fixed_s: float = 0.0
    factor: float = 0.0

    def of(self, decision: DriveDecision) -> float:
        """Seconds for a decision, at most :data:`LONGEST_S`."""
        return min(self.fixed_s + self.factor * decision.latency_s, LONGEST_S)


def parse_latency(text: str) -> Latency:
    """A latency from words: ``none``, ``fixed:0.4`` or ``measured:1.0``.

    Raises
    ------
    BadInput
        If the text is none.
    """
    kind, colon, rest = text.partition(":")
    try:
        number = float(rest) if colon else None
    except ValueError:
        number = math.nan
    if number is not None and not 0.0 <= number <= LONGEST_S:
        raise BadInput(f"not a latency: {text[:40]}", hint=HINT)
    match kind, number:
        case "none", None:
            return Latency()
        case "fixed", float(seconds):
            return Latency(fixed_s=seconds)
        case "measured", factor:
            return Latency(factor=1.0 if factor is None else factor)
    raise BadInput(f"not a latency: {text[:40]}", hint=HINT)

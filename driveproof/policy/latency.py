"""How long the world goes on before a decision is in force: the price of thinking, which a paused simulator hides.

Bench2Drive-VL stops the world while the model thinks. With a latency the decision on what was seen at time t holds from
t + delay on, and a policy that is still busy when it should decide again misses that moment.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.errors import BadInput
from driveproof.policy.driving import DriveDecision

HINT = "none, fixed:SECONDS, tokens:SECONDS,PER_WRITTEN[,PER_READ], or measured[:FACTOR]"
LONGEST_S = 60.0
"""A delay is cut here: the episode is lost long before, and a measured outlier must not stop the clock for ever."""


@dataclass(frozen=True)
class Latency:
    """A model of how long a decision takes, in simulated seconds.

    Attributes
    ----------
    fixed_s
        Of every decision: network, cameras, preparing pictures.
    per_token_s
        For each token that the policy wrote (``completion_tokens``).
    per_prompt_token_s
        For each token that it read (``prefilled_tokens`` where the policy tells what it computed, else ``prompt_tokens``).
    measured
        Take the wall-clock time of the decision instead of tokens. Runs then differ from machine to machine, and from run
        to run: not for results that must be reproduced.
    scale
        Factor of the measured time: 0.1 pretends a machine ten times as fast.

    Raises
    ------
    ValueError
        If a number is negative or none.
    """

    fixed_s: float = 0.0
    per_token_s: float = 0.0
    per_prompt_token_s: float = 0.0
    measured: bool = False
    scale: float = 1.0

    def __post_init__(self) -> None:
        numbers = (self.fixed_s, self.per_token_s, self.per_prompt_token_s, self.scale)
        if not all(0.0 <= number < math.inf for number in numbers):
            raise ValueError(f"not a latency: {self}")

    def of(self, decision: DriveDecision) -> float:
        """Simulated seconds from what was seen to the decision in force; a failed decision took its time as well."""
        usage = decision.usage
        if self.measured:
            thinking = self.scale * decision.latency_s
        else:
            read = usage.get("prefilled_tokens", usage.get("prompt_tokens", 0))
            written = usage.get("completion_tokens", 0)
            thinking = self.per_prompt_token_s * read + self.per_token_s * written
        return min(self.fixed_s + thinking, LONGEST_S)


def parse_latency(text: str) -> Latency:
    """A latency from words: ``none``, ``fixed:0.4``, ``tokens:0.1,0.005`` or ``measured:1.0``.

    Raises
    ------
    BadInput
        If the text is none.
    """
    kind, colon, rest = text.partition(":")
    try:
        numbers = [float(number) for number in rest.split(",")] if colon else []
    except ValueError:
        numbers = [math.nan]
    if all(0.0 <= number <= LONGEST_S for number in numbers):
        match kind, numbers:
            case "none", []:
                return Latency()
            case "fixed", [fixed]:
                return Latency(fixed)
            case "tokens", [fixed, written]:
                return Latency(fixed, written)
            case "tokens", [fixed, written, read]:
                return Latency(fixed, written, read)
            case "measured", []:
                return Latency(measured=True)
            case "measured", [scale]:
                return Latency(measured=True, scale=scale)
    raise BadInput(f"not a latency: {text[:40]}", hint=HINT)

"""One score: a value and whether it may count, always together."""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.mcq.interaction import Answer
from driveproof.mcq.items import McqItem
from driveproof.scene import Decision, decision_of


@dataclass(frozen=True)
class Score:
    """The score of one answer.

    Attributes
    ----------
    value
        0 .. 1, or None if the answer is lost: the model failed, so there is nothing to score.
    valid
        Whether an answer could be read. An unreadable answer of a working model has value 0, as the strict
        verifier of DEFT-RLVR (appendix D.3) demands, but is counted apart from a wrong one.
    why
        Why it is not valid; "" otherwise.
    """

    value: float | None
    valid: bool
    why: str = ""


def score_choice(answer: Answer, item: McqItem) -> Score:
    """1 if the chosen option is the oracle, exactly; no judge."""
    if answer.lost:
        return Score(None, False, answer.error)
    if answer.choice is None:
        return Score(0.0, False, answer.reason)
    return Score(float(answer.choice == item.oracle_index), True)


def true_decision(item: McqItem) -> Decision:
    """The decision that the logged waypoints induce."""
    return decision_of(item.waypoints, item.observation.speed)


def score_decision(answer: Answer, item: McqItem) -> Score:
    """HLD consistency: 1 if direction and speed both match the logged future (appendix D.2)."""
    if answer.decision_lost:
        return Score(None, False, answer.error)
    if answer.decision is None:
        return Score(0.0, False, "no_decision")
    return Score(float(answer.decision == true_decision(item)), True)

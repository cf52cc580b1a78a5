"""What the gates of a clip are paid: whether they help to rank it as people do (DriveJudge, equation 12).

A sample of the paper is a pair of trajectories; a rollout here is the gates that were said of one of them. Which gates
of the other trajectory a rollout is ranked against is left open there and a parameter here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from driveproof.errors import BadInput
from driveproof.judge.criteria import Values
from driveproof.judge.gates import Gates, ParsedGates, mean_gates
from driveproof.judge.score import Reading, judge_pair, preference
from driveproof.rewards.reward import Known, Scored

Side = Literal["A", "B"]
Pairing = Literal["index", "all", "mean"]
"""Whom a rollout meets: the rollout of the same number, every rollout of the other side, or their mean gates."""


@dataclass(frozen=True)
class GateRollout:
    """One answer about one clip of a pair: which pair (key), which side, which clip (key), what was said and read."""

    pair: str
    side: Side
    clip: str
    text: str
    parsed: ParsedGates


@dataclass(frozen=True)
class Contest:
    """A pair as the reward sees it: values of the rules of A and of B, and which of them is preferred."""

    first: Values
    second: Values
    preferred: Side


def pay_pair(
    contest: Contest,
    first: Sequence[Gates | None],
    second: Sequence[Gates | None],
    pairing: Pairing,
    reading: Reading,
    tie: float = 0.0,
) -> tuple[list[Scored], list[Scored]]:
    """Rewards of the rollouts of A and of B.

    Each is the mean, over the opponents that a rollout meets, of 1 where the scores of equation 14 rank the pair as
    preferred, ``tie`` where they are equal, and 0 where not. Gates that cannot be read (None) are paid 0. An opponent
    that cannot be read, or a score that cannot be computed, is left out of the mean; nothing left is paid 0, and
    ``detail["why"]`` says which: "malformed", "no_opponent" or "unscored".

    Parameters
    ----------
    first, second
        Gates of each rollout of A and of B; as many on both sides where ``pairing`` is "index".

    Raises
    ------
    ValueError
        If rollouts should be paired by number and there are not as many on both sides.
    """
    if pairing == "index" and len(first) != len(second):
        raise ValueError(f"pay_pair: {len(first)} rollouts of A, {len(second)} of B")

    def meet(a: Gates, b: Gates) -> float | None:
        one, other = judge_pair((contest.first, contest.second), (a, b), reading)
        found = preference(one.score, other.score, reading.margin)
        return {"tie": tie, "": None}.get(found, float(found == contest.preferred))

    return (
        _pay(first, _opponents(second, len(first), pairing), meet),
        _pay(second, _opponents(first, len(second), pairing), lambda b, a: meet(a, b)),
    )


def _opponents(
    others: Sequence[Gates | None], count: int, pairing: Pairing
) -> list[Sequence[Gates]]:
    """Whom each of ``count`` rollouts meets."""
    if pairing == "index":
        return [[] if gates is None else [gates] for gates in others]
    known = [gates for gates in others if gates is not None]
    if pairing == "mean" and known:
        known = [mean_gates(known)]
    return [known] * count


def _pay(
    rollouts: Sequence[Gates | None],
    opponents: Sequence[Sequence[Gates]],
    meet: Callable[[Gates, Gates], float | None],
) -> list[Scored]:
    paid = []
    for own, others in zip(rollouts, opponents, strict=True):
        met = [] if own is None else [meet(own, other) for other in others]
        won = [each for each in met if each is not None]
        why = ""
        if not won:
            why = "malformed" if own is None else "unscored" if others else "no_opponent"
        reward = sum(won) / len(won) if won else 0.0
        paid.append(Scored(reward, detail={"met": len(won), "why": why}))
    return paid


class PreferenceReward:
    """Equation 12 for whole batches of rollouts; known at once.

    Parameters
    ----------
    contests
        Pairs by key.
    pairing, reading, tie
        See :func:`pay_pair`; ``reading`` is that of equation 14 by which the judge is evaluated.
    """

    name = "preference"

    def __init__(
        self,
        contests: Mapping[str, Contest],
        pairing: Pairing = "all",
        reading: Reading | None = None,
        tie: float = 0.0,
    ) -> None:
        self._contests, self._pairing = contests, pairing
        self._reading, self._tie = reading or Reading(), tie

    def start(self, rollouts: Sequence[GateRollout]) -> Known:
        """Score rollouts; those of both clips of a pair must come together.

        Raises
        ------
        BadInput
            If a pair is unknown, or one of its clips has no rollout, or not as many as the other.
        """
        places: dict[str, dict[str, list[int]]] = {}
        for place, rollout in enumerate(rollouts):
            places.setdefault(rollout.pair, {"A": [], "B": []})[rollout.side].append(place)
        scored: dict[int, Scored] = {}
        for key, sides in places.items():
            if key not in self._contests:
                raise BadInput("no such pair", field=key)
            if len(sides["A"]) != len(sides["B"]):
                raise BadInput(
                    f"{len(sides['A'])} rollouts of the first clip and {len(sides['B'])} of the second came together",
                    field=key,
                    hint="questions, processes and rollout_chunks must leave pairs whole",
                )
            first, second = ([rollouts[n].parsed.gates for n in sides[side]] for side in "AB")
            paid = pay_pair(
                self._contests[key], first, second, self._pairing, self._reading, self._tie
            )
            for side, rewards in zip("AB", paid, strict=True):
                scored.update(zip(sides[side], rewards, strict=True))
        return Known([scored[place] for place in range(len(rollouts))])

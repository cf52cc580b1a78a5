"""How often the keys of question 50 are the expert's, by key, beside the keys that are right most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.evaluation.statistics import Estimate, bootstrap_mean
from driveproof.questions import ActionKeys

Read = ActionKeys | None
"""What was said: None where the answer was lost."""


@dataclass(frozen=True)
class KeyAgreement:
    """Shares of moments with the expert's keys, 0 to 1, with intervals over clips.

    ``directions`` and ``speeds`` are by the expert's key: how often it was found where it was right (recall);
    ``said`` counts what was said of (expert's speed key, said speed key); a missing key agrees with none.
    """

    both: Estimate
    direction: Estimate
    speed: Estimate
    directions: dict[str, Estimate]
    speeds: dict[str, Estimate]
    said: dict[str, dict[str, int]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def agreement(
    clips: Sequence[str], true: Sequence[ActionKeys], said: Sequence[Read], seed: int = 0
) -> KeyAgreement:
    """Compare keys moment by moment.

    Parameters
    ----------
    clips
        Of the moments; whole clips are drawn for the intervals.
    true, said
        The expert's keys and those of an answer; None is lost.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    moments = list(zip(clips, true, said, strict=True))

    def share(right: Callable[[ActionKeys, ActionKeys], bool], chosen: Iterable[int]) -> Estimate:
        picked = [moments[n] for n in chosen]
        values = [np.nan if s is None else float(right(t, s)) for _, t, s in picked]
        return bootstrap_mean(values, seed, clusters=[clip for clip, _, _ in picked])

    def by(name: str) -> dict[str, Estimate]:
        groups: dict[str, list[int]] = {}
        for n, (_, t, _) in enumerate(moments):
            groups.setdefault(str(getattr(t, name)), []).append(n)
        return {
            key: share(lambda t, s: getattr(t, name) is getattr(s, name), groups[key])
            for key in sorted(groups)
        }

    every = range(len(moments))
    table: dict[str, Counter[str]] = {}
    for _, t, s in moments:
        spoken = "lost" if s is None else str(s.speed) if s.speed else "none"
        table.setdefault(str(t.speed), Counter())[spoken] += 1
    return KeyAgreement(
        both=share(lambda t, s: t == s, every),
        direction=share(lambda t, s: t.direction is s.direction, every),
        speed=share(lambda t, s: t.speed is s.speed, every),
        directions=by("direction"),
        speeds=by("speed"),
        said={key: dict(sorted(table[key].items())) for key in sorted(table)},
    )


def majority(keys: Iterable[ActionKeys]) -> ActionKeys:
    """The most frequent direction and the most frequent speed, each by itself; the first in the alphabet of equals.

    Raises
    ------
    ValueError
        If there are no keys.
    """
    listed = list(keys)
    if not listed:
        raise ValueError("no keys")
    directions, speeds = Counter(k.direction for k in listed), Counter(k.speed for k in listed)
    return ActionKeys(
        min(directions, key=lambda key: (-directions[key], str(key))),
        min(speeds, key=lambda key: (-speeds[key], str(key))),
    )

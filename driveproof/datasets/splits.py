"""Scene-disjoint splits: a drive is in one split only, situations are spread evenly."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np


def split_scenes(
    situations: Mapping[str, str], fractions: Mapping[str, float], seed: int
) -> dict[str, str]:
    """Assign every drive to a split.

    Parameters
    ----------
    situations
        Scene key -> situation, the stratum.
    fractions
        Split -> share; they sum to one.
    seed
        Together with the situation it fixes the order inside a stratum.

    Returns
    -------
    dict
        Scene key -> split, sorted by key. Every split holds its share of all drives to within one drive, and
        consecutive drives of a situation go to different splits as evenly as the shares allow.
    """
    names = sorted(fractions, key=lambda name: (-fractions[name], name))
    share = np.array([fractions[name] for name in names])
    strata: dict[str, list[str]] = {}
    for key in sorted(situations):
        strata.setdefault(situations[key], []).append(key)
    assigned: dict[str, str] = {}
    counts = np.zeros(len(names))
    for situation in sorted(strata):
        for index in _generator(seed, situation).permutation(len(strata[situation])):
            owed = share * (len(assigned) + 1) - counts
            chosen = int(owed.argmax())
            counts[chosen] += 1
            assigned[strata[situation][index]] = names[chosen]
    return dict(sorted(assigned.items()))


def _generator(seed: int, name: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/split/{name}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

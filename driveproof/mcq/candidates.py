"""Drawing the options of a question (DEFT-RLVR, algorithm D.1). No option ever comes from outside its band."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import Band
from driveproof.geometry.arrays import Float, Float32, Int
from driveproof.mcq.items import OptionKind

TWIN_M = 0.06
"""Average displacement, metres, below which two prototypes are one to a reader; the data gate asks for 0.05."""


class Rejected(Exception):
    """A scene that gives no question by the rules; ``reason`` is a fixed word that is counted."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True)
class Options:
    """Shuffled options: ``codes`` ``[M]``, their kinds, similarity to the oracle ``[M]``, place of the oracle."""

    codes: Int
    kinds: tuple[str, ...]
    similarities: Float32
    oracle_index: int


@dataclass(frozen=True)
class Vocabulary:
    """A codebook with what all questions share: its similarity matrix and the scale of each prototype."""

    codebook: TrajectoryCodebook

    @cached_property
    def similarity(self) -> Float32:
        """``[K, K]`` (equation 2)."""
        return self.codebook.similarity()

    @cached_property
    def scales(self) -> Float:
        """``[K]`` distance of the last waypoint from the origin, metres (equation 13)."""
        ends: Float = np.hypot(*self.codebook.codes_[:, -1].astype(np.float64).T)
        return ends

    @cached_property
    def stands_for(self) -> Int:
        """``[K]`` the code that is offered in place of each: of prototypes nearer than :data:`TWIN_M` to each other
        (clusters that k-means split) only the lowest may be an option, for nobody can tell them apart."""
        codes = self.codebook.codes_.astype(np.float64)
        steps = codes.shape[1]
        # An average displacement below d bounds the distance of the flat vectors by d times the number of steps.
        pairs = cKDTree(codes.reshape(len(codes), -1)).query_pairs(TWIN_M * steps)
        first = np.arange(len(codes))
        for low, high in sorted(pairs):
            if np.linalg.norm(codes[low] - codes[high], axis=1).mean() < TWIN_M:
                first[high] = min(first[high], first[low])
        return first

    def pool(self, oracle: int, band: Band) -> Int:
        """Codes in the band of similarity to ``oracle``, increasing, without the oracle itself and without twins."""
        row = self.similarity[oracle]
        inside = (row >= np.float32(band.low)) & (row <= np.float32(band.high))
        inside[oracle] = False
        inside &= self.stands_for == np.arange(len(inside))
        return np.flatnonzero(inside)


def record_rng(seed: int, record_key: str, purpose: str = "") -> np.random.Generator:
    """The random numbers of one record: the same for the same seed and key, on any machine."""
    text = f"{seed}\0{record_key}\0{purpose}"
    return np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))


def uniform_options(
    vocabulary: Vocabulary, oracle: int, band: Band, count: int, rng: np.random.Generator
) -> Options:
    """The oracle and ``count`` uniform draws without replacement from the band (train; appendix D.7).

    Raises
    ------
    Rejected
        ``too_few_in_band``.
    """
    drawn = _draw(vocabulary.pool(oracle, band), count, rng)
    return _shuffle(vocabulary, oracle, [(OptionKind.RANDOM, k) for k in drawn], rng)


def structured_options(
    vocabulary: Vocabulary,
    oracle: int,
    inertial: int,
    band: Band,
    count: int,
    scale_matched: int,
    tolerance: float,
    rng: np.random.Generator,
) -> Options:
    """The oracle, scale-matched, constant-velocity and general distractors, all from the band (dev, test).

    Parameters
    ----------
    inertial
        Code nearest to going on at the recorded velocity (equation 15).
    count, scale_matched
        Distractors in all, and how many of them are scale-matched; one is constant velocity.
    tolerance
        Largest |s_k - s_o| / s_o of a scale-matched distractor (equation 14).

    Raises
    ------
    Rejected
        ``oracle_without_scale``, ``too_few_scale_matched``, ``constant_velocity_is_oracle``,
        ``constant_velocity_is_scale_matched``, ``constant_velocity_outside_band`` or ``too_few_in_band``.
    """
    pool = vocabulary.pool(oracle, band)
    if inertial != oracle:
        inertial = int(vocabulary.stands_for[inertial])
    scaled = _scale_matched(vocabulary, oracle, pool, scale_matched, tolerance)
    if inertial == oracle:
        raise Rejected("constant_velocity_is_oracle")
    if inertial in scaled:
        raise Rejected("constant_velocity_is_scale_matched")
    if inertial not in pool:
        raise Rejected("constant_velocity_outside_band")
    rest = np.setdiff1d(pool, [*scaled, inertial])
    chosen = [(OptionKind.SCALE, k) for k in scaled]
    chosen.append((OptionKind.CONSTANT_VELOCITY, inertial))
    chosen += [(OptionKind.RANDOM, k) for k in _draw(rest, count - len(chosen), rng)]
    return _shuffle(vocabulary, oracle, chosen, rng)


def _scale_matched(
    vocabulary: Vocabulary, oracle: int, pool: Int, count: int, tolerance: float
) -> list[int]:
    if not count:
        return []
    scale = vocabulary.scales[oracle]
    if scale <= 0:
        raise Rejected("oracle_without_scale")
    mismatch = np.abs(vocabulary.scales[pool] - scale) / scale
    order = np.argsort(mismatch, kind="stable")  # the lower code first where two are equal
    eligible = pool[order[mismatch[order] <= tolerance]]
    if len(eligible) < count:
        raise Rejected("too_few_scale_matched")
    return [int(k) for k in eligible[:count]]


def _draw(pool: Int, count: int, rng: np.random.Generator) -> list[int]:
    if len(pool) < count:
        raise Rejected("too_few_in_band")
    return [int(k) for k in rng.choice(pool, size=count, replace=False)]


def _shuffle(
    vocabulary: Vocabulary,
    oracle: int,
    distractors: list[tuple[OptionKind, int]],
    rng: np.random.Generator,
) -> Options:
    entries = [(OptionKind.ORACLE, oracle), *distractors]
    order = rng.permutation(len(entries))
    codes: Int = np.array([entries[i][1] for i in order], dtype=np.int64)
    return Options(
        codes=codes,
        kinds=tuple(entries[i][0] for i in order),
        similarities=vocabulary.similarity[oracle, codes],
        oracle_index=int(np.flatnonzero(order == 0)[0]),
    )

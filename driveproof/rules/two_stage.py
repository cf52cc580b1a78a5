"""Two-stage aggregation of pseudo-simulation: real frames times weighted synthetic follow-ups.

Source: NAVSIM's SceneAggregator and the two-stage script (NAVSIM v2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ValidationError

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float

SIGMA_SQUARED = 0.1
"""Variance of the kernel in m²; beyond about 1.9 m no follow-up counts as near."""


@dataclass(frozen=True)
class Frame:
    """One scored frame: where its *plan* ends and where it starts (``[2]``, m, world), and its score."""

    endpoint: ArrayLike
    start: ArrayLike
    score: float


@dataclass(frozen=True)
class Group:
    """An original frame, its twin half a second earlier, and pairs of synthetic follow-ups (of now, of then)."""

    now: str
    previous: str
    follow_ups: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class TwoStage:
    """Weights of all frames by token, the mean of the groups' scores, and both stages on their own."""

    weights: dict[str, float]
    combined: float
    stage_one: float
    stage_two: float


def kernel_weights(
    endpoint: ArrayLike, starts: ArrayLike, sigma_squared: float = SIGMA_SQUARED
) -> Float:
    """Weights ``[K]`` of follow-ups that start at ``starts`` ``[K, 2]`` for a plan that ends at ``endpoint`` ``[2]``.

    exp(-d² / 2σ²), normalised; uniform where their sum is not distinguishable from 0 (1e-8).
    """
    offset = np.asarray(starts, np.float64) - np.asarray(endpoint, np.float64)
    weights = np.exp(-(offset**2).sum(-1) / (2.0 * sigma_squared))
    total = float(weights.sum())
    if np.isnan(total) or total <= 1e-8:
        return np.full(len(weights), 1.0 / len(weights))
    return np.asarray(weights / total, np.float64)


def two_stage(
    groups: Sequence[Group], frames: Mapping[str, Frame], sigma_squared: float = SIGMA_SQUARED
) -> TwoStage:
    """Aggregate: a frame and its twin each give stage one times weighted stage two; their mean is the group's score.

    Raises
    ------
    BadInput
        If a group has no follow-up or names a frame that is not there, or a score is not finite.
    """
    if not groups:
        raise BadInput("no group to aggregate", field="mapping")
    weights: dict[str, float] = {}
    scores, firsts, seconds = [], [], []
    for group in groups:
        if not group.follow_ups:
            raise BadInput("a group without follow-ups", field=f"mapping: {group.now}")
        for side, token in enumerate((group.now, group.previous)):
            names = [pair[side] for pair in group.follow_ups]
            first, later = _frame(frames, token), [_frame(frames, name) for name in names]
            share = kernel_weights(
                first.endpoint,
                np.array([frame.start for frame in later], np.float64),
                sigma_squared,
            )
            weights.update(zip(names, share.tolist(), strict=True))
            weights[token] = 1.0
            second = float(share @ np.array([frame.score for frame in later]))
            scores.append(first.score * second)
            firsts.append(first.score)
            seconds.append(second)
    return TwoStage(
        weights, float(np.mean(scores)), float(np.mean(firsts)), float(np.mean(seconds))
    )


def _frame(frames: Mapping[str, Frame], token: str) -> Frame:
    if token not in frames:
        raise BadInput("no such frame", field=f"mapping: {token}")
    if not np.isfinite(frames[token].score):
        raise BadInput("score is not finite", field=f"rows: {token}")
    return frames[token]


class _Row(BaseModel):
    endpoint: tuple[float, float]
    start: tuple[float, float]
    score: float


class _Example(BaseModel):
    sigma_squared: float = SIGMA_SQUARED
    mapping: list[tuple[str, str, list[tuple[str, str]]]]
    rows: dict[str, _Row]


class _File(BaseModel):
    schema_: Literal["navsim-twostage-golden/1"]
    cases: list[_Example]

    model_config = {"alias_generator": lambda name: name.rstrip("_")}


def aggregate_file(path: str | Path) -> list[TwoStage]:
    """Aggregate every case of a JSON file of the schema ``navsim-twostage-golden/1``; ``BadInput`` if it is none."""
    try:
        content = _File.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise BadInput(error.strerror or "cannot be read", path=path) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadInput(first["msg"], path=path, field=field or None) from None
    return [
        two_stage(
            [Group(now, previous, pairs) for now, previous, pairs in case.mapping],
            {token: Frame(row.endpoint, row.start, row.score) for token, row in case.rows.items()},
            case.sigma_squared,
        )
        for case in content.cases
    ]

"""The codebook of a corpus of scenes: fitted to the train drives, measured on the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.codebook.estimator import TrajectoryCodebook
from driveproof.codebook.trajectories import in_split, load_splits, load_trajectories
from driveproof.config.codebook import CodebookParams
from driveproof.errors import BadInput


@dataclass(frozen=True)
class Built:
    """A fitted codebook and its figures (plain values, for JSON)."""

    codebook: TrajectoryCodebook
    metrics: dict[str, Any]


def choose_n_codes(n_trajectories: int, params: CodebookParams) -> int:
    """``params.n_codes``, or the largest power of two that leaves ``min_per_code`` trajectories to a code.

    :class:`BadInput` if that is fewer than two codes.
    """
    if params.n_codes is not None:
        return params.n_codes
    supported = int(min(n_trajectories / params.min_per_code, params.max_codes))
    if supported < 2:
        raise BadInput(
            f"{n_trajectories} trajectories do not support two codes at {params.min_per_code:g} a code",
            field="n_codes",
        )
    return 1 << (supported.bit_length() - 1)


def build_codebook(
    scenes: str | Path, params: CodebookParams, seed: int, splits: str | Path | None = None
) -> Built:
    """Fit to the train drives of a directory of scenes (or of a .npz, all of it if ``splits`` is None).

    ``metrics`` has ``in`` (train) and ``out`` (dev and test drives; None where there are none).
    """
    data = load_trajectories(scenes)
    held = None
    if splits is not None:
        train = in_split(data, load_splits(splits), "train")
        data, held = data.where(train), data.where(~train)
        if not len(data):
            raise BadInput("no drive is in the train split", path=splits)
    codebook = TrajectoryCodebook(
        choose_n_codes(len(data), params), **params.clustering.model_dump(), random_state=seed
    ).fit(data.waypoints)
    metrics = {
        "n_codes": codebook.n_codes,
        "trajectories_per_code": len(data) / codebook.n_codes,
        "data_sha256": codebook.data_digest_,
        "in": codebook.evaluate(data.waypoints).to_dict(),
        "out": codebook.evaluate(held.waypoints).to_dict()
        if held is not None and len(held)
        else None,
    }
    return Built(codebook, metrics)

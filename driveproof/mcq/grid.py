"""The difficulty grid: number of options x upper bound of similarity (DEFT-RLVR, appendix D.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driveproof.config.mcq import Band, GridParams
from driveproof.mcq.candidates import Rejected, Vocabulary, record_rng, uniform_options
from driveproof.mcq.items import McqItem


@dataclass(frozen=True)
class Grid:
    """Questions of all cells, the same records in each, and the records left out by reason."""

    items: list[McqItem]
    rejected: Counter[str]


def variant_name(n_options: int, high: float) -> str:
    """Name of a cell: ``m06_high0.85``."""
    return f"m{n_options:02d}_high{high:.2f}"


def difficulty_grid(
    items: Sequence[McqItem], vocabulary: Vocabulary, params: GridParams, seed: int
) -> Grid:
    """Rebuild the distractors of questions for every cell; scene, question and oracle stay.

    All distractors are uniform draws from the band ``[params.low, high]``. A record that some cell cannot
    serve is left out of all, so that cells are compared on the same questions.
    """
    kept: list[McqItem] = []
    rejected: Counter[str] = Counter()
    for item in items:
        try:
            kept += _cells(item, vocabulary, params, seed)
        except Rejected as error:
            rejected[error.reason] += 1
    return Grid(sorted(kept, key=lambda item: (item.variant, item.record_key)), rejected)


def _cells(item: McqItem, vocabulary: Vocabulary, params: GridParams, seed: int) -> list[McqItem]:
    oracle = int(item.option_codes[item.oracle_index])
    cells = []
    for high in params.highs:
        for n_options in params.options:
            name = variant_name(n_options, high)
            rng = record_rng(seed, item.record_key, name)
            band = Band(low=params.low, high=high)
            options = uniform_options(vocabulary, oracle, band, n_options - 1, rng)
            cells.append(
                replace(
                    item,
                    options=vocabulary.codebook.decode(options.codes),
                    option_codes=options.codes,
                    option_kinds=options.kinds,
                    similarities=np.asarray(options.similarities),
                    oracle_index=options.oracle_index,
                    variant=name,
                )
            )
    return cells

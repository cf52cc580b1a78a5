"""Sampling in which every row of a batch has its own seed.

``generate`` draws a whole batch from one global generator, so an answer depends on its neighbours. Adding
Gumbel noise to the scaled scores and taking the largest is an exact draw from the softmax (Gumbel-max), and
the noise of a row comes from that row's seed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

    from driveproof.policy.chat import ChatRequest


class SeededSampler:
    """A logits processor: after it, the largest score of each row is the sampled token.

    Scores are ``[B, V]``, row b belongs to ``requests[b]``. Rows of temperature 0 pass unchanged.
    """

    def __init__(self, requests: Sequence[ChatRequest]) -> None:
        self._temperature = np.array([max(r.temperature, 0.0) for r in requests])
        self._top_p = np.array([r.top_p for r in requests])
        self._rngs = [np.random.default_rng(r.seed) for r in requests]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Perturb the scores of the next token."""
        import torch

        scores = scores.float()
        if not self._temperature.any():
            return scores
        drawn = self._column(self._temperature > 0, scores)
        scaled = scores / torch.where(drawn, self._column(self._temperature, scores), 1.0)
        if (self._top_p < 1).any():
            scaled = _keep_nucleus(scaled, self._column(self._top_p, scores))
        noise = np.stack([rng.gumbel(size=scores.shape[-1]) for rng in self._rngs])
        noisy = scaled + torch.as_tensor(noise, dtype=scores.dtype, device=scores.device)
        return torch.where(drawn, noisy, scores)

    @staticmethod
    def _column(values: NDArray[Any], like: torch.Tensor) -> torch.Tensor:
        import torch

        return torch.as_tensor(values, device=like.device)[:, None]


def _keep_nucleus(scores: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Only the most likely tokens whose probabilities first reach ``top_p`` ``[B, 1]``; others get -inf."""
    ordered, order = scores.softmax(-1).sort(descending=True)
    outside = ordered.cumsum(-1) - ordered >= top_p
    return scores.masked_fill(outside.scatter(-1, order, outside), float("-inf"))

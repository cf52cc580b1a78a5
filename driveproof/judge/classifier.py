"""Baselines without a language model: logistic regression on embeddings of the pictures (DriveJudge, appendix A.2).

Non-VLM learns the label at once, Non-VLM-Agent the gates, which then choose rules as DriveJudge's do. The paper embeds
with a pretrained model; here the embedding is fitted on the training pictures (principal components of their pixels),
unless embeddings of another model are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Bool, Float, Float32
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import CRITERIA
from driveproof.judge.gates import Gates, gate_labels
from driveproof.policy.pictures import Pictures

SHRINK = 2
"""Pictures are halved before their pixels are compared."""
STRENGTH = 0.05
"""Inverse strength of the regularisation."""


def pixels_of(clips: Sequence[Clip], pictures: Pictures, frames: int) -> Float32:
    """Pixels ``[N, D]`` of the last ``frames`` pictures of each clip, shrunk, 0 to 1.

    Raises
    ------
    BadInput
        If a clip has fewer pictures, or they differ in size.
    """
    rows = []
    for clip in clips:
        if len(clip.frames) < frames:
            raise BadInput(f"{len(clip.frames)} frames, {frames} are needed", field=clip.key)
        shown = [pictures.pixels(ref) for ref in clip.frames[-frames:]]
        small = [
            cv2.resize(
                each, None, fx=1 / SHRINK, fy=1 / SHRINK, interpolation=cv2.INTER_AREA
            ).reshape(-1)
            for each in shown
        ]
        rows.append(np.concatenate(small))
    if len({len(row) for row in rows}) > 1:
        raise BadInput("the clips' pictures differ in size")
    return np.stack(rows).astype(np.float32) / np.float32(255.0)


@dataclass(frozen=True)
class Embedding:
    """Principal components of training pictures, scaled to unit variance."""

    mean: Float32
    axes: Float32
    scale: Float32

    @classmethod
    def fit(cls, pixels: Float32, components: int, seed: int) -> Embedding:
        """Fit on pixels ``[N, D]``."""
        from sklearn.decomposition import PCA

        count = min(components, *pixels.shape)
        fitted = PCA(count, svd_solver="randomized", random_state=seed).fit(pixels)
        scale = np.sqrt(np.maximum(fitted.explained_variance_, 1e-12))
        return cls(fitted.mean_, fitted.components_, scale)

    def __call__(self, pixels: Float32) -> Float:
        """Embeddings ``[N, C]``."""
        return np.asarray((pixels - self.mean) @ self.axes.T / self.scale, np.float64)


class LabelClassifier:
    """Non-VLM: the probability that driving is reasonable, from an embedding."""

    def __init__(self, embeddings: Float, labels: Bool) -> None:
        self._model = _Logistic(embeddings, labels)

    def scores(self, embeddings: Float) -> Float:
        """Probabilities ``[N]``."""
        return self._model(embeddings)


class GateClassifier:
    """Non-VLM-Agent: hard gates from an embedding; each cut is the one that fits the training labels best (F1 of waiving)."""

    def __init__(
        self, embeddings: Float, clips: Sequence[Clip], thresholds: Mapping[str, float]
    ) -> None:
        gates = [gate_labels(clip.criteria, bool(clip.label), thresholds) for clip in clips]
        truth = np.array([each.values for each in gates]) > 0.5
        self._models = [_Logistic(embeddings, truth[:, k]) for k in range(len(CRITERIA))]
        self._cuts = [_cut(model(embeddings), truth[:, k]) for k, model in enumerate(self._models)]

    def gates(self, embeddings: Float) -> list[Gates]:
        """Gates of N clips."""
        columns = [
            model(embeddings) >= cut for model, cut in zip(self._models, self._cuts, strict=True)
        ]
        return [Gates(tuple(float(value) for value in row)) for row in np.stack(columns, axis=1)]


class _Logistic:
    """Logistic regression, or the one label where there is only one."""

    def __init__(self, embeddings: Float, labels: Bool) -> None:
        from sklearn.linear_model import LogisticRegression

        self._only = float(labels[0]) if labels.all() or not labels.any() else None
        self._model: Any = None
        if self._only is None:
            self._model = LogisticRegression(C=STRENGTH, max_iter=1000).fit(embeddings, labels)

    def __call__(self, embeddings: Float) -> Float:
        if self._only is not None:
            return np.full(len(embeddings), self._only)
        return np.asarray(self._model.predict_proba(embeddings)[:, 1], np.float64)


def _cut(probabilities: Float, truth: Bool) -> float:
    """The probability of applying from which a criterion applies: best F1 of waiving on the training set."""
    best, cut = -1.0, 0.5
    for candidate in np.linspace(0.05, 0.95, 19):
        waived = probabilities < candidate
        hits = float((waived & ~truth).sum())
        score = 2.0 * hits / max(float(waived.sum() + (~truth).sum()), 1.0)
        if score > best or (score == best and abs(candidate - 0.5) < abs(cut - 0.5)):
            best, cut = score, float(candidate)
    return cut

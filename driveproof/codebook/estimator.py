"""A vocabulary of motions: k-means prototypes of 5 s ego trajectories, as a scikit-learn estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from driveproof.codebook.arrays import N_WAYPOINTS, digest, flat_trajectories
from driveproof.codebook.metrics import Reconstruction, Tail, displacement_errors, utilisation
from driveproof.codebook.nearest import nearest_codes
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float, Float32, Int


class TrajectoryCodebook(TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """K-means prototypes of trajectories (DEFT-RLVR, section 3 and appendix C).

    A trajectory is ten ego-frame waypoints at 0.5 .. 5.0 s: ``[N, 10, 2]``, or flat ``[N, 20]``, metres.

    Parameters
    ----------
    n_codes
        Prototypes K.
    batch_size, max_iter, n_init, random_state
        As in :class:`sklearn.cluster.MiniBatchKMeans`, whose early stopping is kept.

    Attributes
    ----------
    codes_
        ``[K, 10, 2]`` float32 prototypes.
    n_samples_, data_digest_
        How many trajectories it was fitted to, and their SHA-256.
    labels_
        ``[N]`` codes of the fitted trajectories (not stored on disk).
    """

    def __init__(
        self,
        n_codes: int = 8192,
        *,
        batch_size: int = 4096,
        max_iter: int = 100,
        n_init: int = 3,
        random_state: int = 0,
    ) -> None:
        self.n_codes = n_codes
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Cluster trajectories; the same data and parameters give the same bytes.

        Raises
        ------
        BadInput
            If a value is not finite, the shape is wrong, or there are fewer distinct trajectories than
            codes (prototypes would coincide).
        """
        from sklearn.cluster import MiniBatchKMeans
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        flat = flat_trajectories(X)
        self._check_enough(flat)
        clustering = MiniBatchKMeans(
            self.n_codes,
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            n_init=self.n_init,
            random_state=self.random_state,
            compute_labels=False,
        )
        with threadpool_limits(1):  # sums over threads would depend on their number
            clustering.fit(flat)
        self.codes_: Float32 = clustering.cluster_centers_.astype(np.float32).reshape(
            -1, N_WAYPOINTS, 2
        )
        self.n_samples_ = len(flat)
        self.data_digest_ = digest(flat)
        self.labels_ = self.encode(flat)
        return self

    def _check_enough(self, flat: Float32) -> None:
        if self.n_codes < 1:
            raise BadInput(f"expected a positive number, got {self.n_codes}", field="n_codes")
        enough = len(flat) >= self.n_codes
        distinct = len(np.unique(flat, axis=0)) if enough else len(flat)
        if distinct < self.n_codes:
            raise BadInput(
                f"{self.n_codes} codes cannot be fitted to {distinct} distinct trajectories",
                field="n_codes",
                hint="ask for fewer codes or bring more trajectories",
            )

    def encode(self, X: ArrayLike) -> Int:
        """Codes ``[N]`` of the prototypes nearest by cumulative squared waypoint distance (equation 1).

        Exact: equal to a search in float64 over all prototypes, the lower code winning a tie.
        """
        check_is_fitted(self, "codes_")
        return nearest_codes(flat_trajectories(X), self._flat_codes)

    def decode(self, codes: ArrayLike) -> Float:
        """Waypoints ``[..., 10, 2]`` (metres, ego frame) of codes ``[...]``; :class:`BadInput` if out of range."""
        check_is_fitted(self, "codes_")
        index = np.asarray(codes)
        if index.dtype.kind not in "iu":
            raise BadInput(f"expected integers, got dtype {index.dtype}", field="codes")
        if index.size and not (index.min() >= 0 and index.max() < len(self.codes_)):
            raise BadInput(f"outside 0 .. {len(self.codes_) - 1}", field="codes")
        waypoints: Float = self.codes_[index].astype(np.float64)
        return waypoints

    def predict(self, X: ArrayLike) -> Int:
        """The same as :meth:`encode`, by scikit-learn's name."""
        return self.encode(X)

    def transform(self, X: ArrayLike) -> Int:
        """Codes as one ordinal column ``[N, 1]``, as :class:`sklearn.preprocessing.KBinsDiscretizer` gives them."""
        return self.encode(X)[:, None]

    def inverse_transform(self, codes: ArrayLike) -> Float:
        """Waypoints ``[N, 10, 2]`` of a column of codes ``[N, 1]``."""
        return self.decode(np.asarray(codes)[:, 0])

    def evaluate(self, X: ArrayLike) -> Reconstruction:
        """Displacement errors and utilisation on trajectories, fitted or not; :class:`BadInput` if there are none."""
        flat = flat_trajectories(X)
        if not len(flat):
            raise BadInput("no trajectories to evaluate")
        codes = self.encode(flat)
        ade, fde = displacement_errors(flat, self._flat_codes[codes])
        return Reconstruction(
            len(flat), Tail.of(ade), Tail.of(fde), utilisation(codes, len(self.codes_))
        )

    def score(self, X: ArrayLike, y: None = None) -> float:
        """Negative mean ADE, so that more is better (for scikit-learn's model selection)."""
        return -self.evaluate(X).ade.mean

    def similarity(self) -> Float32:
        """Similarity matrix ``[K, K]`` of the prototypes (equation 2)."""
        from driveproof.codebook.similarity import similarity_matrix

        check_is_fitted(self, "codes_")
        return similarity_matrix(self.codes_)

    def save(self, path: str | Path) -> None:
        """Write a .npz without pickle; the same codebook gives the same bytes."""
        from driveproof.codebook.storage import save_codebook

        check_is_fitted(self, "codes_")
        save_codebook(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> TrajectoryCodebook:
        """Read a codebook; :class:`BadInput` if the file is absent, damaged or of another version."""
        from driveproof.codebook.storage import load_codebook

        return load_codebook(Path(path))

    @property
    def _flat_codes(self) -> Float32:
        return np.ascontiguousarray(self.codes_.reshape(len(self.codes_), -1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

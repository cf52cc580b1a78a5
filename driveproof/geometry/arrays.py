"""Array types and the one shape check that all rooms share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


def as_float(value: ArrayLike, shape: tuple[int | None, ...], name: str) -> Float:
    """Return ``value`` as float64 after checking its shape; ``None`` in ``shape`` matches any length.

    Raises
    ------
    ValueError
        With the name, the expected and the actual shape.
    """
    array: Float = np.asarray(value, dtype=np.float64)
    check_shape(array, shape, name)
    return array


def check_shape(array: NDArray[Any], shape: tuple[int | None, ...], name: str) -> None:
    """Raise ``ValueError`` unless ``array.shape`` matches ``shape`` (``None`` matches any length)."""
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = "x".join("*" if n is None else str(n) for n in shape)
        raise ValueError(
            f"{name}: expected shape {wanted}, got {'x'.join(map(str, array.shape)) or 'scalar'}"
        )

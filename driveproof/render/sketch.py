"""What a person drew into the world, over a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float
from driveproof.render.view import DebugShape

Image = NDArray[np.uint8]

_SHIFT = 4
_MAX_PX = 255


def sketch(
    image: Image,
    shapes: Iterable[DebugShape],
    project: Callable[[Float], Float],
    px_per_m: float,
    bgr: bool = False,
) -> None:
    """Draw shapes onto ``image`` ``[H, W, 3 or 4]``.

    Parameters
    ----------
    project
        World points ``[n, 3]`` to pixels ``[n, 2]`` (NaN where there is none: the shape is left out).
    px_per_m
        How thick a metre is.
    bgr
        Whether the picture's first channel is blue; a fourth one becomes 255.
    """
    for shape in shapes:
        pixels = project(np.asarray(shape.points, dtype=np.float64))
        if not np.isfinite(pixels).all():
            continue
        fixed = np.clip((pixels - 0.5) * 2**_SHIFT, -(2**24), 2**24)
        colour = shape.colour[::-1] if bgr else shape.colour
        paint = (*colour, 255)[: image.shape[2]]
        _draw(image, shape, np.round(fixed).astype(np.int32), px_per_m, paint)


def _draw(
    image: Image,
    shape: DebugShape,
    points: NDArray[np.int32],
    px_per_m: float,
    colour: tuple[int, ...],
) -> None:
    thickness = int(np.clip(round(shape.thickness * px_per_m), 1, _MAX_PX))
    if shape.kind == "point":
        radius = min(max(1.0, shape.thickness * px_per_m), 4.0 * _MAX_PX)
        for point in points.tolist():
            cv2.circle(image, point, round(radius * 2**_SHIFT), colour, -1, cv2.LINE_AA, _SHIFT)
    elif shape.kind == "string":
        at = (points[0] >> _SHIFT).tolist()
        text = shape.text[:_MAX_PX]
        cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.35, colour, 1, cv2.LINE_AA)
    elif shape.kind == "arrow":
        tail, head = (points[[0, -1]] >> _SHIFT).tolist()
        cv2.arrowedLine(image, tail, head, colour, thickness, cv2.LINE_AA, tipLength=0.2)
    else:
        closed = shape.kind == "box"
        cv2.polylines(image, [points], closed, colour, thickness, cv2.LINE_AA, _SHIFT)

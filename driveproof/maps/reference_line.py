"""The reference line of an OpenDRIVE road: position, heading and curvature at s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driveproof.geometry.arrays import Float

# 12 nodes integrate a heading that turns by up to pi within one piece to better than a micrometre.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class Piece:
    """One ``<geometry>``: a line, arc or spiral (linear curvature), or a cubic ``(aU..dU, aV..dV)``.

    The cubic's parameter is the distance from the start of the piece.
    """

    s: float
    x: float
    y: float
    heading: float
    curvature: float = 0.0
    curvature_rate: float = 0.0
    cubic: tuple[float, ...] | None = None


class Frame(NamedTuple):
    """Samples of a reference line: x, y, heading, curvature (1/m), each ``[n]``."""

    x: Float
    y: Float
    heading: Float
    curvature: Float


def sample_line(pieces: list[Piece], s: Float) -> Frame:
    """The reference line at distances ``s`` ``[n]`` along the road."""
    starts = np.array([piece.s for piece in pieces])
    owner = np.clip(np.searchsorted(starts, s, side="right") - 1, 0, len(pieces) - 1)
    table = np.array([[p.x, p.y, p.heading, p.curvature, p.curvature_rate] for p in pieces])
    x, y, heading, curvature, rate = table[owner].T
    u = s - starts[owner]
    nodes = 0.5 * u[:, None] * (_NODES + 1.0)
    angle = heading[:, None] + nodes * (curvature[:, None] + 0.5 * nodes * rate[:, None])
    frame = Frame(
        x + 0.5 * u * (np.cos(angle) @ _WEIGHTS),
        y + 0.5 * u * (np.sin(angle) @ _WEIGHTS),
        heading + u * (curvature + 0.5 * u * rate),
        curvature + u * rate,
    )
    for index, piece in enumerate(pieces):
        if piece.cubic is not None:
            here = owner == index
            for values, part in zip(frame, _cubic_frame(piece, piece.cubic, u[here]), strict=True):
                values[here] = part
    return frame


def _cubic_frame(piece: Piece, cubic: tuple[float, ...], p: Float) -> Frame:
    along, aside = np.polynomial.Polynomial(cubic[:4]), np.polynomial.Polynomial(cubic[4:])
    u, v = along(p), aside(p)
    du, dv = along.deriv()(p), aside.deriv()(p)
    turn = du * aside.deriv(2)(p) - dv * along.deriv(2)(p)
    cos, sin = np.cos(piece.heading), np.sin(piece.heading)
    return Frame(
        piece.x + cos * u - sin * v,
        piece.y + sin * u + cos * v,
        piece.heading + np.arctan2(dv, du),
        turn / np.maximum(np.hypot(du, dv) ** 3, 1e-12),
    )


def cubic_at(table: Float, s: Float) -> tuple[Float, Float]:
    """Value and slope, each ``[n]``, of a piecewise cubic ``[k, 5]`` (start, a, b, c, d) at ``s`` ``[n]``."""
    row = table[np.clip(np.searchsorted(table[:, 0], s, side="right") - 1, 0, None)]
    u = s - row[:, 0]
    value: Float = row[:, 1] + u * (row[:, 2] + u * (row[:, 3] + u * row[:, 4]))
    slope: Float = row[:, 2] + u * (2.0 * row[:, 3] + 3.0 * u * row[:, 4])
    return value, slope

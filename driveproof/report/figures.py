"""Figures as inline SVG: the same numbers give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.geometry.arrays import Float

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#888888"
"""Text and axes: readable on white and on black."""
COLOURS = ("#3b7dd8", "#e07b39", "#3d9a50", "#9b59b6", "#c0392b", "#16a0a0", "#b8860b", "#7f5539")
_BORDER_M = 12.0
_SETTINGS: Any = {
    "svg.hashsalt": "driveproof",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure of ``width`` x ``height`` inches with one pair of axes, in the style of the report."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def to_svg(figure: Figure) -> str:
    """The figure as an ``<svg>`` element without date and without prologue."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def error_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], xlabel: str) -> str:
    """Errors in metres over codes or trajectories, both axes logarithmic; a dashed line for the paper."""
    with drawing(5.6, 3.4) as (figure, axes):
        for place, (name, (x, y)) in enumerate(curves.items()):
            style = "--" if "paper" in name else "-"
            axes.loglog(
                x, y, style, marker="o", ms=3, label=name, color=COLOURS[place % len(COLOURS)]
            )
        axes.set_xlabel(xlabel)
        axes.set_ylabel("ADE, m")
        axes.grid(which="both", alpha=0.15)
        axes.legend(fontsize=8)
        return to_svg(figure)


def error_bars(value: Mapping[str, Any]) -> list[list[float]] | None:
    """Lengths below and above a mean for matplotlib; None where it has no interval."""
    if value["low"] is None or value["high"] is None:
        return None
    return [[value["mean"] - value["low"]], [value["high"] - value["mean"]]]


def interval_chart(rows: Sequence[tuple[str, Mapping[str, Any]]], chance: float | None) -> str:
    """Means with intervals, one row each, on 0 .. 1; a vertical line at chance."""
    scored = [(name, value) for name, value in rows if value.get("mean") is not None]
    with drawing(6.4, 0.6 + 0.3 * max(len(scored), 1)) as (figure, axes):
        if chance is not None:
            axes.axvline(chance, color=INK, lw=1, ls=":", label="chance")
            axes.legend(fontsize=8)
        for place, (_, value) in enumerate(scored):
            mean = value["mean"]
            bars = error_bars(value)
            axes.errorbar([mean], [place], xerr=bars, fmt="o", color=COLOURS[0], capsize=3)
        axes.set_yticks(range(len(scored)), [name for name, _ in scored])
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(len(scored) - 0.5, -0.5)
        axes.grid(axis="x", alpha=0.2)
        axes.set_xlabel("accuracy")
        return to_svg(figure)


def training_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> str:
    """Losses over steps."""
    with drawing(5.6, 3.0) as (figure, axes):
        for place, (name, (x, y)) in enumerate(curves.items()):
            axes.plot(x, y, label=name, color=COLOURS[place % len(COLOURS)])
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        axes.grid(alpha=0.15)
        axes.legend(fontsize=8)
        return to_svg(figure)


def panels(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> str:
    """One small panel a curve, four in a row, over steps."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = -(-len(curves) // 4)
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(8.4, 1.7 * max(rows, 1)), layout="constrained")
        axes = np.ravel(figure.subplots(max(rows, 1), 4, squeeze=False))
        for place, (ax, (name, (x, y))) in enumerate(zip(axes, curves.items(), strict=False)):
            ax.plot(x, y, color=COLOURS[place % len(COLOURS)])
            ax.set_title(name, fontsize=9)
            ax.grid(alpha=0.15)
        for ax in axes[len(curves) :]:
            ax.set_axis_off()
        return to_svg(figure)


def bird_eye(
    picture: Any, range_m: float, options: Float, letters: Sequence[str], oracle: int, logged: Float
) -> str:
    """Candidates over a view from above, ego heading up, left is left, cut to where the candidates are.

    Parameters
    ----------
    picture
        ``[px, px, 3]`` uint8 of ``[-range_m, range_m]`` in both axes, ego in the middle.
    options
        ``[M, 10, 2]`` ego-frame metres; each is labelled with its letter at its end.
    logged
        ``[10, 2]`` what was driven, dotted.
    """
    points = np.concatenate([np.zeros((1, 2)), options.reshape(-1, 2), logged])
    low = np.maximum(points.min(0) - _BORDER_M, -range_m)
    high = np.minimum(points.max(0) + _BORDER_M, range_m)
    ahead, across = high - low
    scale = 5.0 / max(ahead, across)
    with drawing(scale * across + 0.8, scale * ahead + 0.7) as (figure, axes):
        box = (range_m, -range_m, -range_m, range_m)
        axes.imshow(picture, extent=box, interpolation="nearest")
        gap = 0.34 / scale  # inches, a little more than a label is wide
        labels = _spread(options[:, -1], gap)
        for place, (letter, path) in enumerate(zip(letters, options, strict=True)):
            colour = COLOURS[place % len(COLOURS)]
            width = 2.6 if place == oracle else 1.4
            line = np.concatenate([np.zeros((1, 2)), path])
            axes.plot(line[:, 1], line[:, 0], color=colour, lw=width, marker="o", ms=2.5)
            axes.annotate(
                letter,
                (path[-1, 1], path[-1, 0]),
                (labels[place, 1], labels[place, 0]),
                color="white",
                fontweight="bold",
                ha="center",
                va="center",
                bbox={"boxstyle": "circle,pad=0.2", "color": colour},
                arrowprops={"arrowstyle": "-", "color": colour},
            )
        axes.plot(logged[:, 1], logged[:, 0], color="white", lw=1.0, ls=":")
        axes.set_xlim(high[1], low[1])
        axes.set_ylim(low[0], high[0])
        axes.set_xlabel("y (left), m")
        axes.set_ylabel("x (forward), m")
        return to_svg(figure)


def _spread(ends: Float, gap: float) -> Float:
    """Places ``[M, 2]`` for labels at ``ends``, moved to the right until none is nearer than ``gap`` metres."""
    placed: list[Float] = []
    for end in ends:
        place = end.copy()
        while any(np.linalg.norm(place - other) < gap for other in placed):
            place[1] -= gap
        placed.append(place)
    return np.array(placed)

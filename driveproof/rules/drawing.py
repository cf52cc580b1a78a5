"""One judged moment from above: the map, the road users, what the ego does, and who or what it is blamed for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.files import atomic_path
from driveproof.geometry.arrays import Float
from driveproof.rules.result import SubScore
from driveproof.rules.roads import DRIVABLE, LANES, PolygonKind
from driveproof.rules.states import VehicleShape, ego_points
from driveproof.rules.world import World

AREA, LANE, ROUTE, JUNCTION = "#dcdcdc", "#b4b4b4", "#cfe3f5", "#cfcfcf"
EGO, OTHER, BLAMED = "#1f77b4", "#7f7f7f", "#d62728"
_MARGIN, _LEAST = 15.0, 25.0


def draw_moment(
    world: World, states: Float, verdicts: Mapping[str, SubScore], path: Path, title: str = ""
) -> None:
    """Draw simulated ``states`` ``[41, 11]`` in their world as PNG or SVG, by the suffix of ``path``.

    The ego is outlined every second and filled at the first broken step; agents are shown where they are then, pale
    at the start; the agent or light blamed is red. The same input gives the same file.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    faults = [(c, v) for c, v in verdicts.items() if v.value is not None and v.value < 1.0]
    steps = [v.step for _, v in faults if v.step is not None]
    moment = min(steps) if steps else 0
    figure = Figure(figsize=(8.0, 8.0), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    blamed = {v.agent for _, v in faults if v.agent is not None}
    _draw_map(axes, world, blamed)
    _draw_agents(axes, world, moment, blamed)
    _draw_ego(axes, world, states, moment)
    _frame(axes, states)
    lines = [f"{c} = {v.value:.2g}: {v.reason}"[:95] for c, v in faults] or ["breaks nothing"]
    axes.set_title("\n".join([title, *lines]), fontsize=8, loc="left")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    plain = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with atomic_path(path) as temporary, mpl.rc_context({"svg.hashsalt": "driveproof"}):
        figure.savefig(temporary, bbox_inches="tight", metadata=plain)


def _draw_map(axes: Any, world: World, blamed: set[str]) -> None:
    from matplotlib.patches import Polygon

    roads = world.roads
    for p, token in enumerate(roads.ids):
        kind = PolygonKind(int(roads.kinds[p]))
        ring = roads.rings[p]
        if kind in LANES:
            face = BLAMED if token in blamed else ROUTE if roads.on_route[p] else "none"
            style: dict[str, Any] = {
                "facecolor": face,
                "edgecolor": LANE,
                "linewidth": 0.5,
                "zorder": 2,
            }
            alpha = 0.4 if token in blamed else 0.7
            axes.add_patch(Polygon(ring, alpha=alpha, **style))
        elif kind in DRIVABLE:
            face = JUNCTION if kind is PolygonKind.INTERSECTION else AREA
            axes.add_patch(Polygon(ring, facecolor=face, edgecolor="none", zorder=1))
    if len(roads.route):
        axes.plot(*roads.route.T, color=EGO, linewidth=0.8, linestyle=":", zorder=3)


def _draw_agents(axes: Any, world: World, moment: int, blamed: set[str]) -> None:
    from matplotlib.patches import Polygon

    traffic = world.traffic
    for a, token in enumerate(traffic.tokens):
        colour = BLAMED if token in blamed else OTHER
        for step, alpha in ((0, 0.25), (moment, 0.9)):
            if traffic.present[a, step]:
                corners = _corners(traffic.pose[a, step], traffic.half[a])
                style: dict[str, Any] = {
                    "facecolor": colour,
                    "edgecolor": "black",
                    "linewidth": 0.4,
                }
                axes.add_patch(Polygon(corners, alpha=alpha, zorder=4, **style))
        if token in blamed and traffic.present[a].any():
            track = traffic.pose[a, traffic.present[a], :2]
            axes.plot(*track.T, color=BLAMED, linewidth=0.8, zorder=4)
            axes.annotate(token[:12], track[0], fontsize=6, color=BLAMED, zorder=6)


def _corners(pose: Float, half: Float) -> Float:
    x, y, cos, sin = pose
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half
    corners: Float = signs @ np.array([[cos, sin], [-sin, cos]]) + [x, y]
    return corners


def _draw_ego(axes: Any, world: World, states: Float, moment: int) -> None:
    from matplotlib.patches import Polygon

    shape: VehicleShape = world.shape
    boxes = ego_points(states, shape)[:, :4]
    for step in range(0, len(states), 10):
        axes.add_patch(Polygon(boxes[step], fill=False, edgecolor=EGO, linewidth=0.8, zorder=5))
    axes.add_patch(Polygon(boxes[moment], facecolor=EGO, alpha=0.6, zorder=5))
    axes.plot(states[:, 0], states[:, 1], color=EGO, linewidth=1.5, zorder=5)


def _frame(axes: Any, states: Float) -> None:
    """Equal axes around what the ego does, at least 50 m wide."""
    low, high = states[:, :2].min(0), states[:, :2].max(0)
    middle, reach = (low + high) / 2.0, max(float((high - low).max()) / 2.0 + _MARGIN, _LEAST)
    axes.set_xlim(middle[0] - reach, middle[0] + reach)
    axes.set_ylim(middle[1] - reach, middle[1] + reach)
    axes.set_aspect("equal")

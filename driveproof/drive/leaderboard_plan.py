"""A leaderboard's plan, a point a metre, as a route along the lanes of a town."""

from __future__ import annotations

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps import Route, TownMap
from driveproof.sim.routes import dense_route, match_positions

AROUND_M = 3.0
"""Points so near to a junction are left out: which of its lanes they are on, nobody knows."""
LONGER = 0.1
"""Share of the plan's length by which the route may differ from it."""


def route_of(plan: Float, town: TownMap) -> Route:
    """The route through a plan ``[N, 3]``, right-handed metres.

    Within junctions, whose lanes lie on top of each other, the way between the lanes before and behind decides.
    A beginning or end inside a junction is left out.

    Raises
    ------
    BadInput
        If no way along the lanes is about as long as the plan.
    """
    arc = np.append(0.0, np.cumsum(np.hypot(*np.diff(plan[:, :2], axis=0).T)))
    inside = town.lanes.is_junction[match_positions(plan, town).lane]
    crossing = arc[inside]
    place = np.searchsorted(crossing, arc)
    padded = np.concatenate([[-np.inf], crossing, [np.inf]])
    clear = np.minimum(arc - padded[place], padded[place + 1] - arc) > AROUND_M
    clear[[0, -1]] |= ~inside[[0, -1]]
    kept = np.flatnonzero(clear)
    if len(kept) < 2:
        raise BadInput("the plan lies in a junction from end to end")
    route = dense_route(plan[kept], town)
    wanted = float(arc[kept[-1]] - arc[kept[0]])
    if abs(route.length - wanted) > max(LONGER * wanted, AROUND_M):
        raise BadInput(
            f"the plan is {wanted:.0f} m long, the way along the lanes {route.length:.0f} m",
            hint="another version of the map?",
        )
    return route

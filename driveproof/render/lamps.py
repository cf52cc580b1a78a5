"""Lamps of vehicles that are seen from afar, and the ground that headlights reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.render.mesh import Mesh, mesh_of
from driveproof.render.raster import Lens
from driveproof.render.shapes import NAMES, Role
from driveproof.render.things import SHINE, Things

#: Lamps further away than this are not seen, metres.
GLOW_M = 250.0
#: Height of the brake lamps and headlamps as a share of the vehicle's.
_HEIGHTS = {"car": 0.45, "police": 0.45, "van": 0.33, "ambulance": 0.33, "truck": 0.245}
_HEIGHTS |= {"firetruck": 0.245, "bus": 0.25}
_SHARE = np.array([_HEIGHTS.get(name, np.nan) for name in NAMES])
#: Where a beam begins and ends before the middle of a vehicle, and its half widths there, metres.
_NEAR_M, _FAR_M, _NARROW_M, _WIDE_M = 3.0, 26.0, 1.0, 3.6


@dataclass(frozen=True)
class Glows:
    """N lamps that shine.

    Parameters
    ----------
    at, facing
        ``[N, 3]`` where they are and the unit vector of the way they face, world frame.
    colour
        ``[N, 3]`` RGB.
    radius, least
        ``[N]`` metres, and at least so many pixels.
    """

    at: Float
    facing: Float
    colour: Float
    radius: Float
    least: Float

    def near(self, lens: Lens) -> list[int]:
        """Those in the picture that face the lens."""
        delta = lens.origin - self.at
        facing = (delta * self.facing).sum(1) > 0.15 * np.linalg.norm(delta, axis=1)
        seen = facing & lens.sees(self.at, np.full(len(self.at), 0.2))
        seen &= (delta**2).sum(1) < GLOW_M**2
        return np.flatnonzero(seen).tolist()  # type: ignore[no-any-return]


DARK = Glows(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))


def brake_glows(things: Things) -> Glows:
    """The brake lamps that shine."""
    return _pairs(things, Role.BRAKE, -1.0, 0.09, 0.9)


def head_glows(things: Things) -> Glows:
    """The headlamps that shine."""
    return _pairs(things, Role.HEAD, 1.0, 0.13, 1.0)


def _pairs(things: Things, role: Role, end: float, radius: float, least: float) -> Glows:
    lit = np.flatnonzero(things.lit[:, role] & np.isfinite(_SHARE[things.shape]))
    size, axes = things.sizes[lit], things.axes[lit]
    at = []
    for side in (0.32, -0.32):
        local = np.column_stack(
            [end * size[:, 0] / 2.0, side * size[:, 1], _SHARE[things.shape[lit]] * size[:, 2]]
        )
        at.append(things.place[lit] + np.einsum("nij,nj->ni", axes, local))
    facing = end * axes[:, :, 0]
    count = 2 * len(lit)
    return Glows(
        np.concatenate(at),
        np.concatenate([facing, facing]),
        np.repeat(SHINE[role][None], count, axis=0),
        np.full(count, radius),
        np.full(count, least),
    )


def together(parts: Sequence[Glows]) -> Glows:
    """All lamps of several collections."""
    return Glows(
        *(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Glows))
    )


def beams(feet: Float, axes: Float) -> Mesh:
    """The ground that the headlights reach of vehicles that stand at ``feet`` ``[N, 3]`` with ``axes`` ``[N, 3, 3]``."""
    ring = np.array(
        [
            [_NEAR_M, -_NARROW_M, 0.0],
            [_FAR_M, -_WIDE_M, 0.0],
            [_FAR_M, _WIDE_M, 0.0],
            [_NEAR_M, _NARROW_M, 0.0],
        ]
    )
    return mesh_of(np.einsum("nij,kj->nki", axes, ring) + feet[:, None], (0, 0, 0), 0)

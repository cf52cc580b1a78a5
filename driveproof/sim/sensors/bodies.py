"""Everything solid as oriented boxes, for rays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.buildings import SUNK_M, Buildings, town_blocks
from driveproof.render.labels import Label
from driveproof.render.things import upright
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.pose import rotation_matrices

if TYPE_CHECKING:
    from driveproof.sim.engine.engine import Engine

#: Kinds of actors that have a body.
SOLID = (int(ActorKind.VEHICLE), int(ActorKind.WALKER), int(ActorKind.PROP))

#: No building reaches further than this from its middle, metres.
_LARGEST_M = 20.0


@dataclass(frozen=True)
class Boxes:
    """N oriented boxes, world frame.

    Parameters
    ----------
    centre, half
        ``[N, 3]`` middle and half sizes, metres.
    axes
        ``[N, 3, 3]`` columns: forward, left, up.
    owner
        ``[N]`` actor ids, 0 for buildings.
    label
        ``[N]`` semantic tags.
    kind
        ``[N]`` :class:`~driveproof.sim.engine.commands.ActorKind`, -1 for buildings.
    velocity
        ``[N, 3]`` m/s.
    """

    centre: Float
    half: Float
    axes: Float
    owner: Int
    label: Int
    kind: Int
    velocity: Float

    def __len__(self) -> int:
        return len(self.owner)

    def where(self, keep: Bool) -> Boxes:
        """Only those that ``keep`` ``[N]`` selects."""
        return self.rows(np.flatnonzero(keep))

    def rows(self, keep: Int) -> Boxes:
        """Those in rows ``keep`` ``[n]``."""
        return Boxes(*(getattr(self, item.name)[keep] for item in fields(self)))

    def grown(self, by: float) -> Boxes:
        """The same boxes, ``by`` metres larger on each side."""
        return Boxes(
            self.centre, self.half + by, *(getattr(self, f.name) for f in fields(self)[2:])
        )

    def near(self, point: Float, reach: float) -> Boxes:
        """Those of which a part may lie within ``reach`` metres of ``point`` ``[3]``."""
        gap = np.linalg.norm(self.centre - point, axis=1) - np.linalg.norm(self.half, axis=1)
        return self.where(gap < reach)

    def nearest_hit(self, origin: Float, directions: Float, reach: float) -> tuple[Float, Int]:
        """Distance ``[R]`` and box ``[R]`` (-1 for none) that rays from ``origin`` ``[3]`` along ``directions`` ``[R, 3]`` meet.

        A box that the origin lies in is not met.
        """
        rays = len(directions)
        best, found = np.full(rays, np.inf), np.full(rays, -1, dtype=np.int64)
        if len(self) == 0:
            return best, found
        start = np.einsum("nij,ni->nj", self.axes, origin - self.centre)
        heading = np.einsum("nij,ri->nrj", self.axes, directions)
        with np.errstate(divide="ignore", invalid="ignore"):
            one = (-self.half - start)[:, None] / heading
            two = (self.half - start)[:, None] / heading
        enter = np.nan_to_num(np.minimum(one, two), nan=-np.inf).max(-1)
        leave = np.nan_to_num(np.maximum(one, two), nan=np.inf).min(-1)
        met = np.where((enter <= leave) & (enter > 0.0) & (enter <= reach), enter, np.inf)
        box = met.argmin(0)
        distance = met[box, np.arange(rays)]
        return distance, np.where(np.isfinite(distance), box, -1)


def boxes_near(engine: Engine, point: Float, reach: float, *, statics: bool = True) -> Boxes:
    """The bodies of actors and the buildings of which a part may lie within ``reach`` metres of ``point`` ``[3]``."""
    table = engine.table
    rows = np.flatnonzero(np.isin(table.kind, SOLID) & (table.half_extent > 0.0).all(1))
    axes = rotation_matrices(table.rotation[rows])
    actors = Boxes(
        table.position[rows] + np.einsum("nij,nj->ni", axes, table.box_offset[rows]),
        table.half_extent[rows].copy(),
        axes,
        table.id[rows].copy(),
        table.label[rows].copy(),
        table.kind[rows].copy(),
        table.velocity[rows].copy(),
    ).near(point, reach)
    if not statics:
        return actors
    blocks = town_blocks(engine.town)
    houses = _houses(blocks).rows(blocks.near(float(point[0]), float(point[1]), reach + _LARGEST_M))
    parts = (actors, houses.near(point, reach))
    return Boxes(
        *(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Boxes))
    )


_HOUSES: list[tuple[Buildings, Boxes]] = []


def _houses(blocks: Buildings) -> Boxes:
    if _HOUSES and _HOUSES[0][0] is blocks:
        return _HOUSES[0][1]
    count = len(blocks.poses)
    tall = blocks.sizes[:, 2] + SUNK_M
    boxes = Boxes(
        np.column_stack([blocks.poses[:, :2], blocks.base - SUNK_M + tall / 2.0]),
        np.column_stack([blocks.sizes[:, :2] / 2.0, tall / 2.0]),
        upright(blocks.poses[:, 2]),
        np.zeros(count, dtype=np.int64),
        np.full(count, int(Label.BUILDING)),
        np.full(count, -1),
        np.zeros((count, 3)),
    )
    _HOUSES[:] = [(blocks, boxes)]
    return boxes

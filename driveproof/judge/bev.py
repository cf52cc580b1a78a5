"""The bird's-eye view of the judge, as DriveJudge describes it: what is drawn is what the rules know of the map.

White ground, drivable area grey, lane boundaries solid black, centrelines as blue arrows, other road users as blue
boxes, the ego and its trajectory red. Works for towns and for maps of logs alike. Frame: x up, y left.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry import box_corners, points_to_local
from driveproof.geometry.arrays import Float
from driveproof.rules import PolygonKind, RoadMap, VehicleShape
from driveproof.rules.roads import DRIVABLE, LANES
from driveproof.scene import AgentKind, AgentTracks
from driveproof.scene.images import Pixels

WHITE, AREA, BLACK = (255, 255, 255), (222, 222, 222), (0, 0, 0)
ARROW = (120, 160, 255)
RED = (230, 20, 20)
KIND_COLOURS = {
    AgentKind.VEHICLE: (20, 60, 235),
    AgentKind.CYCLIST: (0, 150, 255),
    AgentKind.PEDESTRIAN: (0, 200, 235),
    AgentKind.OBSTACLE: (70, 30, 160),
}
"""All blues, by kind: a small picture leaves little else to tell them apart."""
_SHIFT = 4
_ARROW_EVERY = 8.0
_LEAST_PX = 3.0


@dataclass(frozen=True)
class BevView:
    """What part of the ground is shown: ``ahead`` and ``behind`` metres, ``px`` pixels a metre, ``width`` metres."""

    ahead: float = 34.0
    behind: float = 8.0
    width: float = 28.0
    px: float = 2.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return round((self.ahead + self.behind) * self.px), round(self.width * self.px)

    def fixed(self, points: Float) -> Float:
        """OpenCV's fixed-point pixels of ego-frame points ``[..., 2]``."""
        u = (self.width / 2.0 - points[..., 1]) * self.px
        v = (self.ahead - points[..., 0]) * self.px
        pixels = np.clip(np.stack([u, v], axis=-1) - 0.5, -4096.0, 4096.0)
        return np.round(pixels * 2**_SHIFT).astype(np.int32)  # type: ignore[no-any-return]


def draw_bev(
    roads: RoadMap,
    agents: AgentTracks,
    time: float,
    ego: Float,
    trajectory: Float,
    shape: VehicleShape,
    view: BevView,
) -> Pixels:
    """RGB ``[H, W, 3]`` from above at ``time`` seconds.

    Parameters
    ----------
    roads, agents
        In the scene's frame.
    ego
        Rear-axle pose ``[3]`` then, scene's frame.
    trajectory
        Rear-axle positions ``[T, 2]`` from then on, scene's frame.
    """
    image: Pixels = np.full((*view.shape, 3), 255, np.uint8)
    local = _Local(view, ego)
    _draw_roads(image, roads, local)
    states = agents.at(time)
    for kind, (length, width, _), state in zip(
        agents.kinds, agents.dimensions, states, strict=True
    ):
        if np.isfinite(state).all():
            sizes = (max(length, _LEAST_PX / view.px), max(width, _LEAST_PX / view.px))
            ring = local.fixed(box_corners(state[:3], *sizes))
            cv2.fillConvexPoly(image, ring, KIND_COLOURS[kind], cv2.LINE_AA, _SHIFT)
    centre = np.array([shape.rear_axle_to_center, 0.0, 0.0])
    box = view.fixed(box_corners(centre, shape.length, shape.width))
    cv2.fillConvexPoly(image, box, RED, cv2.LINE_AA, _SHIFT)
    line = np.concatenate([ego[None, :2], trajectory])
    cv2.polylines(
        image, [local.fixed(line)], False, RED, max(1, round(view.px)), cv2.LINE_AA, _SHIFT
    )
    return image


@dataclass(frozen=True)
class _Local:
    """Scene frame to pixels of a view from a pose."""

    view: BevView
    ego: Float

    def fixed(self, points: Float) -> Float:
        return self.view.fixed(points_to_local(points, self.ego))


def _draw_roads(image: Pixels, roads: RoadMap, local: _Local) -> None:
    kinds = roads.kinds.tolist()
    near = _near(roads, local)
    drivable = {int(kind) for kind in DRIVABLE}
    for index in near:
        if kinds[index] in drivable:
            cv2.fillPoly(image, [local.fixed(roads.rings[index])], AREA, cv2.LINE_AA, _SHIFT)
    thick = max(1, round(local.view.px / 3.0))
    for index in near:
        if kinds[index] == int(PolygonKind.LANE):
            ring = local.fixed(roads.rings[index])
            cv2.polylines(image, [ring], True, BLACK, thick, cv2.LINE_AA, _SHIFT)
    for index in near:
        if kinds[index] in {int(kind) for kind in LANES} and len(roads.lines[index]):
            _arrow(image, roads.lines[index], local)


def _near(roads: RoadMap, local: _Local) -> list[int]:
    """Polygons whose bounds meet the circle that the view lies in."""
    reach = max(local.view.ahead, local.view.behind, local.view.width)
    x, y = local.ego[:2]
    low, high = roads.bounds[:, :2], roads.bounds[:, 2:]
    hit = (low[:, 0] <= x + reach) & (high[:, 0] >= x - reach)
    hit &= (low[:, 1] <= y + reach) & (high[:, 1] >= y - reach)
    return np.flatnonzero(hit).tolist()  # type: ignore[no-any-return]


def _arrow(image: Pixels, line: Float, local: _Local) -> None:
    """The centreline with a head at regular intervals."""
    thick = max(1, round(local.view.px / 3.0))
    cv2.polylines(image, [local.fixed(line)], False, ARROW, thick, cv2.LINE_AA, _SHIFT)
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.arange(_ARROW_EVERY / 2.0, arc[-1], _ARROW_EVERY)
    tip, tail = (
        np.stack([np.interp(at + ahead, arc, line[:, k]) for k in (0, 1)], axis=-1)
        for ahead in (0.7, -0.7)
    )
    along = tip - tail
    side = np.stack([-along[:, 1], along[:, 0]], axis=-1) * 0.6
    heads = local.fixed(np.stack([tail + side, tip, tail - side], axis=1))
    height, width = (edge << _SHIFT for edge in image.shape[:2])
    seen = ((heads >= 0) & (heads <= [width, height])).all(-1).any(-1)
    for head in heads[seen]:
        cv2.fillConvexPoly(image, head, ARROW, cv2.LINE_AA, _SHIFT)

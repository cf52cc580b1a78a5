"""Marks that tell a policy which thing is which: ids, descriptions, ways travelled, on pictures and from above.

Source: Bench2Drive-VL's inputs: on camera pictures walkers and moving vehicles with at least 3 lidar points within 75 m
and 30 m of height; a dot and two lines of text at the road below each, and the way of the last 2.5 s in five pieces in
its colour. From above vehicles in their colours with a light blue border and an arrow, walkers in cyan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry import box_corners
from driveproof.geometry.arrays import Float
from driveproof.render.picture import Image

Project = Callable[[Float], tuple[Float, Float]]
"""Ego-frame points ``[n, 3]`` to pixels ``[n, 2]`` and depths ``[n]``, as :meth:`Camera.project`."""
LEAST_POINTS, CAMERA_M, HEIGHT_M = 3, 75.0, 30.0
HISTORY_STEP_S, HISTORY_STEPS = 0.5, 5
WALKER, BORDER, EGO, SIGN = (0, 255, 255), (150, 205, 255), (40, 90, 255), (255, 220, 0)
_REFERENCE_PX, _LINE_PX, _DOT_PX = 1600, 16, 10
_OPACITY = (0.8, 0.2)
_SHIFT = 4


@dataclass(frozen=True)
class Mark:
    """One thing around the ego, in plain values of the ego frame (x forward, y left, metres, radians).

    Attributes
    ----------
    tag, description
        "c12", "red car".
    x, y, z
        The road below its middle; ``z`` is 0 at the ego's own road.
    heading, length, width, speed
        Relative heading, full sizes, m/s.
    colour
        RGB of its body.
    walker, parked
        Whether it walks; whether it takes no part in traffic.
    points
        Lidar points on it.
    history
        Where it was 0.5, 1.0, ... s ago, ``[k, 2]``, the latest first.
    """

    tag: str
    description: str
    x: float
    y: float
    z: float = 0.0
    heading: float = 0.0
    length: float = 4.5
    width: float = 1.9
    speed: float = 0.0
    colour: tuple[int, int, int] = (128, 128, 128)
    walker: bool = False
    parked: bool = False
    points: int = 10_000
    history: tuple[tuple[float, float], ...] = ()

    @property
    def distance(self) -> float:
        """Metres from the ego."""
        return float(np.hypot(self.x, self.y))


def shown(marks: Iterable[Mark], reach_m: float) -> list[Mark]:
    """Those that may be shown: seen by the lidar, in traffic, near enough, about as high; the nearest first."""
    kept = [
        mark
        for mark in marks
        if mark.points >= LEAST_POINTS
        and not mark.parked
        and mark.distance <= reach_m
        and abs(mark.z) <= HEIGHT_M
    ]
    return sorted(kept, key=lambda mark: (mark.distance, mark.tag))


def draw_marks(image: Image, project: Project, marks: Iterable[Mark]) -> Image:
    """A copy of a camera picture ``[H, W, 3]`` with ways, dots, ids and descriptions."""
    drawn: Image = image.copy()
    scale = image.shape[1] / _REFERENCE_PX
    for mark in reversed(shown(marks, CAMERA_M)):
        colour = WALKER if mark.walker else mark.colour
        drawn = _way(drawn, project, mark, colour, max(1, round(_LINE_PX * scale)))
        pixels, depth = project(np.array([[mark.x, mark.y, mark.z]]))
        if depth[0] <= 0.0 or not np.isfinite(pixels).all():
            continue
        u, v = (int(value) for value in np.clip(pixels[0], -1e4, 1e4))
        dot = WALKER if mark.walker else (255, 255, 255)
        cv2.circle(drawn, (u, v), max(1, round(_DOT_PX * scale)), dot, -1, cv2.LINE_AA)
        for line, text in enumerate((mark.tag, mark.description)):
            at = (u + round(14 * scale), v + round(26 * scale * (line + 1)))
            cv2.putText(drawn, text, at, cv2.FONT_HERSHEY_SIMPLEX, max(0.25, 0.8 * scale), dot, 1, cv2.LINE_AA)  # fmt: skip
    return drawn


def _way(
    image: Image, project: Project, mark: Mark, colour: tuple[int, int, int], thickness: int
) -> Image:
    """The way travelled: a piece for every half second, the older the fainter."""
    points = [(mark.x, mark.y), *mark.history[:HISTORY_STEPS]]
    if len(points) < 2:
        return image
    pixels, depth = project(np.array([(x, y, mark.z) for x, y in points]))
    opacities = np.linspace(*_OPACITY, HISTORY_STEPS)
    for piece in range(len(points) - 1):
        ends = pixels[piece : piece + 2]
        if (depth[piece : piece + 2] <= 0.0).any() or not np.isfinite(ends).all():
            continue
        layer = image.copy()
        first, last = np.clip(ends, -1e4, 1e4).astype(int).tolist()
        cv2.line(layer, first, last, colour, thickness, cv2.LINE_AA)
        share = float(opacities[piece])
        image = np.asarray(cv2.addWeighted(layer, share, image, 1.0 - share, 0.0), dtype=np.uint8)
    return image


def draw_marks_from_above(
    image: Image,
    marks: Iterable[Mark],
    signs: Sequence[tuple[float, float]] = (),
    *,
    range_m: float = 40.0,
    references: bool = True,
) -> Image:
    """A copy of a bird's-eye view ``[P, P, 3]`` (ego in the middle, forward up) with bodies, arrows and labels.

    Parameters
    ----------
    signs
        Places ``(x, y)`` of what governs the ego; only those ahead are drawn.
    references
        Whether ids are written.
    """
    drawn: Image = image.copy()
    side = image.shape[0]
    scale = side / (2.0 * range_m)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round(side / 2.0 - scale * y), round(side / 2.0 - scale * x)

    for mark in reversed(shown(marks, CAMERA_M)):
        pose = np.array([mark.x, mark.y, mark.heading])
        corners = box_corners(pose, mark.length, mark.width)
        ring = np.array([pixel(x, y) for x, y in corners.tolist()], dtype=np.int32)
        cv2.fillConvexPoly(drawn, ring, WALKER if mark.walker else mark.colour, cv2.LINE_AA)
        cv2.polylines(drawn, [ring], True, BORDER, 1, cv2.LINE_AA)
        tip = (
            mark.x + 0.5 * mark.length * float(np.cos(mark.heading)),
            mark.y + 0.5 * mark.length * float(np.sin(mark.heading)),
        )
        cv2.arrowedLine(drawn, pixel(mark.x, mark.y), pixel(*tip), BORDER, 1, cv2.LINE_AA)
        if references:
            cv2.putText(drawn, mark.tag, pixel(mark.x, mark.y), cv2.FONT_HERSHEY_SIMPLEX, 0.3, (255, 255, 255), 1, cv2.LINE_AA)  # fmt: skip
    for x, y in signs:
        if x > 0.0:
            cv2.circle(drawn, pixel(x, y), max(2, round(0.6 * scale)), SIGN, -1, cv2.LINE_AA)
    cv2.putText(drawn, "ego", pixel(0.0, 0.0), cv2.FONT_HERSHEY_SIMPLEX, 0.3, EGO, 1, cv2.LINE_AA)
    return drawn

"""Shapes as convex faces in a unit box: x (length) and y (width) in -0.5..0.5, z (height) in 0..1."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Bool, Float, Int

#: Corners a face has; shorter ones repeat their last corner.
CORNERS = 8


class Role(IntEnum):
    """What a face does beyond being there."""

    PLAIN = 0
    SHADOW = 1
    BRAKE = 2
    LEFT = 3
    RIGHT = 4


@dataclass(frozen=True)
class Shape:
    """K faces, drawn in this order; seen from outside their corners run counter-clockwise.

    Parameters
    ----------
    corners
        ``[K, 8, 3]`` in the unit box.
    paint
        ``[K]`` share of the object's own colour.
    fixed
        ``[K, 3]`` RGB added to it.
    role
        ``[K]`` :class:`Role`.
    flat
        ``[K]`` faces that are drawn without shading (lamps, plates).
    """

    corners: Float
    paint: Float
    fixed: Float
    role: Int
    flat: Bool


class _Builder:
    """Collects faces."""

    def __init__(self) -> None:
        self._faces: list[tuple[Float, float, Float, int, bool]] = []

    def face(
        self,
        corners: ArrayLike,
        paint: float = 1.0,
        fixed: ArrayLike = (0, 0, 0),
        role: Role = Role.PLAIN,
        flat: bool = False,
    ) -> _Builder:
        points = np.asarray(corners, dtype=np.float64)
        padded = np.concatenate([points, np.repeat(points[-1:], CORNERS - len(points), axis=0)])
        self._faces.append((padded, paint, np.asarray(fixed, float), int(role), flat))
        return self

    def block(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        z: tuple[float, float],
        paint: float = 1.0,
        fixed: ArrayLike = (0, 0, 0),
        top: tuple[float, float, float] | None = None,
        roof: tuple[float, ArrayLike] | None = None,
    ) -> _Builder:
        """Five faces of a block; ``top`` = (x low, x high, y half) narrows its upper end."""
        (x0, x1), (y0, y1), (z0, z1) = x, y, z
        u0, u1, h = top or (x0, x1, 0.0)
        v0, v1 = (-h, h) if top else (y0, y1)
        low = [[x0, y0, z0], [x1, y0, z0], [x1, y1, z0], [x0, y1, z0]]
        high = [[u0, v0, z1], [u1, v0, z1], [u1, v1, z1], [u0, v1, z1]]
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            self.face([low[a], low[b], high[b], high[a]], paint, fixed)
        return self.face(high, *(roof or (paint, fixed)))

    def disc(
        self,
        plane: str,
        at: ArrayLike,
        radii: ArrayLike,
        paint: float,
        fixed: ArrayLike,
        flat: bool,
    ) -> _Builder:
        """An octagon around ``at`` [3] facing +x ("x"), +y ("y") or -y ("-y")."""
        angle = np.pi / 8.0 + np.arange(8) * np.pi / 4.0
        a, b = np.cos(angle) * np.asarray(radii)[0], np.sin(angle) * np.asarray(radii)[1]
        zero = np.zeros(8)
        ring = {"x": (zero, a, b), "y": (-a, zero, b), "-y": (a, zero, b)}[plane]
        return self.face(np.stack(ring, axis=1) + np.asarray(at), paint, fixed, flat=flat)

    def shadow(self, grow: float = 0.56) -> _Builder:
        g = grow
        return self.face(
            [[-g, -g, 0], [g, -g, 0], [g, g, 0], [-g, g, 0]], 0, (40, 41, 44), Role.SHADOW
        )

    def build(self) -> Shape:
        corners, paint, fixed, role, flat = zip(*self._faces, strict=True)
        return Shape(
            np.stack(corners), np.array(paint), np.stack(fixed), np.array(role), np.array(flat)
        )


_GLASS = (38, 46, 56)
_LAMP = (110, 16, 14)
_AMBER = (120, 84, 30)


def _lamps(builder: _Builder, z: tuple[float, float], front: bool = True) -> None:
    """Rear lamps and indicators, in front headlamps and indicators."""
    low, high = z
    for side, role in ((1.0, Role.LEFT), (-1.0, Role.RIGHT)):
        inner, mid, outer = sorted((0.24 * side, 0.40 * side, 0.49 * side), key=abs)
        rear = -0.502
        builder.face(_rear(rear, inner, mid, low, high), 0, _LAMP, Role.BRAKE, flat=True)
        builder.face(_rear(rear, mid, outer, low, high), 0, _AMBER, role, flat=True)
        if front:
            builder.face(_rear(rear, inner, mid, low, high, True), 0, (220, 220, 205), flat=True)
            builder.face(_rear(rear, mid, outer, low, high, True), 0, _AMBER, role, flat=True)


def _rear(x: float, a: float, b: float, low: float, high: float, front: bool = False) -> Float:
    """A patch on the rear (or front) plane between y = a and y = b, facing away from the vehicle."""
    right, left = min(a, b), max(a, b)
    ring = [[x, left, low], [x, right, low], [x, right, high], [x, left, high]]
    patch = np.array(ring)
    return patch[::-1] * [-1.0, 1.0, 1.0] if front else patch


def _car() -> Shape:
    car = _Builder().shadow()
    car.block((-0.5, 0.5), (-0.5, 0.5), (0.14, 0.58))
    for y, plane in ((0.502, "y"), (-0.502, "-y")):
        for x in (-0.31, 0.31):
            car.disc(plane, (x, y, 0.21), (0.075, 0.21), 0, (22, 22, 24), False)
    _lamps(car, (0.36, 0.52))
    top = (-0.30, 0.10, 0.42)
    car.block((-0.44, 0.26), (-0.47, 0.47), (0.58, 1.0), 0, _GLASS, top, roof=(1.0, (0, 0, 0)))
    return car.build()


def _truck() -> Shape:
    truck = _Builder().shadow(0.53)
    truck.block((-0.5, 0.5), (-0.46, 0.46), (0.06, 0.2), 0, (44, 44, 46))
    for y, plane in ((0.48, "y"), (-0.48, "-y")):
        for x in (-0.36, -0.22, 0.36):
            truck.disc(plane, (x, y, 0.13), (0.055, 0.13), 0, (22, 22, 24), False)
    truck.block((0.27, 0.5), (-0.5, 0.5), (0.2, 0.8), 0.8)
    truck.face(_rear(-0.502, -0.44, 0.44, 0.48, 0.74, True), 0, _GLASS)
    truck.block((-0.5, 0.25), (-0.5, 0.5), (0.2, 1.0))
    _lamps(truck, (0.2, 0.28), front=False)
    return truck.build()


def _pedestrian() -> Shape:
    body = _Builder().shadow(0.5)
    body.block((-0.22, 0.22), (-0.3, 0.3), (0.0, 0.48), 0, (46, 48, 60))
    body.block((-0.3, 0.3), (-0.42, 0.42), (0.46, 0.84))
    return body.block((-0.2, 0.2), (-0.18, 0.18), (0.85, 1.0), 0, (196, 154, 128)).build()


def _cyclist() -> Shape:
    bike = _Builder().shadow(0.45)
    for x in (-0.29, 0.29):
        bike.disc("y", (x, 0.06, 0.2), (0.2, 0.2), 0, (30, 30, 32), False)
        bike.disc("-y", (x, -0.06, 0.2), (0.2, 0.2), 0, (30, 30, 32), False)
    bike.block((-0.4, 0.4), (-0.1, 0.1), (0.2, 0.4), 0, (60, 62, 68))
    bike.block((-0.18, 0.06), (-0.4, 0.4), (0.38, 0.84))
    bike.face(_rear(-0.19, -0.12, 0.12, 0.40, 0.48), 0, _LAMP, Role.BRAKE, flat=True)
    return bike.block((-0.08, 0.08), (-0.2, 0.2), (0.84, 1.0), 0, (210, 200, 190)).build()


def _cone() -> Shape:
    cone = _Builder().shadow(0.5)
    cone.block((-0.5, 0.5), (-0.5, 0.5), (0.0, 0.06), 0, (50, 40, 36))
    cone.block((-0.36, 0.36), (-0.36, 0.36), (0.06, 0.45), 0, (236, 96, 30), (-0.24, 0.24, 0.24))
    cone.block((-0.24, 0.24), (-0.24, 0.24), (0.45, 0.68), 0, (238, 238, 234), (-0.16, 0.16, 0.16))
    return cone.block(
        (-0.16, 0.16), (-0.16, 0.16), (0.68, 1.0), 0, (236, 96, 30), (-0.06, 0.06, 0.06)
    ).build()


def _barrier() -> Shape:
    wall = _Builder().shadow(0.52).block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0))
    for x, front in ((-0.51, False), (-0.51, True)):
        for start in (-0.5, -0.1, 0.3):
            wall.face(_rear(x, start, start + 0.2, 0.55, 0.95, front), 0, (214, 60, 40))
    return wall.build()


def _building() -> Shape:
    house = _Builder()
    house.block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0))
    for low in (0.16, 0.44, 0.72):
        for start in (-0.42, -0.14, 0.14):
            house.face(
                [
                    [start, 0.501, low + 0.14],
                    [start, 0.501, low],
                    [start + 0.28 * 0.7, 0.501, low],
                    [start + 0.28 * 0.7, 0.501, low + 0.14],
                ][::-1],
                0.5,
                (16, 20, 28),
            )
    return house.build()


def _light() -> Shape:
    """A head in its unit box, lamps on +x; the pole below reaches down by ``POLE`` head heights."""
    head = _Builder().block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0), 0, (26, 27, 28))
    for z in (0.17, 0.5, 0.83):
        head.disc("x", (0.51, 0.0, z), (0.34, 0.12), 0, (52, 52, 52), True)
    return head.build()


def _plate(fixed: ArrayLike, rim: ArrayLike, inner: float, corners: int = 8) -> Shape:
    sign = _Builder()
    for scale, colour, x in ((1.0, rim, 0.0), (inner, fixed, 0.01)):
        if corners == 8:
            radii = 0.5 * scale / np.cos(np.pi / 8)
            sign.disc("x", (x, 0, 0.5), (radii, radii), 0, colour, True)
        else:
            y, z = 0.55 * scale, 0.95 * scale
            sign.face(
                [[x, -y, 0.6 + z * 0.33], [x, 0, 0.6 - z * 0.66], [x, y, 0.6 + z * 0.33]],
                0,
                colour,
                flat=True,
            )
    grey = (88, 88, 90)
    back = 0.5 / np.cos(np.pi / 8)
    angle = np.pi / 8.0 + np.arange(8) * np.pi / 4.0
    ring = np.stack([np.full(8, -0.01), -back * np.cos(angle), 0.5 + back * np.sin(angle)], axis=1)
    return sign.face(ring, 0, grey).build()


SHAPES: dict[str, Shape] = {
    "car": _car(),
    "truck": _truck(),
    "pedestrian": _pedestrian(),
    "cyclist": _cyclist(),
    "cone": _cone(),
    "barrier": _barrier(),
    "building": _building(),
    "light": _light(),
    "stop": _plate((196, 24, 26), (240, 240, 240), 0.88),
    "yield": _plate((240, 240, 240), (204, 30, 30), 0.62, corners=3),
    "speed_limit": _plate((240, 240, 240), (204, 30, 30), 0.74),
    "pole": _Builder().block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0), 0, (92, 93, 96)).build(),
}
#: Names of the shapes; their position is a shape's number.
NAMES = tuple(SHAPES)


def _joined() -> tuple[Shape, Int]:
    parts = list(SHAPES.values())
    columns = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(Shape)
    }
    return Shape(**columns), np.cumsum([0, *(len(part.paint) for part in parts)])


#: The faces of all shapes; shape ``i`` has the faces ``FIRST[i]:FIRST[i + 1]``.
CATALOGUE, FIRST = _joined()
#: Longer vehicles are drawn as trucks, metres.
TRUCK_M = 6.5


def shape_name(kind: str, length: float) -> str:
    """The name of the shape that stands for a box of this kind."""
    if kind in {"vehicle", "car", "truck"}:
        return "truck" if kind == "truck" or length > TRUCK_M else "car"
    return kind if kind in {"pedestrian", "cyclist", "cone"} else "barrier"

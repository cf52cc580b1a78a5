"""Shapes as convex faces in a unit box: x (length) and y (width) in -0.5..0.5, z (height) in 0..1."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.labels import Label

#: Decals (lamps, windows, plates) lie so far above the face below them, metres.
DECAL_M = 0.004


class Role(IntEnum):
    """What a face does beyond being there."""

    PLAIN = 0
    BRAKE = 1
    LEFT = 2
    RIGHT = 3
    REVERSE = 4
    HEAD = 5
    SIREN = 6
    RED = 7
    YELLOW = 8
    GREEN = 9


@dataclass(frozen=True)
class Shape:
    """K convex faces; seen from outside their corners run counter-clockwise.

    Parameters
    ----------
    corners
        ``[V, 3]`` in the unit box.
    count
        ``[K]`` corners of each face.
    paint
        ``[K]`` share of the object's own colour.
    fixed
        ``[K, 3]`` RGB added to it.
    role
        ``[K]`` :class:`Role`.
    label
        ``[K]`` a :class:`~driveproof.render.labels.Label` of its own, 0 for the object's.
    decal
        ``[K]`` whether it lies on another face.
    sided
        ``[K]`` whether it is seen from both sides.
    """

    corners: Float
    count: Int
    paint: Float
    fixed: Float
    role: Int
    label: NDArray[np.uint8]
    decal: Bool
    sided: Bool


class Builder:
    """Collects faces; ``paint``, ``fixed`` and ``label`` hold until they are changed."""

    def __init__(self) -> None:
        self._rows: list[tuple[Float, float, Float, int, int, bool, bool]] = []
        self.paint, self.fixed, self.label = 1.0, np.zeros(3), 0

    def use(
        self, fixed: ArrayLike = (0, 0, 0), paint: float = 0.0, label: int | None = None
    ) -> Builder:
        """The colour of the faces to come: ``paint`` of the object's own and ``fixed`` RGB."""
        self.paint, self.fixed = paint, np.asarray(fixed, dtype=np.float64)
        self.label = self.label if label is None else label
        return self

    def face(
        self, corners: ArrayLike, role: Role = Role.PLAIN, decal: bool = False, sided: bool = False
    ) -> Builder:
        """One face."""
        points = np.asarray(corners, dtype=np.float64)
        self._rows.append((points, self.paint, self.fixed, int(role), self.label, decal, sided))
        return self

    def block(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        z: tuple[float, float],
        top: tuple[float, float, float] | None = None,
        lid: bool = True,
        role: Role = Role.PLAIN,
    ) -> Builder:
        """The sides and lid of a block; ``top`` = (x low, x high, y half) is its upper end, if other."""
        (x0, x1), (y0, y1), (z0, z1) = x, y, z
        u0, u1, h = top or (x0, x1, 0.0)
        v0, v1 = (-h, h) if top else (y0, y1)
        low = [[x0, y0, z0], [x1, y0, z0], [x1, y1, z0], [x0, y1, z0]]
        high = [[u0, v0, z1], [u1, v0, z1], [u1, v1, z1], [u0, v1, z1]]
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            self.face([low[a], low[b], high[b], high[a]], role)
        return self.face(high, role) if lid else self

    def disc(
        self,
        plane: str,
        at: ArrayLike,
        radii: tuple[float, float],
        role: Role = Role.PLAIN,
        decal: bool = True,
        sided: bool = False,
    ) -> Builder:
        """An octagon around ``at`` [3] facing +x ("x"), +y ("y") or -y ("-y")."""
        angle = np.pi / 8.0 + np.arange(8) * np.pi / 4.0
        a, b = np.cos(angle) * radii[0], np.sin(angle) * radii[1]
        zero = np.zeros(8)
        ring = {"x": (zero, a, b), "y": (-a, zero, b), "-y": (a, zero, b)}[plane]
        return self.face(np.stack(ring, axis=1) + np.asarray(at), role, decal, sided)

    def patch(
        self, x: float, y: tuple[float, float], z: tuple[float, float], role: Role = Role.PLAIN
    ) -> Builder:
        """A decal on the plane at ``x``, facing forward where x is positive, else backward."""
        right, left = min(y), max(y)
        ring = [[x, left, z[0]], [x, right, z[0]], [x, right, z[1]], [x, left, z[1]]]
        return self.face(ring[::-1] if x > 0.0 else ring, role, decal=True)

    def side(self, y: float, x: tuple[float, float], z: tuple[float, float]) -> Builder:
        """A decal on the plane at ``y``, facing left where y is positive, else right."""
        ring = [[x[0], y, z[0]], [x[1], y, z[0]], [x[1], y, z[1]], [x[0], y, z[1]]]
        return self.face(ring[::-1] if y > 0.0 else ring, decal=True)

    def build(self) -> Shape:
        """The shape."""
        corners, paint, fixed, role, label, decal, sided = zip(*self._rows, strict=True)
        return Shape(
            np.concatenate(corners),
            np.array([len(ring) for ring in corners]),
            np.array(paint),
            np.stack(fixed),
            np.array(role),
            np.array(label, dtype=np.uint8),
            np.array(decal),
            np.array(sided),
        )


_GLASS, _DARK, _TYRE = (40, 50, 62), (36, 37, 40), (24, 24, 26)
_SKIN, _HAIR = (200, 158, 132), (58, 44, 36)


def _lamps(body: Builder, low: float, high: float, inner: float = 0.24) -> Builder:
    """Rear lamps, reverse lamps and indicators at both ends, headlamps in front."""
    for side, role in ((1.0, Role.LEFT), (-1.0, Role.RIGHT)):
        a, b, c = inner * side, 0.40 * side, 0.495 * side
        body.use((112, 16, 14)).patch(-0.5, (a, b), (low, high), Role.BRAKE)
        body.use((128, 88, 30)).patch(-0.5, (b, c), (low, high), role)
        middle = (low + high) / 2.0
        body.use((150, 150, 150)).patch(-0.5, (0.6 * a, a), (low, middle), Role.REVERSE)
        body.use((206, 208, 200)).patch(0.5, (a, b), (low, high), Role.HEAD)
        body.use((128, 88, 30)).patch(0.5, (b, c), (low, high), role)
    return body


def _wheels(body: Builder, places: tuple[float, ...], radius: float, rise: float) -> Builder:
    for y, plane in ((0.5, "y"), (-0.5, "-y")):
        for x in places:
            body.use(_TYRE).disc(plane, (x, y, rise), (radius, rise))
            body.use((120, 122, 126)).disc(
                plane, (x, y * 1.002, rise), (0.55 * radius, 0.55 * rise)
            )
    return body


def _car(siren: bool = False) -> Shape:
    car = Builder().use(_DARK).block((-0.46, 0.46), (-0.44, 0.44), (0.07, 0.16))
    car.use(paint=1.0).block((-0.5, 0.5), (-0.5, 0.5), (0.14, 0.58), (-0.5, 0.48, 0.48))
    car.use(_DARK).patch(-0.5, (-0.48, 0.48), (0.15, 0.25)).patch(0.5, (-0.48, 0.48), (0.15, 0.24))
    car.patch(0.497, (-0.2, 0.2), (0.30, 0.44))
    car.use((226, 226, 220)).patch(-0.5, (-0.13, 0.13), (0.27, 0.36))
    _wheels(car, (-0.31, 0.31), 0.075, 0.22)
    _lamps(car, 0.38, 0.52)
    top = (-0.28, 0.08, 0.40)
    car.use(_GLASS).block((-0.45, 0.25), (-0.47, 0.47), (0.575, 0.96), top, lid=False)
    car.use(paint=1.0).block((-0.29, 0.09), (-0.41, 0.41), (0.94, 0.96 if siren else 1.0))
    for y in (-0.44, 0.44):
        car.block((-0.14, -0.10), (y - 0.03, y + 0.03), (0.57, 0.95), lid=False)
    if siren:
        car.use((40, 60, 210)).block((-0.16, -0.04), (0.0, 0.36), (0.95, 1.0), role=Role.SIREN)
        car.use((214, 36, 32)).block((-0.16, -0.04), (-0.36, 0.0), (0.95, 1.0))
        car.use((40, 70, 170)).side(0.499, (-0.4, 0.4), (0.34, 0.44))
        car.side(-0.499, (-0.4, 0.4), (0.34, 0.44))
    return car.build()


def _van(siren: bool = False) -> Shape:
    van = Builder().use(_DARK).block((-0.47, 0.47), (-0.44, 0.44), (0.05, 0.12))
    van.use(paint=1.0).block((-0.5, 0.5), (-0.5, 0.5), (0.10, 0.52))
    van.block((-0.5, 0.38), (-0.5, 0.5), (0.52, 0.96 if siren else 1.0), (-0.49, 0.26, 0.46))
    van.use(_GLASS)
    van.face(
        [[0.385, -0.44, 0.56], [0.385, 0.44, 0.56], [0.29, 0.42, 0.90], [0.29, -0.42, 0.90]],
        decal=True,
    )
    for y in (0.492, -0.492):
        van.side(y, (0.12, 0.30), (0.56, 0.84))
    van.patch(-0.496, (-0.38, 0.38), (0.60, 0.86))
    _wheels(van, (-0.30, 0.32), 0.065, 0.15)
    _lamps(van, 0.26, 0.40, 0.36)
    if siren:
        van.use((214, 36, 32)).side(0.5, (-0.5, 0.5), (0.3, 0.42)).side(
            -0.5, (-0.5, 0.5), (0.3, 0.42)
        )
        van.block((0.12, 0.24), (-0.4, 0.0), (0.95, 1.0)).use((40, 60, 210))
        van.block((0.12, 0.24), (0.0, 0.4), (0.95, 1.0), role=Role.SIREN)
    return van.build()


def _truck(siren: bool = False) -> Shape:
    truck = Builder().use(_DARK).block((-0.5, 0.5), (-0.46, 0.46), (0.06, 0.2))
    _wheels(truck, (-0.36, -0.22, 0.36), 0.055, 0.14)
    truck.use(paint=1.0 if siren else 0.8).block((0.27, 0.5), (-0.5, 0.5), (0.2, 0.84))
    truck.use(_GLASS).patch(0.5, (-0.44, 0.44), (0.5, 0.78))
    truck.side(0.5, (0.32, 0.46), (0.5, 0.76)).side(-0.5, (0.32, 0.46), (0.5, 0.76))
    truck.use(paint=1.0).block((-0.5, 0.25), (-0.5, 0.5), (0.2, 0.98 if siren else 1.0))
    truck.use((178, 176, 170)).patch(-0.5, (-0.03, 0.03), (0.3, 0.95))
    _lamps(truck, 0.2, 0.29)
    if siren:
        for y in (0.5, -0.5):
            truck.use((238, 238, 234)).side(y, (-0.5, 0.25), (0.44, 0.54))
        truck.use((40, 60, 210)).block((0.34, 0.42), (-0.4, 0.4), (0.84, 0.92), role=Role.SIREN)
    return truck.build()


def _bus() -> Shape:
    bus = Builder().use(_DARK).block((-0.49, 0.49), (-0.46, 0.46), (0.05, 0.14))
    bus.use(paint=1.0).block((-0.5, 0.5), (-0.5, 0.5), (0.12, 1.0))
    bus.use(_GLASS).patch(0.5, (-0.45, 0.45), (0.38, 0.86)).patch(-0.5, (-0.38, 0.38), (0.52, 0.84))
    for start in np.linspace(-0.46, 0.34, 7).tolist():
        for y in (0.5, -0.5):
            bus.side(y, (start, start + 0.115), (0.48, 0.84))
    _wheels(bus, (-0.28, 0.30), 0.045, 0.15)
    return _lamps(bus, 0.2, 0.3, 0.34).build()


def _walker() -> Shape:
    body = Builder().use((48, 52, 70)).block((-0.10, 0.34), (0.04, 0.32), (0.0, 0.50))
    body.block((-0.34, 0.10), (-0.32, -0.04), (0.0, 0.50))
    body.use(paint=1.0).block((-0.26, 0.26), (-0.36, 0.36), (0.47, 0.84), (-0.22, 0.22, 0.34))
    body.use(paint=0.85).block((-0.40, 0.02), (0.36, 0.5), (0.46, 0.82))
    body.block((-0.02, 0.40), (-0.5, -0.36), (0.46, 0.82))
    body.use(_SKIN).block((-0.22, 0.24), (-0.22, 0.22), (0.85, 0.955))
    return body.use(_HAIR).block((-0.26, 0.20), (-0.24, 0.24), (0.945, 1.0)).build()


def _two_wheeler(motor: bool) -> Shape:
    bike, frame = Builder(), (0.6 if motor else 0.0)
    radius = 0.20 if motor else 0.21
    for x in (-0.29, 0.29):
        bike.use(_TYRE).block((x - 0.03, x + 0.03), (-0.08, 0.08), (0.0, 2.0 * radius))
        for y, plane in ((0.08, "y"), (-0.08, "-y")):
            bike.disc(plane, (x, y, radius), (radius, radius), decal=False, sided=True)
            bike.use((130, 132, 136)).disc(plane, (x, y, radius), (0.6 * radius, 0.6 * radius))
            bike.use(_TYRE)
    wide = 0.22 if motor else 0.06
    bike.use((60, 62, 68) if not motor else (0, 0, 0), paint=max(frame, 0.5))
    bike.block((-0.40 if motor else -0.3, 0.34), (-wide, wide), (0.26, 0.46))
    bike.use(_DARK).block((0.22, 0.28), (-0.5, 0.5), (0.50, 0.54))
    bike.use((206, 208, 200)).patch(0.34, (-0.12, 0.12), (0.34, 0.44), Role.HEAD)
    back = -0.40 if motor else -0.3
    bike.use((112, 16, 14)).patch(back, (-0.14, 0.14), (0.36, 0.44), Role.BRAKE)
    bike.use((40, 46, 62), label=Label.RIDER)
    for y in (0.24, -0.24):
        bike.block((-0.14, 0.10), (y - 0.10, y + 0.10), (0.16, 0.52))
    bike.use((150, 66, 48), paint=0.0 if motor else 0.25)
    bike.block((-0.2, 0.04), (-0.36, 0.36), (0.48, 0.84), (-0.06, 0.12, 0.32))
    bike.block((0.02, 0.26), (0.30, 0.42), (0.56, 0.66)).block(
        (0.02, 0.26), (-0.42, -0.30), (0.56, 0.66)
    )
    return bike.use((222, 222, 226)).block((-0.06, 0.14), (-0.2, 0.2), (0.84, 1.0)).build()


def _cone() -> Shape:
    cone = Builder().use((50, 40, 36)).block((-0.5, 0.5), (-0.5, 0.5), (0.0, 0.06))
    orange = (238, 98, 28)
    cone.use(orange).block((-0.36, 0.36), (-0.36, 0.36), (0.06, 0.45), (-0.24, 0.24, 0.24))
    cone.use((240, 240, 236)).block((-0.24, 0.24), (-0.24, 0.24), (0.45, 0.68), (-0.16, 0.16, 0.16))
    return (
        cone.use(orange)
        .block((-0.16, 0.16), (-0.16, 0.16), (0.68, 1.0), (-0.06, 0.06, 0.06))
        .build()
    )


def _barrier() -> Shape:
    wall = Builder().use((232, 230, 224)).block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0))
    wall.use((218, 58, 38))
    for start in (-0.5, -0.1, 0.3):
        for end in (0.5, -0.5):
            wall.patch(end, (start, start + 0.2), (0.5, 0.95))
            wall.side(end, (start, start + 0.2), (0.5, 0.95))
    return wall.build()


def _warning() -> Shape:
    """A board with a black arrow on orange, on a trailer's foot."""
    board = Builder().use(_DARK).block((-0.5, 0.5), (-0.4, 0.4), (0.0, 0.16))
    board.block((-0.08, 0.08), (-0.08, 0.08), (0.16, 0.4))
    board.use((246, 150, 26)).block((-0.12, 0.12), (-0.5, 0.5), (0.36, 1.0))
    board.use((26, 22, 18))
    for x in (0.12, -0.12):
        board.patch(x, (-0.1, 0.36), (0.62, 0.74))
        ring = [[x, -0.1, 0.5], [x, -0.1, 0.86], [x, -0.42, 0.68]]
        board.face(ring if x < 0.0 else ring[::-1], decal=True)
    return board.build()


def _box() -> Shape:
    return Builder().use(paint=1.0).block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0)).build()


def _light() -> Shape:
    """The head of a traffic light; its lamps look along +x."""
    head = Builder().use((26, 27, 28)).block((-0.5, 0.4), (-0.5, 0.5), (0.0, 1.0))
    head.face([[-0.5, -0.5, 0], [-0.5, 0.5, 0], [0.4, 0.5, 0], [0.4, -0.5, 0]])
    for z, role in ((0.17, Role.GREEN), (0.5, Role.YELLOW), (0.83, Role.RED)):
        head.use((54, 54, 54)).disc("x", (0.4, 0.0, z), (0.36, 0.13), role)
    return head.build()


def _plate(rim: ArrayLike, inner: ArrayLike, share: float, corners: int = 8) -> Shape:
    sign, grow = Builder(), 1.0 / np.cos(np.pi / 8.0)
    angle = np.pi / 8.0 + np.arange(8) * np.pi / 4.0
    for scale, colour, x in ((1.0, rim, 0.0), (share, inner, 0.002)):
        if corners == 8:
            y, z = (0.5 * scale * grow * f(angle) for f in (np.cos, np.sin))
            ring = np.stack([np.full(8, x), y, 0.5 + z], axis=1)
        else:
            y3, z3 = np.array([-0.5, 0.0, 0.5]) * scale, np.array([0.35, -0.55, 0.35]) * scale
            ring = np.stack([np.full(3, x), y3, 0.6 + z3], axis=1)
        sign.use(colour).face(ring, decal=scale < 1.0)
        if scale == 1.0:
            sign.use((92, 92, 94)).face(ring[::-1])
    return sign.build()


SHAPES: dict[str, Shape] = {
    "car": _car(),
    "police": _car(siren=True),
    "van": _van(),
    "ambulance": _van(siren=True),
    "truck": _truck(),
    "firetruck": _truck(siren=True),
    "bus": _bus(),
    "motorcycle": _two_wheeler(motor=True),
    "cyclist": _two_wheeler(motor=False),
    "pedestrian": _walker(),
    "cone": _cone(),
    "barrier": _barrier(),
    "warning": _warning(),
    "box": _box(),
    "light": _light(),
    "stop": _plate((240, 240, 240), (196, 24, 26), 0.90),
    "yield": _plate((204, 30, 30), (240, 240, 240), 0.62, corners=3),
    "speed_limit": _plate((204, 30, 30), (244, 244, 244), 0.76),
    "pole": Builder().use((92, 93, 96)).block((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0)).build(),
}
#: Names of the shapes; their position is a shape's number.
NAMES = tuple(SHAPES)


def _joined() -> tuple[Shape, Int, Int]:
    parts = list(SHAPES.values())
    columns = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(Shape)
    }
    whole = Shape(**columns)
    faces = np.cumsum([0, *(len(part.paint) for part in parts)])
    return whole, faces, np.concatenate([[0], np.cumsum(whole.count)])


#: The faces of all shapes; shape ``i`` has the faces ``FIRST[i]:FIRST[i + 1]``, face ``k`` the corners
#: ``CORNER[k]:CORNER[k + 1]``.
CATALOGUE, FIRST, CORNER = _joined()
#: Longer vehicles are drawn as trucks, metres.
TRUCK_M = 6.5


def shape_name(kind: str, length: float) -> str:
    """The name of the shape that stands for a box of this kind."""
    if kind in {"vehicle", "car"}:
        return "truck" if length > TRUCK_M else "car"
    return {"walker": "pedestrian", "bicycle": "cyclist"}.get(
        kind, kind if kind in SHAPES else "barrier"
    )

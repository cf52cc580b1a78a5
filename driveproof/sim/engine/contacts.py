"""Bodies that touch push each other apart with impulses.

After E. Catto, Iterative Dynamics with Temporal Coherence, 2005: normal impulse with restitution, Coulomb friction, and
penetration removed by moving the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from driveproof.geometry import box_corners, wrap_angle
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.actor import Collision
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.touching import separations, touches

#: Share of the approach that comes back, from this approach on (m/s), and friction of sheet metal.
_RESTITUTION, _BOUNCE_FROM, _FRICTION = 0.15, 1.0, 0.35
#: Penetration that is let be (m), share of the rest that is removed a step, and rounds over all contacts.
_SLOP, _REMOVED, _ROUNDS = 0.005, 0.8, 4


@dataclass(frozen=True)
class StaticBox:
    """Something that never moves, such as a building or a pole: centre, half sizes (metres) and heading."""

    x: float
    y: float
    z: float
    half_x: float
    half_y: float
    half_z: float
    heading: float = 0.0


@dataclass
class Bodies:
    """Boxes that may touch: movable and fixed actors, then the static boxes near them.

    ``centre`` and ``before`` are ``[B, 3]`` (x, y, heading) now and at the step's start, ``half`` ``[B, 3]`` metres,
    ``z`` ``[B]`` the height of the centre, ``row`` ``[B]`` rows of the actor table (-1: static),
    ``light`` and ``spin`` ``[B]`` one over mass and inertia.
    """

    centre: Float
    before: Float
    half: Float
    z: Float
    row: Int
    light: Float
    spin: Float


class Statics:
    """The static boxes of a town, found by place."""

    def __init__(self, boxes: list[StaticBox] | None = None) -> None:
        rows = [(b.x, b.y, b.z, b.half_x, b.half_y, b.half_z, b.heading) for b in boxes or []]
        self.boxes: Float = np.array(rows, dtype=np.float64).reshape(-1, 7)
        corners = box_corners(
            self.boxes[:, [0, 1, 6]], 2.0 * self.boxes[:, 3], 2.0 * self.boxes[:, 4]
        )
        self._tree = (
            shapely.STRtree([shapely.Polygon(ring) for ring in corners]) if len(rows) else None
        )

    def near(self, places: Float, reach: Float) -> Int:
        """Pairs ``[S, 2]`` (place, box) of boxes within ``reach`` ``[N]`` of ``places`` ``[N, 2]``, in order."""
        if self._tree is None or not len(places):
            return np.zeros((0, 2), dtype=np.int64)
        low, high = places - reach[:, None], places + reach[:, None]
        found = self._tree.query(shapely.box(*low.T, *high.T)).T
        return np.asarray(found[np.lexsort((found[:, 1], found[:, 0]))])


def resolve(
    table: ActorTable, before: Float, yaw_before: Float, statics: Statics
) -> list[Collision]:
    """Push apart what touches, change velocities, and say who met whom.

    Parameters
    ----------
    before, yaw_before
        ``[N, 3]`` positions and ``[N]`` headings of all actors at the step's start.
    """
    fixed = _near_statics(table, before, statics)
    first, second, share = touches(table, before, yaw_before, statics.boxes, fixed)
    if not len(first):
        return []
    bodies, first, second = _bodies(table, first, second, before, yaw_before, statics)
    _wind_back(table, bodies, first, second, share)
    contact = _contacts(bodies, first, second)
    return _apply(table, bodies, first, second, contact)


def is_overlapping(table: ActorTable, row: int, statics: Statics) -> bool:
    """Whether the body of ``row`` overlaps another solid one or a static box."""
    fixed = _near_statics(table, table.position, statics, fixed_too=True)
    free, table.physics[row] = bool(table.physics[row]), True
    first, second, _ = touches(table, table.position, table.rotation[:, 2], statics.boxes, fixed)
    table.physics[row] = free
    return bool(((first == row) | (second == row)).any())


def _near_statics(
    table: ActorTable, before: Float, statics: Statics, fixed_too: bool = False
) -> Int:
    """Pairs ``[S, 2]`` of a movable actor's row and the number of a static box near its way."""
    if not len(statics.boxes):
        return np.zeros((0, 2), dtype=np.int64)
    rows = np.flatnonzero(table.solid & (table.physics | fixed_too))
    way = np.hypot(*(table.position[rows, :2] - before[rows, :2]).T)
    pairs = statics.near(table.position[rows, :2], table.reach[rows] + way)
    pairs[:, 0] = rows[pairs[:, 0]]
    return pairs


def _bodies(
    table: ActorTable,
    first: Int,
    second: Int,
    before: Float,
    yaw_before: Float,
    statics: Statics,
) -> tuple[Bodies, Int, Int]:
    """The bodies of touching pairs (rows; static boxes as -1 - number), and the pairs as numbers of bodies."""
    members, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    real, fixed = members[members >= 0], -1 - members[members < 0]
    half, offset = table.half_extent[real], table.box_offset[real]
    box = statics.boxes[fixed]
    now = _centres(table.position[real], table.rotation[real, 2], offset)
    then = _centres(before[real], yaw_before[real], offset)
    # headings are kept within a turn: the short way round is the way that a body turned
    then[:, 2] = now[:, 2] - wrap_angle(now[:, 2] - then[:, 2])
    light = np.where(table.physics[real], 1.0 / table.mass[real], 0.0)
    none = np.zeros(len(fixed))
    # numbers below zero come first in the sorted members
    bodies = Bodies(
        centre=np.concatenate([box[:, [0, 1, 6]], now]),
        before=np.concatenate([box[:, [0, 1, 6]], then]),
        half=np.concatenate([box[:, 3:6], half]),
        z=np.concatenate([box[:, 2], table.position[real, 2] + offset[:, 2]]),
        row=np.concatenate([np.full(len(fixed), -1), real]),
        light=np.concatenate([none, light]),
        spin=np.concatenate([none, 3.0 * light / (half[:, 0] ** 2 + half[:, 1] ** 2)]),
    )
    return bodies, numbers[: len(first)], numbers[len(first) :]


def _centres(position: Float, yaw: Float, offset: Float) -> Float:
    cos, sin = np.cos(yaw), np.sin(yaw)
    x = position[:, 0] + cos * offset[:, 0] - sin * offset[:, 1]
    y = position[:, 1] + sin * offset[:, 0] + cos * offset[:, 1]
    return np.stack([x, y, yaw], axis=1)


def _wind_back(table: ActorTable, bodies: Bodies, first: Int, second: Int, share: Float) -> None:
    """Put bodies back to where they touched first: behind that moment they did not get."""
    least = np.ones(len(bodies.row))
    np.minimum.at(least, first, share)
    np.minimum.at(least, second, share)
    changed = np.flatnonzero((least < 1.0) & (bodies.row >= 0))
    if not len(changed):
        return
    back = (1.0 - least[changed])[:, None] * (bodies.before - bodies.centre)[changed]
    _move(table, bodies, changed, back)


def _move(table: ActorTable, bodies: Bodies, which: Int, shift: Float) -> None:
    """Move bodies by ``shift`` ``[M, 3]`` (x, y, heading) about their boxes' centres, and their actors with them."""
    rows = bodies.row[which]
    old = bodies.centre[which]
    arm = table.position[rows, :2] - old[:, :2]
    cos, sin = np.cos(shift[:, 2]), np.sin(shift[:, 2])
    bodies.centre[which] += shift
    table.position[rows, 0] = bodies.centre[which, 0] + cos * arm[:, 0] - sin * arm[:, 1]
    table.position[rows, 1] = bodies.centre[which, 1] + sin * arm[:, 0] + cos * arm[:, 1]
    table.rotation[rows, 2] += shift[:, 2]


def _contacts(bodies: Bodies, first: Int, second: Int) -> tuple[Float, Float, Float]:
    """Depth ``[P]``, direction ``[P, 2]`` from first to second, and point ``[P, 2]`` of each contact."""
    a, b, half_a, half_b = (
        bodies.centre[first],
        bodies.centre[second],
        bodies.half[first],
        bodies.half[second],
    )
    depth, way = separations(a, half_a, b, half_b)
    corners_a = box_corners(a, 2.0 * half_a[:, 0], 2.0 * half_a[:, 1])
    corners_b = box_corners(b, 2.0 * half_b[:, 0], 2.0 * half_b[:, 1])
    weight_a = _inside(corners_a, b, half_b).astype(np.float64)
    weight_b = _inside(corners_b, a, half_a).astype(np.float64)
    total = weight_a.sum(1) + weight_b.sum(1)
    point = (corners_a * weight_a[..., None]).sum(1) + (corners_b * weight_b[..., None]).sum(1)
    # crossed boxes have no corner in each other: the middle between the centres will do
    middle = (a[:, :2] + b[:, :2]) / 2.0
    point = np.where(total[:, None] > 0.0, point / np.maximum(total, 1.0)[:, None], middle)
    return depth, way, point


def _inside(corners: Float, box: Float, half: Float) -> Bool:
    """``[P, 4]`` which corners ``[P, 4, 2]`` lie in the box, a little beyond its faces included."""
    delta = corners - box[:, None, :2]
    cos, sin = np.cos(box[:, 2])[:, None], np.sin(box[:, 2])[:, None]
    along = np.abs(delta[..., 0] * cos + delta[..., 1] * sin)
    across = np.abs(delta[..., 1] * cos - delta[..., 0] * sin)
    return np.asarray((along < half[:, None, 0] + 0.02) & (across < half[:, None, 1] + 0.02))


def _apply(
    table: ActorTable,
    bodies: Bodies,
    first: Int,
    second: Int,
    contact: tuple[Float, Float, Float],
) -> list[Collision]:
    """Exchange momentum between the pairs, move them apart, and report both sides of each collision."""
    depth, way, point = contact
    rows = bodies.row
    real = rows >= 0
    motion = np.zeros((len(rows), 3))
    motion[real, :2] = table.velocity[rows[real], :2]
    motion[real, 2] = table.angular_velocity[rows[real], 2]
    state = motion.tolist()
    pairs = [
        _Pair(bodies, a, b, way[k].tolist(), point[k].tolist())
        for k, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    ]
    for pair in pairs:
        pair.aim(state)
    for _ in range(_ROUNDS):
        for pair in pairs:
            pair.push(state)
    motion = np.array(state)
    movable = real & (bodies.light > 0.0)
    table.velocity[rows[movable], :2] = motion[movable, :2]
    table.angular_velocity[rows[movable], 2] = motion[movable, 2]
    _part(table, bodies, first, second, depth, way)
    return _report(table, bodies, pairs)


class _Pair:
    """A contact in plain numbers: a few of them are faster so than as arrays.

    Velocities are lists ``[x, y, spin]``; the impulse is that which the second body feels.
    """

    def __init__(
        self, bodies: Bodies, a: int, b: int, way: list[float], point: list[float]
    ) -> None:
        self.a, self.b, self.way, self.point = a, b, way, point
        (xa, ya, _), (xb, yb, _) = bodies.centre[a].tolist(), bodies.centre[b].tolist()
        self.arm_a, self.arm_b = (point[0] - xa, point[1] - ya), (point[0] - xb, point[1] - yb)
        self.light = float(bodies.light[a]), float(bodies.light[b])
        self.spin = float(bodies.spin[a]), float(bodies.spin[b])
        self.give_normal = self._give(way[0], way[1])
        self.give_side = self._give(-way[1], way[0])
        self.goal = self.normal = self.side = 0.0

    def _give(self, x: float, y: float) -> float:
        """How much the pair's relative speed along (x, y) changes for one N s."""
        lever_a = self.arm_a[0] * y - self.arm_a[1] * x
        lever_b = self.arm_b[0] * y - self.arm_b[1] * x
        turning = self.spin[0] * lever_a * lever_a + self.spin[1] * lever_b * lever_b
        return float(self.light[0] + self.light[1] + turning)

    def _relative(self, state: list[list[float]]) -> tuple[float, float]:
        """Velocity of the second body against the first where they touch."""
        (vax, vay, wa), (vbx, vby, wb) = state[self.a], state[self.b]
        return (
            vbx - wb * self.arm_b[1] - vax + wa * self.arm_a[1],
            vby + wb * self.arm_b[0] - vay - wa * self.arm_a[0],
        )

    def aim(self, state: list[list[float]]) -> None:
        """Note at which speed (m/s) the pair shall part after its impact."""
        x, y = self._relative(state)
        speed = x * self.way[0] + y * self.way[1]
        self.goal = -_RESTITUTION * speed if speed < -_BOUNCE_FROM else 0.0

    def push(self, state: list[list[float]]) -> None:
        """One round: correct the normal impulse, then friction within its cone."""
        nx, ny = self.way
        x, y = self._relative(state)
        normal = max(self.normal + (self.goal - x * nx - y * ny) / self.give_normal, 0.0)
        self._kick(state, nx, ny, normal - self.normal)
        self.normal = normal
        x, y = self._relative(state)
        most = _FRICTION * normal
        side = self.side - (y * nx - x * ny) / self.give_side
        side = min(max(side, -most), most)
        self._kick(state, -ny, nx, side - self.side)
        self.side = side

    def _kick(self, state: list[list[float]], x: float, y: float, amount: float) -> None:
        one, other = state[self.a], state[self.b]
        one[0] -= self.light[0] * amount * x
        one[1] -= self.light[0] * amount * y
        one[2] -= self.spin[0] * amount * (self.arm_a[0] * y - self.arm_a[1] * x)
        other[0] += self.light[1] * amount * x
        other[1] += self.light[1] * amount * y
        other[2] += self.spin[1] * amount * (self.arm_b[0] * y - self.arm_b[1] * x)

    @property
    def impulse(self) -> tuple[float, float]:
        """N s that the second body felt."""
        nx, ny = self.way
        return self.normal * nx - self.side * ny, self.normal * ny + self.side * nx


def _part(
    table: ActorTable, bodies: Bodies, first: Int, second: Int, depth: Float, way: Float
) -> None:
    """Move overlapping bodies apart, the lighter one further."""
    light_a, light_b = bodies.light[first], bodies.light[second]
    much = _REMOVED * np.maximum(depth - _SLOP, 0.0) / (light_a + light_b)
    shift = np.zeros((len(bodies.row), 3))
    np.add.at(shift, first, np.pad(-(much * light_a)[:, None] * way, ((0, 0), (0, 1))))
    np.add.at(shift, second, np.pad((much * light_b)[:, None] * way, ((0, 0), (0, 1))))
    moved = np.flatnonzero((shift != 0.0).any(1) & (bodies.row >= 0))
    _move(table, bodies, moved, shift[moved])


def _report(table: ActorTable, bodies: Bodies, pairs: list[_Pair]) -> list[Collision]:
    """Both sides of every contact; overlaps without an impulse count too."""
    events = []
    for pair in pairs:
        ids = [int(table.id[row]) if row >= 0 else 0 for row in bodies.row[[pair.a, pair.b]]]
        impulse = np.array([*pair.impulse, 0.0])
        place = np.array([*pair.point, bodies.z[pair.a]])
        for me, other, felt in ((ids[0], ids[1], -impulse), (ids[1], ids[0], impulse)):
            if me:
                events.append(Collision(me, other, felt, place))
    return events

"""Bodies that touch: oriented boxes on the ground plane that push each other apart with impulses.

A pair is checked at several moments of a step when it approaches fast, so that nothing tunnels. Impulses follow E.
Catto, Iterative Dynamics with Temporal Coherence, 2005 (normal impulse with restitution, Coulomb friction, and
penetration removed by moving the bodies).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import shapely
from scipy.spatial import cKDTree

from driveproof.geometry import box_corners, wrap_angle
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.actor import Collision
from driveproof.sim.engine.table import ActorTable

#: Share of the approach that comes back, from this approach on (m/s), and friction of sheet metal.
_RESTITUTION, _BOUNCE_FROM, _FRICTION = 0.15, 1.0, 0.35
#: Penetration that is let be (m), share of the rest that is removed a step, and rounds over all contacts.
_SLOP, _REMOVED, _ROUNDS = 0.005, 0.8, 4
#: A step is cut into at most so many moments.
_MOMENTS = 16
#: Bodies whose origins lie further apart in height than this (m) never touch.
_LEVEL_M = 20.0


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
    solid = np.flatnonzero(table.solid)
    shift = table.position[solid, :2] - before[solid, :2]
    reach = table.reach[solid] + np.sqrt((shift**2).sum(1))
    pairs = _near_pairs(table, solid, reach)
    near = _near_statics(table, solid, reach, statics)
    if not len(pairs) and not len(near):
        return []
    involved = np.unique(np.concatenate([pairs.ravel(), near[:, 0]]))
    bodies = _bodies(table, involved, before, yaw_before, statics, np.unique(near[:, 1]))
    first, second = _numbers(bodies, pairs, near)
    share = _first_touch(bodies, first, second)
    touching = share <= 1.0
    if not touching.any():
        return []
    first, second, share = first[touching], second[touching], share[touching]
    _wind_back(table, bodies, first, second, share)
    contact = _contacts(bodies, first, second)
    return _apply(table, bodies, first, second, contact)


def is_overlapping(table: ActorTable, row: int, statics: Statics) -> bool:
    """Whether the body of ``row`` overlaps another solid one or a static box."""
    solid = np.flatnonzero(table.solid)
    gap = table.position[solid, :2] - table.position[row, :2]
    level = np.abs(table.position[solid, 2] - table.position[row, 2])
    near = (gap**2).sum(1) < (table.reach[solid] + table.reach[row]) ** 2
    others = solid[near & (solid != row) & (level < _LEVEL_M)]
    mine = np.array([row])
    fixed = statics.near(table.position[mine, :2], table.reach[mine])[:, 1]
    rows = np.append(others, row)
    bodies = _bodies(table, rows, table.position, table.rotation[:, 2], statics, fixed)
    here = len(others)
    rest = np.delete(np.arange(len(bodies.row)), here)
    level = np.abs(bodies.z[rest] - bodies.z[here])
    rest = rest[level < bodies.half[rest, 2] + bodies.half[here, 2]]
    me = np.full(len(rest), here)
    depth, _ = _separation(
        bodies.centre[me], bodies.half[me], bodies.centre[rest], bodies.half[rest]
    )
    return bool((depth > 0.01).any())


def _near_pairs(table: ActorTable, solid: Int, reach: Float) -> Int:
    """Rows ``[P, 2]`` of actors whose circles meet during the step, at least one movable, in order."""
    if len(solid) < 2:
        return np.zeros((0, 2), dtype=np.int64)
    place = table.position[solid]
    tree = cKDTree(place[:, :2], balanced_tree=False)
    pairs = tree.query_pairs(2.0 * reach.max(), output_type="ndarray")
    if not len(pairs):
        return np.asarray(pairs)
    a, b = pairs[:, 0], pairs[:, 1]
    gap = place[a, :2] - place[b, :2]
    near = (gap**2).sum(1) < (reach[a] + reach[b]) ** 2
    free = table.physics[solid]
    near &= (free[a] | free[b]) & (np.abs(place[a, 2] - place[b, 2]) < _LEVEL_M)
    pairs = pairs[near]
    return np.asarray(solid[pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]])


def _near_statics(table: ActorTable, solid: Int, reach: Float, statics: Statics) -> Int:
    """Pairs ``[S, 2]`` of a movable actor's row and the number of a static box near it."""
    free = table.physics[solid]
    pairs = statics.near(table.position[solid[free], :2], reach[free])
    pairs[:, 0] = solid[free][pairs[:, 0]]
    return pairs


def _numbers(bodies: Bodies, pairs: Int, near: Int) -> tuple[Int, Int]:
    """Pairs as numbers of bodies, without those that pass above each other."""
    actors = int((bodies.row >= 0).sum())
    fixed = np.unique(near[:, 1])
    first = np.searchsorted(bodies.row[:actors], np.concatenate([pairs[:, 0], near[:, 0]]))
    second = np.concatenate(
        [
            np.searchsorted(bodies.row[:actors], pairs[:, 1]),
            actors + np.searchsorted(fixed, near[:, 1]),
        ]
    )
    level = np.abs(bodies.z[first] - bodies.z[second])
    same = level < bodies.half[first, 2] + bodies.half[second, 2]
    return first[same], second[same]


def _bodies(
    table: ActorTable, rows: Int, before: Float, yaw_before: Float, statics: Statics, fixed: Int
) -> Bodies:
    """The bodies of actors ``rows``, then the static boxes ``fixed``."""
    half = table.half_extent[rows]
    offset = table.box_offset[rows]
    now = _centres(table.position[rows], table.rotation[rows, 2], offset)
    then = _centres(before[rows], yaw_before[rows], offset)
    # headings are kept within a turn: the short way round is the way that a body turned
    then[:, 2] = now[:, 2] - wrap_angle(now[:, 2] - then[:, 2])
    z = table.position[rows, 2] + offset[:, 2]
    light = np.where(table.physics[rows], 1.0 / table.mass[rows], 0.0)
    spin = 3.0 * light / (half[:, 0] ** 2 + half[:, 1] ** 2)
    if not len(fixed):
        return Bodies(now, then, half, z, rows, light, spin)
    box, none = statics.boxes[fixed], np.zeros(len(fixed))
    place = box[:, [0, 1, 6]]
    return Bodies(
        np.concatenate([now, place]),
        np.concatenate([then, place]),
        np.concatenate([half, box[:, 3:6]]),
        np.concatenate([z, box[:, 2]]),
        np.concatenate([rows, np.full(len(fixed), -1)]),
        np.concatenate([light, none]),
        np.concatenate([spin, none]),
    )


def _centres(position: Float, yaw: Float, offset: Float) -> Float:
    cos, sin = np.cos(yaw), np.sin(yaw)
    x = position[:, 0] + cos * offset[:, 0] - sin * offset[:, 1]
    y = position[:, 1] + sin * offset[:, 0] + cos * offset[:, 1]
    return np.stack([x, y, yaw], axis=1)


def _first_touch(bodies: Bodies, first: Int, second: Int) -> Float:
    """``[P]`` share of the step at which each pair touches first, infinity for never."""
    change = bodies.centre - bodies.before
    relative = np.hypot(*(change[first] - change[second])[:, :2].T)
    thin = np.minimum(bodies.half[first, :2].min(1), bodies.half[second, :2].min(1))
    # half the thinner body a moment; bodies that barely move need only their last moment
    moments = min(max(math.ceil((relative / np.maximum(thin, 0.05)).max(initial=0.0)), 1), _MOMENTS)
    share = np.full(len(first), np.inf)
    for moment in range(1, moments + 1):
        part = moment / moments
        centre = bodies.before + part * change
        depth = _separation(centre[first], bodies.half[first], centre[second], bodies.half[second])[
            0
        ]
        share = np.where((depth > 0.0) & np.isinf(share), part, share)
    return share


def _separation(a: Float, half_a: Float, b: Float, half_b: Float) -> tuple[Float, Float]:
    """Penetration ``[P]`` (negative: apart) and its direction ``[P, 2]`` from ``a`` to ``b``: separating-axis theorem."""
    x, y = b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    cos_a, sin_a, cos_b, sin_b = np.cos(a[:, 2]), np.sin(a[:, 2]), np.cos(b[:, 2]), np.sin(b[:, 2])
    along = np.abs(cos_a * cos_b + sin_a * sin_b)
    cross = np.abs(sin_a * cos_b - cos_a * sin_b)
    long_a, wide_a, long_b, wide_b = half_a[:, 0], half_a[:, 1], half_b[:, 0], half_b[:, 1]
    distance = np.empty((4, len(x)))
    reach = np.empty((4, len(x)))
    distance[0], distance[1] = cos_a * x + sin_a * y, cos_a * y - sin_a * x
    distance[2], distance[3] = cos_b * x + sin_b * y, cos_b * y - sin_b * x
    reach[0] = long_a + along * long_b + cross * wide_b
    reach[1] = wide_a + cross * long_b + along * wide_b
    reach[2] = long_b + along * long_a + cross * wide_a
    reach[3] = wide_b + cross * long_a + along * wide_a
    depth = reach - np.abs(distance)
    best = depth.argmin(0)
    every = np.arange(len(x))
    cos, sin = np.where(best < 2, cos_a, cos_b), np.where(best < 2, sin_a, sin_b)
    sign = np.where(distance[best, every] < 0.0, -1.0, 1.0)
    lengthwise = best % 2 == 0
    way = np.empty((len(x), 2))
    way[:, 0], way[:, 1] = (
        np.where(lengthwise, cos, -sin) * sign,
        np.where(lengthwise, sin, cos) * sign,
    )
    return depth[best, every], way


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
    depth, way = _separation(a, half_a, b, half_b)
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

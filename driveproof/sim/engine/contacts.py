"""Bodies that touch: oriented boxes on the ground plane that push each other apart with impulses.

A pair is checked at several moments of a step when it approaches fast, so that nothing tunnels. Impulses follow E.
Catto, Iterative Dynamics with Temporal Coherence, 2005 (normal impulse with restitution, Coulomb friction, and
penetration removed by moving the bodies).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from scipy.spatial import cKDTree

from driveproof.geometry import box_corners
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.actor import Collision
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.table import ActorTable

#: Share of the approach that comes back, from this approach on (m/s), and friction of sheet metal.
_RESTITUTION, _BOUNCE_FROM, _FRICTION = 0.15, 1.0, 0.35
#: Penetration that is let be (m), share of the rest that is removed a step, and rounds over all contacts.
_SLOP, _REMOVED, _ROUNDS = 0.005, 0.8, 4
#: A step is cut into at most so many moments.
_MOMENTS = 16

_BODIES = (int(ActorKind.VEHICLE), int(ActorKind.WALKER), int(ActorKind.PROP))


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
        self._tree = shapely.STRtree(list(shapely.polygons(corners))) if len(rows) else None

    def near(self, places: Float, reach: Float) -> Int:
        """Numbers of the boxes within ``reach`` ``[N]`` of ``places`` ``[N, 2]`` (bounding boxes), sorted."""
        if self._tree is None or not len(places):
            return np.zeros(0, dtype=np.int64)
        low, high = places - reach[:, None], places + reach[:, None]
        found = self._tree.query(shapely.box(*low.T, *high.T))
        return np.unique(found[1])


def resolve(
    table: ActorTable, before: Float, yaw_before: Float, statics: Statics
) -> list[Collision]:
    """Push apart what touches, change velocities, and say who met whom.

    Parameters
    ----------
    before, yaw_before
        ``[N, 3]`` positions and ``[N]`` headings of all actors at the step's start.
    """
    bodies = _bodies(table, before, yaw_before, statics)
    first, second = _near_pairs(bodies)
    if not len(first):
        return []
    share = _first_touch(bodies, first, second)
    touching = share <= 1.0
    first, second, share = first[touching], second[touching], share[touching]
    if not len(first):
        return []
    _wind_back(table, bodies, first, second, share)
    contact = _contacts(bodies, first, second)
    return _apply(table, bodies, first, second, contact)


def overlapping(table: ActorTable, row: int, statics: Statics) -> int:
    """Row of a solid body that overlaps that of ``row``, -1 for none, -2 for a static box."""
    bodies = _bodies(table, table.position, table.rotation[:, 2], statics)
    first, second = _near_pairs(bodies, fixed_too=True)
    mine = (bodies.row[first] == row) | (bodies.row[second] == row)
    first, second = first[mine], second[mine]
    hit = (
        _separation(
            bodies.centre[first], bodies.half[first], bodies.centre[second], bodies.half[second]
        )[0]
        > 0.01
    )
    for a, b in zip(bodies.row[first[hit]].tolist(), bodies.row[second[hit]].tolist(), strict=True):
        other = b if a == row else a
        return other if other >= 0 else -2
    return -1


def _bodies(table: ActorTable, before: Float, yaw_before: Float, statics: Statics) -> Bodies:
    solid = table.solid & (table.half_extent[:, 0] > 0.0) & np.isin(table.kind, _BODIES)
    rows = np.flatnonzero(solid)
    half = table.half_extent[rows]
    offset = table.box_offset[rows]
    now = _centres(table.position[rows], table.rotation[rows, 2], offset)
    then = _centres(before[rows], yaw_before[rows], offset)
    z = table.position[rows, 2] + offset[:, 2]
    mass = table.mass[rows]
    light = np.where(table.physics[rows], 1.0 / mass, 0.0)
    spin = 3.0 * light / (half[:, 0] ** 2 + half[:, 1] ** 2)
    if len(statics.boxes) and len(rows):
        reach = np.hypot(half[:, 0], half[:, 1]) + np.hypot(*(now - then)[:, :2].T)
        moving = light > 0.0
        found = statics.boxes[statics.near(now[moving, :2], reach[moving])]
        none = np.zeros(len(found))
        now = np.concatenate([now, found[:, [0, 1, 6]]])
        then = np.concatenate([then, found[:, [0, 1, 6]]])
        half = np.concatenate([half, found[:, 3:6]])
        z = np.concatenate([z, found[:, 2]])
        rows = np.concatenate([rows, np.full(len(found), -1)])
        light, spin = np.concatenate([light, none]), np.concatenate([spin, none])
    return Bodies(now, then, half, z, rows, light, spin)


def _centres(position: Float, yaw: Float, offset: Float) -> Float:
    cos, sin = np.cos(yaw), np.sin(yaw)
    x = position[:, 0] + cos * offset[:, 0] - sin * offset[:, 1]
    y = position[:, 1] + sin * offset[:, 0] + cos * offset[:, 1]
    return np.stack([x, y, yaw], axis=1)


def _near_pairs(bodies: Bodies, fixed_too: bool = False) -> tuple[Int, Int]:
    """Pairs ``[P]`` whose circles meet during the step, at least one movable, in order."""
    none = np.zeros(0, dtype=np.int64)
    actors = int((bodies.row >= 0).sum())
    if not actors:
        return none, none
    way = np.hypot(*(bodies.centre - bodies.before)[:, :2].T)
    radius = np.hypot(bodies.half[:, 0], bodies.half[:, 1]) + way
    tree = cKDTree(bodies.centre[:actors, :2], balanced_tree=False)
    pairs = tree.query_pairs(2.0 * radius[:actors].max(), output_type="ndarray")
    still = np.stack(np.meshgrid(np.arange(actors), np.arange(actors, len(radius))), -1)
    pairs = np.concatenate([pairs, still.reshape(-1, 2)])
    a, b = pairs[:, 0], pairs[:, 1]
    gap = bodies.centre[a, :2] - bodies.centre[b, :2]
    near = (gap**2).sum(1) < (radius[a] + radius[b]) ** 2
    near &= np.abs(bodies.z[a] - bodies.z[b]) < bodies.half[a, 2] + bodies.half[b, 2]
    if not fixed_too:
        near &= bodies.light[a] + bodies.light[b] > 0.0
    pairs = pairs[near]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order, 0], pairs[order, 1]


def _first_touch(bodies: Bodies, first: Int, second: Int) -> Float:
    """``[P]`` share of the step at which each pair touches first, infinity for never."""
    change = bodies.centre - bodies.before
    relative = np.hypot(*(change[first] - change[second])[:, :2].T)
    thin = np.minimum(bodies.half[first, :2].min(1), bodies.half[second, :2].min(1))
    # half the thinner body a moment; bodies that barely move need only their last moment
    moments = int(np.clip(np.ceil((relative / np.maximum(thin, 0.05)).max()), 1, _MOMENTS))
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
    gap = b[:, :2] - a[:, :2]
    cos_a, sin_a, cos_b, sin_b = np.cos(a[:, 2]), np.sin(a[:, 2]), np.cos(b[:, 2]), np.sin(b[:, 2])
    axes = np.stack(
        [
            np.stack([cos_a, sin_a], 1),
            np.stack([-sin_a, cos_a], 1),
            np.stack([cos_b, sin_b], 1),
            np.stack([-sin_b, cos_b], 1),
        ],
        axis=1,
    )
    distance = (axes * gap[:, None]).sum(-1)
    along = np.abs(cos_a * cos_b + sin_a * sin_b)
    cross = np.abs(sin_a * cos_b - cos_a * sin_b)
    reach = np.stack(
        [
            half_a[:, 0] + along * half_b[:, 0] + cross * half_b[:, 1],
            half_a[:, 1] + cross * half_b[:, 0] + along * half_b[:, 1],
            half_b[:, 0] + along * half_a[:, 0] + cross * half_a[:, 1],
            half_b[:, 1] + cross * half_a[:, 0] + along * half_a[:, 1],
        ],
        axis=1,
    )
    depth = reach - np.abs(distance)
    best = depth.argmin(1)
    every = np.arange(len(gap))
    way = axes[every, best] * np.where(distance[every, best] < 0.0, -1.0, 1.0)[:, None]
    return depth[every, best], way


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
    motion = np.zeros((len(rows), 3))
    real = rows >= 0
    motion[real, :2] = table.velocity[rows[real], :2]
    motion[real, 2] = table.angular_velocity[rows[real], 2]
    total = np.zeros((len(first), 2))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    goals = [_approach(bodies, motion, a, b, way[k], point[k]) for k, (a, b) in enumerate(pairs)]
    normal = [0.0] * len(pairs)
    for _ in range(_ROUNDS):
        for k, (a, b) in enumerate(pairs):
            normal[k], change = _impulse(
                bodies, motion, a, b, way[k], point[k], goals[k], normal[k]
            )
            total[k] += change
    movable = real & (bodies.light > 0.0)
    table.velocity[rows[movable], :2] = motion[movable, :2]
    table.angular_velocity[rows[movable], 2] = motion[movable, 2]
    _part(table, bodies, first, second, depth, way)
    return _report(table, bodies, pairs, total, point)


def _approach(bodies: Bodies, motion: Float, a: int, b: int, way: Float, point: Float) -> float:
    """The speed (m/s) at which the pair shall part after its impact."""
    speed = float(_relative(bodies, motion, a, b, point) @ way)
    return -_RESTITUTION * speed if speed < -_BOUNCE_FROM else 0.0


def _relative(bodies: Bodies, motion: Float, a: int, b: int, point: Float) -> Float:
    """``[2]`` velocity of ``b`` against ``a`` at ``point``."""
    arm_a, arm_b = point - bodies.centre[a, :2], point - bodies.centre[b, :2]
    spin_a, spin_b = motion[a, 2], motion[b, 2]
    return np.array(
        [
            motion[b, 0] - spin_b * arm_b[1] - motion[a, 0] + spin_a * arm_a[1],
            motion[b, 1] + spin_b * arm_b[0] - motion[a, 1] - spin_a * arm_a[0],
        ]
    )


def _impulse(
    bodies: Bodies,
    motion: Float,
    a: int,
    b: int,
    way: Float,
    point: Float,
    goal: float,
    before: float,
) -> tuple[float, Float]:
    """One round of one contact: the new normal impulse, and the change of impulse ``[2]`` that ``b`` felt."""
    arm_a, arm_b = point - bodies.centre[a, :2], point - bodies.centre[b, :2]
    side = np.array([-way[1], way[0]])
    speed = _relative(bodies, motion, a, b, point)
    change = np.zeros(2)
    normal = before
    for axis, is_normal in ((way, True), (side, False)):
        lever_a = arm_a[0] * axis[1] - arm_a[1] * axis[0]
        lever_b = arm_b[0] * axis[1] - arm_b[1] * axis[0]
        give = bodies.light[a] + bodies.light[b]
        give += bodies.spin[a] * lever_a**2 + bodies.spin[b] * lever_b**2
        rate = float(speed @ axis)
        if is_normal:
            normal = max(before + (goal - rate) / give, 0.0)
            amount = normal - before
        else:
            most = _FRICTION * max(normal - before, 0.0)
            amount = min(max(-rate / give, -most), most)
        change += amount * axis
    turn_a = arm_a[0] * change[1] - arm_a[1] * change[0]
    turn_b = arm_b[0] * change[1] - arm_b[1] * change[0]
    motion[a] -= (*(bodies.light[a] * change), bodies.spin[a] * turn_a)
    motion[b] += (*(bodies.light[b] * change), bodies.spin[b] * turn_b)
    return normal, change


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


def _report(
    table: ActorTable,
    bodies: Bodies,
    pairs: list[tuple[int, int]],
    total: Float,
    point: Float,
) -> list[Collision]:
    events = []
    for k, (a, b) in enumerate(pairs):
        ids = [int(table.id[bodies.row[i]]) if bodies.row[i] >= 0 else 0 for i in (a, b)]
        impulse = np.append(total[k], 0.0)
        place = np.append(point[k], bodies.z[a])
        for me, other, felt in ((ids[0], ids[1], -impulse), (ids[1], ids[0], impulse)):
            if me:
                events.append(Collision(me, other, felt, place))
    return events

"""OpenDRIVE signals, junctions and crosswalks placed on the lanes they concern."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import shapely

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps.lanes import LaneKind, LaneTable, offset_sideways
from driveproof.maps.opendrive import OpenDrive, OutlineSpec, RoadSpec, SignalSpec
from driveproof.maps.reference_line import cubic_at, sample_line
from driveproof.maps.signals import Junction, MapSignal, SignalKind

# OpenDRIVE signal types as CARLA's towns use them (German catalogue numbers; 1000001 is a light).
_KINDS = {
    "1000001": SignalKind.TRAFFIC_LIGHT,
    "1000011": SignalKind.TRAFFIC_LIGHT,
    "206": SignalKind.STOP,
    "painted 206": SignalKind.STOP,
    "205": SignalKind.YIELD,
    "274": SignalKind.SPEED_LIMIT,
}
#: Height of lamps and plates above the road, metres: the files place poles, not heads. Lights beyond
#: the junction hang high; lights beside the stop line sit low, or a driver who waits could not see them.
FAR_HEIGHT, NEAR_HEIGHT, PLATE_HEIGHT = 5.0, 3.0, 2.4
FAR_M = 8.0

_DRIVEN = (int(LaneKind.DRIVING), int(LaneKind.BIDIRECTIONAL))


def build_signals(drive: OpenDrive, lanes: LaneTable) -> tuple[MapSignal, ...]:
    """All signals that govern a lane, ordered by key; painted STOPs only where no sign says so."""
    placed: dict[str, tuple[RoadSpec, SignalSpec]] = {}
    uses: defaultdict[str, list[tuple[RoadSpec, SignalSpec]]] = defaultdict(list)
    for road in drive.roads.values():
        for spec in road.signals:
            if not spec.reference:
                placed[spec.key] = (road, spec)
            if spec.reference or spec.lanes != (0, 0):
                uses[spec.key].append((road, spec))
    signals: list[MapSignal] = []
    stopped: set[int] = set()
    for key, (road, spec) in sorted(placed.items(), key=lambda item: _order(item[1][1])):
        kind = _KINDS.get(spec.kind)
        if kind is None:
            continue
        stops = _stops(lanes, uses.get(key) or [(road, spec)])
        if spec.kind.startswith("painted") and stopped.intersection(stops):
            continue
        if stops:
            signals.append(_signal(drive, lanes, road, spec, kind, stops))
        if kind is SignalKind.STOP:
            stopped |= stops.keys()
    return tuple(_controlled(signals))


def _controlled(signals: list[MapSignal]) -> list[MapSignal]:
    """Give lights without a controller that of a light that faces the same way, or a phase of their own."""
    known: dict[int, list[MapSignal]] = defaultdict(list)
    for light in signals:
        if light.controller:
            known[light.junction].append(light)
    done = []
    for light in signals:
        if light.kind is SignalKind.TRAFFIC_LIGHT and not light.controller:
            beside = known[light.junction]
            twin = next((other for other in beside if _same_way(light, other)), None)
            phase = min(set(range(len(beside) + 1)) - {other.sequence for other in beside})
            light = replace(
                light,
                controller=twin.controller if twin else f"signal {light.key}",
                sequence=twin.sequence if twin else phase,
            )
            beside.append(light)
        done.append(light)
    return done


def _same_way(one: MapSignal, other: MapSignal) -> bool:
    return bool(np.cos(one.heading - other.heading) > 0.9)


def _order(spec: SignalSpec) -> tuple[bool, int, str]:
    return spec.kind.startswith("painted"), len(spec.key), spec.key


def _stops(lanes: LaneTable, uses: Iterable[tuple[RoadSpec, SignalSpec]]) -> dict[int, float]:
    """Governed lane → arc of its stop line. A light inside a junction governs the lanes that lead in."""
    stops: dict[int, float] = {}
    for road, spec in uses:
        for lane, arc in _lanes_at(lanes, road, spec):
            approaches = _approaches(lanes, lane) if road.junction >= 0 else []
            for index in approaches:
                stops[index] = float(lanes.length[index])
            if not approaches:
                stops[lane] = min(stops.get(lane, arc), arc)
    return dict(sorted(stops.items()))


def _lanes_at(lanes: LaneTable, road: RoadSpec, spec: SignalSpec) -> Iterator[tuple[int, float]]:
    section = max(
        (i for i, item in enumerate(road.sections) if item.start <= max(spec.s, 0.0)), default=None
    )
    if section is None:
        return
    item = road.sections[section]
    low, high = spec.lanes
    for number in item.lanes:
        # Without a validity a signal speaks to the side of the road on which it stands.
        meant = low <= number <= high if spec.lanes != (0, 0) else number * spec.t > 0.0
        if number == 0 or not meant:
            continue
        index = lanes.index(road.key, section, number)
        if lanes.kind[index] in _DRIVEN:
            share = (spec.s - item.start) / max(item.end - item.start, 1e-9)
            share = share if (number < 0) != road.left_hand else 1.0 - share
            yield index, float(np.clip(share, 0.0, 1.0) * lanes.length[index])


def _approaches(lanes: LaneTable, lane: int) -> list[int]:
    """The lanes outside the junction from which one enters at this lane."""
    found, seen, front = [], {lane}, [lane]
    while front:
        for index in lanes.predecessors(front.pop()).tolist():
            if index in seen or lanes.kind[index] not in _DRIVEN:
                continue
            seen.add(index)
            if lanes.junction[index] == lanes.junction[lane]:
                front.append(index)
            else:
                found.append(index)
    return found


def _signal(
    drive: OpenDrive,
    lanes: LaneTable,
    road: RoadSpec,
    spec: SignalSpec,
    kind: SignalKind,
    stops: dict[int, float],
) -> MapSignal:
    lines, headings = zip(*(across(lanes, lane, arc) for lane, arc in stops.items()), strict=True)
    heading = float(np.arctan2(np.sin(headings).sum(), np.cos(headings).sum()))
    position, _ = _at_road(road, spec.s, spec.t)
    if spec.kind.startswith("painted"):
        position = lines[-1][
            1
        ].copy()  # no plate: one is imagined at the right end of the stop line
    beyond = position[:2] - np.mean(lines, axis=(0, 1))[:2]
    far = beyond @ [np.cos(heading), np.sin(heading)] > FAR_M
    light_height = FAR_HEIGHT if far else NEAR_HEIGHT
    position[2] += light_height if kind is SignalKind.TRAFFIC_LIGHT else PLATE_HEIGHT
    ahead = [lanes.junction[n] for lane in stops for n in lanes.successors(lane)]
    controller, sequence = drive.controllers.get(spec.key, ("", 0))
    return MapSignal(
        key=spec.key,
        kind=kind,
        position=position,
        heading=float(wrap_angle(heading + np.pi)),
        lanes=tuple(stops),
        stop_lines=np.stack(lines),
        stop_arcs=np.array(list(stops.values())),
        junction=int(max(ahead, default=-1)) if kind is not SignalKind.SPEED_LIMIT else -1,
        controller=controller,
        sequence=sequence,
        value=spec.value if kind is SignalKind.SPEED_LIMIT else float("nan"),
    )


def across(lanes: LaneTable, lane: int, arc: float) -> tuple[Float, float]:
    """The line ``[2, 3]`` (left end, right end) across a lane at ``arc``, and the lane's heading there."""
    part = lanes.points(lane)
    at = lanes.arc[part]
    centre = np.array([np.interp(arc, at, lanes.centre[part, k]) for k in range(3)])
    heading = float(np.interp(arc, at, np.unwrap(lanes.heading[part])))
    half = float(np.interp(arc, at, lanes.width[part])) / 2.0
    ends = offset_sideways(np.stack([centre, centre]), np.full(2, heading), np.array([half, -half]))
    return ends, heading


def _at_road(road: RoadSpec, s: float, t: float) -> tuple[Float, float]:
    """The point ``[3]`` at (s, t) of a road, and the road's heading there."""
    where = np.array([s])
    line = sample_line(road.pieces, where)
    z, _ = cubic_at(road.elevation, where)
    base = np.array([[line.x[0], line.y[0], z[0]]])
    return offset_sideways(base, line.heading, np.array([t]))[0], float(line.heading[0])


def build_crosswalks(drive: OpenDrive) -> tuple[Float, ...]:
    """Outlines ``[n, 3]`` of the crosswalks, world frame, not closed."""
    roads = drive.roads.values()
    shapes = [_outline(road, spec) for road in roads for spec in road.crosswalks]
    return tuple(shape for shape in shapes if len(shape) >= 3)


def _outline(road: RoadSpec, spec: OutlineSpec) -> Float:
    origin, heading = _at_road(road, spec.s, spec.t)
    angle = heading + spec.heading
    u, v, z = spec.corners.T
    points = np.stack(
        [
            origin[0] + np.cos(angle) * u - np.sin(angle) * v,
            origin[1] + np.sin(angle) * u + np.cos(angle) * v,
            origin[2] + spec.height + z,
        ],
        axis=1,
    )
    closed = len(points) > 1 and np.allclose(points[0], points[-1], atol=1e-3)
    return points[:-1] if closed else points


def build_junctions(lanes: LaneTable, signals: tuple[MapSignal, ...]) -> dict[int, Junction]:
    """Junctions with a driving lane, by number."""
    inside: defaultdict[int, list[int]] = defaultdict(list)
    for lane in np.flatnonzero(lanes.is_junction & np.isin(lanes.kind, _DRIVEN)).tolist():
        inside[int(lanes.junction[lane])].append(lane)
    guards: defaultdict[int, list[int]] = defaultdict(list)
    for index, signal in enumerate(signals):
        guards[signal.junction].append(index)
    return {
        key: Junction(
            key=key,
            outline=_hull(lanes, members),
            lanes=tuple(members),
            entries=tuple(
                sorted({lane for member in members for lane in _approaches(lanes, member)})
            ),
            signals=tuple(guards[key]),
        )
        for key, members in sorted(inside.items())
    }


def _hull(lanes: LaneTable, members: list[int]) -> Float:
    borders = [lanes.border(lane, side)[:, :2] for lane in members for side in (1, -1)]
    hull = shapely.MultiPoint(np.concatenate(borders)).convex_hull
    if not isinstance(hull, shapely.Polygon):
        hull = hull.buffer(0.5)
    ring = shapely.get_coordinates(shapely.orient_polygons(hull))
    return np.asarray(ring[:-1], dtype=np.float64)

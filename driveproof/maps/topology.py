"""Which lane continues which: lane links within roads, between roads and through junctions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from driveproof.geometry.arrays import Int
from driveproof.maps.opendrive import OpenDrive, RoadLink, RoadSpec

# A lane end: (road, section, lane, whether it is the end with the larger s).
_End = tuple[int, int, int, bool]


def lane_links(drive: OpenDrive, keys: Int) -> Int:
    """Links ``[E, 2]`` (lane, successor), sorted, between the lanes ``keys`` ``[L, 3]`` (road, section, lane).

    A link joins two lane ends; it counts in the direction in which traffic leaves the one and enters
    the other. Links to lanes that do not exist are ignored, as CARLA does.
    """
    index = {tuple(key): row for row, key in enumerate(keys.tolist())}
    edges: set[tuple[int, int]] = set()
    for road in drive.roads.values():
        for one, other in _road_links(drive, road):
            _add(drive, index, edges, one, other)
    for one, other in _junction_links(drive):
        _add(drive, index, edges, one, other)
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


def _add(
    drive: OpenDrive,
    index: dict[tuple[int, ...], int],
    edges: set[tuple[int, int]],
    one: _End,
    other: _End,
) -> None:
    a, b = index.get(one[:3]), index.get(other[:3])
    if a is None or b is None:
        return
    a_leaves, b_leaves = _leaves(drive, one), _leaves(drive, other)
    if a_leaves and not b_leaves:
        edges.add((a, b))
    elif b_leaves and not a_leaves:
        edges.add((b, a))


def _leaves(drive: OpenDrive, end: _End) -> bool:
    """Whether traffic leaves the lane at this end."""
    road, _, lane, at_end = end
    return ((lane < 0) != drive.roads[road].left_hand) == at_end


def _road_links(drive: OpenDrive, road: RoadSpec) -> Iterator[tuple[_End, _End]]:
    last = len(road.sections) - 1
    for number, section in enumerate(road.sections):
        for lane in section.lanes.values():
            for target in lane.successors:
                here = (road.key, number, lane.key, True)
                if number < last:
                    yield here, (road.key, number + 1, target, False)
                elif (there := _at(drive, road.successor, target)) is not None:
                    yield here, there
            for target in lane.predecessors:
                here = (road.key, number, lane.key, False)
                if number > 0:
                    yield here, (road.key, number - 1, target, True)
                elif (there := _at(drive, road.predecessor, target)) is not None:
                    yield here, there


def _junction_links(drive: OpenDrive) -> Iterator[tuple[_End, _End]]:
    for link in drive.connections:
        road = drive.roads.get(link.connecting)
        if road is None or not road.sections:
            continue
        joint = road.successor if link.at_end else road.predecessor
        if joint is None or joint.road != link.incoming:
            continue
        section = len(road.sections) - 1 if link.at_end else 0
        for source, target in link.lanes:
            there = _at(drive, joint, source)
            if there is not None:
                yield there, (road.key, section, target, link.at_end)


def _at(drive: OpenDrive, link: RoadLink | None, lane: int) -> _End | None:
    road = drive.roads.get(link.road) if link is not None else None
    if link is None or road is None or not road.sections:
        return None
    return road.key, len(road.sections) - 1 if link.at_end else 0, lane, link.at_end

"""Where the road runs through a tunnel: OpenDRIVE's tunnel objects, and where CARLA's files lack them, a table."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from defusedxml import ElementTree

from driveproof.maps import TownMap

Span = tuple[float, float]

#: (town, road) → spans along the reference line, metres, of tunnels that CARLA builds and its OpenDRIVE leaves out.
UNMARKED: dict[tuple[str, int], tuple[Span, ...]] = {("Town03", 65): ((14.0, 187.0),)}


def in_tunnel(town: TownMap, lane: int, arc: float) -> bool:
    """Whether metre ``arc`` of a lane lies in a tunnel.

    OpenDRIVE measures along the road's reference line; the lane's own length is scaled to it, so near the portals the
    answer may be a few metres off.
    """
    road = int(town.lanes.road[lane])
    spans = (
        *_tunnels(town.digest, town.opendrive).get(road, ()),
        *UNMARKED.get((town.name, road), ()),
    )
    if not spans:
        return False
    start, end = _reach(town, lane)
    length = max(float(town.lanes.length[lane]), 1e-6)
    s = start + (end - start) * arc / length
    return any(low <= s <= high for low, high in spans)


@lru_cache(maxsize=8)
def _tunnels(digest: str, text: str) -> dict[int, tuple[Span, ...]]:
    """Road → spans of its tunnels along the reference line, metres."""
    found: dict[int, tuple[Span, ...]] = {}
    if "<tunnel" not in text:
        return found
    for road in ElementTree.fromstring(text.encode()).iter("road"):
        spans = tuple(
            (
                float(tunnel.get("s", 0.0)),
                float(tunnel.get("s", 0.0)) + float(tunnel.get("length", 0.0)),
            )
            for tunnel in road.iter("tunnel")
        )
        if spans:
            found[int(road.get("id", -1))] = spans
    return found


def _reach(town: TownMap, lane: int) -> Span:
    """Where along its road's reference line a lane begins and ends, in its direction of travel, metres."""
    lanes = town.lanes
    sections = np.unique(lanes.section[lanes.road == lanes.road[lane]])
    own = int(lanes.section[lane])
    lengths = [
        float(lanes.length[(lanes.road == lanes.road[lane]) & (lanes.section == section)].mean())
        for section in sections.tolist()
    ]
    start = sum(
        length for section, length in zip(sections.tolist(), lengths, strict=True) if section < own
    )
    end = start + lengths[sections.tolist().index(own)]
    return (start, end) if lanes.lane[lane] < 0 else (end, start)

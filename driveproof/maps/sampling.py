"""OpenDRIVE roads to lane arrays: centres, headings, widths, marks, neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.maps.lanes import LaneTable, offset_sideways
from driveproof.maps.opendrive import LaneSpec, OpenDrive, RoadSpec, SectionSpec
from driveproof.maps.reference_line import cubic_at, sample_line
from driveproof.maps.topology import lane_links

#: Metres between samples; junctions have tighter curves.
STEP = 2.0
JUNCTION_STEP = 1.0
MAX_POINTS = 20_000_000
MAX_SECTION_M = 100_000.0
#: Lanes that are said to continue each other but lie further apart do not, metres.
MAX_LEAP_M = 1.0

# At a section's end the next section's polynomials begin; samples stay this much inside.
_INSIDE = 1e-6


def build_lanes(drive: OpenDrive, name: str = "OpenDRIVE") -> LaneTable:
    """All lanes of a parsed OpenDRIVE file (but the lanes 0, which have no width)."""
    per_lane: list[dict[str, Any]] = []
    points = 0
    for road in drive.roads.values():
        for index, section in enumerate(road.sections):
            lanes = _section_lanes(road, index, section)
            points += sum(len(lane["width"]) for lane in lanes)
            if points > MAX_POINTS:
                raise BadInput("roads too long to be a town", path=name, field=f"<road {road.key}>")
            per_lane += lanes
    if not per_lane:
        raise BadInput("no lanes", path=name)
    counts = [len(lane["width"]) for lane in per_lane]
    columns = {
        key: np.concatenate([lane[key] for lane in per_lane])
        for key in ("centre", "heading", "width", "arc", *_MARK_COLUMNS)
    }
    keys = np.array([lane["key"] for lane in per_lane], dtype=np.int64)
    facts = np.array([lane["facts"] for lane in per_lane], dtype=np.int64)
    left, right, left_same, right_same = _neighbours(drive, keys)
    offset = np.concatenate([[0], np.cumsum(counts)])
    links = _without_leaps(lane_links(drive, keys), offset, columns["centre"])
    return LaneTable(
        road=keys[:, 0],
        section=keys[:, 1],
        lane=keys[:, 2],
        kind=facts[:, 0].astype(np.int8),
        junction=facts[:, 1],
        speed_limit=np.array([lane["speed_limit"] for lane in per_lane]),
        offset=offset,
        successor_offset=np.append(0, np.cumsum(np.bincount(links[:, 0], minlength=len(keys)))),
        successor_lane=links[:, 1],
        left=left,
        right=right,
        left_same=left_same,
        right_same=right_same,
        **columns,
    )


def _without_leaps(links: Int, offset: Int, centre: Float) -> Int:
    """Only the links whose lanes meet: where two lanes are declared to merge at a point, one leaps sideways."""
    gap = centre[offset[links[:, 0] + 1] - 1, :2] - centre[offset[links[:, 1]], :2]
    return np.asarray(links[np.linalg.norm(gap, axis=1) < MAX_LEAP_M])


_MARK_COLUMNS = ("left_mark", "left_colour", "right_mark", "right_colour")


def forward(road: RoadSpec, lane: int) -> bool:
    """Whether a lane travels along its road's s: right lanes do where traffic keeps right."""
    return (lane < 0) != road.left_hand


def _section_lanes(road: RoadSpec, index: int, section: SectionSpec) -> list[dict[str, Any]]:
    span = section.end - section.start
    step = JUNCTION_STEP if road.junction >= 0 else STEP
    if not 0.0 <= span < MAX_SECTION_M:
        raise BadInput(f"a lane section of {span:.6g} m", field=f"<road {road.key}>")
    s = np.linspace(section.start, section.end, 1 + max(1, math.ceil(span / step)))
    s = np.clip(s, section.start, max(section.start, section.end - _INSIDE))
    line = sample_line(road.pieces, s)
    z, _ = cubic_at(road.elevation, s)
    base = np.stack([line.x, line.y, z], axis=1)
    lanes = []
    for side in (1, -1):
        border, slope = cubic_at(road.lane_offset, s)
        inner = section.lanes.get(0)
        number = side
        while (spec := section.lanes.get(number)) is not None:
            width, widening = cubic_at(spec.widths, s - section.start)
            width, widening = np.maximum(width, 0.0), np.where(width > 0.0, widening, 0.0)
            t, dt = border + side * width / 2.0, slope + side * widening / 2.0
            centre = offset_sideways(base, line.heading, t)
            heading = line.heading + np.arctan2(dt, 1.0 - line.curvature * t)
            lane = {"centre": centre, "heading": heading, "width": width}
            lane |= _marks(spec, inner, s - section.start)
            lanes.append(_directed(lane, road, number) | _facts(road, index, section, spec))
            border, slope = border + side * width, slope + side * widening
            inner, number = spec, number + side
    return lanes


def _marks(spec: LaneSpec, inner: LaneSpec | None, along: Float) -> dict[str, Any]:
    # The mark of a lane lies on its outer border: the right one in travel direction (traffic keeps right).
    columns = {}
    for side, source in (("right", spec), ("left", inner)):
        table = source.marks if source is not None else np.zeros((1, 3))
        row = np.clip(np.searchsorted(table[:, 0], along, side="right") - 1, 0, None)
        columns[f"{side}_mark"] = table[row, 1].astype(np.int8)
        columns[f"{side}_colour"] = table[row, 2].astype(np.int8)
    return columns


def _directed(lane: dict[str, Any], road: RoadSpec, number: int) -> dict[str, Any]:
    """Turn the samples into the direction of travel and measure the arc."""
    if not forward(road, number):
        lane = {key: value[::-1] for key, value in lane.items()}
        lane["heading"] = lane["heading"] + np.pi
    if road.left_hand:
        for what in ("mark", "colour"):
            lane[f"left_{what}"], lane[f"right_{what}"] = (
                lane[f"right_{what}"],
                lane[f"left_{what}"],
            )
    lane["heading"] = wrap_angle(lane["heading"])
    steps = np.linalg.norm(np.diff(lane["centre"][:, :2], axis=0), axis=1)
    lane["arc"] = np.concatenate([[0.0], np.cumsum(steps)])
    return lane


def _facts(road: RoadSpec, index: int, section: SectionSpec, spec: LaneSpec) -> dict[str, Any]:
    limit = spec.speed_limit
    if math.isnan(limit):
        valid = [speed for start, speed in road.speeds if start <= section.start + _INSIDE]
        limit = valid[-1] if valid else math.nan
    return {
        "key": (road.key, index, spec.key),
        "facts": (int(spec.kind), road.junction),
        "speed_limit": limit,
    }


def _neighbours(drive: OpenDrive, keys: Any) -> tuple[Any, Any, Any, Any]:
    index = {tuple(key): row for row, key in enumerate(keys.tolist())}
    left, right = np.full(len(keys), -1), np.full(len(keys), -1)
    for row, (road, section, lane) in enumerate(keys.tolist()):
        toward = 1 if lane < 0 else -1  # one step towards (and across) the middle of the road
        inner = lane + toward if lane + toward != 0 else toward
        sides = [
            index.get((road, section, inner), -1),
            index.get((road, section, lane - toward), -1),
        ]
        if drive.roads[road].left_hand:
            sides.reverse()
        left[row], right[row] = sides
    sign = np.sign(keys[:, 2])
    return (
        left,
        right,
        (left >= 0) & (sign == sign[left]),
        (right >= 0) & (sign == sign[right]),
    )

"""Where vehicles may appear in a town: spawn points on its driving lanes."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.maps import LaneKind, LaneTable, TownMap
from driveproof.sim.engine import Pose3

#: Metres between candidates along a lane, and from its ends to the first and last one; in large towns the candidates
#: are fewer: so many for each point that is wanted.
STEP_M, MARGIN_M, CANDIDATES = 5.0, 6.0, 6
#: Metres above the road: a new vehicle falls onto its wheels.
LIFT_M = 0.5
#: Half length and half width in metres of a place: the largest vehicle (a bus, whose box is not centred) and some air.
HALF_LENGTH_M, HALF_WIDTH_M = 5.8, 2.25
#: Metres between two roads above each other, at least.
STOREY_M = 4.0
#: Narrower lanes are none for vehicles.
MIN_WIDTH_M = 2.5
#: Towns are thinned evenly to this many points; large ones to one in so many metres of lane, at most to the last number.
ENOUGH_POINTS, METRES_A_POINT, MAX_POINTS = 400, 400.0, 1000


def spawn_points(town: TownMap) -> list[Pose3]:
    """Poses in the middle of driving lanes outside junctions, on which the largest vehicles stand apart.

    Ordered by road, section, lane and place along it; the same town has the same points. Right-handed, metres,
    radians; yaw along the lane, pitch along its slope. A town whose lanes are all short or narrow has one a lane.
    """
    lanes = town.lanes
    members = _usable(lanes)
    if len(members):
        length = float(lanes.length[members].sum())
        most = int(max(ENOUGH_POINTS, min(MAX_POINTS, length / METRES_A_POINT)))
        lane, arc = _candidates(lanes, members, max(STEP_M, length / (CANDIDATES * most)))
    else:
        lane = lanes.of_kind(LaneKind.DRIVING, LaneKind.BIDIRECTIONAL)
        arc, most = lanes.length[lane] / 2.0, ENOUGH_POINTS
    poses = _poses(lanes, lane, arc)
    chosen = poses[_apart(poses)]
    if len(chosen) > most:
        chosen = chosen[np.linspace(0, len(chosen) - 1, most).round().astype(int)]
    return [
        Pose3(x, y, z + LIFT_M, pitch=pitch, yaw=yaw) for x, y, z, pitch, yaw in chosen.tolist()
    ]


def _usable(lanes: LaneTable) -> Int:
    """Driving lanes outside junctions that are long and wide enough, by road, section and lane."""
    driving = lanes.of_kind(LaneKind.DRIVING)
    narrowest = np.minimum.reduceat(lanes.width, lanes.offset[:-1])
    fit = (lanes.junction < 0) & (lanes.length >= 2 * MARGIN_M) & (narrowest >= MIN_WIDTH_M)
    driving = driving[fit[driving]]
    order = np.lexsort((lanes.lane[driving], lanes.section[driving], lanes.road[driving]))
    return np.asarray(driving[order], dtype=np.int64)


def _candidates(lanes: LaneTable, members: Int, step: float) -> tuple[Int, Float]:
    """Lanes ``[N]`` and distances along them ``[N]``, every ``step`` metres."""
    arcs = [
        np.arange(MARGIN_M, length - MARGIN_M + 1e-9, step)
        for length in lanes.length[members].tolist()
    ]
    return np.repeat(members, [len(a) for a in arcs]), np.concatenate(arcs)


def _poses(lanes: LaneTable, lane: Int, arc: Float) -> Float:
    """``[N, 5]`` x, y, z, pitch and yaw at distances ``arc`` ``[N]`` along lanes ``[N]``."""
    first = np.empty(len(lane), dtype=np.int64)
    for number, (index, distance) in enumerate(zip(lane.tolist(), arc.tolist(), strict=True)):
        part = lanes.points(index)
        inside = int(np.searchsorted(lanes.arc[part], distance, side="right")) - 1
        first[number] = part.start + min(max(inside, 0), part.stop - part.start - 2)
    start, step = lanes.centre[first], lanes.centre[first + 1] - lanes.centre[first]
    run = np.maximum(lanes.arc[first + 1] - lanes.arc[first], 1e-9)
    share = (arc - lanes.arc[first]) / run
    turn = wrap_angle(lanes.heading[first + 1] - lanes.heading[first])
    pitch = np.arctan2(step[:, 2], run)
    yaw = wrap_angle(lanes.heading[first] + share * turn)
    return np.column_stack([start + share[:, None] * step, pitch, yaw])


def _apart(poses: Float) -> Bool:
    """``[N]`` which poses to keep so that no two places overlap; earlier ones win."""
    keep = np.ones(len(poses), dtype=bool)
    if len(poses) < 2:
        return keep
    reach = 2 * float(np.hypot(HALF_LENGTH_M, HALF_WIDTH_M))
    pairs = cKDTree(poses[:, :3]).query_pairs(reach, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    for first, second in pairs[_overlap(poses[pairs[:, 0]], poses[pairs[:, 1]])].tolist():
        keep[second] &= not keep[first]
    return keep


def _overlap(a: Float, b: Float) -> Bool:
    """``[N]`` whether two places overlap in the plane (separating axes)."""
    delta, turn = b[:, :2] - a[:, :2], b[:, 4] - a[:, 4]
    cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    along = HALF_LENGTH_M + cos * HALF_LENGTH_M + sin * HALF_WIDTH_M
    across = HALF_WIDTH_M + sin * HALF_LENGTH_M + cos * HALF_WIDTH_M
    touching = np.abs(b[:, 2] - a[:, 2]) < STOREY_M
    for yaw in (a[:, 4], b[:, 4]):
        x = np.abs(delta[:, 0] * np.cos(yaw) + delta[:, 1] * np.sin(yaw))
        y = np.abs(delta[:, 1] * np.cos(yaw) - delta[:, 0] * np.sin(yaw))
        touching &= (x < along) & (y < across)
    return touching

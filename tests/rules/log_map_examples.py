"""A crossroads and a drive on it, in closed form.

The main road runs along x: two lanes east (centres y = 0 and y = 3.5) and one west (y = 7). From x = 60 to 80 is a
junction: the lanes go on as connectors, and a left turn leaves the right lane. Everything between y = -2 and y = 9
may be driven on, and the leg to the north.
"""

from __future__ import annotations

import numpy as np

from driveproof.datasets.map_shapes import junctions_of, ribbon
from driveproof.geometry.arrays import Float
from driveproof.scene import LightState, Scene
from driveproof.scene.log_map import LaneLights, LogMap, MapLane
from driveproof.scene.types import FUTURE_TIMES, HISTORY_TIMES

BEGIN, ENTRY, EXIT, END = -100.0, 60.0, 80.0, 200.0


def straight(start: float, end: float, y: float) -> Float:
    x = np.linspace(start, end, 21)
    return np.stack([x, np.full(21, y)], -1)


def lane(name: str, centre: Float, *after: str, inside: bool = False) -> MapLane:
    return MapLane(name, centre, ribbon(centre), inside, after)


def crossroads(red: str | None = None, *, lights: bool = True) -> LogMap:
    turn = np.linspace(0.0, np.pi / 2, 15)
    left = np.stack([ENTRY + 12.0 * np.sin(turn), 12.0 - 12.0 * np.cos(turn)], -1)
    lanes = [
        lane("right", straight(BEGIN, ENTRY, 0.0), "right-on", "turn"),
        lane("left", straight(BEGIN, ENTRY, 3.5), "left-on"),
        lane("oncoming", straight(END, EXIT, 7.0), "oncoming-on"),
        lane("right-on", straight(ENTRY, EXIT, 0.0), "right-out", inside=True),
        lane("left-on", straight(ENTRY, EXIT, 3.5), "left-out", inside=True),
        lane("turn", left, "north", inside=True),
        lane("oncoming-on", straight(EXIT, ENTRY, 7.0), "oncoming-out", inside=True),
        lane("right-out", straight(EXIT, END, 0.0)),
        lane("left-out", straight(EXIT, END, 3.5)),
        lane("oncoming-out", straight(ENTRY, BEGIN, 7.0)),
        lane("north", np.stack([np.full(11, ENTRY + 12.0), np.linspace(12.0, 80.0, 11)], -1)),
    ]
    drivable = (
        np.array([[BEGIN, -2.0], [END, -2.0], [END, 9.0], [BEGIN, 9.0]]),
        np.array([[ENTRY, 8.0], [EXIT, 8.0], [EXIT, 80.0], [ENTRY, 80.0]]),
    )
    states = {red: (LightState.RED,) * 3} if red else {}
    known = LaneLights(np.array([0.0, 10.0, 20.0]), states) if lights else None
    return LogMap(tuple(lanes), drivable, junctions_of(lanes, drivable), (), known, ("made",))


def drive(x: float, y: float = 0.0, speed: float = 8.0, shift: float = 0.0) -> Scene:
    """The rear axle passes ``x``, ``y`` at t = 0 eastward; ``shift`` metres to the left between 1 and 3 s."""
    times = np.concatenate([HISTORY_TIMES, FUTURE_TIMES])
    part = np.clip((times - 1.0) / 2.0, 0.0, 1.0)
    side = shift * (3 * part**2 - 2 * part**3)
    slope = shift * 6 * part * (1 - part) / 2.0
    driven = np.stack([speed * times, side, np.arctan2(slope, max(speed, 1e-3))], -1)
    return Scene(
        record_key="made/1/0",
        scene_key="made/1",
        source="made",
        timestamp_s=5.0,
        history=driven[:4],
        future=driven[4:],
        velocity=np.array([speed, 0.0]),
        acceleration=np.zeros(2),
        world_pose=np.array([x, y, 0.0]),
    )


def moved_map(log_map: LogMap, pose: Float) -> LogMap:
    """The map, rigidly moved."""
    from dataclasses import replace

    from driveproof.geometry import points_to_world

    def move(ring: Float) -> Float:
        return points_to_world(ring, pose)

    return replace(
        log_map,
        lanes=tuple(
            replace(a, centre=move(a.centre), outline=move(a.outline)) for a in log_map.lanes
        ),
        drivable=tuple(move(ring) for ring in log_map.drivable),
        junctions=tuple(move(ring) for ring in log_map.junctions),
    )

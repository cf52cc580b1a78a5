"""Scenes of any log as worlds of the rules: the town's map where there is one, tracks resampled to 0.1 s.

The world frame of the rules is the scene's own (the ego pose at t = 0); poses are moved to the rear axle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry import points_to_local, poses_to_local, poses_to_world
from driveproof.geometry.arrays import Bool, Float
from driveproof.maps import TownMap
from driveproof.rules.log_roads import roads_in
from driveproof.rules.plan import plan_poses
from driveproof.rules.roads import MapPolygon, RoadMap
from driveproof.rules.states import DT, N_STATE, STEPS, VehicleShape
from driveproof.rules.town_roads import Way, connector_ahead, polygons_around, way_through
from driveproof.rules.traffic import Signals, Track, Traffic
from driveproof.rules.world import History, World
from driveproof.scene import AgentKind, AgentTracks, LightState, Scene
from driveproof.scene.log_map import LogMap
from driveproof.scene.types import HISTORY_TIMES

_TYPES = {
    AgentKind.VEHICLE: "vehicle",
    AgentKind.PEDESTRIAN: "pedestrian",
    AgentKind.CYCLIST: "bicycle",
    AgentKind.OBSTACLE: "generic_object",
}


@dataclass(frozen=True)
class SceneWorld:
    """A scene ready to be judged: its world, the logged driver's plan ``[41, 3]``, and what had to be assumed."""

    world: World
    human: Float
    notes: tuple[str, ...]


def world_of(
    scene: Scene,
    town: TownMap | None = None,
    *,
    shape: VehicleShape | None = None,
    rear_axle: bool = True,
    later: Sequence[Scene] = (),
    log_map: LogMap | None = None,
) -> SceneWorld:
    """The world of a scene.

    Parameters
    ----------
    scene
        What the log knows. Agents are interpolated linearly to 0.1 s between their first and last sample.
    town
        The map of ``scene.town``; without one the map rules stay unjudged.
    shape
        The ego vehicle; NAVSIM's if not given.
    rear_axle
        Whether the scene's ego poses follow the rear axle; else they follow the box centre.
    later
        Scenes of the same drive at later moments, from which the further states of lights are taken; without them a
        red light is held for 4 s.
    log_map
        The map that came with the scene's log, instead of a town.
    """
    shape = shape or VehicleShape()
    back = 0.0 if rear_axle else shape.rear_axle_to_center
    notes: list[str] = []
    history = _to_rear_axle(scene.history, back)
    future = _to_rear_axle(scene.future, back)
    ego = np.zeros(N_STATE)
    ego[:3] = history[-1]
    ego[3:5], ego[5:7] = scene.velocity, scene.acceleration
    if log_map is not None:
        roads, signals = roads_in(log_map, scene, future, notes)
    else:
        roads, signals = _roads(scene, town, future, later, notes)
    traffic = _traffic(scene.agents, notes)
    human = plan_poses(ego[:3], poses_to_local(future, ego[:3]), 0.5)
    past = _history(history, scene)
    return SceneWorld(World(ego, shape, roads, traffic, signals, past), human, tuple(notes))


def plans_in(world: World, poses: Float, dt: float) -> Float:
    """Plans ``[N, 41, 3]`` from rear-axle poses ``[N, T, 3]`` at dt, 2 dt, … in the ego frame of the scene."""
    return plan_poses(world.ego[:3], poses, dt)


def _to_rear_axle(poses: Float, back: float) -> Float:
    moved = np.array(poses, np.float64)
    moved[:, 0] -= back * np.cos(poses[:, 2])
    moved[:, 1] -= back * np.sin(poses[:, 2])
    return moved


def _history(poses: Float, scene: Scene) -> History:
    """Velocity and acceleration of the past are differentiated from its poses; the present is the scene's own."""
    states = np.zeros((len(poses), 8))
    states[:, :3] = poses
    world_speed = np.gradient(poses[:, :2], HISTORY_TIMES, axis=0)
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    states[:, 3] = world_speed[:, 0] * cos + world_speed[:, 1] * sin
    states[-1, 3:5] = scene.velocity
    states[:, 5] = np.gradient(states[:, 3], HISTORY_TIMES)
    states[-1, 5:7] = scene.acceleration
    return History(np.asarray(HISTORY_TIMES), states)


def _roads(
    scene: Scene, town: TownMap | None, future: Float, later: Sequence[Scene], notes: list[str]
) -> tuple[RoadMap, Signals]:
    if town is None:
        notes.append("no map: DAC, DDC, TLC, EP and LK stay unjudged")
        return RoadMap.of([], None), Signals.unknown()
    driven = poses_to_world(np.concatenate([np.zeros((1, 3)), future]), scene.world_pose)
    way: Way | None = None
    try:
        way = way_through(town, driven)
    except BadInput as error:
        notes.append(f"no route: {error.problem}")
    polygons = [
        _local(polygon, scene.world_pose)
        for polygon in polygons_around(town, scene.world_pose[:2], way)
    ]
    line = None if way is None else points_to_local(way.line, scene.world_pose)
    roads = RoadMap.of(polygons, line)
    return roads, _signals(_red_steps(scene, later), town, way, roads, notes)


def _local(polygon: MapPolygon, pose: Float) -> MapPolygon:
    line = polygon.centerline
    return MapPolygon(
        polygon.id,
        polygon.kind,
        points_to_local(polygon.exterior, pose),
        polygon.on_route,
        None if line is None else points_to_local(line, pose),
    )


def _is_red(scene: Scene) -> bool:
    return any(
        signal.kind == "traffic_light" and signal.affects_ego and signal.state is LightState.RED
        for signal in scene.signals
    )


def _red_steps(scene: Scene, later: Sequence[Scene]) -> Bool:
    """Steps ``[41]`` at which the ego's light is red, each state held until the next scene of the drive."""
    red = np.full(STEPS, _is_red(scene))
    for other in sorted(later, key=lambda each: each.timestamp_s):
        step = round((other.timestamp_s - scene.timestamp_s) / DT)
        if other.scene_key == scene.scene_key and 0 < step < STEPS:
            red[step:] = _is_red(other)
    return red


def _signals(
    red: Bool, town: TownMap, way: Way | None, roads: RoadMap, notes: list[str]
) -> Signals:
    """The ego's light governs the next connector of its way."""
    if not red.any() or way is None:
        return Signals.none()
    connector = connector_ahead(town, way)
    if connector is None or f"lane{connector}" not in roads.ids:
        notes.append("a red light without a junction ahead is left out")
        return Signals.none()
    if red.all():
        notes.append("the light is red for all of 4 s, or held so for want of later states")
    index = roads.ids.index(f"lane{connector}")
    return Signals(np.array([index], np.int64), red[None])


def _traffic(agents: AgentTracks, notes: list[str]) -> Traffic:
    """Tracks from 0 s to 5 s every 0.1 s as far as they are known; boxes without area are left out and counted."""
    count = 51 if len(agents.times) and agents.times[-1] >= 5.0 - 1e-6 else STEPS
    grid = np.asarray(np.arange(count) * DT, np.float64)
    flat = ~(
        np.isfinite(agents.dimensions[:, :2]).all(-1) & (agents.dimensions[:, :2] > 0.0).all(-1)
    )
    if flat.any():
        notes.append(f"{int(flat.sum())} agents without a size are left out")
    tracks = [
        Track(
            agents.track_ids[n],
            _TYPES[agents.kinds[n]],
            float(agents.dimensions[n, 0]),
            float(agents.dimensions[n, 1]),
            _resample(agents.times, agents.states[n], agents.valid[n], grid),
        )
        for n in np.flatnonzero(~flat)
    ]
    return Traffic.of(tracks)


def _resample(times: Float, states: Float, valid: Bool, grid: Float) -> Float:
    """States ``[len(grid), 5]``, NaN outside the first and last valid sample."""
    out = np.full((len(grid), 5), np.nan)
    if not valid.any():
        return out
    known, columns = times[valid], states[valid].copy()
    columns[:, 2] = np.unwrap(columns[:, 2])
    inside = (grid >= known[0] - 1e-6) & (grid <= known[-1] + 1e-6)
    for k in range(5):
        out[inside, k] = np.interp(grid[inside], known, columns[:, k])
    return out

"""Waymo Open Motion Dataset: TFRecords of ``Scenario`` messages, 9.1 s each.

Frame origin: centre of the box of the self-driving car, which swings sideways in turns. Rate: 10 Hz.
Missing: pictures, navigation command. The testing split holds 1.1 s and gives no scene.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from driveproof.datasets import waymo_pb2
from driveproof.datasets.checks import malformed, one_line
from driveproof.datasets.tfrecord import looks_like_tfrecord, read_records
from driveproof.datasets.tracks import build_tracks, ego_log
from driveproof.datasets.womd_map import read_map
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind, AgentTracks, LightState, Log, TrafficSignal

_KINDS = {1: AgentKind.VEHICLE, 2: AgentKind.PEDESTRIAN, 3: AgentKind.CYCLIST}
# TrafficSignalLaneState.State: arrow, round and flashing lights of one colour together
_LIGHTS = {
    1: LightState.RED,
    2: LightState.YELLOW,
    3: LightState.GREEN,
    4: LightState.RED,
    5: LightState.YELLOW,
    6: LightState.GREEN,
    7: LightState.RED,
    8: LightState.YELLOW,
}


def claims(path: Path) -> bool:
    """Whether the first record of a TFRecord is a scenario."""
    if not looks_like_tfrecord(path):
        return False
    try:
        _, payload = next(read_records(path))
        scenario = waymo_pb2.Scenario.FromString(payload)
    except (BadInput, DecodeError):
        return False
    return bool(scenario.scenario_id and scenario.tracks)


def read(path: Path) -> Iterator[Log]:
    """Yield one log a scenario.

    Raises
    ------
    BadInput
        Naming the record and the field.
    """
    for index, (_, payload) in enumerate(read_records(path)):
        field = f"record {index}"
        try:
            scenario = waymo_pb2.Scenario.FromString(payload)
        except DecodeError as error:
            raise BadInput(f"no Scenario: {one_line(error)}", path=path, field=field) from None
        with malformed(path, field):
            log = _read_scenario(scenario, path, field)
        yield log


def _read_scenario(scenario: waymo_pb2.Scenario, path: Path, field: str) -> Log:
    ego = scenario.sdc_track_index
    if not scenario.scenario_id or not 0 <= ego < len(scenario.tracks):
        raise BadInput("no Scenario: lacks its id or its own car", path=path, field=field)
    times = np.array(scenario.timestamps_seconds, dtype=np.float64)
    tracks = _tracks(scenario, times - times[0], path, field)
    signals = {
        step: tuple(_signal(lane) for lane in state.lane_states)
        for step, state in enumerate(scenario.dynamic_map_states)
        if state.lane_states
    }
    return ego_log(
        tracks,
        ego,
        path,
        source="womd",
        log_id=scenario.scenario_id,
        signals=signals,
        missing=frozenset({"images", "command", "signs"}),
        load_map=partial(read_map, scenario, times - times[0], path, field)
        if scenario.map_features
        else None,
    )


def _tracks(scenario: waymo_pb2.Scenario, times: Float, path: Path, field: str) -> AgentTracks:
    ids, kinds, dimensions, states, valid = [], [], [], [], []
    for number, track in enumerate(scenario.tracks):
        if len(track.states) != len(times):
            problem = f"{len(track.states)} states for {len(times)} times"
            raise BadInput(problem, path=path, field=f"{field}, tracks[{number}]")
        rows = np.array(
            [
                (
                    s.center_x,
                    s.center_y,
                    s.heading,
                    s.velocity_x,
                    s.velocity_y,
                    s.length,
                    s.width,
                    s.height,
                )
                for s in track.states
            ]
        )
        seen = np.array([s.valid for s in track.states], dtype=bool)
        ids.append(str(track.id))
        kinds.append(_KINDS.get(track.object_type, AgentKind.OBSTACLE))
        dimensions.append(tuple(np.median(rows[seen, 5:], axis=0)) if seen.any() else (0.0,) * 3)
        states.append(rows[:, :5])
        valid.append(seen)
    return build_tracks(times, ids, kinds, dimensions, states, valid)


def _signal(lane: waymo_pb2.TrafficSignalLaneState) -> TrafficSignal:
    """A light, placed at the stop point of the lane that it governs."""
    place = (lane.stop_point.x, lane.stop_point.y)
    return TrafficSignal(
        str(lane.lane), "traffic_light", place, _LIGHTS.get(lane.state, LightState.UNKNOWN)
    )

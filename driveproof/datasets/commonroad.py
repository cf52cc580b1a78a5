"""CommonRoad scenarios (2018b, 2020a) of recorded traffic: every vehicle in the file is an ego in turn.

Frame origin: centre of the shape. Rate: ``timeStepSize``, 10 Hz in the NGSIM scenarios. Only scenarios whose
``source`` names a recorder are read: most others are simulated. All egos of a file share one scene key, but
scenarios of one map may overlap in time: import one of them, or expect near duplicates. Missing: pictures,
navigation command, signals, box heights.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree as safe_xml
import numpy as np
from defusedxml import DefusedXmlException

from driveproof.datasets.checks import malformed, one_line
from driveproof.datasets.tracks import NOMINAL_DIMENSIONS, build_tracks, ego_log
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import rotate
from driveproof.scene import AgentKind, AgentTracks, Log

RECORDERS = ("NGSIM", "inD", "highD", "rounD", "INTERACTION")
_MAX_STEPS = 100_000
_KINDS = {
    "pedestrian": AgentKind.PEDESTRIAN,
    "bicycle": AgentKind.CYCLIST,
}


def claims(path: Path) -> bool:
    """Whether an xml file starts with the root of a scenario."""
    if not (path.is_file() and path.suffix == ".xml"):
        return False
    with path.open("rb") as stream:
        return b"<commonRoad" in stream.read(2048)


def read(path: Path) -> Iterator[Log]:
    """Yield one log a moving vehicle, in the order of the obstacle numbers.

    Raises
    ------
    BadInput
        Naming the obstacle; also for a scenario that nobody recorded.
    """
    try:
        root = safe_xml.parse(path).getroot()
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise BadInput(f"not harmless XML: {one_line(repr(error))}", path=path) from None
    if root is None or root.tag != "commonRoad":
        raise BadInput("no CommonRoad scenario", path=path)
    if not any(name in root.get("source", "") for name in RECORDERS):
        raise BadInput("names no recorder: simulated motion", path=path, field="source")
    with malformed(path):
        step = float(root.get("timeStepSize", ""))
        if not 0.01 <= step <= 1.0:
            raise BadInput(f"{step} s", path=path, field="timeStepSize")
        tracks = _tracks(root, step, path)
    for ego, kind in enumerate(tracks.kinds):
        if kind is AgentKind.VEHICLE:
            yield ego_log(
                tracks,
                ego,
                path,
                source="commonroad",
                log_id=root.get("benchmarkID") or path.stem,
                name_frames=True,
                missing=frozenset({"agent_dimensions", "images", "command", "signals"}),
            )


def _tracks(root: Element, step: float, path: Path) -> AgentTracks:
    moving = [*root.findall("dynamicObstacle")]  # 2020a
    moving += [o for o in root.findall("obstacle") if o.findtext("role") == "dynamic"]  # 2018b
    moving.sort(key=lambda obstacle: int(obstacle.get("id", "")))
    if not moving:
        raise BadInput("holds no moving obstacle", path=path)
    histories = [_history(obstacle, path) for obstacle in moving]
    count = max(max(history) for history in histories) + 1
    ids, kinds, dimensions, states, valid = [], [], [], [], []
    for obstacle, history in zip(moving, histories, strict=True):
        kind = _KINDS.get(obstacle.findtext("type", ""), AgentKind.VEHICLE)
        length, width, height = NOMINAL_DIMENSIONS[kind]
        shape = obstacle.find("shape/rectangle")
        if shape is not None:
            length = float(shape.findtext("length", ""))
            width = float(shape.findtext("width", ""))
        row = np.full((count, 5), np.nan)
        row[list(history)] = list(history.values())
        ids.append(str(obstacle.get("id")))
        kinds.append(kind)
        dimensions.append((length, width, height))
        states.append(row)
        valid.append(np.isfinite(row).all(1))
    times: Float = np.arange(count, dtype=np.float64) * step
    return build_tracks(times, ids, kinds, list(dimensions), states, valid)


def _history(obstacle: Element, path: Path) -> dict[int, Float]:
    """Step -> x, y, heading, vx, vy of an obstacle."""
    found: dict[int, Float] = {}
    with malformed(path, f"obstacle {obstacle.get('id')}"):
        for state in (*obstacle.findall("initialState"), *obstacle.findall("trajectory/state")):
            number = int(state.findtext("time/exact", ""))
            if not 0 <= number < _MAX_STEPS:
                raise BadInput(
                    f"time step {number}", path=path, field=f"obstacle {obstacle.get('id')}"
                )
            heading = float(state.findtext("orientation/exact", ""))
            speed = float(state.findtext("velocity/exact", ""))
            velocity = rotate(np.array([speed, 0.0]), heading)
            x, y = (float(state.findtext(f"position/point/{axis}", "")) for axis in "xy")
            found[number] = np.array([x, y, heading, *velocity])
        if not found:
            raise BadInput("has no state", path=path, field=f"obstacle {obstacle.get('id')}")
    return found

"""Bench2Drive annotations as frames; our recorder writes the same format from a live session."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from driveproof.commenter.frame import Agent, CameraPose, Frame, Kind, Roles, Signal
from driveproof.scene import Command, LightState

RATE_HZ = 10.0
_LIGHTS = (LightState.RED, LightState.YELLOW, LightState.GREEN, LightState.OFF, LightState.UNKNOWN)


def frame_of(
    anno: Mapping[str, Any], index: int, scenario: str = "", roles: Roles | None = None
) -> Frame:
    """An annotation (CARLA's left-handed degrees) as a right-handed frame.

    Parameters
    ----------
    scenario
        The name of the scenario in route files.
    roles
        Role actors, if somebody knows them better than the annotation, where our recorder notes them.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the annotation lacks a field or holds another type; whoever reads files says which file.
    """
    boxes = anno["bounding_boxes"]
    ego_box = next((box for box in boxes if box["class"] == "ego_vehicle"), None)
    if ego_box is None:
        raise ValueError("bounding_boxes: no ego_vehicle")
    ego = _agent(ego_box, "vehicle", _number(anno.get("speed"), ego_box.get("speed")))
    agents, signals = [], []
    for box in boxes:
        if box is ego_box:
            continue
        name = box["class"]
        if name in ("vehicle", "walker", "pedestrian"):
            agents.append(_agent(box, "vehicle" if name == "vehicle" else "walker"))
        elif str(box.get("type_id", "")).startswith("static."):
            agents.append(_agent(box, "prop"))
        else:
            signals.append(_signal(box))
    return Frame(
        index=index,
        time=index / RATE_HZ,
        scenario=scenario,
        ego=ego,
        agents=tuple(agents),
        signals=tuple(signals),
        command_near=_command(anno.get("command_near")),
        command_far=_command(anno.get("command_far", anno.get("next_command"))),
        near=_point(anno, "x_command_near", "y_command_near"),
        far=_point(anno, "x_command_far", "y_command_far"),
        weather={k: float(v) for k, v in anno.get("weather", {}).items() if _is_number(v)},
        cameras=tuple(_cameras(anno.get("sensors", {}))),
        roles=roles or _roles(anno.get("driveproof")),
    )


def _roles(beyond: Any) -> Roles:
    """The roles that our own recorder notes."""
    noted = beyond.get("roles", {}) if isinstance(beyond, Mapping) else {}
    return Roles({str(role): tuple(str(n) for n in ids) for role, ids in noted.items()})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(*values: Any) -> float:
    """The first of ``values`` that is a number; 0 if none is (speedometers say None at times)."""
    return next((float(value) for value in values if _is_number(value)), 0.0)


def _agent(box: Mapping[str, Any], kind: Kind, speed: float | None = None) -> Agent:
    # Standing vehicles have a wrong location in the original data, their centre is right.
    x, y, z = (float(v) for v in box.get("center") or box["location"])
    length, width, height = (2.0 * float(half) for half in box["extent"])
    values = (x, y, z, length, width, height, float(box["rotation"][2]))
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"bounding_boxes: {box.get('id')}: not finite")
    return Agent(
        id=str(box["id"]),
        type_id=str(box.get("type_id", "")),
        base_type=str(box.get("base_type", "")),
        kind=kind,
        x=x,
        y=-y,
        z=z,
        heading=math.remainder(-math.radians(values[-1]), math.tau),
        length=length,
        width=width,
        height=height,
        speed=_number(box.get("speed")) if speed is None else speed,
        brake=_number(box.get("brake")),
        lamps=_lamps(box.get("light_state")),
        colour=_colour(box.get("color")),
        points=int(_number(box.get("num_points"), 10_000)),
        parked=box.get("state") == "static",
    )


def _lamps(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def _colour(value: Any) -> tuple[int, int, int] | None:
    try:
        r, g, b = (int(part) for part in str(value).split(","))
    except ValueError:
        return None
    return (r, g, b) if all(0 <= part <= 255 for part in (r, g, b)) else None


def _signal(box: Mapping[str, Any]) -> Signal:
    x, y, _ = box["location"]
    place = box.get("trigger_volume_location")
    light = box["class"] == "traffic_light"
    state = box.get("state")
    shown = _LIGHTS[state] if isinstance(state, int) and 0 <= state < len(_LIGHTS) else None
    return Signal(
        id=str(box["id"]),
        type_id="traffic.traffic_light" if light else str(box.get("type_id", "")),
        x=float(x),
        y=-float(y),
        stop=(float(place[0]), -float(place[1])) if place else None,
        state=shown if light and shown else LightState.UNKNOWN,
        affects_ego=bool(box.get("affects_ego")),
    )


def _command(value: Any) -> Command:
    return Command(value) if isinstance(value, int) and 1 <= value <= 6 else Command.UNKNOWN


def _point(anno: Mapping[str, Any], x: str, y: str) -> tuple[float, float] | None:
    if not (_is_number(anno.get(x)) and _is_number(anno.get(y))):
        return None
    return float(anno[x]), -float(anno[y])


def _cameras(sensors: Mapping[str, Any]) -> Iterable[CameraPose]:
    for name in sorted(sensors):
        sensor = sensors[name]
        if name.startswith("CAM_") and {"world2cam", "intrinsic"} <= sensor.keys():
            yield CameraPose(
                name,
                np.asarray(sensor["world2cam"], dtype=np.float64).reshape(4, 4),
                np.asarray(sensor["intrinsic"], dtype=np.float64).reshape(3, 3),
                int(sensor["image_size_x"]),
                int(sensor["image_size_y"]),
            )

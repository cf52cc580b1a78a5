"""Streets, cars and plans in closed form, as documents of the case schema, and rigid motions of them."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driveproof.rules import Case, Scores, case_of

Doc = dict[str, Any]
LANE = 3.5
TIMES = np.arange(1, 9) * 0.5


def rectangle(x0: float, x1: float, y0: float, y1: float) -> list[list[float]]:
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def lane(name: str, y: float, *, along: bool = True, kind: str = "LANE") -> Doc:
    """A straight lane along x whose centre is at ``y``, driven towards +x or -x."""
    xs, heading = ((-60.0, 160.0), 0.0) if along else ((160.0, -60.0), math.pi)
    return {
        "id": name,
        "type": kind,
        "exterior": rectangle(-60.0, 160.0, y - LANE / 2, y + LANE / 2),
        "centerline": [[x, y, heading] for x in xs],
    }


def street(speed: float = 8.0) -> Doc:
    """Ego at the origin driving along x; lane "here" (y 0), "beside" (y 3.5) likewise, "against" (y 7); no reference."""
    ego = {"x": 0.0, "y": 0.0, "heading": 0.0, "vx": speed, "vy": 0.0, "ax": 0.0, "ay": 0.0}
    block = {"id": "block", "type": "ROADBLOCK", "exterior": rectangle(-60.0, 160.0, -1.75, 8.75)}
    lanes = [lane("here", 0.0), lane("beside", 3.5), lane("against", 7.0, along=False)]
    return {
        "schema": "navsim-epdms-golden/1",
        "id": "street",
        "vehicle": {
            "length": 5.176,
            "width": 2.297,
            "wheel_base": 3.089,
            "rear_axle_to_center": 1.461,
        },
        "ego": ego,
        "ego_history": [
            {**ego, "x": speed * t, "t": t, "steering_angle": 0.0} for t in (-1.5, -1.0, -0.5, 0.0)
        ],
        "map": {
            "polygons": [block, *lanes],
            "route_lane_ids": ["here"],
            "centerline": [[-60.0, 0.0, 0.0], [160.0, 0.0, 0.0]],
        },
        "traffic_lights": [],
        "agents": [],
        "reference_trajectory": None,
        "human_trajectory": None,
        "proposals": [],
        "previous_frame": None,
    }


def plan(x: Callable[[float], float], y: Callable[[float], float] = lambda t: 0.0) -> Doc:
    """A plan through (x(t), y(t)) with the heading of its course."""
    poses = []
    for t in TIMES:
        dx, dy = x(t + 1e-3) - x(t - 1e-3), y(t + 1e-3) - y(t - 1e-3)
        heading = math.atan2(dy, dx) if abs(dx) + abs(dy) > 1e-9 else 0.0
        poses.append([x(t), y(t), heading])
    return {"dt": 0.5, "frame": "ego", "poses": poses}


def cruise(speed: float) -> Doc:
    return plan(lambda t: speed * t)


def brake(speed: float, deceleration: float) -> Doc:
    """Constant deceleration to a stop."""
    return plan(
        lambda t: (
            speed * min(t, speed / deceleration)
            - 0.5 * deceleration * min(t, speed / deceleration) ** 2
        )
    )


def car(
    token: str,
    x: float,
    y: float,
    *,
    vx: float = 0.0,
    vy: float = 0.0,
    heading: float | None = None,
    kind: str = "vehicle",
    length: float = 4.6,
    width: float = 1.9,
) -> Doc:
    """An agent in uniform motion for 4 s."""
    if heading is None:
        heading = math.atan2(vy, vx) if vx or vy else 0.0
    states = [[x + vx * k * 0.1, y + vy * k * 0.1, heading, vx, vy] for k in range(41)]
    return {"token": token, "type": kind, "length": length, "width": width, "states": states}


def with_plans(doc: Doc, **plans: Doc) -> Doc:
    doc = copy.deepcopy(doc)
    doc["proposals"] = [{"name": name, **copy.deepcopy(one)} for name, one in plans.items()]
    return doc


def read(doc: Doc) -> Case:
    return case_of(json.dumps(doc))


def score(doc: Doc, **options: Any) -> Scores:
    return read(doc).score(**options)


def _pose(pose: list[float], motion: tuple[float, float, float]) -> list[float]:
    dx, dy, turn = motion
    c, s = math.cos(turn), math.sin(turn)
    x, y = pose[0], pose[1]
    moved = [dx + c * x - s * y, dy + s * x + c * y]
    return [*moved, pose[2] + turn] if len(pose) > 2 else moved


def moved(doc: Doc, motion: tuple[float, float, float]) -> Doc:
    """The same scene in a world that is rotated by ``motion[2]`` and then shifted."""
    doc = copy.deepcopy(doc)
    c, s = math.cos(motion[2]), math.sin(motion[2])
    for state in [doc["ego"], *(doc["ego_history"] or [])]:
        state["x"], state["y"], state["heading"] = _pose(
            [state["x"], state["y"], state["heading"]], motion
        )
    _map_points(doc, lambda pose: _pose(pose, motion))
    for agent in doc["agents"]:
        agent["states"] = [
            state
            and [
                *_pose(state[:3], motion),
                c * state[3] - s * state[4],
                s * state[3] + c * state[4],
            ]
            for state in agent["states"]
        ]
    return doc


def mirrored(doc: Doc) -> Doc:
    """The same scene with left and right exchanged (y to -y in the world and in the ego frame)."""
    doc = copy.deepcopy(doc)
    flip = ("y", "heading", "vy", "ay", "steering_angle", "steering_rate", "angular_velocity")
    for state in [doc["ego"], *(doc["ego_history"] or [])]:
        for key in flip:
            if key in state:
                state[key] = -state[key]
    _map_points(doc, lambda pose: [pose[0], -pose[1], *(-h for h in pose[2:])])
    for agent in doc["agents"]:
        agent["states"] = [
            state and [state[0], -state[1], -state[2], state[3], -state[4]]
            for state in agent["states"]
        ]
    for part in [*doc["proposals"], doc["reference_trajectory"], doc["human_trajectory"]]:
        if part:
            part["poses"] = [[x, -y, -h] for x, y, h in part["poses"]]
    return doc


def _map_points(doc: Doc, change: Callable[[list[float]], list[float]]) -> None:
    for polygon in doc["map"]["polygons"]:
        polygon["exterior"] = [change(point) for point in polygon["exterior"]]
        if polygon.get("centerline"):
            polygon["centerline"] = [change(point) for point in polygon["centerline"]]
    doc["map"]["centerline"] = [change(point) for point in doc["map"]["centerline"]]

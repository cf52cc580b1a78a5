"""Where others will be in the next seconds, and where oneself would be: boxes over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.scene import LightState
from driveproof.sim.drivers.agents import Agent, Vehicle
from driveproof.sim.drivers.path import STEP
from driveproof.sim.drivers.yielding import CAN_STOP, Lights

HORIZON, TICK = 4.5, 0.25
"""Seconds that are looked ahead, and between two looks."""
BRAKE_DELAY = 0.2
"""Seconds until the own brakes bite."""
TIMES = np.arange(1, round(HORIZON / TICK) + 1) * TICK
TURN_FADES = 1.5
"""Seconds after which a turning vehicle is expected to go straight on."""
BRAKE_LASTS = 1.5
"""Seconds for which the present acceleration is expected to last."""


def expected(agent: Agent, lights: Lights) -> list[Float]:
    """Poses ``[T, 3]`` of the box centre at :data:`TIMES`, one array for each guess of what the agent will do."""
    if not isinstance(agent, Vehicle):
        return [_straight(agent)]
    travel = _travel(agent, lights)
    guesses = [_along_path(agent, travel)]
    if not agent.driven:
        guesses.append(_turning(agent, travel))
    return guesses


def _straight(agent: Agent) -> Float:
    move = agent.speed * TIMES
    x, y = agent.x + move * math.cos(agent.heading), agent.y + move * math.sin(agent.heading)
    return np.stack([x, y, np.full_like(TIMES, agent.heading)], axis=-1)


def _travel(vehicle: Vehicle, lights: Lights) -> Float:
    """Metres travelled ``[T]``: the present acceleration lasts a little, and red lights are obeyed if possible."""
    speed = max(vehicle.speed, 0.0)
    accel = min(max(vehicle.state.accel, -6.0), 1.0)
    lasting = np.minimum(TIMES, BRAKE_LASTS)
    if accel < 0.0:
        lasting = np.minimum(lasting, speed / -accel)
    reached = max(speed + accel * BRAKE_LASTS, 0.0)
    travel = speed * lasting + 0.5 * accel * lasting**2
    travel += reached * np.maximum(TIMES - BRAKE_LASTS, 0.0)
    stop = halt_before(vehicle, lights)
    return np.asarray(travel if stop is None else np.minimum(travel, max(stop, 0.0)))


def halt_before(vehicle: Vehicle, lights: Lights) -> float | None:
    """Metres to the red light or sign at which the vehicle may be trusted to stop; None if there is none."""
    for stop in vehicle.path.stops:
        distance = stop.s - vehicle.s_front
        if distance < -0.5:
            continue
        if stop.kind == "light":
            if lights.get(stop.signal_id) is not LightState.RED:
                return None
        elif stop.kind != "stop" or stop.signal_id in vehicle.cleared:
            continue
        needed = vehicle.speed**2 / (2.0 * max(distance, 0.3))
        return distance if needed < CAN_STOP else None
    return None


def _along_path(vehicle: Vehicle, travel: Float) -> Float:
    s = vehicle.s + vehicle.body.rear + travel
    return path_poses(vehicle, s, _beside(vehicle))


def _beside(vehicle: Vehicle) -> float:
    """Metres that the vehicle is now left of where its path and plan want it."""
    x, y = vehicle.path.point(vehicle.s, vehicle.offset_at(vehicle.s))
    course = float(vehicle.path.heading[vehicle.path.index(vehicle.s)])
    dx, dy = vehicle.state.x - x, vehicle.state.y - y
    return dy * math.cos(course) - dx * math.sin(course)


def path_poses(vehicle: Vehicle, s: Float, beside: float = 0.0) -> Float:
    """Poses ``[..., 3]`` at arc lengths ``s`` of a vehicle's path, with its plan and ``beside`` metres left."""
    path = vehicle.path
    index = np.clip((s / STEP).astype(np.int64), 0, len(path.xy) - 2)
    heading = path.heading[index]
    rest = (s - index * STEP)[..., None]
    along = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    offset = (vehicle.offsets(s) + beside)[..., None]
    normal = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    xy = path.xy[index] + rest * along + offset * normal
    return np.concatenate([xy, heading[..., None]], axis=-1)


def _turning(vehicle: Vehicle, travel: Float) -> Float:
    """Constant turn rate that fades: where a vehicle goes that does not follow its lane."""
    rate = vehicle.state.yaw_rate if abs(vehicle.state.yaw_rate) > 0.02 else 0.0
    turned = rate * np.minimum(TIMES, TURN_FADES)
    heading = vehicle.heading + turned
    middle = vehicle.heading + 0.5 * turned
    steps = np.diff(travel, prepend=0.0)
    course = np.where(TIMES <= TURN_FADES, middle, heading)
    x = vehicle.x + np.cumsum(steps * np.cos(course))
    y = vehicle.y + np.cumsum(steps * np.sin(course))
    return np.stack([x, y, heading], axis=-1)


def own_positions(driver: Vehicle, accel: float, top: float) -> tuple[Float, Float]:
    """Box centre poses ``[T, 3]`` and metres driven ``[T]`` with an acceleration up to ``top`` m/s, or to a stand.

    Brakes bite after :data:`BRAKE_DELAY`.
    """
    speed = max(driver.speed, 0.0)
    if accel >= 0.0:
        until = (top - speed) / accel if accel > 0.0 and top > speed else 0.0
        gaining = np.minimum(TIMES, until)
        travel = speed * TIMES + 0.5 * accel * gaining**2 + accel * gaining * (TIMES - gaining)
    else:
        late = np.minimum(TIMES, BRAKE_DELAY)
        lasting = np.minimum(np.maximum(TIMES - BRAKE_DELAY, 0.0), speed / -accel)
        travel = speed * (late + lasting) + 0.5 * accel * lasting**2
    return path_poses(driver, driver.s + driver.body.rear + travel), travel


def near_agents(
    driver: Vehicle, agents: Sequence[Agent], reach: float, level: float
) -> list[Agent]:
    """Those within ``reach`` metres and on the same level."""
    return [
        a
        for a in agents
        if a is not driver
        and abs(a.x - driver.x) + abs(a.y - driver.y) < reach
        and abs(a.z - driver.z) < level
    ]

"""Route records and motions for tests, in driving terms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from driveproof.evaluation.driving.motion import Motion
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.geometry.arrays import Float
from driveproof.sim.criteria import Infraction, InfractionKind

Kind = InfractionKind


def infraction(kind: Kind, share: float = math.nan, **more: Any) -> Infraction:
    """Something that went wrong at (10, 5) after four seconds."""
    return replace(Infraction(kind, 4.0, (10.0, 5.0), text=f"{kind}", share=share), **more)


def record(route: str = "1", *kinds: Infraction | Kind, **more: Any) -> RouteRecord:
    """A whole route of 100 m driven with these infractions."""
    found = tuple(k if isinstance(k, Infraction) else infraction(k) for k in kinds)
    whole = RouteRecord(
        route_id=route,
        repeat=0,
        index=0,
        scenarios=("Accident",),
        town="Town12",
        weather_id="3",
        state=RouteState.COMPLETED,
        status=Status.COMPLETED,
        completion=1.0,
        infractions=found,
        length_m=100.0,
        game_s=20.0,
        system_s=5.0,
        speed_shares=(),
    )
    return replace(whole, **more)


def motion(
    dt: float, lon: Float | float, lat: Float | float = 0.0, yaw: Float | float = 0.0, n: int = 0
) -> Motion:
    """Accelerations and yaw rates ``[N]`` every ``dt`` seconds; a number is held for ``n`` samples."""
    count = max([n, *(len(v) for v in (lon, lat, yaw) if isinstance(v, np.ndarray))])
    zero = np.zeros(count)
    return Motion(
        time=dt * np.arange(count),
        x=zero,
        y=zero,
        z=zero,
        heading=zero,
        speed=zero,
        accel_lon=zero + lon,
        accel_lat=zero + lat,
        yaw_rate=zero + yaw,
        throttle=zero,
        brake=zero,
        steer=zero,
        completion=zero,
    )

"""Light, weather and other hazards of the surroundings.

Thresholds: Bench2Drive-VL (sun altitude 40, 20 and 0 degrees; rain 20, 50, 80; fog 40; wetness 80; deposits 40, 80).
Tunnels are road sections that the map says run below another road, not one hand-drawn box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driveproof.commenter.context import Context
from driveproof.commenter.frame import Agent
from driveproof.commenter.naming import kind_of
from driveproof.questions import ObjectKind
from driveproof.questions import terms as t

PARKED_AHEAD_M = 40.0
BLIND_AHEAD_M = 30.0
BLIND_BESIDE_M = 7.0
DEBRIS_AHEAD_M = 40.0
_BLIND_SCENARIOS = frozenset(
    {
        "DynamicObjectCrossing",
        "ParkingCrossingPedestrian",
        "ParkingCutIn",
        "VehicleTurningRoute",
        "VehicleTurningRoutePedestrian",
    }
)


@dataclass(frozen=True)
class Surroundings:
    """Typed facts about light, weather and hazards."""

    daytime: t.Daytime
    sky: t.Sky
    dangers: frozenset[t.Danger]
    hazards: frozenset[t.Hazard]

    @property
    def weather_strategies(self) -> frozenset[t.Strategy]:
        """How to drive in this light and weather."""
        found: set[t.Strategy] = set()
        if t.Danger.LOW_VISIBILITY in self.dangers:
            found |= {t.Strategy.SLOW_DOWN, t.Strategy.LIGHTS_ON, t.Strategy.KEEP_DISTANCE}
        if t.Danger.SKIDDING in self.dangers:
            found |= {t.Strategy.SLOW_DOWN, t.Strategy.KEEP_DISTANCE, t.Strategy.BRAKE_GENTLY}
        return frozenset(found)

    @property
    def hazard_strategies(self) -> frozenset[t.Strategy]:
        """How to drive because of the hazards."""
        found: set[t.Strategy] = set()
        if self.hazards & {t.Hazard.PUDDLES, t.Hazard.FLOOD}:
            found |= {t.Strategy.SLOW_DOWN, t.Strategy.BRAKE_GENTLY}
        if self.hazards & {t.Hazard.PARKED_LEFT, t.Hazard.PARKED_RIGHT}:
            found |= {t.Strategy.WATCH_ROADSIDE}
        if t.Hazard.BLIND_SPOT in self.hazards:
            found |= {t.Strategy.SLOW_DOWN, t.Strategy.READY_TO_BRAKE}
        if t.Hazard.DEBRIS in self.hazards:
            found |= {t.Strategy.SLOW_DOWN, t.Strategy.AVOID_DEBRIS}
        return frozenset(found)


def surroundings_of(context: Context, in_tunnel: bool) -> Surroundings:
    """What light, weather and surroundings ask of the ego."""
    weather = context.frame.weather
    daytime = t.Daytime.UNKNOWN if in_tunnel else daytime_of(weather)
    sky = t.Sky.UNKNOWN if in_tunnel else sky_of(weather)
    dangers = _dangers(weather, daytime_of(weather))
    return Surroundings(daytime, sky, dangers, _hazards(context))


def daytime_of(weather: Mapping[str, float]) -> t.Daytime:
    """By the altitude of the sun."""
    sun = weather.get("sun_altitude_angle", 45.0)
    if sun < 0.0:
        return t.Daytime.NIGHT
    if sun < 20.0:
        return t.Daytime.TWILIGHT
    return t.Daytime.NOON if sun > 40.0 else t.Daytime.DAY


def sky_of(weather: Mapping[str, float]) -> t.Sky:
    """Rain before fog before clouds."""
    rain = weather.get("precipitation", 0.0)
    for least, sky in ((80.0, t.Sky.HEAVY_RAIN), (50.0, t.Sky.RAIN), (20.0, t.Sky.LIGHT_RAIN)):
        if rain >= least:
            return sky
    if weather.get("fog_density", 0.0) >= 40.0:
        return t.Sky.FOG
    return t.Sky.CLOUDY if weather.get("cloudiness", 0.0) > 50.0 else t.Sky.CLEAR


def _dangers(weather: Mapping[str, float], daytime: t.Daytime) -> frozenset[t.Danger]:
    rain, deposits = weather.get("precipitation", 0.0), weather.get("precipitation_deposits", 0.0)
    found = set()
    dim = daytime is t.Daytime.NIGHT or rain >= 50.0 or weather.get("fog_density", 0.0) >= 40.0
    if dim or weather.get("wetness", 0.0) >= 80.0:
        found.add(t.Danger.LOW_VISIBILITY)
    if rain >= 50.0 or deposits >= 40.0:
        found.add(t.Danger.SKIDDING)
    return frozenset(found)


def _hazards(context: Context) -> frozenset[t.Hazard]:
    found = set()
    deposits = context.frame.weather.get("precipitation_deposits", 0.0)
    if deposits >= 40.0:
        found.add(t.Hazard.FLOOD if deposits >= 80.0 else t.Hazard.PUDDLES)
    road = context.road
    for agent, (x, y, _) in zip(context.frame.agents, context.local.tolist(), strict=True):
        if agent.parked and 0.0 < x <= PARKED_AHEAD_M and abs(y) < 10.0:
            if y > 0.0 and not road.left.drivable:
                found.add(t.Hazard.PARKED_LEFT)
            if y <= 0.0 and not road.right.drivable:
                found.add(t.Hazard.PARKED_RIGHT)
        if kind_of(agent) is ObjectKind.DEBRIS and 0.0 < x <= DEBRIS_AHEAD_M and abs(y) < 6.0:
            found.add(t.Hazard.DEBRIS)
        if _hides(context, agent, x, y):
            found.add(t.Hazard.BLIND_SPOT)
    return frozenset(found)


def _hides(context: Context, agent: Agent, x: float, y: float) -> bool:
    """Whether somebody may step out from behind it: tall and standing beside the lane, where scenarios hide people."""
    if context.frame.scenario not in _BLIND_SCENARIOS or not 1.5 < x <= BLIND_AHEAD_M:
        return False
    standing = abs(agent.speed) < 0.1 and agent.kind != "walker"
    return standing and agent.height > 1.0 and 1.0 < abs(y) < BLIND_BESIDE_M

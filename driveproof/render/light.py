"""Weather as light: sky colours, sun, fog, wet roads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import isfinite
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float, Float32
from driveproof.render.view import Weather

Colour3 = tuple[float, float, float]
#: Steps of the table of air, in a metre; entries of the tables of air and sky.
AIR_STEPS, AIR_ENTRIES, SKY_ENTRIES = 2, 8192, 256


class WeatherNumbers(Protocol):
    """The weather parameters of CARLA that a picture shows."""

    @property
    def cloudiness(self) -> float:
        """Percent."""

    @property
    def precipitation(self) -> float:
        """Percent."""

    @property
    def precipitation_deposits(self) -> float:
        """Puddles in percent."""

    @property
    def sun_azimuth_angle(self) -> float:
        """Degrees, clockwise from above."""

    @property
    def sun_altitude_angle(self) -> float:
        """Degrees above the horizon."""

    @property
    def fog_density(self) -> float:
        """Percent."""

    @property
    def wetness(self) -> float:
        """Percent."""

    @property
    def dust_storm(self) -> float:
        """Percent."""


@dataclass(frozen=True)
class Light:
    """RGB in 0..255.

    Parameters
    ----------
    zenith, horizon
        Sky colours; the horizon's is also the fog's.
    ambient
        ``[3]`` factors on everything that does not shine itself.
    fog_m
        Distance over which contrast falls to 1/e, metres.
    contrast
        How much brighter a face is that looks into the sun.
    sun
        Unit vector towards it, world frame.
    night
        0 by day to 1 in the dark: windows, lamps and headlights shine.
    wet, rain
        0 to 1: how much the road mirrors the sky; how dense the streaks are.
    """

    zenith: Colour3
    horizon: Colour3
    ambient: Colour3
    fog_m: float
    contrast: float
    sun: Colour3 = (0.5, 0.4, 0.77)
    night: float = 0.0
    wet: float = 0.0
    rain: float = 0.0

    def lit(self, colour: ArrayLike, normals: Float, shines: ArrayLike) -> Float32:
        """Colours ``[P, 3]`` of faces with unit normals ``[P, 3]`` in this light, before fog."""
        facing = np.maximum(normals @ np.array(self.sun), 0.0)
        factor = (1.0 - self.contrast + self.contrast * facing)[:, None] * np.array(self.ambient)
        factor[np.asarray(shines)] = 1.0
        return np.asarray(factor * np.asarray(colour), dtype=np.float32)

    @property
    def air(self) -> Float32:
        """``[8192]`` share of an object's own light that comes through so many half metres."""
        return _air(self)

    @property
    def sky(self) -> Float32:
        """``[256, 3]`` colour of the sky by the sine of the elevation, from -1 to 1."""
        return _sky(self)


@lru_cache(maxsize=8)
def _air(light: Light) -> Float32:
    distance = np.arange(AIR_ENTRIES) / AIR_STEPS
    return np.asarray(np.exp(-distance / light.fog_m), dtype=np.float32)


@lru_cache(maxsize=8)
def _sky(light: Light) -> Float32:
    sine = np.linspace(-1.0, 1.0, SKY_ENTRIES)
    share = np.clip(np.arcsin(sine) / np.radians(40.0), 0.0, 1.0)[:, None] ** 0.7
    zenith, horizon = np.array(light.zenith), np.array(light.horizon)
    return np.asarray(horizon + share * (zenith - horizon), dtype=np.float32)


_DAY = (np.array([96.0, 150, 214]), np.array([202.0, 217, 230]), np.array([1.0, 0.99, 0.96]))
_DUSK = (np.array([92.0, 104, 150]), np.array([240.0, 188, 138]), np.array([0.80, 0.70, 0.62]))
_DARK = (np.array([8.0, 10, 22]), np.array([30.0, 32, 46]), np.array([0.30, 0.32, 0.40]))
_GREY = (np.array([148.0, 157, 167]), np.array([192.0, 197, 202]), np.array([0.84, 0.86, 0.88]))


def light_of(weather: WeatherNumbers) -> Light:
    """The light of CARLA's weather numbers (percent, degrees; the sun's azimuth is left-handed).

    Numbers that are not finite count as those of a fair day.
    """
    given = {item.name: float(getattr(weather, item.name)) for item in fields(Numbers)}
    return _light(Numbers(**{name: value for name, value in given.items() if isfinite(value)}))


@lru_cache(maxsize=16)
def _light(weather: Numbers) -> Light:
    altitude = float(np.clip(weather.sun_altitude_angle, -90.0, 90.0))
    low = float(np.clip((18.0 - altitude) / 18.0, 0.0, 1.0))
    night = float(np.clip((4.0 - altitude) / 8.0, 0.0, 1.0))
    rain = float(np.clip(weather.precipitation, 0.0, 100.0)) / 100.0
    cloud = max(float(np.clip(weather.cloudiness, 0.0, 100.0)) / 100.0, rain) ** 1.5
    sky = [day + low * (dusk - day) for day, dusk in zip(_DAY, _DUSK, strict=True)]
    sky = [clear + cloud * (grey - clear) for clear, grey in zip(sky, _GREY, strict=True)]
    sky = [one + night * (dark - one) for one, dark in zip(sky, _DARK, strict=True)]
    dim = 1.0 - 0.25 * rain * (1.0 - night)
    zenith, horizon, ambient = (part * dim for part in sky)
    dust = float(np.clip(weather.dust_storm, 0.0, 100.0)) / 100.0
    horizon = horizon + dust * (1.0 - night) * (np.array([196.0, 168, 128]) - horizon)
    density = float(np.clip(weather.fog_density, 0.0, 100.0)) / 100.0
    visibility = 1.0 / (1.0 / 900.0 + density**2 / 14.0 + rain / 220.0 + dust / 60.0)
    azimuth, up = -np.radians(weather.sun_azimuth_angle), np.radians(max(altitude, 3.0))
    sun = (np.cos(azimuth) * np.cos(up), np.sin(azimuth) * np.cos(up), np.sin(up))
    veiled = max(cloud, min(1.0, 1.6 * density), night)
    wet = max(weather.wetness, weather.precipitation_deposits, 0.6 * weather.precipitation)
    return Light(
        zenith=_triple(zenith + min(1.0, 1.6 * density) * (horizon - zenith)),
        horizon=_triple(horizon),
        ambient=_triple(ambient),
        fog_m=float(visibility),
        contrast=float(0.45 - 0.37 * veiled),
        sun=_triple(np.array(sun)),
        night=night,
        wet=float(np.clip(wet, 0.0, 100.0)) / 100.0,
        rain=rain,
    )


def _triple(values: Float) -> Colour3:
    return float(values[0]), float(values[1]), float(values[2])


@dataclass(frozen=True)
class Numbers:
    """Weather numbers as plain values; the sun's azimuth is left-handed, in degrees."""

    cloudiness: float = 5.0
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    sun_azimuth_angle: float = 0.0
    sun_altitude_angle: float = 45.0
    fog_density: float = 2.0
    wetness: float = 0.0
    dust_storm: float = 0.0


_SKIES = {
    Weather.CLEAR: {},
    Weather.CLOUDY: {"cloudiness": 85.0},
    Weather.RAIN: {"cloudiness": 90.0, "precipitation": 70.0, "wetness": 80.0},
    Weather.FOG: {"cloudiness": 60.0, "fog_density": 70.0},
    Weather.NIGHT: {"sun_altitude_angle": -40.0},
}


@lru_cache(maxsize=64)
def named_light(weather: Weather, sun: tuple[float, float]) -> Light:
    """The light of a named weather; ``sun`` is azimuth (right-handed) and elevation in radians."""
    azimuth, elevation = np.degrees(sun)
    numbers = {"sun_azimuth_angle": -azimuth, "sun_altitude_angle": elevation} | _SKIES[weather]
    return _light(Numbers(**numbers))

"""Weathers by number, with the values that CARLA's weather parameters have under these names."""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.errors import BadInput


@dataclass(frozen=True)
class Weather:
    """Percent for clouds, rain, puddles, wind, fog and wetness; degrees for the sun."""

    name: str
    cloudiness: float = 5.0
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    wind_intensity: float = 10.0
    sun_azimuth_angle: float = -1.0
    sun_altitude_angle: float = 45.0
    fog_density: float = 2.0
    fog_distance: float = 0.75
    wetness: float = 0.0
    fog_falloff: float = 0.1

    def values(self) -> dict[str, float]:
        """As an annotation holds them."""
        return {key: value for key, value in vars(self).items() if key != "name"}


WEATHERS: dict[int, Weather] = {
    0: Weather("ClearNoon", sun_altitude_angle=75.0),
    1: Weather("CloudyNoon", cloudiness=60.0, fog_density=3.0),
    2: Weather("WetNoon", precipitation_deposits=50.0, wetness=50.0, fog_density=3.0),
    3: Weather("WetCloudyNoon", cloudiness=60.0, precipitation_deposits=50.0, wetness=50.0),
    5: Weather("HardRainNoon", 100.0, 100.0, 90.0, 100.0, -1.0, 45.0, 7.0, 0.75, 100.0),
    6: Weather("SoftRainNoon", 20.0, 30.0, 50.0, 30.0, -1.0, 45.0, 3.0, 0.75, 50.0),
    7: Weather("ClearSunset", sun_altitude_angle=15.0),
    8: Weather("CloudySunset", cloudiness=60.0, sun_altitude_angle=15.0, fog_density=3.0),
    14: Weather("ClearNight", sun_altitude_angle=-30.0, fog_density=60.0, fog_distance=75.0),
}


def weather(number: int) -> Weather:
    """The weather of this number; :class:`BadInput` if there is none."""
    try:
        return WEATHERS[number]
    except KeyError:
        known = ", ".join(map(str, WEATHERS))
        raise BadInput(
            f"no weather {number}", field="collect.weathers", hint=f"known: {known}"
        ) from None

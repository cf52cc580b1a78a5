"""Where a town lies on the Earth, by the reference in its OpenDRIVE header."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

#: The radius that CARLA calculates with, metres.
EARTH_M = 6378137.0
_HEAD = 20_000


@dataclass(frozen=True)
class Geodesy:
    """A spherical Mercator projection around ``latitude``, ``longitude`` (degrees), as CARLA has it."""

    latitude: float
    longitude: float

    @staticmethod
    def of(opendrive: str) -> Geodesy:
        """The reference of OpenDRIVE text; (0, 0) where it has none."""
        head = opendrive[:_HEAD]
        found = [re.search(rf"\+{name}=([-+.\deE]+)", head) for name in ("lat_0", "lon_0")]
        lat, lon = (_number(match.group(1)) if match else 0.0 for match in found)
        return Geodesy(lat, lon)

    def locate(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Latitude, longitude (degrees) and altitude (metres) of a right-handed world point (x east, y north)."""
        scale = math.cos(math.radians(self.latitude))
        east = scale * math.radians(self.longitude) * EARTH_M + x
        north = scale * EARTH_M * math.log(math.tan(math.radians(90.0 + self.latitude) / 2.0)) + y
        longitude = math.degrees(east / (EARTH_M * scale))
        latitude = 2.0 * math.degrees(math.atan(math.exp(north / (EARTH_M * scale)))) - 90.0
        return latitude, longitude, z


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0

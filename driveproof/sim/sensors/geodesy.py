"""Where a town lies on the Earth, by the reference in its OpenDRIVE header."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

#: The radius that CARLA calculates with, metres.
EARTH_M = 6378137.0
#: Scale of the projection on its central meridian.
SCALE = 0.9996
_HEAD = 20_000


@dataclass(frozen=True)
class Geodesy:
    """Transverse Mercator on a sphere around ``latitude``, ``longitude`` (degrees), as CARLA 0.9.16's clients calculate.

    In that version latitude grows with CARLA's y, which the compass calls south (0.9.15 mirrored it).
    Source: Snyder, Map Projections: A Working Manual, equations 8-6 and 8-7.
    """

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
        """Latitude, longitude (degrees) and altitude (metres) of a right-handed world point ``x, y, z``."""
        across = x / (SCALE * EARTH_M)
        along = -y / (SCALE * EARTH_M) + math.radians(self.latitude)
        latitude = math.asin(math.sin(along) / math.cosh(across))
        longitude = math.atan2(math.sinh(across), math.cos(along))
        return math.degrees(latitude), self.longitude + math.degrees(longitude), z


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0

"""Where the ego is, from what a leaderboard's sensors measure: satellites, compass, speed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driveproof.action import Ego
from driveproof.geometry.arrays import Float, as_float

EARTH_M = 6378137.0
"""The radius that CARLA calculates with, metres."""
SPREAD_M = 20.0
"""A plan tells the scale of an axis from this extent along it on."""
GAIN = 0.05
"""Share of the distance to a satellite fix that is believed at a tick: half a metre of noise becomes a decimetre."""


@dataclass(frozen=True)
class Earth:
    """Latitude and longitude (degrees) to a world place, right-handed metres, around the middle of a plan.

    Axes of CARLA's projections are those of the world, so each has a scale and an offset of its own. Which way
    latitude grows, and how fast, differs between versions of CARLA; the plan, which comes in both, tells it.
    """

    latitude: float
    longitude: float
    x: float
    y: float
    metres_lat: float
    metres_lon: float

    @classmethod
    def of(cls, gps: ArrayLike, plan: ArrayLike) -> Earth:
        """From a plan in both forms: ``gps`` ``[N, 2]`` degrees, ``plan`` ``[N, 2]`` right-handed metres, N >= 1.

        Raises
        ------
        ValueError
            If they are empty, of different length or not finite.
        """
        where, world = as_float(gps, (None, 2), "gps"), as_float(plan, (None, 2), "plan")
        if len(where) != len(world) or not len(where):
            raise ValueError(f"gps, plan: {len(where)} and {len(world)} points")
        if not (np.isfinite(where).all() and np.isfinite(world).all()):
            raise ValueError("gps, plan: not finite")
        middle, centre = where.mean(axis=0), world.mean(axis=0)
        usual = math.radians(1.0) * EARTH_M
        return cls(
            float(middle[0]),
            float(middle[1]),
            float(centre[0]),
            float(centre[1]),
            _slope(where[:, 0], world[:, 1], usual),
            _slope(where[:, 1], world[:, 0], usual * math.cos(math.radians(float(middle[0])))),
        )

    def locate(self, latitude: float, longitude: float) -> tuple[float, float]:
        """x and y, right-handed metres."""
        x = self.x + self.metres_lon * (longitude - self.longitude)
        y = self.y + self.metres_lat * (latitude - self.latitude)
        return x, y


def _slope(degrees: Float, metres: Float, usual: float) -> float:
    """Metres a degree, by least squares; the usual value where the plan hardly goes along this axis."""
    if np.ptp(metres) < SPREAD_M:
        return usual
    away = degrees - degrees.mean()
    return float(away @ (metres - metres.mean()) / (away @ away))


class Localiser:
    """Follows the ego: speed and heading carry it on, satellite fixes pull it slowly to where they say it is."""

    def __init__(self, earth: Earth, heading: float) -> None:
        self._earth, self._heading = earth, heading
        self._place: Float | None = None
        self._fixes = 0

    def update(
        self, latitude: float, longitude: float, compass: float, speed: float, dt: float
    ) -> Ego:
        """The ego now.

        Parameters
        ----------
        compass
            Radians clockwise from north, which is CARLA's -y; NaN (as in a sensor's first ticks) keeps the heading.
        speed, dt
            m/s, and seconds since the last update.
        """
        if math.isfinite(compass):
            self._heading = math.remainder(math.pi / 2.0 - compass, math.tau)
        fix = np.array(self._earth.locate(latitude, longitude))
        if self._place is None:
            self._place = fix
        course = np.array([math.cos(self._heading), math.sin(self._heading)])
        expected = self._place + speed * dt * course
        self._fixes += 1
        self._place = expected + max(GAIN, 1.0 / self._fixes) * (fix - expected)
        x, y = self._place.tolist()
        return Ego(x, y, self._heading, speed)

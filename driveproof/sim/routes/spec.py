"""What a route file says: ways, scenarios on them and weather, as plain values.

Frame: right-handed, x forward, y left, metres, radians; the files themselves are left-handed, degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from driveproof.geometry.arrays import Float, as_float


class Severity(StrEnum):
    """How bad a finding is: a note is normal, a warning worth a look, an error stops the route."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class FindingKind(StrEnum):
    """What was found in a route file; the severity of each is :data:`SEVERITIES`."""

    ALIAS = "alias"
    HOP = "hop"
    NOT_WRITTEN = "scenario_not_written"
    ONLY_A_START = "only_a_start"
    MISSING_WEATHER = "missing_weather"
    MISSPELLED_TAG = "misspelled_tag"
    UNKNOWN_TAG = "unknown_tag"
    SIDEWAYS_JUMP = "sideways_jump"
    TRIGGER_OFF_ROUTE = "trigger_off_route"
    DUPLICATE_ID = "duplicate_id"
    UNKNOWN_SCENARIO = "unknown_scenario"
    OFF_ROAD = "off_road"
    NO_ROAD = "no_road"
    UNKNOWN_TOWN = "unknown_town"


_NOTES = {FindingKind.ALIAS, FindingKind.HOP, FindingKind.NOT_WRITTEN, FindingKind.ONLY_A_START}
_ERRORS = {FindingKind.OFF_ROAD, FindingKind.NO_ROAD, FindingKind.UNKNOWN_TOWN}
SEVERITIES: dict[FindingKind, Severity] = {
    kind: Severity.NOTE
    if kind in _NOTES
    else Severity.ERROR
    if kind in _ERRORS
    else Severity.WARNING
    for kind in FindingKind
}


@dataclass(frozen=True)
class Finding:
    """Something about a route that its user should know.

    ``where`` names the element in the file ("position 11", "scenario Accident_1"), "" for the whole route.
    """

    route: str
    kind: FindingKind
    text: str
    where: str = ""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return SEVERITIES[self.kind]


@dataclass(frozen=True)
class Place:
    """A point, metres; ``heading`` in radians where the file names one."""

    x: float
    y: float
    z: float
    heading: float | None = None

    @property
    def pose(self) -> Float:
        """``[3]`` x, y, heading (0 where the file names none)."""
        return np.array([self.x, self.y, self.heading or 0.0])


Parameter = float | str | tuple[float, float] | Place
"""A number, a word ("right"), an interval (from, to), or a place."""


@dataclass(frozen=True)
class ScenarioSpec:
    """A scenario on a route.

    Attributes
    ----------
    name
        Its name in the file ("Accident_1").
    type
        The canonical type, or the spelling of the file if nobody knows it.
    written
        The spelling of the file.
    trigger
        Where it begins.
    parameters
        By tag; the units are those of the file (flow speeds are m/s in CARLA's classes).
    """

    name: str
    type: str
    written: str
    trigger: Place
    parameters: dict[str, Parameter]


WEATHER_FIELDS = (
    "cloudiness",
    "precipitation",
    "precipitation_deposits",
    "wind_intensity",
    "sun_azimuth_angle",
    "sun_altitude_angle",
    "fog_density",
    "fog_distance",
    "wetness",
    "fog_falloff",
    "scattering_intensity",
    "mie_scattering_scale",
    "rayleigh_scattering_scale",
    "dust_storm",
)
"""The fields of ``carla.WeatherParameters``, in its order."""


@dataclass(frozen=True)
class WeatherKey:
    """Weather at a share (0 to 1) of the route; only the fields that the file names."""

    share: float
    values: dict[str, float]


@dataclass(frozen=True)
class RouteSpec:
    """A route as its file has it.

    Attributes
    ----------
    key
        Its ``id``.
    town
        "Town12".
    positions
        ``[N, 3]`` metres, N >= 1.
    scenarios, weathers
        In the order of the file (weather by share).
    findings
        What the parser had to say.

    Raises
    ------
    ValueError
        If a position is not finite.
    """

    key: str
    town: str
    positions: Float
    scenarios: tuple[ScenarioSpec, ...] = ()
    weathers: tuple[WeatherKey, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        positions = as_float(self.positions, (None, 3), "RouteSpec.positions")
        if len(positions) == 0 or not np.isfinite(positions).all():
            raise ValueError("RouteSpec.positions: none, or not finite")
        object.__setattr__(self, "positions", positions)

    def weather(self, share: float) -> dict[str, float]:
        """Fields of the weather at ``share`` (0 to 1) of the way, blended between the keys around it."""
        if not self.weathers:
            return {}
        shares = [key.share for key in self.weathers]
        names = dict.fromkeys(name for key in self.weathers for name in key.values)
        blended = {}
        for name in names:
            known = [
                (s, k.values[name])
                for s, k in zip(shares, self.weathers, strict=True)
                if name in k.values
            ]
            at, values = zip(*known, strict=True)
            blended[name] = float(np.interp(share, at, values))
        return blended

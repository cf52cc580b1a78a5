"""Things of a scene that answers speak of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ObjectKind(StrEnum):
    """What a thing is, as finely as answers tell them apart."""

    CAR = "car"
    SMALL_CAR = "small car"
    SUV = "SUV"
    JEEP = "jeep"
    VAN = "van"
    SPRINTER = "sprinter"
    TRUCK = "truck"
    HGV = "heavy goods vehicle"
    BUS = "bus"
    MOTORCYCLE = "motorcycle"
    BICYCLE = "bicycle"
    POLICE = "police car"
    AMBULANCE = "ambulance"
    FIRETRUCK = "firetruck"
    PEDESTRIAN = "pedestrian"
    TRAFFIC_LIGHT = "traffic light"
    STOP_SIGN = "stop sign"
    YIELD_SIGN = "yield sign"
    SPEED_LIMIT_SIGN = "speed limit sign"
    CONSTRUCTION_WARNING = "construction warning"
    ACCIDENT_WARNING = "accident warning"
    TRAFFIC_WARNING = "traffic warning"
    CONSTRUCTION_CONE = "construction cone"
    DEBRIS = "debris"
    OBSTACLE = "obstacle"
    JUNCTION = "junction"


VEHICLES = frozenset(
    {
        ObjectKind.CAR,
        ObjectKind.SMALL_CAR,
        ObjectKind.SUV,
        ObjectKind.JEEP,
        ObjectKind.VAN,
        ObjectKind.SPRINTER,
        ObjectKind.TRUCK,
        ObjectKind.HGV,
        ObjectKind.BUS,
        ObjectKind.MOTORCYCLE,
        ObjectKind.BICYCLE,
        ObjectKind.POLICE,
        ObjectKind.AMBULANCE,
        ObjectKind.FIRETRUCK,
    }
)
"""What drives, two wheels or more."""
EMERGENCY = frozenset({ObjectKind.POLICE, ObjectKind.AMBULANCE, ObjectKind.FIRETRUCK})
SIGNS = frozenset(
    {
        ObjectKind.STOP_SIGN,
        ObjectKind.YIELD_SIGN,
        ObjectKind.SPEED_LIMIT_SIGN,
        ObjectKind.CONSTRUCTION_WARNING,
        ObjectKind.ACCIDENT_WARNING,
        ObjectKind.TRAFFIC_WARNING,
        ObjectKind.CONSTRUCTION_CONE,
        ObjectKind.TRAFFIC_LIGHT,
    }
)
"""What tells drivers something: signs, warnings and lights."""


class Colour(StrEnum):
    """The seventeen colours of CSS level 2.1: names that people use."""

    MAROON = "maroon"
    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    OLIVE = "olive"
    PURPLE = "purple"
    FUCHSIA = "fuchsia"
    WHITE = "white"
    LIME = "lime"
    GREEN = "green"
    NAVY = "navy"
    BLUE = "blue"
    AQUA = "aqua"
    TEAL = "teal"
    BLACK = "black"
    SILVER = "silver"
    GRAY = "gray"


class Sector(StrEnum):
    """Eight directions from the ego vehicle."""

    FRONT = "front"
    FRONT_LEFT = "front left"
    LEFT = "left"
    REAR_LEFT = "rear left"
    REAR = "rear"
    REAR_RIGHT = "rear right"
    RIGHT = "right"
    FRONT_RIGHT = "front right"


@dataclass(frozen=True)
class ObjectRef:
    """One thing, as answers name it.

    Attributes
    ----------
    tag
        ``c<actor id>`` of actors, ``e<number>`` of things without an id (a junction); unique in a frame.
    kind, colour, sector
        What it is, its paint (``None`` if it has none worth naming), where it is seen from the ego.
    x, y
        Position of its centre in the ego frame (x forward, y left), metres.
    speed
        m/s along its heading.
    cameras
        Names of the cameras that see it, best view first: ``CAM_FRONT``, ...
    is_role, is_dangerous
        Whether the scenario is about it; whether it endangers the ego (weight 3 in scores, equation 2).
    """

    tag: str
    kind: ObjectKind
    colour: Colour | None = None
    sector: Sector = Sector.FRONT
    x: float = 0.0
    y: float = 0.0
    speed: float = 0.0
    cameras: tuple[str, ...] = ()
    is_role: bool = False
    is_dangerous: bool = False

    @property
    def distance(self) -> float:
        """Metres from the ego's centre."""
        return float((self.x**2 + self.y**2) ** 0.5)

    @property
    def name(self) -> str:
        """ "red car", "stop sign"."""
        return f"{self.colour} {self.kind}" if self.colour else str(self.kind)

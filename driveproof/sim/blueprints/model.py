"""What a blueprint is: an id, tags, typed attributes and the physical facts of what it builds.

Frame of boxes: right-handed, x forward, y left, metres, relative to the actor's origin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fnmatch import fnmatchcase

from driveproof.errors import BadInput

Vector = tuple[float, float, float]


class AttributeType(IntEnum):
    """Types of attribute values, with the numbers that CARLA's clients know."""

    BOOL = 1
    INT = 2
    FLOAT = 3
    STRING = 4
    COLOUR = 5


class SemanticTag(IntEnum):
    """CARLA's labels of things that blueprints build."""

    PEDESTRIAN = 12
    RIDER = 13
    CAR = 14
    TRUCK = 15
    BUS = 16
    MOTORCYCLE = 18
    BICYCLE = 19
    STATIC = 20
    DYNAMIC = 21


@dataclass(frozen=True)
class AttributeSpec:
    """One attribute of a blueprint; all values are text, as on the wire.

    Parameters
    ----------
    id, kind, value
        Name, type and default.
    recommended
        Values that CARLA proposes; the default is the first.
    modifiable
        Whether a client may set it.
    restricted
        Whether only recommended values are meant.
    """

    id: str
    kind: AttributeType
    value: str
    recommended: tuple[str, ...] = ()
    modifiable: bool = True
    restricted: bool = False

    def accepts(self, text: str) -> bool:
        """Whether ``text`` reads as a finite value of this type."""
        try:
            if self.kind is AttributeType.BOOL:
                return text.lower() in ("true", "false")
            if self.kind is AttributeType.INT:
                return math.isfinite(int(text))
            if self.kind is AttributeType.FLOAT:
                return math.isfinite(float(text))
            if self.kind is AttributeType.COLOUR:
                channels = [int(channel) for channel in text.split(",")]
                return len(channels) == 3 and all(0 <= c <= 255 for c in channels)
        except ValueError:
            return False
        return True


def option(
    name: str, kind: AttributeType, *recommended: str, restricted: bool = False
) -> AttributeSpec:
    """An attribute that clients may set; the first recommended value is its default."""
    return AttributeSpec(name, kind, recommended[0], recommended, restricted=restricted)


def constant(name: str, kind: AttributeType, value: str) -> AttributeSpec:
    """An attribute that clients can only read."""
    return AttributeSpec(name, kind, value, modifiable=False)


def flag(value: bool) -> str:
    """CARLA's text of a truth value."""
    return "true" if value else "false"


@dataclass(frozen=True)
class VehicleSpec:
    """Physical facts of a vehicle model.

    Parameters
    ----------
    half_extent, box_offset
        Half sizes of the bounding box, and its centre relative to the actor's origin (on the ground, about mid-length).
    wheelbase, wheel_radius
        Metres.
    mass
        Kilograms.
    max_steer_deg
        Largest angle of the front wheels in degrees.
    max_speed
        Metres per second at full throttle on level ground.
    base_type
        car, van, truck, bus, motorcycle or bicycle.
    special_type
        emergency, taxi, electric or "".
    """

    half_extent: Vector
    box_offset: Vector
    wheelbase: float
    wheel_radius: float
    mass: float
    max_steer_deg: float
    max_speed: float
    base_type: str
    special_type: str
    generation: int
    wheels: int
    has_lights: bool
    has_doors: bool

    @property
    def semantic_tag(self) -> SemanticTag:
        """The label that cameras and lidars give it (vans are cars)."""
        return _TAG_OF_TYPE[self.base_type]


_TAG_OF_TYPE = {
    "car": SemanticTag.CAR,
    "van": SemanticTag.CAR,
    "truck": SemanticTag.TRUCK,
    "bus": SemanticTag.BUS,
    "motorcycle": SemanticTag.MOTORCYCLE,
    "bicycle": SemanticTag.BICYCLE,
}


@dataclass(frozen=True)
class WalkerSpec:
    """Physical facts of a pedestrian: an upright capsule whose origin is its centre."""

    radius: float
    height: float
    age: str
    gender: str
    generation: int
    walk_speed: float
    run_speed: float

    @property
    def half_extent(self) -> Vector:
        """Half sizes of the bounding box."""
        return (self.radius, self.radius, self.height / 2)

    @property
    def box_offset(self) -> Vector:
        """The box is centred on the origin."""
        return (0.0, 0.0, 0.0)

    @property
    def semantic_tag(self) -> SemanticTag:
        """Pedestrian."""
        return SemanticTag.PEDESTRIAN


@dataclass(frozen=True)
class PropSpec:
    """Physical facts of a prop; its origin is the middle of its base."""

    half_extent: Vector
    movable: bool = False

    @property
    def box_offset(self) -> Vector:
        """Half the height above the origin."""
        return (0.0, 0.0, self.half_extent[2])

    @property
    def semantic_tag(self) -> SemanticTag:
        """Dynamic for what a person can push, static for the rest."""
        return SemanticTag.DYNAMIC if self.movable else SemanticTag.STATIC


Spec = VehicleSpec | WalkerSpec | PropSpec


@dataclass(frozen=True)
class Blueprint:
    """A template of actors.

    Parameters
    ----------
    id
        "vehicle.tesla.model3".
    tags
        Its parts, for filters of clients.
    attributes
        All attributes, modifiable or not.
    spec
        Physical facts of things that have a body, else None (sensors, controllers, triggers).
    """

    id: str
    tags: tuple[str, ...]
    attributes: tuple[AttributeSpec, ...]
    spec: Spec | None = None
    _by_id: dict[str, AttributeSpec] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {a.id: a for a in self.attributes})

    def attribute(self, name: str) -> AttributeSpec | None:
        """The attribute of this name, or None."""
        return self._by_id.get(name)

    def values(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """All attributes of an actor built with ``chosen`` ones; unknown and constant ones keep the default.

        Raises
        ------
        BadInput
            If a chosen value does not read as its type.
        """
        values = {a.id: a.value for a in self.attributes}
        for name, text in chosen.items():
            spec = self._by_id.get(name)
            if spec is None or not spec.modifiable:
                continue
            if not spec.accepts(text):
                raise BadInput(
                    f"{self.id}: {text!r:.60} is no {spec.kind.name.lower()}", field=name
                )
            values[name] = text
        return values


class BlueprintLibrary(Mapping[str, Blueprint]):
    """All blueprints by id, in the order of their ids; numbers (uids) count from 1 in that order."""

    def __init__(self, blueprints: list[Blueprint]) -> None:
        self._items = {b.id: b for b in sorted(blueprints, key=lambda b: b.id)}
        self._uids = {name: number for number, name in enumerate(self._items, 1)}
        if len(self._items) != len(blueprints):
            raise ValueError("two blueprints share an id")

    def __getitem__(self, name: str) -> Blueprint:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def uid(self, name: str) -> int:
        """The number of a blueprint on the wire; KeyError if unknown."""
        return self._uids[name]

    def filter(self, pattern: str) -> list[Blueprint]:
        """The blueprints whose id or one of whose tags matches a wildcard such as ``vehicle.*``."""
        return [
            b
            for b in self._items.values()
            if any(fnmatchcase(text, pattern) for text in (b.id, *b.tags))
        ]

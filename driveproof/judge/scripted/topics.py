"""What a topic is: a manoeuvre, a circumstance that makes it reasonable, and the same place without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from driveproof.judge.scripted.actors import Actor
from driveproof.judge.scripted.motion import Motion
from driveproof.judge.scripted.places import Place, PlaceKind, Side
from driveproof.rules import VehicleShape, shape_of

CAR = shape_of(4.7, 2.0)
LORRY = shape_of(8.6, 2.5)


@dataclass(frozen=True)
class Behaviour:
    """What the ego does: its name, whether it is reasonable there, its motion.

    ``breaks`` names criteria of which it must break at least one to be what its name says (empty: none is demanded);
    a place where the rules see none of them broken does not fit.
    """

    name: str
    reasonable: bool
    motion: Motion
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """A circumstance: who is there, how fast the ego came, and what it may do next."""

    speed: float
    actors: tuple[Actor, ...]
    behaviours: tuple[Behaviour, ...]
    shape: VehicleShape = CAR
    red: bool = False


Build = Callable[[Place, np.random.Generator, bool], Setting]
"""Place, generator, whether the circumstance is there; the same generator state gives twins."""


@dataclass(frozen=True)
class Topic:
    """A manoeuvre with and without the circumstance that calls for it."""

    name: str
    place: PlaceKind
    build: Build
    left: tuple[Side, ...] = tuple(Side)
    right: tuple[Side, ...] = tuple(Side)
    text: str = ""

    def fits(self, place: Place) -> bool:
        """Whether the topic can be set at a place."""
        return place.kind is self.place and place.left in self.left and place.right in self.right

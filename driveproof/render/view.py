"""What is to be drawn, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.maps import MapSignal, SignalKind, TownMap
from driveproof.scene import LightState

Colour = tuple[int, int, int]

#: Signals further away are not worth drawing, metres.
SIGNAL_REACH_M = 100.0


class Weather(StrEnum):
    """Sky and light of a picture."""

    CLEAR = "clear"
    CLOUDY = "cloudy"
    RAIN = "rain"
    FOG = "fog"
    NIGHT = "night"


@dataclass(frozen=True)
class Box:
    """Something that stands on the road, world frame.

    Parameters
    ----------
    x, y, heading
        Pose of the centre, metres and radians.
    length, width, height
        Full sizes, metres.
    kind
        A :class:`~driveproof.scene.AgentKind` value, or a name of :data:`driveproof.render.shapes.NAMES`
        ("car", "truck", "van", "bus", "motorcycle", "cone", "warning", ...). A "vehicle" longer than 6.5 m
        is drawn as a truck; unknown kinds as a barrier.
    colour
        RGB of its paint.
    brake
        Whether the brake lights shine.
    indicator
        "left", "right", "both" or "": which indicators shine in this picture.
    z
        Height of the ground under it, metres; None takes that of the road there.
    """

    x: float
    y: float
    heading: float
    length: float
    width: float
    height: float
    kind: str = "vehicle"
    colour: Colour = (150, 155, 165)
    brake: bool = False
    indicator: str = ""
    z: float | None = None


@dataclass(frozen=True)
class LightView:
    """A traffic light: ``position`` ``[3]`` of its head in the world, the way it faces, what it shows."""

    position: Float
    heading: float
    state: LightState


@dataclass(frozen=True)
class SignView:
    """A sign: ``position`` ``[3]`` of its plate in the world, the way it faces, its limit in m/s if it has one."""

    position: Float
    heading: float
    kind: SignalKind
    value: float = float("nan")


@dataclass(frozen=True)
class DebugShape:
    """Something that a person draws into the world, seen in the bird's-eye view.

    Parameters
    ----------
    kind
        "point", "line", "arrow", "box" (a closed outline) or "string".
    points
        ``[n, 3]`` world frame, metres: one for points and strings, two for lines and arrows, the corners
        of a box.
    colour
        RGB.
    thickness
        Metres.
    text
        Of a string.
    """

    kind: str
    points: Float
    colour: Colour = (255, 0, 0)
    thickness: float = 0.1
    text: str = ""


@dataclass(frozen=True)
class View:
    """One moment to draw, world frame, right-handed, metres, radians.

    Parameters
    ----------
    town
        The town; pass the same object every time, what was built of it is kept. None draws an empty plain
        at height 0.
    ego
        ``[3]`` pose of the ego vehicle's centre.
    boxes
        Everything but the ego vehicle.
    lights, signs
        See :func:`lights_of` and :func:`signs_of`.
    shapes
        What a person drew into the world.
    weather
        Sky and light.
    sun
        Azimuth in the world and elevation, radians: shades the faces.
    ego_z
        Height of the road under the ego, which decides the level on which things stand where roads cross
        above each other; by default that of the nearest lane.
    """

    town: TownMap | None
    ego: Float
    boxes: tuple[Box, ...] = ()
    lights: tuple[LightView, ...] = ()
    signs: tuple[SignView, ...] = ()
    shapes: tuple[DebugShape, ...] = ()
    weather: Weather = Weather.CLEAR
    sun: tuple[float, float] = (0.9, 0.8)
    ego_z: float | None = None


def _signals(town: TownMap, near: ArrayLike | None) -> Sequence[MapSignal]:
    return town.signals if near is None else town.signals_near(near, SIGNAL_REACH_M)


def lights_of(
    town: TownMap, states: Mapping[str, LightState], near: ArrayLike | None = None
) -> tuple[LightView, ...]:
    """The lights around ``near`` ``[2]``, or all; ``states`` by signal key, dark where it says nothing."""
    return tuple(
        LightView(signal.position, signal.heading, states.get(signal.key, LightState.OFF))
        for signal in _signals(town, near)
        if signal.kind is SignalKind.TRAFFIC_LIGHT
    )


def signs_of(town: TownMap, near: ArrayLike | None = None) -> tuple[SignView, ...]:
    """The signs around ``near`` ``[2]``, or all: in a large town, ask for those around the ego."""
    return tuple(
        SignView(signal.position, signal.heading, signal.kind, signal.value)
        for signal in _signals(town, near)
        if signal.kind is not SignalKind.TRAFFIC_LIGHT
    )

"""What is to be drawn, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.maps import MapSignal, SignalKind, TownMap
from driveproof.render.ground import Ground
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
        A :class:`~driveproof.scene.AgentKind` value, or "car", "truck", "cone", "barrier". A "vehicle"
        longer than 6.5 m is drawn as a truck; unknown kinds as a barrier.
    colour
        RGB of its paint.
    brake
        Whether the brake lights shine.
    indicator
        "left", "right", "both" or "": which indicators shine in this picture.
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


@dataclass(frozen=True)
class LightView:
    """A traffic light: ``position`` ``[3]`` of its head (world x, y; height above the road), the way it faces."""

    position: Float
    heading: float
    state: LightState


@dataclass(frozen=True)
class SignView:
    """A sign: ``position`` ``[3]`` of its plate (world x, y; height above the road), the way it faces."""

    position: Float
    heading: float
    kind: SignalKind


@dataclass(frozen=True)
class View:
    """One moment to draw, world frame, right-handed, metres, radians.

    Parameters
    ----------
    town
        The town, or its :class:`Ground`; pass the same object every time, it keeps what it has drawn.
        None draws an empty plain.
    ego
        ``[3]`` pose of the ego vehicle's centre.
    boxes
        Everything but the ego vehicle.
    lights, signs
        See :func:`lights_of` and :func:`signs_of`.
    weather
        Sky and light.
    sun
        Azimuth in the world and elevation, radians: shades the faces.
    ego_z
        Height of the road under the ego, which decides the level that is drawn where roads cross above
        each other; by default that of the nearest lane.
    """

    town: TownMap | Ground | None
    ego: Float
    boxes: tuple[Box, ...] = ()
    lights: tuple[LightView, ...] = ()
    signs: tuple[SignView, ...] = ()
    weather: Weather = Weather.CLEAR
    sun: tuple[float, float] = (0.9, 0.8)
    ego_z: float | None = None


def _above_road(signal: MapSignal) -> Float:
    height = signal.position[2] - signal.stop_lines[..., 2].mean()
    return np.array([signal.position[0], signal.position[1], height])


def _signals(town: TownMap, near: ArrayLike | None) -> Sequence[MapSignal]:
    return town.signals if near is None else town.signals_near(near, SIGNAL_REACH_M)


def lights_of(
    town: TownMap, states: Mapping[str, LightState], near: ArrayLike | None = None
) -> tuple[LightView, ...]:
    """The lights around ``near`` ``[2]``, or all; ``states`` by signal key, dark where it says nothing."""
    return tuple(
        LightView(_above_road(signal), signal.heading, states.get(signal.key, LightState.OFF))
        for signal in _signals(town, near)
        if signal.kind is SignalKind.TRAFFIC_LIGHT
    )


def signs_of(town: TownMap, near: ArrayLike | None = None) -> tuple[SignView, ...]:
    """The signs around ``near`` ``[2]``, or all: in a large town, ask for those around the ego."""
    return tuple(
        SignView(_above_road(signal), signal.heading, signal.kind)
        for signal in _signals(town, near)
        if signal.kind is not SignalKind.TRAFFIC_LIGHT
    )

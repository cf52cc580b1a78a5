"""From polygon numbers to colours: patterns, wet roads, fog, night and sky, one pixel at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float32
from driveproof.render.labels import Texture
from driveproof.render.light import AIR_ENTRIES, AIR_STEPS, SKY_ENTRIES, Light
from driveproof.render.raster import Ids, Mask, Raster

#: Values of the mask that is laid over what is seen.
SHADOW, BEAM = 1, 2
_ASPHALT, _FACADE, _GRASS = int(Texture.ASPHALT), int(Texture.FACADE), int(Texture.GRASS)
_PAINT = int(Texture.PAINT)
#: What a beam adds to each channel, and a lit window.
_WARM = (np.float32(2.6), np.float32(2.15), np.float32(1.7))
_LAMP = (np.float32(210.0), np.float32(165.0), np.float32(120.0))
#: A wet road mirrors the sky by at least, at most, and more with each metre.
_MIRROR = (np.float32(0.06), np.float32(0.45), np.float32(1.0 / 110.0))
#: Windows and grains are drawn up to these distances, metres.
_WINDOW_M, _GRAIN_M = 140.0, 40.0
#: Headlights fade to 1/e over this, metres.
_BEAM_M = 22.0
_STOREY_M, _BAY_M = 3.2, 2.9
#: A window's sides, sill and lintel as shares of its bay and storey.
_SILL = (np.float32(0.22), np.float32(0.78), np.float32(0.28), np.float32(0.78))


@dataclass(frozen=True)
class Looks:
    """How each of P polygons looks: ``colours`` ``[P, 3]`` in the present light, and columns of their mesh."""

    colours: Float32
    texture: NDArray[np.uint8]
    shines: NDArray[np.bool_]
    anchor: Float32


def shade(raster: Raster, looks: Looks, light: Light) -> NDArray[np.uint8]:
    """BGRA ``[H, W, 4]`` of a raster, in its image; its mask says where there are shadows and beams."""
    lens = raster.lens
    _shade(
        raster.ids,
        raster.inverse,
        looks.colours,
        looks.texture,
        looks.shines,
        looks.anchor,
        raster.mask,
        lens.numbers.astype(np.float32),
        light.air,
        light.sky,
        np.array(light.horizon, dtype=np.float32),
        np.float32(light.night),
        np.float32(light.wet),
        np.float32(0.35 + 0.3 * (1.0 - light.contrast)),
        raster.image,
    )
    return raster.image.view(np.uint8).reshape(lens.height, lens.width, 4)


@numba.njit(nogil=True, cache=True, inline="always")
def _dice(a: np.int32, b: np.int32) -> np.float32:
    """A number in [0, 1) of a cell, the same everywhere."""
    state = np.uint32(a) * np.uint32(374761393) + np.uint32(b) * np.uint32(668265263)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(1274126177)
    return np.float32((state ^ (state >> np.uint32(16))) & np.uint32(0xFFFF)) * np.float32(
        1.0 / 65536.0
    )


@numba.njit(nogil=True, cache=True, inline="always")
def _cell(value: np.float32) -> np.int32:
    """The whole number below, for numbers above -100,000."""
    return np.int32(value + np.float32(1e5)) - np.int32(100000)


@numba.njit(nogil=True, cache=True, inline="always")
def _packed(red: np.float32, green: np.float32, blue: np.float32) -> np.uint32:
    """A pixel with blue lowest and full alpha; the colours are not below 0 nor above 255."""
    return (
        np.uint32(0xFF000000)
        | np.uint32(np.int32(red)) << np.uint32(16)
        | np.uint32(np.int32(green)) << np.uint32(8)
        | np.uint32(np.int32(blue))
    )


@numba.njit(nogil=True, cache=True)
def _windows(
    along: np.float32, up: np.float32, depth: np.float32, night: np.float32
) -> tuple[np.float32, np.float32]:
    """Factor on a wall's colour, and how much a lit window adds."""
    none = np.float32(0.0)
    if up < np.float32(0.4):
        return np.float32(1.0), none
    u, v = along * np.float32(1.0 / _BAY_M), up * np.float32(1.0 / _STOREY_M)
    bay, storey = _cell(u), _cell(v)
    x, y = u - np.float32(bay), v - np.float32(storey)
    if x < _SILL[0] or x > _SILL[1] or y < _SILL[2] or y > _SILL[3]:
        return np.float32(1.0), none
    fade = np.float32(1.0) - depth * np.float32(1.0 / _WINDOW_M)
    if night > none and _dice(bay, storey) > np.float32(0.62):
        return np.float32(1.0) - np.float32(0.55) * fade, night * fade
    return np.float32(1.0) - np.float32(0.55) * fade, none


@numba.njit(nogil=True, cache=True, inline="always")
def _grain(texture: int, x: np.float32, y: np.float32, depth: np.float32) -> np.float32:
    """Factor of the roughness of asphalt or grass at a place."""
    fade = np.float32(1.0) - depth * np.float32(1.0 / _GRAIN_M)
    size, depth = np.float32(6.0), np.float32(0.07)
    if texture == _GRASS:
        size, depth = np.float32(0.4), np.float32(0.10)
    dice = _dice(_cell(x * size), _cell(y * size)) - np.float32(0.5)
    return np.float32(1.0) + fade * depth * dice


@numba.njit(nogil=True, cache=True, inline="always")
def _pattern(
    kind: int,
    anchor: Float32,
    polygon: int,
    x: np.float32,
    y: np.float32,
    z: np.float32,
    depth: np.float32,
    night: np.float32,
) -> tuple[np.float32, np.float32]:
    """Factor on the colour of a textured polygon at a place in the world, and how much a lamp behind it adds."""
    if kind == _FACADE:
        if depth < np.float32(_WINDOW_M):
            along = (x - anchor[polygon, 0]) * anchor[polygon, 2] + (
                y - anchor[polygon, 1]
            ) * anchor[polygon, 3]
            return _windows(along, z - anchor[polygon, 4], depth, night)
    elif kind != _PAINT and depth < np.float32(_GRAIN_M):
        return _grain(kind, x, y, depth), np.float32(0.0)
    return np.float32(1.0), np.float32(0.0)


@numba.njit(nogil=True, cache=True, inline="always")
def _tone(value: np.float32, mirror: np.float32, clear: np.float32, fog: np.float32) -> np.float32:
    """One channel after it has mirrored the sky and passed the air."""
    value += mirror * (fog - value)
    return min(np.float32(255.0), fog + clear * (value - fog))


@numba.njit(nogil=True, cache=True)
def _shade(
    ids: Ids,
    inverse: Float32,
    colours: Float32,
    texture: NDArray[np.uint8],
    shines: NDArray[np.bool_],
    anchor: Float32,
    mask: Mask,
    lens: Float32,
    air: Float32,
    sky: Float32,
    fog: Float32,
    night: np.float32,
    wet: np.float32,
    shadow: np.float32,
    image: NDArray[np.uint32],
) -> None:
    none, one, half = np.float32(0.0), np.float32(1.0), np.float32(0.5)
    step, farthest = one / lens[12], AIR_ENTRIES - 1
    for row in range(ids.shape[0]):
        rise = (lens[14] - np.float32(row) - half) * step
        east, north = lens[3] + lens[5] * rise, lens[6] + lens[8] * rise
        up = lens[9] + lens[11] * rise
        for column in range(ids.shape[1]):
            polygon = ids[row, column]
            aside = (lens[13] - np.float32(column) - half) * step
            if polygon < 0:
                sine = (up + lens[10] * aside) / math.sqrt(one + aside * aside + rise * rise)
                entry = min(SKY_ENTRIES - 1, int((sine + one) * half * np.float32(SKY_ENTRIES)))
                image[row, column] = _packed(sky[entry, 0], sky[entry, 1], sky[entry, 2])
                continue
            depth = one / inverse[row, column]
            factor, lamp, mirror, beam = one, none, none, none
            kind = texture[polygon]
            if kind != 0:
                x = lens[0] + depth * (east + lens[4] * aside)
                y = lens[1] + depth * (north + lens[7] * aside)
                z = lens[2] + depth * (up + lens[10] * aside)
                factor, lamp = _pattern(kind, anchor, polygon, x, y, z, depth, night)
                if wet > none and kind in (_ASPHALT, _PAINT):
                    mirror = wet * min(_MIRROR[1], _MIRROR[0] + depth * _MIRROR[2])
                    factor *= one - np.float32(0.35) * wet
            if mask[row, column] == SHADOW and not shines[polygon]:
                factor *= shadow
            elif mask[row, column] == BEAM and not shines[polygon]:
                beam = night * np.float32(math.exp(-depth * np.float32(1.0 / _BEAM_M)))
            clear = air[min(farthest, int(depth * np.float32(AIR_STEPS)))]
            red = colours[polygon, 0] * factor * (one + beam * _WARM[0]) + lamp * _LAMP[0]
            green = colours[polygon, 1] * factor * (one + beam * _WARM[1]) + lamp * _LAMP[1]
            blue = colours[polygon, 2] * factor * (one + beam * _WARM[2]) + lamp * _LAMP[2]
            image[row, column] = _packed(
                _tone(red, mirror, clear, fog[0]),
                _tone(green, mirror, clear, fog[1]),
                _tone(blue, mirror, clear, fog[2]),
            )

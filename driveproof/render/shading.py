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
#: Windows and grains are drawn up to these distances, metres.
_WINDOW_M, _GRAIN_M = 140.0, 60.0
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


def shade(raster: Raster, looks: Looks, mask: Mask, light: Light) -> NDArray[np.uint8]:
    """BGRA ``[H, W, 4]`` of a raster; ``mask`` ``[H, W]`` says where there are shadows and beams."""
    lens = raster.lens
    image = np.empty((lens.height, lens.width, 4), dtype=np.uint8)
    _shade(
        raster.ids,
        raster.inverse,
        looks.colours,
        looks.texture,
        looks.shines,
        looks.anchor,
        mask,
        lens.numbers.astype(np.float32),
        light.air,
        light.sky,
        np.array(light.horizon, dtype=np.float32),
        np.float32(light.night),
        np.float32(light.wet),
        np.float32(0.35 + 0.3 * (1.0 - light.contrast)),
        image,
    )
    return image


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
    image: NDArray[np.uint8],
) -> None:
    height, width = ids.shape
    one, half, most = np.float32(1.0), np.float32(0.5), np.float32(255.0)
    step = one / lens[12]
    for row in range(height):
        rise = (lens[14] - np.float32(row) - half) * step
        east, north, up = (
            lens[3] + lens[5] * rise,
            lens[6] + lens[8] * rise,
            lens[9] + lens[11] * rise,
        )
        for column in range(width):
            polygon = ids[row, column]
            aside = (lens[13] - np.float32(column) - half) * step
            if polygon < 0:
                sine = (up + lens[10] * aside) / math.sqrt(one + aside * aside + rise * rise)
                entry = min(SKY_ENTRIES - 1, int((sine + one) * half * np.float32(SKY_ENTRIES)))
                for k in range(3):
                    image[row, column, 2 - k] = np.uint8(sky[entry, k])
                image[row, column, 3] = 255
                continue
            depth = one / inverse[row, column]
            factor, lamp, mirror, beam = one, np.float32(0.0), np.float32(0.0), np.float32(0.0)
            kind = texture[polygon]
            if kind != 0:
                if kind == _FACADE:
                    if depth < np.float32(_WINDOW_M):
                        x = lens[0] + depth * (east + lens[4] * aside) - anchor[polygon, 0]
                        y = lens[1] + depth * (north + lens[7] * aside) - anchor[polygon, 1]
                        z = lens[2] + depth * (up + lens[10] * aside) - anchor[polygon, 4]
                        along = x * anchor[polygon, 2] + y * anchor[polygon, 3]
                        factor, lamp = _windows(along, z, depth, night)
                elif kind != _PAINT and depth < np.float32(_GRAIN_M):
                    x = lens[0] + depth * (east + lens[4] * aside)
                    y = lens[1] + depth * (north + lens[7] * aside)
                    factor = _grain(kind, x, y, depth)
                if wet > np.float32(0.0) and kind in (_ASPHALT, _PAINT):
                    mirror = wet * min(
                        np.float32(0.45), np.float32(0.06) + depth * np.float32(1.0 / 110.0)
                    )
                    factor *= one - np.float32(0.35) * wet
            if mask[row, column] != 0 and not shines[polygon]:
                if mask[row, column] == SHADOW:
                    factor *= shadow
                else:
                    beam = night * np.float32(math.exp(-depth * np.float32(1.0 / _BEAM_M)))
            clear = air[min(AIR_ENTRIES - 1, int(depth * np.float32(AIR_STEPS)))]
            for k in range(3):
                value = colours[polygon, k] * factor
                value *= one + beam * (np.float32(2.6) - np.float32(0.45) * np.float32(k))
                value += lamp * (np.float32(210.0) - np.float32(45.0) * np.float32(k))
                value += mirror * (fog[k] - value)
                value = fog[k] + clear * (value - fog[k])
                image[row, column, 2 - k] = np.uint8(min(most, value))
            image[row, column, 3] = 255

"""From polygon numbers to colours: patterns, wet roads, fog, night and sky, one pixel at a time."""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float, Float32
from driveproof.render.labels import Texture
from driveproof.render.light import AIR_ENTRIES, AIR_STEPS, SKY_ENTRIES, Light
from driveproof.render.mesh import Mesh
from driveproof.render.raster import Ids, Mask, Raster

#: Values of the mask that is laid over what is seen.
SHADOW, BEAM = 1, 2
_ASPHALT, _FACADE, _GRASS = int(Texture.ASPHALT), int(Texture.FACADE), int(Texture.GRASS)
_PAINT = int(Texture.PAINT)
#: Windows and grains are drawn up to these distances, metres.
_WINDOW_M, _GRAIN_M = 140.0, 60.0
_STOREY_M, _BAY_M = 3.2, 2.9


def shade(
    raster: Raster, mesh: Mesh, colours: Float32, mask: Mask, light: Light
) -> NDArray[np.uint8]:
    """BGRA ``[H, W, 4]`` of a raster that shows ``mesh``, whose polygons have ``colours`` ``[P, 3]``."""
    lens = raster.lens
    image = np.empty((lens.height, lens.width, 4), dtype=np.uint8)
    numbers = np.array([light.night, light.wet, *light.sun, 1.0 - light.contrast], dtype=np.float64)
    _shade(
        raster.ids,
        raster.inverse,
        colours,
        mesh.texture,
        mesh.shines,
        mesh.anchor,
        mask,
        lens.numbers,
        light.air,
        light.sky,
        np.array(light.horizon, dtype=np.float32),
        numbers,
        image,
    )
    return image


@numba.njit(nogil=True, cache=True, inline="always")
def _dice(a: int, b: int) -> float:
    """A number in [0, 1) of a cell, the same everywhere."""
    state = (a * 374761393 + b * 668265263) & 0xFFFFFFFF
    state = ((state ^ (state >> 13)) * 1274126177) & 0xFFFFFFFF
    return float((state ^ (state >> 16)) & 0xFFFF) / 65536.0


@numba.njit(nogil=True, cache=True)
def _windows(along: float, up: float, depth: float, night: float) -> tuple[float, float]:
    """Factor on a wall's colour, and how much a lit window adds."""
    if depth > _WINDOW_M or up < 0.4:
        return 1.0, 0.0
    bay, storey = math.floor(along / _BAY_M), math.floor(up / _STOREY_M)
    x, y = along / _BAY_M - bay, up / _STOREY_M - storey
    if x < 0.22 or x > 0.78 or y < 0.28 or y > 0.78:
        return 1.0, 0.0
    fade = 1.0 - depth / _WINDOW_M
    lamp = 0.0
    if night > 0.0 and _dice(int(bay), int(storey)) > 0.62:
        lamp = night * fade
    return 1.0 - 0.55 * fade, lamp


@numba.njit(nogil=True, cache=True)
def _grain(texture: int, x: float, y: float, depth: float) -> float:
    """Factor of the roughness of asphalt or grass at a place."""
    fade = 1.0 - depth / _GRAIN_M
    if texture == _GRASS:
        coarse = _dice(math.floor(x * 0.4), math.floor(y * 0.4)) - 0.5
        return 1.0 + fade * 0.10 * coarse
    fine = _dice(math.floor(x * 6.0), math.floor(y * 6.0)) - 0.5
    return 1.0 + fade * 0.07 * fine


@numba.njit(nogil=True, cache=True)
def _shade(
    ids: Ids,
    inverse: Float32,
    colours: Float32,
    texture: NDArray[np.uint8],
    shines: NDArray[np.bool_],
    anchor: Float32,
    mask: Mask,
    lens: Float,
    air: Float32,
    sky: Float32,
    fog: Float32,
    light: Float,
    image: NDArray[np.uint8],
) -> None:
    height, width = ids.shape
    night, wet = light[0], light[1]
    shadow = light[5]
    for row in range(height):
        rise = (lens[14] - row - 0.5) / lens[12]
        for column in range(width):
            aside = (lens[13] - column - 0.5) / lens[12]
            polygon = ids[row, column]
            if polygon < 0:
                length = math.sqrt(1.0 + aside * aside + rise * rise)
                sine = (lens[9] + lens[10] * aside + lens[11] * rise) / length
                entry = min(SKY_ENTRIES - 1, int((sine + 1.0) * 0.5 * SKY_ENTRIES))
                for k in range(3):
                    image[row, column, 2 - k] = np.uint8(sky[entry, k])
                image[row, column, 3] = 255
                continue
            depth = 1.0 / inverse[row, column]
            factor, lamp, mirror = 1.0, 0.0, 0.0
            kind = texture[polygon]
            if kind != 0 and depth < _WINDOW_M:
                x = lens[0] + depth * (lens[3] + lens[4] * aside + lens[5] * rise)
                y = lens[1] + depth * (lens[6] + lens[7] * aside + lens[8] * rise)
                if kind == _FACADE:
                    z = lens[2] + depth * (lens[9] + lens[10] * aside + lens[11] * rise)
                    along = (x - anchor[polygon, 0]) * anchor[polygon, 2]
                    along += (y - anchor[polygon, 1]) * anchor[polygon, 3]
                    factor, lamp = _windows(along, z - anchor[polygon, 4], depth, night)
                elif kind != _PAINT and depth < _GRAIN_M:
                    factor = _grain(kind, x, y, depth)
            if wet > 0.0 and kind in (_ASPHALT, _PAINT):
                mirror = wet * min(0.45, 0.06 + depth / 110.0)
                factor *= 1.0 - 0.35 * wet
            if not shines[polygon]:
                if mask[row, column] == SHADOW:
                    factor *= 0.35 + 0.3 * shadow
                elif mask[row, column] == BEAM:
                    factor *= 1.0 + 1.9 * night
            clear = air[min(AIR_ENTRIES - 1, int(depth * AIR_STEPS))]
            for k in range(3):
                value = colours[polygon, k] * factor
                if lamp > 0.0:
                    value += lamp * (210.0 - 45.0 * k)
                value += mirror * (fog[k] - value)
                value = fog[k] + clear * (value - fog[k])
                image[row, column, 2 - k] = np.uint8(min(255.0, value))
            image[row, column, 3] = 255

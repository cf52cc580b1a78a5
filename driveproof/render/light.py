"""Weather as light: sky colours, ambient light, fog."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.render.view import Weather


@dataclass(frozen=True)
class Light:
    """RGB in 0..255.

    Parameters
    ----------
    zenith, horizon
        Sky colours; the horizon's is also the fog's.
    ambient
        ``[3]`` factors on everything that does not shine itself.
    fog_m
        Distance over which contrast falls to 1/e, metres.
    contrast
        How much brighter a face is that looks into the sun.
    headlights
        Added brightness of the ground right before the ego.
    """

    zenith: tuple[int, int, int]
    horizon: tuple[int, int, int]
    ambient: tuple[float, float, float]
    fog_m: float
    contrast: float
    headlights: float = 0.0

    def veil(self, colours: ArrayLike, distance: ArrayLike) -> Float:
        """Colours ``[..., 3]`` seen through ``distance`` ``[...]`` metres of air."""
        clear = np.exp(-np.asarray(distance, dtype=np.float64) / self.fog_m)[..., None]
        fog = np.array(self.horizon, dtype=np.float64)
        return np.asarray(clear * colours + (1.0 - clear) * fog)


LIGHTS = {
    Weather.CLEAR: Light((104, 156, 214), (200, 216, 228), (1.0, 0.99, 0.96), 420.0, 0.42),
    Weather.CLOUDY: Light((150, 160, 170), (198, 202, 206), (0.84, 0.86, 0.88), 300.0, 0.14),
    Weather.RAIN: Light((112, 118, 126), (150, 154, 158), (0.66, 0.68, 0.72), 110.0, 0.08),
    Weather.FOG: Light((186, 188, 190), (194, 195, 196), (0.86, 0.87, 0.88), 32.0, 0.06),
    Weather.NIGHT: Light((8, 10, 22), (26, 28, 42), (0.24, 0.26, 0.34), 160.0, 0.05, 0.55),
}

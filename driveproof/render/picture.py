"""One picture: what a lens sees of a scene, as polygon numbers, and all that can be read from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float32
from driveproof.render.furniture import NO_LETTERS, Lettering
from driveproof.render.labels import Label
from driveproof.render.lamps import DARK, Glows
from driveproof.render.light import Light
from driveproof.render.mesh import EMPTY, Mesh
from driveproof.render.raster import Buffers, Lens, Raster
from driveproof.render.scenery import REACH_M, Part, Scenery
from driveproof.render.shading import BEAM, SHADOW, Looks, shade
from driveproof.render.terrain import plain
from driveproof.render.things import Things

Image = NDArray[np.uint8]

#: Things further away than this are not drawn, their shadows not beyond the second distance; metres.
THINGS_M, SHADOWS_M = 250.0, 70.0
#: Depth of the sky, metres: the largest value of CARLA's depth camera.
SKY_M = 1000.0
#: The plain to the horizon lies so far below the lowest tile, metres.
_PLAIN_DROP_M = 1.5


@dataclass(frozen=True)
class Scene:
    """A moment.

    Parameters
    ----------
    scenery
        The town, or None for an empty plain at height 0.
    things
        What moves or could: casts shadows.
    fixed
        Traffic lights, signs and poles, in collections of which some may be the same in every scene.
    lettering
        What is written on signs.
    glows
        Lamps that shine.
    beams
        Patches of ground that headlights reach at night.
    seed
        Decides where raindrops are.
    """

    scenery: Scenery | None
    things: Things
    fixed: tuple[Things, ...] = ()
    lettering: Lettering = NO_LETTERS
    glows: Glows = DARK
    beams: Mesh = EMPTY
    seed: int = 0


class Picture:
    """A scene through a lens. Draws once; ``rgb``, ``depth``, ``labels`` and ``owners`` are look-ups."""

    def __init__(
        self, scene: Scene, lens: Lens, buffers: Buffers | None = None, *, reach: float = REACH_M
    ) -> None:
        self.scene, self.lens = scene, lens
        bodies = [_in_sight(things, lens) for things in (scene.things, *scene.fixed)]
        self._parts = [
            *(Part(things.mesh()) for things in bodies),
            Part(scene.lettering.near(lens)),
        ]
        if scene.scenery is not None:
            tiles, low = scene.scenery.seen_by(lens, reach=reach)
            land = plain(lens.origin[:2], low - _PLAIN_DROP_M, 0.5 * reach)
            self._parts += [*tiles, Part(land)]
        else:
            self._parts.append(Part(plain(lens.origin[:2], 0.0, 0.0)))
        self.raster = Raster(lens, buffers)
        for part in self._parts:
            self.raster.draw(part.mesh)

    def column(self, name: str) -> NDArray[Any]:
        """``[P, ...]`` a column of :class:`~driveproof.render.mesh.Mesh` (or "normals") for all that was drawn.

        Row ``i`` belongs to number ``i`` of the raster.
        """
        return np.concatenate([getattr(part.mesh, name) for part in self._parts])

    def depth(self) -> Float32:
        """``[H, W]`` metres along the optical axis, 1000 for the sky."""
        inverse = self.raster.inverse
        return np.asarray(1.0 / np.maximum(inverse, np.float32(1.0 / SKY_M)), dtype=np.float32)

    def labels(self) -> Image:
        """``[H, W]`` :class:`~driveproof.render.labels.Label`."""
        table = np.append(self.column("label"), np.uint8(Label.SKY))
        return np.asarray(table[self.raster.ids], dtype=np.uint8)

    def owners(self) -> NDArray[np.int32]:
        """``[H, W]`` numbers of the actors, 0 where the town or the sky is."""
        table = np.append(self.column("owner"), np.int32(0))
        return np.asarray(table[self.raster.ids], dtype=np.int32)

    def bgra(self, light: Light, samples: int = 1) -> Image:
        """``[H, W, 4]`` blue, green, red, 255; ``samples`` pixels a side will be averaged to one."""
        lens, things = self.lens, self.scene.things
        close = np.linalg.norm(things.centres - lens.origin, axis=1) < SHADOWS_M
        if light.night > 0.0:
            self.raster.cover(self.scene.beams, BEAM, 0.6)
        if light.night < 1.0:
            shadows = things.where(close).shadows(np.array(light.sun))
            self.raster.cover(shadows, SHADOW, 0.12)
        colours = np.concatenate([part.colours(light) for part in self._parts])
        looks = Looks(colours, *(self.column(name) for name in ("texture", "shines", "anchor")))
        image = shade(self.raster, looks, light)
        self._shine(image, light, samples)
        if light.rain > 0.0:
            _streaks(image, light.rain, self.scene.seed)
        return image

    def _shine(self, image: Image, light: Light, samples: int) -> None:
        """Lamps that face the lens and are not hidden, at least a few pixels large."""
        glows = self.scene.glows
        for n in glows.near(self.lens):
            pixel, depth = self.lens.project(glows.at[n])
            u, v, distance = float(pixel[0]), float(pixel[1]), float(depth)
            if not (0.0 <= u < self.lens.width and 0.0 <= v < self.lens.height):
                continue
            if self.raster.inverse[int(v), int(u)] * (distance - 0.4) > 1.0:
                continue
            radius = max(glows.least[n] * samples, glows.radius[n] * self.lens.focal / distance)
            clear = max(0.35, float(np.exp(-distance / light.fog_m)))
            fog = np.array(light.horizon)
            paint = (fog + clear * (glows.colour[n] - fog))[::-1].tolist()
            centre = (round((u - 0.5) * 16), round((v - 0.5) * 16))
            cv2.circle(image, centre, round(radius * 16), (*paint, 255.0), -1, cv2.LINE_AA, 4)


def _in_sight(things: Things, lens: Lens) -> Things:
    centres = things.centres
    near = np.linalg.norm(centres - lens.origin, axis=1) < THINGS_M
    return things.where(near & lens.sees(centres, things.radii + 0.1))


def _streaks(image: Image, rain: float, seed: int) -> None:
    """Raindrops as short, slanting, half transparent lines; where they are depends on the seed alone."""
    height, width = image.shape[:2]
    rng = np.random.default_rng([seed, 0x5EED])
    count = int(rain * 140 * (width * height / 360_000.0) ** 0.5)
    start = rng.uniform([0.0, -0.1 * height], [width, height], (count, 2))
    length = rng.uniform(0.03, 0.10, count) * height
    end = start + np.column_stack([-0.12 * length, length])
    over = image.copy()
    for a, b in zip(start.astype(int).tolist(), end.astype(int).tolist(), strict=True):
        cv2.line(over, a, b, (206, 204, 200, 255), 1, cv2.LINE_AA)
    cv2.addWeighted(over, 0.38, image, 0.62, 0.0, dst=image)

"""Traffic lights and signs with their poles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import SignalKind
from driveproof.render.labels import Label
from driveproof.render.lamps import Glows
from driveproof.render.mesh import Mesh, join, mesh_of
from driveproof.render.raster import Lens
from driveproof.render.shapes import NAMES, Role
from driveproof.render.things import SHINE, upright
from driveproof.render.view import LightView, SignView
from driveproof.scene import LightState

#: Lamps spread over at least this radius, pixels.
LEAST_LAMP_PX = 1.6
_HEAD_M = (0.42, 0.46, 1.2)
_PLATE_M, _POLE_M, _POLE_HEIGHT_M = 0.8, 0.12, 5.4
#: The face of the head that shines in each state, and its height as a share of the head's.
LAMP_ROLES = {
    LightState.RED: (Role.RED, 0.83),
    LightState.YELLOW: (Role.YELLOW, 0.5),
    LightState.GREEN: (Role.GREEN, 0.17),
}
_NOT_LIT = np.zeros(len(Role), dtype=bool)
#: Strokes of a glyph: top, upper left, upper right, middle, lower left, lower right, bottom, upright in the middle.
_GLYPHS = dict(zip("0123456789", (119, 36, 93, 109, 46, 107, 123, 37, 127, 111), strict=True))
_GLYPHS |= {"S": 107, "T": 129, "O": 119, "P": 31}
_LEVEL = {0: 0.5, 3: 0.0, 6: -0.5}
_UPRIGHT = {1: (-0.5, 0.0), 2: (0.5, 0.0), 4: (-0.5, -0.5), 5: (0.5, -0.5), 7: (0.0, -0.5)}
#: Nobody reads a sign from further away, metres.
_LEGIBLE_M = 90.0


def light_rows(light: LightView, owner: int = 0) -> list[tuple[object, ...]]:
    """Rows of things for a traffic light: pole and head."""
    lit = _NOT_LIT.copy()
    if light.state in LAMP_ROLES:
        lit[LAMP_ROLES[light.state][0]] = True
    axes = upright(np.array(light.heading))
    foot = light.position - [0.0, 0.0, _HEAD_M[2] / 2.0]
    head = (NAMES.index("light"), foot, axes, _HEAD_M, (0, 0, 0), lit, Label.TRAFFIC_LIGHT, owner)
    behind = foot - axes[:, 0] * (_HEAD_M[0] / 2.0 + _POLE_M)
    return [head, _pole(behind, axes, owner)]


def lamp_places(lights: Sequence[LightView]) -> tuple[Float, Float]:
    """``[N, 3, 3]`` where the red, yellow and green lamps of lights are, and ``[N, 3]`` the way they face."""
    axes = upright(np.array([light.heading for light in lights], dtype=np.float64))
    facing = axes[..., 0].reshape(-1, 3)
    places = np.array([light.position for light in lights], dtype=np.float64).reshape(-1, 3)
    lamps = np.repeat((places + 0.42 * _HEAD_M[0] * facing)[:, None], 3, axis=1)
    shares = np.array([LAMP_ROLES[state][1] for state in LAMP_ROLES])
    lamps[:, :, 2] += (shares - 0.5) * _HEAD_M[2]
    return lamps, facing


def lamp_glows(lamps: Float, facing: Float, shown: Int) -> Glows:
    """The lamps that shine; ``shown`` ``[N]`` is 0, 1 or 2 for red, yellow or green, else dark."""
    lit = np.flatnonzero((shown >= 0) & (shown < 3))
    roles = np.array([role for role, _ in LAMP_ROLES.values()])
    return Glows(
        lamps[lit, shown[lit]],
        facing[lit],
        SHINE[roles[shown[lit]]],
        np.full(len(lit), 0.15),
        np.full(len(lit), LEAST_LAMP_PX),
    )


def sign_rows(sign: SignView, owner: int = 0) -> list[tuple[object, ...]]:
    """Rows of things for a sign: pole and plate."""
    axes = upright(np.array(sign.heading))
    foot = sign.position - [0.0, 0.0, _PLATE_M / 2.0]
    size = (0.04, _PLATE_M, _PLATE_M)
    name = NAMES.index(sign.kind.value)
    plate = (name, foot, axes, size, (0, 0, 0), _NOT_LIT, Label.TRAFFIC_SIGN, owner)
    return [plate, _pole(foot + 0.1 * axes[:, 2] - axes[:, 0] * _POLE_M, axes, owner)]


def _pole(top: Float, axes: Float, owner: int) -> tuple[object, ...]:
    size = (_POLE_M, _POLE_M, _POLE_HEIGHT_M)
    foot = top - [0.0, 0.0, _POLE_HEIGHT_M]
    return (NAMES.index("pole"), foot, axes, size, (0, 0, 0), _NOT_LIT, Label.POLE, owner)


class Lettering:
    """What is written on signs: STOP, and speed limits in km/h. Built for those that somebody looks at."""

    def __init__(self, signs: Sequence[SignView], owners: Sequence[int]) -> None:
        kinds = (SignalKind.STOP, SignalKind.SPEED_LIMIT)
        chosen = [
            (sign, key) for sign, key in zip(signs, owners, strict=True) if sign.kind in kinds
        ]
        self._signs = [sign for sign, _ in chosen]
        self._owners = [owner for _, owner in chosen]
        self._places = np.array([sign.position for sign in self._signs]).reshape(-1, 3)
        self._meshes: dict[int, Mesh] = {}

    def near(self, lens: Lens) -> Mesh:
        """The letters that can be read through a lens."""
        close = np.linalg.norm(self._places - lens.origin, axis=1) < _LEGIBLE_M
        close &= lens.sees(self._places, np.full(len(self._places), _PLATE_M))
        return join([self._mesh(n) for n in np.flatnonzero(close).tolist()])

    def _mesh(self, number: int) -> Mesh:
        if number not in self._meshes:
            sign = self._signs[number]
            limit = sign.kind is SignalKind.SPEED_LIMIT
            known = not limit or np.isfinite(sign.value)
            text = "STOP" if not limit else str(round(sign.value * 3.6)) if known else ""
            world = _strokes(text) @ upright(np.array(sign.heading)).T + sign.position
            colour = (22, 22, 24) if limit else (244, 244, 244)
            owner = self._owners[number]
            self._meshes[number] = mesh_of(world, colour, Label.TRAFFIC_SIGN, owner=owner)
        return self._meshes[number]


NO_LETTERS = Lettering((), ())


def _strokes(text: str) -> Float:
    """Rings ``[n, 4, 3]`` of the strokes of a text, on a plate that faces +x."""
    scale = min(1.0, 2.6 / max(len(text), 1))
    high, wide, thick, step = (scale * size for size in (0.30, 0.13, 0.035, 0.19))
    rings = []
    for place, glyph in enumerate(text):
        # Who reads it from the front has the plate's left (+y) on the right.
        middle = (place - (len(text) - 1) / 2.0) * step
        for stroke in range(8):
            if not _GLYPHS[glyph] >> stroke & 1:
                continue
            if stroke in _LEVEL:
                z = _LEVEL[stroke] * high
                y0, y1, z0, z1 = -wide / 2, wide / 2, z - thick / 2, z + thick / 2
            else:
                aside, foot = _UPRIGHT[stroke]
                y0, y1 = aside * wide - thick / 2, aside * wide + thick / 2
                z0, z1 = foot * high, high / 2 if stroke == 7 else (foot + 0.5) * high
            ring = [[0.03, y0, z0], [0.03, y1, z0], [0.03, y1, z1], [0.03, y0, z1]]
            rings.append(np.array(ring) + np.array([0.0, middle, 0.0]))
    return np.stack(rings) if rings else np.zeros((0, 4, 3))

"""The engine's world as a scene to draw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.furniture import Lettering, lamp_glows, lamp_places, light_rows, sign_rows
from driveproof.render.lamps import beams, brake_glows, head_glows, together
from driveproof.render.picture import Scene
from driveproof.render.scenery import scenery_of
from driveproof.render.shapes import NAMES, Role
from driveproof.render.things import Things, joined, things_of
from driveproof.render.view import LightView, SignView
from driveproof.scene import LightState
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.bodies import SOLID
from driveproof.sim.sensors.looks import colour_of, doors_of, shape_of

if TYPE_CHECKING:
    from driveproof.sim.engine.engine import Engine

#: CARLA's bits of vehicle lamps.
LOW_BEAM, HIGH_BEAM, BRAKE, RIGHT, LEFT, REVERSE, SIREN = 2, 4, 8, 16, 32, 64, 512
#: Indicators flash so often a second, and shine for this share of the time.
BLINK_HZ, BLINK_SHARE = 1.5, 0.6
#: A foot on the brake harder than this lights the brake lamps.
BRAKE_PEDAL = 0.05
_DAYLIGHT_DEG = 0.0
_PEDAL, _REVERSE_GEAR = 2, 4


@dataclass
class _Stage:
    """What stays the same of an engine's world from step to step."""

    furniture: Things
    heads: Things
    lamps: tuple[Float, Float]
    lettering: Lettering
    looks: dict[int, tuple[int, Float]] = field(default_factory=dict)
    key: tuple[object, ...] = ()
    scene: Scene | None = None


_STAGES: WeakKeyDictionary[Engine, _Stage] = WeakKeyDictionary()


def scene_of(engine: Engine) -> Scene:
    """The world as it is now; all cameras of one moment share it."""
    stage = _STAGES.get(engine)
    if stage is None:
        stage = _STAGES[engine] = _stage(engine)
    table, vehicles = engine.table, engine.vehicles
    columns = (table.id, table.position, table.rotation, vehicles.lamps, vehicles.doors)
    key = (
        engine.frame,
        *(column.tobytes() for column in columns),
        vehicles.control.tobytes(),
        engine.light_table.state.tobytes(),
        engine.weather.sun_altitude_angle,
    )
    if stage.scene is None or stage.key != key:
        stage.key, stage.scene = key, _scene(engine, stage)
    return stage.scene


def _stage(engine: Engine) -> _Stage:
    heads: list[tuple[object, ...]] = []
    rest: list[tuple[object, ...]] = []
    lights = [
        LightView(light.signal.position, light.signal.heading, LightState.OFF)
        for light in engine.lights
    ]
    for view, light in zip(lights, engine.lights, strict=True):
        head, pole = light_rows(view, light.id)
        heads.append(head)
        rest.append(pole)
    signs = [
        SignView(signal.position, signal.heading, signal.kind, signal.value)
        for signal in (sign.signal for sign in engine.signs)
    ]
    owners = [sign.id for sign in engine.signs]
    for plate, owner in zip(signs, owners, strict=True):
        rest += sign_rows(plate, owner)
    return _Stage(things_of(rest), things_of(heads), lamp_places(lights), Lettering(signs, owners))


def _scene(engine: Engine, stage: _Stage) -> Scene:
    things = _bodies(engine, stage)
    state = np.asarray(engine.light_table.state, dtype=np.int64)
    lit = np.zeros_like(stage.heads.lit)
    for number, role in enumerate((Role.RED, Role.YELLOW, Role.GREEN)):
        lit[:, role] = state == number
    shining = things.lit[:, Role.HEAD]
    return Scene(
        scenery_of(engine.town),
        things,
        (replace(stage.heads, lit=lit), stage.furniture),
        stage.lettering,
        together([lamp_glows(*stage.lamps, state), brake_glows(things), head_glows(things)]),
        beams(things.place[shining], things.axes[shining]),
        seed=engine.frame,
    )


def _bodies(engine: Engine, stage: _Stage) -> Things:
    table = engine.table
    rows = np.flatnonzero(np.isin(table.kind, SOLID) & (table.half_extent > 0.0).all(1))
    ids = table.id[rows].tolist()
    for key in ids:
        if key not in stage.looks:
            actor = engine.actors[key]
            stage.looks[key] = (NAMES.index(shape_of(engine, actor)), colour_of(actor))
    looks = [stage.looks[key] for key in ids]
    if len(stage.looks) > 2 * len(ids) + 100:
        stage.looks = dict(zip(ids, looks, strict=True))
    axes = rotation_matrices(table.rotation[rows])
    foot = table.box_offset[rows].copy()
    foot[:, 2] -= table.half_extent[rows, 2]
    bodies = Things(
        np.array([look[0] for look in looks], dtype=np.int64),
        table.position[rows] + np.einsum("nij,nj->ni", axes, foot),
        axes,
        2.0 * table.half_extent[rows],
        np.array([look[1] for look in looks]).reshape(-1, 3),
        _lit(engine, rows),
        table.label[rows].copy(),
        table.id[rows].copy(),
    )
    if not engine.vehicles.doors.any():
        return bodies
    return joined([bodies, doors_of(bodies, rows, engine.vehicles)])


def _lit(engine: Engine, rows: Int) -> Bool:
    """``[N, 10]`` which lamps of the bodies in these rows shine."""
    vehicles = engine.vehicles
    lit = np.zeros((len(engine.table), len(Role)), dtype=bool)
    flags, control = vehicles.lamps.astype(np.int64), vehicles.control
    blink = (engine.time * BLINK_HZ) % 1.0 < BLINK_SHARE
    dark = engine.weather.sun_altitude_angle < _DAYLIGHT_DEG
    at = vehicles.row
    lit[at, Role.BRAKE] = (control[:, _PEDAL] > BRAKE_PEDAL) | (flags & BRAKE > 0)
    lit[at, Role.LEFT] = (flags & LEFT > 0) & blink
    lit[at, Role.RIGHT] = (flags & RIGHT > 0) & blink
    lit[at, Role.REVERSE] = (control[:, _REVERSE_GEAR] > 0.5) | (flags & REVERSE > 0)
    # Drivers that leave the lamps alone drive with light in the dark.
    lit[at, Role.HEAD] = (flags & (LOW_BEAM | HIGH_BEAM) > 0) | (dark & (flags == 0))
    lit[at, Role.SIREN] = (flags & SIREN > 0) & blink
    return np.asarray(lit[rows])

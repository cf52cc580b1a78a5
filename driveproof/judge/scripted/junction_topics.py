"""Topics at junctions: turns and lights."""

from __future__ import annotations

import numpy as np

from driveproof.judge.scripted.actors import standing_car
from driveproof.judge.scripted.motion import Motion, bump, centred, slowing, steady
from driveproof.judge.scripted.places import Place
from driveproof.judge.scripted.topics import LORRY, Behaviour, Setting

Rng = np.random.Generator


def swing_wide(place: Place, rng: Rng, on: bool) -> Setting:
    """A lorry swings out to the left before a right turn, as its length demands; a car needs not."""
    speed = rng.uniform(4.8, 5.4)
    wide = Motion(steady(speed), bump(rng.uniform(2.3, 2.7), 0.0, 1.4, 1.6))
    name = "swings_wide_with_lorry" if on else "swings_wide"
    swing = Behaviour(name, on, wide, ("LK", "DDC"))
    if on:
        halt = Motion(slowing(speed, 0.0, rng.uniform(1.8, 2.2), 0.0, 0.4), centred())
        bad = Behaviour("stops_before_turn", False, halt, ("EP",))
        return Setting(speed, (), (swing, bad), shape=LORRY)
    plain = Behaviour("turns", True, Motion(steady(speed), centred()))
    return Setting(speed, (), (plain, swing))


def inside(place: Place, rng: Rng, on: bool) -> Setting:
    """A car has broken down in the way of a left turn; the ego turns inside of it."""
    speed = rng.uniform(5.6, 6.4)
    cut = Motion(steady(speed), bump(rng.uniform(1.9, 2.3), 0.0, 1.6, 4.0))
    plain = Motion(steady(speed), centred())
    at = place.junction + rng.uniform(2.0, 5.0)
    if on:
        good = Behaviour("turns_inside_breakdown", True, cut, ("LK", "DDC", "DAC"))
        bad = Behaviour("hits_breakdown", False, plain, ("NC",))
        panic = Motion(slowing(speed, 0.0, rng.uniform(6.5, 7.5), 0.0, 0.1), centred())
        worse = Behaviour("panics_at_breakdown", False, panic, ("COMFORT",))
        car = standing_car(rng, at, -rng.uniform(0.5, 0.8))
        return Setting(speed, (car,), (good, bad, worse))
    bad = Behaviour("cuts_corner", False, cut, ("LK", "DDC", "DAC"))
    return Setting(speed, (), (Behaviour("turns", True, plain), bad))


def red_light(place: Place, rng: Rng, on: bool) -> Setting:
    """The light is red: stop; it is green: drive."""
    speed = rng.uniform(5.8, 6.6)
    cross = Motion(steady(speed), centred())
    room = place.junction - 8.0
    stop = Motion(slowing(speed, 0.0, speed**2 / (2.0 * (room - 0.2 * speed)), 0.0, 0.4), centred())
    if on:
        good = Behaviour("stops_at_red", True, stop)
        bad = Behaviour("runs_red_light", False, cross, ("TLC",))
        return Setting(speed, (), (good, bad), red=True)
    bad = Behaviour("stops_at_green", False, stop, ("EP",))
    return Setting(speed, (), (Behaviour("crosses_at_green", True, cross), bad))

"""Topics on a stretch of road. In each, the generator is drawn from in one order, so that the two settings are twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from driveproof.judge.scripted.actors import (
    Actor,
    ambulance,
    barrier,
    car,
    cone,
    cyclist,
    debris,
    standing_car,
    van,
    walker,
)
from driveproof.judge.scripted.motion import Motion, bump, centred, gaining, shift, slowing, steady
from driveproof.judge.scripted.places import Place
from driveproof.judge.scripted.topics import Behaviour, Setting

Rng = np.random.Generator


def _far_side(place: Place) -> float:
    """Metres left of the lane to the middle of what lies beyond its left neighbour."""
    return 4.4 * place.half_width


def _off_road(place: Place) -> float:
    """Metres right of the lane's centre (negative) beside the road."""
    return -place.half_width - 1.7


def _some(rng: Rng, *decoys: Actor) -> tuple[Actor, ...]:
    """The decoys, or nobody."""
    return decoys if rng.random() < 0.6 else ()


def _plain(speed: float) -> Motion:
    return Motion(steady(speed), centred())


def _panic(speed: float, rng: Rng) -> Motion:
    """The hardest braking."""
    return Motion(slowing(speed, 0.0, rng.uniform(6.5, 7.5), 0.0, 0.1), centred())


def _hurry(speed: float, rng: Rng) -> Motion:
    """Accelerating harder than is comfortable, straight on."""
    return Motion(gaining(speed, rng.uniform(3.6, 4.2)), centred())


def nudge(place: Place, rng: Rng, on: bool) -> Setting:
    """A car stands half in the lane; the ego passes it a metre and a half to the left."""
    speed, at = rng.uniform(6.0, 7.5), rng.uniform(17.0, 21.0)
    aside, to = -rng.uniform(0.85, 1.15), rng.uniform(1.35, 1.6)
    drift = Motion(steady(speed), shift(to, 0.0, rng.uniform(1.5, 1.8)))
    if on:
        blocking = (standing_car(rng, at, aside),)
        good = Behaviour("nudge_stopped_car", True, drift, ("LK",))
        bad = Behaviour("hits_stopped_car", False, _plain(speed), ("NC",))
        return Setting(speed, blocking, (good, bad))
    decoy = _some(rng, standing_car(rng, at, _off_road(place)))
    bad = Behaviour("drifts_off_centre", False, drift, ("LK",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def pass_blocked(place: Place, rng: Rng, on: bool) -> Setting:
    """A lorry blocks the lane; the ego passes it over the free oncoming lane."""
    speed, at = rng.uniform(6.2, 7.2), rng.uniform(19.0, 22.0)
    to, panic = rng.uniform(2.9, 3.3), _panic(speed, rng)
    over = Motion(steady(speed), shift(to, 0.0, 2.1))
    if on:
        blocking = (van(rng, at, rng.uniform(-0.3, 0.1)),)
        good = Behaviour("pass_blocked_lane", True, over, ("DDC",))
        bad = Behaviour("drives_into_blockage", False, _plain(speed), ("NC",))
        worse = Behaviour("panics_at_blockage", False, panic, ("COMFORT",))
        return Setting(speed, blocking, (good, bad, worse))
    decoy = _some(rng, van(rng, at, _far_side(place)))
    bad = Behaviour("wrong_way", False, over, ("DDC",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def pass_oncoming(place: Place, rng: Rng, on: bool) -> Setting:
    """A lorry blocks the lane and somebody comes: wait, do not pass."""
    speed, at = rng.uniform(6.2, 7.2), rng.uniform(22.0, 25.0)
    over = Motion(steady(speed), shift(rng.uniform(2.9, 3.3), 0.0, 2.1))
    wait = Motion(slowing(speed, 0.0, rng.uniform(2.4, 2.8), 0.0, 0.6), centred())
    other = car(
        rng, rng.uniform(36.0, 44.0), 2.0 * place.half_width, turn=np.pi, vs=-rng.uniform(5.0, 7.0)
    )
    if on:
        blocking = (van(rng, at, rng.uniform(-0.3, 0.1)), other)
        good = Behaviour("waits_behind_blockage", True, wait)
        bad = Behaviour("passes_into_oncoming", False, over, ("NC", "TTC"))
        return Setting(speed, blocking, (good, bad))
    bad = Behaviour("needless_stop", False, wait, ("EP",))
    return Setting(speed, (other,), (Behaviour("drives_on", True, _plain(speed)), bad))


def courtesy(place: Place, rng: Rng, on: bool) -> Setting:
    """Somebody cycles at the lane's right edge; the ego gives room."""
    speed, pace = rng.uniform(6.8, 7.8), rng.uniform(2.4, 3.2)
    at, aside = rng.uniform(10.5, 13.0), -rng.uniform(0.85, 1.05)
    drift = Motion(steady(speed), shift(rng.uniform(1.3, 1.55), 0.0, rng.uniform(1.5, 1.8)))
    if on:
        good = Behaviour("courteous_drift", True, drift, ("LK",))
        bad = Behaviour("squeezes_past_cyclist", False, _plain(speed), ("NC", "TTC"))
        return Setting(speed, (cyclist(at, aside, pace),), (good, bad))
    decoy = _some(rng, cyclist(at + 12.0, _far_side(place), pace, np.pi))
    bad = Behaviour("crowds_the_middle", False, drift, ("LK",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def work_zone(place: Place, rng: Rng, on: bool) -> Setting:
    """Cones and barriers close most of the lane; the way round leads over the verge."""
    speed, at, to = rng.uniform(5.5, 6.8), rng.uniform(13.0, 15.5), -rng.uniform(1.45, 1.7)
    around = Motion(steady(speed), shift(to, 0.0, 1.7))
    panic = _panic(speed, rng)
    taper = [cone(at + 2.0 * n, 1.6 - 0.45 * n) for n in range(3)]
    closed = [barrier(at + 6.0 + 2.6 * n, 0.55) for n in range(5)]
    if on:
        good = Behaviour("work_zone_detour", True, around, ("DAC",))
        bad = Behaviour("ploughs_through_work_zone", False, _plain(speed), ("NC", "TTC"))
        worse = Behaviour("panics_at_work_zone", False, panic, ("COMFORT",))
        return Setting(speed, (*taper, *closed), (good, bad, worse))
    away = _far_side(place)
    decoy = _some(rng, *(replace(thing, d=thing.d + away) for thing in (*taper, *closed)))
    bad = Behaviour("leaves_the_road", False, around, ("DAC",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def emergency(place: Place, rng: Rng, on: bool) -> Setting:
    """An ambulance comes along the middle of the road; the ego slows down and makes room on the verge."""
    speed, at = rng.uniform(6.0, 7.5), rng.uniform(33.0, 40.0)
    pace, to = rng.uniform(6.0, 8.0), -rng.uniform(1.7, 2.0)
    room = Motion(slowing(speed, 0.4 * speed, 1.6), shift(to, 0.0, 1.8))
    hard = _panic(speed, rng)
    if on:
        coming = (ambulance(at, rng.uniform(0.9, 1.15), pace),)
        good = Behaviour("room_for_emergency", True, room, ("DAC",))
        bad = Behaviour("blocks_emergency", False, _plain(speed), ("NC", "TTC"))
        worse = Behaviour("panics_in_its_way", False, hard, ("NC", "TTC", "COMFORT"))
        return Setting(speed, coming, (good, bad, worse))
    decoy = _some(rng, car(rng, at, 2.0 * place.half_width, turn=np.pi, vs=-pace))
    bad = Behaviour("pulls_off_for_nothing", False, room, ("DAC",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def occlusion(place: Place, rng: Rng, on: bool) -> Setting:
    """A van hides whoever may step out behind it; the ego creeps past."""
    speed, at = rng.uniform(6.8, 7.8), rng.uniform(11.0, 13.0)
    edge = -place.half_width - rng.uniform(0.4, 0.7)
    slow = Motion(slowing(speed, rng.uniform(0.8, 1.1), 3.2, 0.0, 0.5), centred())
    meets = (at + 6.0 - 3.4) / speed  # the front reaches the walker's line
    hidden = walker(
        at + 6.0, edge - 0.4, vd=1.9, begins=meets - 0.75, appears=max(meets - 1.0, 0.2)
    )
    someone, hurry = rng.random() < 0.5, _hurry(speed, rng)
    if on:
        hides = van(rng, at + 1.5, edge)
        if not someone:
            good = Behaviour("slow_past_occlusion", True, slow, ("EP",))
            bad = Behaviour("hurries_past_occlusion", False, hurry, ("COMFORT",))
            return Setting(speed, (hides,), (good, bad))
        good = Behaviour("slow_past_occlusion", True, slow)
        bad = Behaviour("speeds_past_occlusion", False, _plain(speed), ("NC", "TTC"))
        return Setting(speed, (hides, hidden), (good, bad))
    decoy = _some(rng, van(rng, at + 1.5, _far_side(place)))
    bad = Behaviour("crawls_for_nothing", False, slow, ("EP",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def runs_out(place: Place, rng: Rng, on: bool) -> Setting:
    """Somebody runs onto the road closely ahead; the ego brakes as hard as it can."""
    speed, at = rng.uniform(6.8, 7.8), rng.uniform(13.0, 15.0)
    hard = _panic(speed, rng)
    pace = rng.uniform(1.7, 2.1)
    meets = (at - 3.4) / speed
    if on:
        child = walker(at, 0.2 - pace * meets, vd=pace)
        good = Behaviour("emergency_brake", True, hard, ("COMFORT",))
        bad = Behaviour("ignores_walker", False, _plain(speed), ("NC", "TTC"))
        return Setting(speed, (child,), (good, bad))
    decoy = _some(rng, walker(at, _off_road(place) - 0.8, vs=1.3))
    bad = Behaviour("brakes_hard_for_nothing", False, hard, ("COMFORT",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def walkers_wait(place: Place, rng: Rng, on: bool) -> Setting:
    """Two people at the kerb are about to cross; the ego stops for them."""
    speed, at = rng.uniform(5.4, 6.2), rng.uniform(12.5, 14.0)
    stop = Motion(slowing(speed, 0.0, rng.uniform(2.6, 3.0), 0.0, 0.4), centred())
    edge = -place.half_width - 0.5
    pace = rng.uniform(1.3, 1.5)
    patient = rng.random() < 0.5  # they step out when the ego stands
    begins, rush = 3.2 if patient else 0.5, _hurry(speed, rng)
    crossing = [walker(at + 1.3 * n, edge - 0.3 * n, vd=pace, begins=begins) for n in range(2)]
    if on:
        good = Behaviour("yields_to_walkers", True, stop, ("EP",) if patient else ())
        bad = (
            Behaviour("rushes_past_walkers", False, rush, ("COMFORT",))
            if patient
            else Behaviour("creeps_at_walkers", False, _plain(speed), ("NC", "TTC"))
        )
        return Setting(speed, tuple(crossing), (good, bad))
    decoy = _some(rng, *(walker(at + 1.3 * n, _off_road(place) - 1.0, vs=-1.3) for n in range(2)))
    bad = Behaviour("needless_stop", False, stop, ("EP",))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))


def cut_in(place: Place, rng: Rng, on: bool) -> Setting:
    """A car from the next lane merges closely ahead; without it, the ego closes up on a car of its own lane."""
    speed, gap = rng.uniform(7.0, 8.0), rng.uniform(2.5, 2.8)
    slower = speed - rng.uniform(2.8, 3.1)
    body = car(rng, 0.0, 0.0)
    front, rear = 2.35 + 1.33, body.length / 2.0
    side = 1.0 if place.left.value == "same" else -1.0
    ease = Motion(slowing(speed, slower - 0.6, 4.0, 0.0, 0.1), centred())
    if on:
        merging = replace(
            body, s=front + gap + rear, vs=slower, d=side * 0.9, vd=-side * 1.1, ends=0.8
        )
        merging = replace(merging, indicator="right" if side > 0 else "left")
        good = Behaviour("absorbs_cut_in", True, ease, ("TTC",))
        bad = Behaviour("hits_merging_car", False, _plain(speed), ("NC",))
        return Setting(speed, (merging,), (good, bad))
    closing = rng.uniform(1.5, 2.0)
    lead = replace(body, s=front + gap + rear + (speed - slower) * closing, vs=slower)
    late = Motion(slowing(speed, slower, 7.0, closing + 0.5, 0.1), centred())
    soon = Motion(slowing(speed, slower - 0.3, 2.4, 0.0, 0.5), centred())
    bad = Behaviour("tailgates", False, late, ("TTC",))
    return Setting(speed, (lead,), (Behaviour("keeps_distance", True, soon), bad))


def evade(place: Place, rng: Rng, on: bool) -> Setting:
    """Something lies on the road closely ahead; the ego swerves round it."""
    speed, at = rng.uniform(7.2, 8.2), rng.uniform(15.5, 17.5)
    swerve = Motion(steady(speed), bump(rng.uniform(2.2, 2.5), 0.0, rng.uniform(1.2, 1.3), 0.9))
    if on:
        good = Behaviour("evasive_swerve", True, swerve, ("COMFORT", "LK"))
        bad = Behaviour("drives_over_debris", False, _plain(speed), ("NC", "TTC"))
        return Setting(speed, (debris(at, rng.uniform(-0.4, 0.0)),), (good, bad))
    decoy = _some(rng, debris(at, _off_road(place)))
    bad = Behaviour("swerves", False, swerve, ("COMFORT", "LK"))
    return Setting(speed, decoy, (Behaviour("drives_on", True, _plain(speed)), bad))

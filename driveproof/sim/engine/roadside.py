"""The map's signals become actors, and its lights get their groups."""

from __future__ import annotations

from collections.abc import Callable

from driveproof.maps import MapSignal, SignalKind, TownMap
from driveproof.sim.engine.actor import Actor
from driveproof.sim.engine.births import Body
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.lights import (
    GREEN_S,
    RED_S,
    YELLOW_S,
    LightCycles,
    TrafficLight,
)
from driveproof.sim.engine.pose import Pose3
from driveproof.sim.engine.signals import TrafficSign, pose_of, trigger_box, type_of

#: CARLA's labels of lights and signs.
LIGHT_LABEL, SIGN_LABEL = 7, 8

#: Brings an actor of a class and type id to life with a body at a pose.
Birth = Callable[[type[Actor], str, Body, Pose3], Actor]


def place_signals(
    town: TownMap, cycles: LightCycles, birth: Birth
) -> tuple[list[TrafficLight], list[TrafficSign]]:
    """Lights and signs of ``town`` in the map's order; the lights of a junction are a group of ``cycles``."""
    lights: list[TrafficLight] = []
    signs: list[TrafficSign] = []
    for signal in town.signals:
        pose = pose_of(signal)
        if signal.kind is SignalKind.TRAFFIC_LIGHT:
            body = Body(ActorKind.TRAFFIC_LIGHT, label=LIGHT_LABEL)
            actor = birth(TrafficLight, type_of(signal), body, pose)
        else:
            body = Body(ActorKind.TRAFFIC_SIGN, label=SIGN_LABEL)
            actor = birth(TrafficSign, type_of(signal), body, pose)
        assert isinstance(actor, TrafficLight | TrafficSign)
        actor.signal, actor.trigger = signal, trigger_box(signal, pose)
        if isinstance(actor, TrafficLight):
            actor.slot = cycles.table.add(
                row=actor.row, id=actor.id, green=GREEN_S, yellow=YELLOW_S, red=RED_S
            )
            lights.append(actor)
        else:
            signs.append(actor)
    _group(lights, cycles)
    return lights, signs


def _group(lights: list[TrafficLight], cycles: LightCycles) -> None:
    groups: dict[tuple[int, str], dict[tuple[int, str], list[int]]] = {}
    for light in lights:
        turns = groups.setdefault(_group_of(light.signal), {})
        turns.setdefault((light.signal.sequence, light.signal.controller), []).append(light.slot)
    for number, turns in enumerate(groups.values()):
        ordered = [turns[key] for key in sorted(turns)]
        for pole, slot in enumerate(slot for turn in ordered for slot in turn):
            cycles.table.group[slot] = number
            cycles.table.pole[slot] = pole
        cycles.add_group(ordered)


def _group_of(signal: MapSignal) -> tuple[int, str]:
    """A junction's number; lights outside junctions stand alone, each with its controller."""
    return signal.junction, signal.controller if signal.junction < 0 else ""

"""Situations: each plans a stage around the ego. Adding one is a function and a registry line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from driveproof.collect.plan import Plan
from driveproof.collect.situations import blockers, junctions, leads, open_road
from driveproof.collect.staging import Stage
from driveproof.errors import BadInput


@dataclass(frozen=True)
class SituationKind:
    """A situation: its name in clips, its share of the drives, and how to set it up.

    ``setup`` raises :class:`~driveproof.collect.staging.NoPlace` where the town does not fit.
    """

    name: str
    weight: float
    setup: Callable[[Stage], Plan]


SITUATIONS: dict[str, SituationKind] = {
    kind.name: kind
    for kind in (
        SituationKind("LeadBrakes", 1.6, leads.lead_brakes),
        SituationKind("SlowLead", 0.6, leads.slow_lead),
        SituationKind("StopAndGo", 1.1, leads.stop_and_go),
        SituationKind("CutIn", 0.8, leads.cut_in),
        SituationKind("RedLight", 2.0, junctions.red_light),
        SituationKind("YellowLight", 1.2, junctions.yellow_light),
        SituationKind("StopSign", 1.1, junctions.stop_sign),
        SituationKind("TurnLeft", 1.3, junctions.turn_left),
        SituationKind("TurnRight", 1.3, junctions.turn_right),
        SituationKind("ParkedCar", 0.9, blockers.parked_car),
        SituationKind("Accident", 0.7, blockers.accident),
        SituationKind("PedestrianCrossing", 1.4, blockers.pedestrian_crossing),
        SituationKind("FreeDrive", 0.6, open_road.free_drive),
        SituationKind("StartFromStandstill", 0.8, open_road.start_from_standstill),
    )
}


def shares(weights: dict[str, float], total: int) -> list[str]:
    """Names of ``total`` situations in proportion to their weights, by largest remainders.

    Raises
    ------
    BadInput
        If a name is unknown or all weights are zero.
    """
    unknown = sorted(set(weights) - set(SITUATIONS))
    if unknown:
        known = ", ".join(SITUATIONS)
        raise BadInput(
            f"no situation {unknown[0]!r}", field="collect.weights", hint=f"known: {known}"
        )
    wanted = {name: weights.get(name, kind.weight) for name, kind in SITUATIONS.items()}
    scale = sum(wanted.values())
    if scale <= 0.0:
        raise BadInput("all situations have weight zero", field="collect.weights")
    exact = {name: total * weight / scale for name, weight in wanted.items()}
    counts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in by_remainder[: total - sum(counts.values())]:
        counts[name] += 1
    return [name for name, count in counts.items() for _ in range(count)]

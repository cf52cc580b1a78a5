"""Which scenarios there are. Adding one is a class in the file of its family and a line here."""

from __future__ import annotations

from driveproof.errors import BadInput
from driveproof.sim.routes import ABILITIES, OTHER_TYPES, Ability, canonical, suggestion
from driveproof.sim.scenarios import (
    control,
    crossings,
    cut_ins,
    giving_way,
    junctions,
    leads,
    merging,
    obstacles,
)
from driveproof.sim.scenarios.base import Scenario

SCENARIOS: dict[str, type[Scenario]] = {
    "Accident": obstacles.Accident,
    "AccidentTwoWays": obstacles.AccidentTwoWays,
    "BlockedIntersection": junctions.BlockedIntersection,
    "ConstructionObstacle": obstacles.ConstructionObstacle,
    "ConstructionObstacleTwoWays": obstacles.ConstructionObstacleTwoWays,
    "ControlLoss": control.ControlLoss,
    "CrossingBicycleFlow": crossings.CrossingBicycleFlow,
    "DynamicObjectCrossing": crossings.DynamicObjectCrossing,
    "EnterActorFlow": junctions.EnterActorFlow,
    "HardBreakRoute": leads.HardBreakRoute,
    "HazardAtSideLane": obstacles.HazardAtSideLane,
    "HazardAtSideLaneTwoWays": obstacles.HazardAtSideLaneTwoWays,
    "HighwayCutIn": cut_ins.HighwayCutIn,
    "HighwayExit": merging.HighwayExit,
    "InterurbanActorFlow": merging.InterurbanActorFlow,
    "InterurbanAdvancedActorFlow": merging.InterurbanAdvancedActorFlow,
    "InvadingTurn": giving_way.InvadingTurn,
    "MergerIntoSlowTraffic": merging.MergerIntoSlowTraffic,
    "MergerIntoSlowTrafficV2": merging.MergerIntoSlowTrafficV2,
    "NonSignalizedJunctionLeftTurn": junctions.NonSignalizedJunctionLeftTurn,
    "NonSignalizedJunctionLeftTurnEnterFlow": junctions.NonSignalizedJunctionLeftTurnEnterFlow,
    "NonSignalizedJunctionRightTurn": junctions.NonSignalizedJunctionRightTurn,
    "OppositeVehicleRunningRedLight": junctions.OppositeVehicleRunningRedLight,
    "OppositeVehicleTakingPriority": junctions.OppositeVehicleTakingPriority,
    "ParkedObstacle": obstacles.ParkedObstacle,
    "ParkedObstacleTwoWays": obstacles.ParkedObstacleTwoWays,
    "ParkingCrossingPedestrian": crossings.ParkingCrossingPedestrian,
    "ParkingCutIn": cut_ins.ParkingCutIn,
    "ParkingExit": merging.ParkingExit,
    "PedestrianCrossing": crossings.PedestrianCrossing,
    "SequentialLaneChange": merging.SequentialLaneChange,
    "SignalizedJunctionLeftTurn": junctions.SignalizedJunctionLeftTurn,
    "SignalizedJunctionLeftTurnEnterFlow": junctions.SignalizedJunctionLeftTurnEnterFlow,
    "SignalizedJunctionRightTurn": junctions.SignalizedJunctionRightTurn,
    "StaticCutIn": cut_ins.StaticCutIn,
    "T_Junction": junctions.TJunction,
    "VanillaNonSignalizedTurn": junctions.VanillaNonSignalizedTurn,
    "VanillaNonSignalizedTurnEncounterStopsign": junctions.VanillaNonSignalizedTurnEncounterStopsign,
    "VanillaSignalizedTurnEncounterGreenLight": junctions.VanillaSignalizedTurnEncounterGreenLight,
    "VanillaSignalizedTurnEncounterRedLight": junctions.VanillaSignalizedTurnEncounterRedLight,
    "VehicleOpensDoorTwoWays": obstacles.VehicleOpensDoorTwoWays,
    "VehicleTurningRoute": crossings.VehicleTurningRoute,
    "VehicleTurningRoutePedestrian": crossings.VehicleTurningRoutePedestrian,
    "YieldToEmergencyVehicle": giving_way.YieldToEmergencyVehicle,
}
"""The scenarios that are written, by type."""

OPEN: tuple[str, ...] = tuple(
    name for name in sorted({*ABILITIES, *OTHER_TYPES}) if name not in SCENARIOS
)
"""The known types that are not written yet: all 44 of Bench2Drive are."""


def scenario_type(name: str) -> str:
    """The canonical name of a scenario that is written, from any of its spellings.

    Raises
    ------
    BadInput
        If nobody knows the type, or it is not written yet.
    """
    known = canonical(name)
    if known is None:
        near = suggestion(name)
        raise BadInput(
            f"no scenario type {name[:60]!r}", hint=f"did you mean {near}?" if near else None
        )
    if known not in SCENARIOS:
        raise BadInput(
            f"the scenario {known} is not written yet", hint="docs/scenarios.md lists what is open"
        )
    return known


def scenario_class(name: str) -> type[Scenario]:
    """The scenario of a type, in any of its spellings; errors as :func:`scenario_type`."""
    return SCENARIOS[scenario_type(name)]


def abilities(name: str) -> tuple[Ability, ...]:
    """What a scenario type tests."""
    return ABILITIES.get(name, ())

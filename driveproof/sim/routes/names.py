"""Names of scenario types: the canonical ones, their other spellings, and the abilities they test."""

from __future__ import annotations

import difflib
import re
from enum import StrEnum


class Ability(StrEnum):
    """What a scenario tests (Bench2Drive's five multi-label abilities)."""

    OVERTAKING = "Overtaking"
    MERGING = "Merging"
    EMERGENCY_BRAKE = "Emergency_Brake"
    GIVE_WAY = "Give_Way"
    TRAFFIC_SIGNS = "Traffic_Signs"


_MEMBERS: dict[Ability, str] = {
    Ability.OVERTAKING: """
        Accident AccidentTwoWays ConstructionObstacle ConstructionObstacleTwoWays HazardAtSideLane
        HazardAtSideLaneTwoWays ParkedObstacle ParkedObstacleTwoWays VehicleOpensDoorTwoWays""",
    Ability.MERGING: """
        CrossingBicycleFlow EnterActorFlow HighwayExit InterurbanActorFlow HighwayCutIn
        InterurbanAdvancedActorFlow MergerIntoSlowTrafficV2 MergerIntoSlowTraffic
        NonSignalizedJunctionLeftTurn NonSignalizedJunctionRightTurn
        NonSignalizedJunctionLeftTurnEnterFlow ParkingExit SequentialLaneChange
        SignalizedJunctionLeftTurn SignalizedJunctionRightTurn SignalizedJunctionLeftTurnEnterFlow""",
    Ability.EMERGENCY_BRAKE: """
        BlockedIntersection DynamicObjectCrossing HardBreakRoute OppositeVehicleTakingPriority
        OppositeVehicleRunningRedLight ParkingCutIn PedestrianCrossing ParkingCrossingPedestrian
        StaticCutIn VehicleTurningRoute VehicleTurningRoutePedestrian ControlLoss""",
    Ability.GIVE_WAY: "InvadingTurn YieldToEmergencyVehicle",
    Ability.TRAFFIC_SIGNS: """
        BlockedIntersection OppositeVehicleTakingPriority OppositeVehicleRunningRedLight
        PedestrianCrossing VehicleTurningRoute VehicleTurningRoutePedestrian EnterActorFlow
        CrossingBicycleFlow NonSignalizedJunctionLeftTurn NonSignalizedJunctionRightTurn
        NonSignalizedJunctionLeftTurnEnterFlow SignalizedJunctionLeftTurn SignalizedJunctionRightTurn
        SignalizedJunctionLeftTurnEnterFlow T_Junction VanillaNonSignalizedTurn
        VanillaNonSignalizedTurnEncounterStopsign VanillaSignalizedTurnEncounterGreenLight
        VanillaSignalizedTurnEncounterRedLight""",
}

ABILITIES: dict[str, tuple[Ability, ...]] = {
    name: tuple(a for a in Ability if name in _MEMBERS[a].split())
    for name in sorted({n for names in _MEMBERS.values() for n in names.split()})
}
"""The 44 scenario types of Bench2Drive and their abilities."""

OTHER_TYPES = frozenset({"PriorityAtJunction", "EnterActorFlowV2", "CutIn"})
"""Types of the CARLA leaderboard and scenario_runner that Bench2Drive does not use."""

ALIASES: dict[str, str] = {
    "TJunction": "T_Junction",
    "LaneChange": "SequentialLaneChange",
    "HardBrakeRoute": "HardBreakRoute",
    "HardBrake": "HardBreakRoute",
    "ConstructionSetupCrossing": "ConstructionObstacle",
    "VehicleOpensDoor": "VehicleOpensDoorTwoWays",
    "YieldToEmergency": "YieldToEmergencyVehicle",
    "MergerIntoSlowTrafficV1": "MergerIntoSlowTraffic",
    "VanillaNonSignalizedTurnEncounterStopSign": "VanillaNonSignalizedTurnEncounterStopsign",
}
"""Other spellings in folder names, older route files and papers."""

_KNOWN = {*ABILITIES, *OTHER_TYPES}
_FOLDED = {
    re.sub(r"[\W_]", "", spelling).lower(): name
    for spelling, name in {**ALIASES, **{name: name for name in _KNOWN}}.items()
}


def canonical(name: str) -> str | None:
    """The canonical type of a spelling (case, spaces and underscores do not matter); None if unknown."""
    if name in _KNOWN:
        return name
    return ALIASES.get(name) or _FOLDED.get(re.sub(r"[\W_]", "", name).lower())


def suggestion(name: str) -> str | None:
    """The known type that an unknown name most resembles, if any does."""
    close = difflib.get_close_matches(name, sorted(_KNOWN), n=1)
    return close[0] if close else None

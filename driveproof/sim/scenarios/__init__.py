"""Scenarios for all five abilities of Bench2Drive: a place, actors and a story each."""

from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.registry import OPEN, SCENARIOS, abilities, scenario_class
from driveproof.sim.scenarios.run import DriverName, NoStage, ScenarioResult, run_scenario

__all__ = [
    "OPEN",
    "SCENARIOS",
    "Context",
    "DriverName",
    "NoPlace",
    "NoStage",
    "Places",
    "Scenario",
    "ScenarioResult",
    "Setting",
    "abilities",
    "run_scenario",
    "scenario_class",
]

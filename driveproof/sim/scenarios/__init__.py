"""Scenarios for all five abilities of Bench2Drive: a place, actors and a story each."""

from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.campaign import (
    Row,
    Task,
    as_declared,
    perform,
    perform_task,
    tasks_of,
)
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.registry import (
    OPEN,
    SCENARIOS,
    abilities,
    scenario_class,
    scenario_type,
)
from driveproof.sim.scenarios.routes import RouteResult, RouteShow, run_route, start_route
from driveproof.sim.scenarios.run import NoStage, ScenarioResult, run_scenario
from driveproof.sim.scenarios.sheet import Moments, contact_sheet, write_sheet
from driveproof.sim.scenarios.stage import DriverFactory, DriverName, EgoDriver, Stage
from driveproof.sim.scenarios.table import summarise, write_report

__all__ = [
    "OPEN",
    "SCENARIOS",
    "Context",
    "DriverFactory",
    "DriverName",
    "EgoDriver",
    "Moments",
    "NoPlace",
    "NoStage",
    "Places",
    "RouteResult",
    "RouteShow",
    "Row",
    "Scenario",
    "ScenarioResult",
    "Setting",
    "Stage",
    "Task",
    "abilities",
    "as_declared",
    "contact_sheet",
    "perform",
    "perform_task",
    "run_route",
    "run_scenario",
    "scenario_class",
    "scenario_type",
    "start_route",
    "summarise",
    "tasks_of",
    "write_report",
    "write_sheet",
]

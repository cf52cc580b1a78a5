"""The expert at the wheel: 30 routes through scenarios and 50 starts beside routes, on embedded servers.

    python -m benchmarks.expert_routes --out reports/expert_routes.json [--first-seed 10] [--only routes|astray]

Two decisions a second, executed by the action module at 20 Hz. Targets: at least 90 % of the routes without an
infraction, and at least 90 % of the starts back on the route or with a reason why not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from driveproof.commenter.astray import come_back
from driveproof.commenter.live import ExpertKeys
from driveproof.errors import UserError
from driveproof.files import write_json
from driveproof.scene import LightState
from driveproof.sim.client import Session, start_server
from driveproof.sim.drivers import Roads
from driveproof.sim.scenarios import abilities, run_scenario

ROUTES: dict[str, tuple[str, ...]] = {
    "Town01": (
        "AccidentTwoWays",
        "ConstructionObstacleTwoWays",
        "HazardAtSideLaneTwoWays",
        "ParkedObstacleTwoWays",
        "VehicleOpensDoorTwoWays",
    ),
    "Town03": (
        "Accident",
        "BlockedIntersection",
        "ControlLoss",
        "CrossingBicycleFlow",
        "DynamicObjectCrossing",
        "EnterActorFlow",
        "HardBreakRoute",
        "InvadingTurn",
        "NonSignalizedJunctionLeftTurn",
        "OppositeVehicleRunningRedLight",
        "ParkedObstacle",
        "ParkingCrossingPedestrian",
        "ParkingCutIn",
        "ParkingExit",
        "PedestrianCrossing",
        "SignalizedJunctionLeftTurn",
        "StaticCutIn",
        "T_Junction",
        "VanillaNonSignalizedTurnEncounterStopsign",
        "VanillaSignalizedTurnEncounterRedLight",
        "VehicleTurningRoute",
    ),
    "Town04": (
        "HighwayCutIn",
        "MergerIntoSlowTraffic",
        "SequentialLaneChange",
        "YieldToEmergencyVehicle",
    ),
}
"""Thirty routes on three towns; together they test all five abilities."""
ASTRAY = {"Town03": 17, "Town05": 17, "Town10HD": 16}
"""Starts beside routes, by town."""


@contextmanager
def _session(town: str) -> Iterator[Session]:
    server = start_server(town)
    try:
        with Session.open(server.host, server.port, town=town) as session:
            yield session
    finally:
        server.stop()


def drive_routes(first_seed: int) -> list[dict[str, Any]]:
    """A row for each of :data:`ROUTES`."""
    rows: list[dict[str, Any]] = []
    for town, names in ROUTES.items():
        with _session(town) as session:
            for name in names:
                seed = first_seed + len(rows)
                row: dict[str, Any] = {"scenario": name, "town": town, "seed": seed}
                row["abilities"] = [ability.value for ability in abilities(name)]
                try:
                    result = run_scenario(session, name, ExpertKeys(), seed, town)
                except UserError as error:
                    rows.append({**row, "lost": str(error)})
                    continue
                row |= {"passed": result.passed, "completion": result.completion}
                row |= {"seconds": result.seconds, "infractions": [i.text for i in result.infractions]}  # fmt: skip
                rows.append(row)
    return rows


def drive_astray(first_seed: int) -> list[dict[str, Any]]:
    """A row for each of :data:`ASTRAY`."""
    rows = []
    for town, count in ASTRAY.items():
        with _session(town) as session:
            session.freeze_lights()
            session.set_lights(dict.fromkeys(session.state.lights, LightState.GREEN))
            roads = Roads(session.town)
            for seed in range(first_seed, first_seed + count):
                result = come_back(session, roads, seed)
                rows.append({**asdict(result), "good": result.good})
    return rows


def main(
    out: Annotated[Path, typer.Option(help="Report.")] = Path("reports/expert_routes.json"),
    first_seed: Annotated[int, typer.Option(min=0)] = 10,
    only: Annotated[str, typer.Option(help="routes, astray or both.")] = "both",
) -> None:
    """Drive, write the report, say how it went."""
    routes = drive_routes(first_seed) if only != "astray" else []
    astray = drive_astray(first_seed) if only != "routes" else []
    summary = {
        "routes": len(routes),
        "routes_passed": sum(bool(row.get("passed")) for row in routes),
        "routes_lost": sum("lost" in row for row in routes),
        "starts": len(astray),
        "starts_back": sum(row["back"] and not row["touched"] for row in astray),
        "starts_good": sum(row["good"] for row in astray),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    write_json(out, {"summary": summary, "routes": routes, "astray": astray})
    Console().print(summary)


if __name__ == "__main__":
    typer.run(main)

"""``driveproof scenarios``: which scenarios there are, and performing one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console

if TYPE_CHECKING:
    from driveproof.sim.scenarios import ScenarioResult

app = typer.Typer(help="Scenarios: list them, perform one.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the scenario types: what they test, what they are about, where they can be staged.

    Example: driveproof scenarios list
    """
    from driveproof.sim.routes import ABILITIES
    from driveproof.sim.scenarios import SCENARIOS

    rows: list[dict[str, Any]] = []
    for name, abilities in ABILITIES.items():
        kind = SCENARIOS.get(name)
        rows.append(
            {
                "scenario": name,
                "abilities": [ability.value for ability in abilities],
                "about": kind.fails.value if kind else None,
                "towns": list(kind.towns) if kind else [],
                "written": kind is not None,
                "text": (kind.__doc__ or "").split("\n")[0] if kind else "not written yet",
            }
        )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table("scenario", "abilities", "about", "towns", "what happens")
    for row in rows:
        cells = [row["scenario"], ", ".join(row["abilities"]), row["about"] or ""]
        table.add_row(*cells, ", ".join(row["towns"]), row["text"])
    Console().print(table)


@app.command("run")
def run_command(
    name: Annotated[str, typer.Argument(help="A scenario type, such as ParkingCutIn.")],
    driver: Annotated[
        str,
        typer.Option(help="expert, oblivious, or keys: the commenter's expert by its own keys."),
    ] = "expert",
    seed: Annotated[int, typer.Option(min=0, help="Decides place and details.")] = 0,
    town: Annotated[str | None, typer.Option(help="Where; else a preferred town.")] = None,
    host: Annotated[str, typer.Option(help="Where a CARLA server runs.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Its port; 0 starts an embedded server.")
    ] = 0,
    frames: Annotated[
        Path | None, typer.Option(help="Folder for a contact sheet of the performance.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Perform a scenario and say what the ego did wrong; exit code 1 if anything.

    Example: driveproof scenarios run PedestrianCrossing --driver oblivious --seed 3 --frames sheets
    """
    from driveproof.files import check_folder
    from driveproof.sim.client import Session, start_server
    from driveproof.sim.scenarios import (
        Moments,
        contact_sheet,
        run_scenario,
        scenario_class,
        write_sheet,
    )

    kind = scenario_class(name)
    if frames is not None:
        check_folder(frames)
    server = None if port else start_server(town or kind.towns[0])
    try:
        where = (server.host, server.port) if server is not None else (host, port)
        with Session.open(*where) as session:
            moments = Moments()
            who: Any = driver
            if driver == "keys":
                from driveproof.commenter.live import ExpertKeys

                who = ExpertKeys()
            result = run_scenario(session, name, who, seed, town, moments)
            if frames is not None:
                sheet = contact_sheet(moments, session.town, f"{name}, {driver}, seed {seed}")
                frames.mkdir(parents=True, exist_ok=True)
                write_sheet(frames / f"{result.name}_{driver}_{seed}.jpg", sheet)
    finally:
        if server is not None:
            server.stop()
    _show(result, as_json)
    if not result.passed:
        raise typer.Exit(1)


def _show(result: ScenarioResult, as_json: bool) -> None:
    found = [
        {"kind": one.kind.value, "time": round(one.time, 2), "text": one.text}
        for one in result.infractions
    ]
    if as_json:
        facts = {
            "scenario": result.name,
            "driver": result.driver,
            "seed": result.seed,
            "town": result.town,
            "passed": result.passed,
            "completion": result.completion,
            "seconds": result.seconds,
            "infractions": found,
            "roles": result.roles,
        }
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console()
    share, time = 100.0 * result.completion, result.seconds
    console.print(f"{result.name} in {result.town}: {share:.0f} % of the way in {time:.1f} s")
    for entry in found:
        console.print(f"  {entry['time']:6.2f} s  {entry['kind']}: {entry['text']}")
    console.print("passed" if result.passed else "failed")

"""``driveproof drive suite``: a route file of our own from places where scenarios can be staged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def suite_command(
    out: Annotated[Path, typer.Option(help="Route file to write (XML).")],
    scenarios: Annotated[str, typer.Option(help="Types, with commas between.")],
    towns: Annotated[str, typer.Option(help="Where they may be staged; any if empty.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Decides the places.")] = 0,
) -> None:
    """Write a suite of short routes, one a scenario, without any other data.

    Example: driveproof drive suite --scenarios ParkingCutIn,PedestrianCrossing --out suites/mine.xml
    """
    from driveproof.drive.suite import staged_routes
    from driveproof.errors import BadInput
    from driveproof.sim.routes import write_routes

    names = [part.strip() for part in scenarios.split(",") if part.strip()]
    if not names:
        raise BadInput("names none", field="--scenarios")
    allowed = [part.strip() for part in towns.split(",") if part.strip()]
    routes = staged_routes(names, seed, allowed)
    write_routes(routes, out)
    typer.echo(f"{len(routes)} routes in {out}")

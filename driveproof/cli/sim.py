"""``driveproof sim``: the embedded simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from driveproof.sim.server import Address

app = typer.Typer(help="The embedded simulator.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The embedded simulator."""


@app.command()
def serve(
    town: Annotated[str, typer.Option(help="Town to load first.")] = "Town10HD",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="RPC port, streams use the next one; 0 takes a free pair.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    version: Annotated[str, typer.Option(help="CARLA version to speak.")] = "0.9.16",
    maps: Annotated[Path, typer.Option(help="Folder with own .xodr or .xodr.gz files.")] = Path(
        "data/maps"
    ),
    ready_file: Annotated[
        Path | None, typer.Option(help="Written as JSON when clients can connect.")
    ] = None,
    insecure_open: Annotated[
        bool, typer.Option("--insecure-open", help="Allow an address that other machines reach.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every connection.")] = False,
) -> None:
    """Serve CARLA's protocol without CARLA, until SIGTERM or Ctrl+C.

    Exit codes: 0 stopped, 2 bad option, 3 no such town, 4 ports in use.

    Example: driveproof sim serve --town Town10HD --port 0 --json --ready-file server.json
    """
    import asyncio
    import logging

    from driveproof.sim.server import ServerOptions
    from driveproof.sim.server import serve as run_server

    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING, format="%(levelname)s %(message)s"
    )
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    options = ServerOptions(town, host, port, seed, version, maps, insecure_open)
    status = Console(stderr=True).status(Text(f"loading {town}"))

    def ready(address: Address) -> None:
        status.stop()
        _announce(address, ready_file, as_json)

    status.start()
    try:
        asyncio.run(run_server(options, ready))
    finally:
        status.stop()


def _announce(address: Address, ready_file: Path | None, as_json: bool) -> None:
    from driveproof.files import atomic_path

    text = json.dumps(address.as_dict(), sort_keys=True)
    if ready_file is not None:
        with atomic_path(ready_file) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
    typer.echo(
        text
        if as_json
        else f"{address.build} speaks CARLA {address.version} at {address.host}:{address.port} "
        f"({address.town}); streams at {address.stream_port}"
    )

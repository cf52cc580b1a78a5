"""``driveproof leaderboard``: drive for the official leaderboard's agent."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer


def command(
    policy: Annotated[
        str, typer.Option(help="random, wire:URL, transformers:FOLDER, package.module:Class …")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder for decisions and motion of each drive.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7050,
    graph: Annotated[str, typer.Option(help="Questions: a preset or a file; for who talks.")] = "",
    mode: Annotated[str, typer.Option(help="camera, and +six, +history=N.")] = "",
    rate: Annotated[float, typer.Option(min=0.1, max=20.0, help="Decisions a second.")] = 2.0,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the policy.")] = 0,
    agent: Annotated[
        bool, typer.Option("--agent", help="Print where the agent file lies, and end.")
    ] = False,
) -> None:
    """Serve a policy to the agent that an unmodified CARLA leaderboard loads; until Ctrl+C or SIGTERM.

    Example: driveproof leaderboard --policy wire:http://127.0.0.1:7023 --out traces
    """
    if agent:
        from importlib.resources import files

        typer.echo(str(files("driveproof") / "sim" / "leaderboard" / "driveproof_agent.py"))
        return
    from driveproof.drive.leaderboard import LeaderboardDriver
    from driveproof.drive.leaderboard_serve import bridge
    from driveproof.drive.plan import DriveSettings
    from driveproof.errors import BadInput

    if not policy:
        raise BadInput("is needed", field="--policy", hint="driveproof policy list")
    settings = DriveSettings(seed=seed, rate_hz=rate, graph=graph, mode=mode)
    driver = LeaderboardDriver(policy, settings, out)
    server = bridge(driver, port)
    typer.echo(f"{driver.policy.name} at http://127.0.0.1:{server.server_port}", err=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was driven is written first
    try:
        server.serve_forever()
    finally:
        driver.end()
        server.server_close()

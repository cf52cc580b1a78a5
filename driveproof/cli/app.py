"""Assembles the command groups and turns user errors into one line and an exit code."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import typer

from driveproof import __version__
from driveproof.errors import run

app = typer.Typer(
    name="driveproof",
    help="""Build, judge and prove driving vision-language models, reproducibly.

    Example: driveproof doctor""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# One line a room: the module defines ``app`` (a typer group of that name) or ``command`` (a single command).
GROUPS = (
    "params",
    "scenes",
    "maps",
    "codebook",
    "mcq",
    "rubrics",
    "distill",
    "trajectory_tokens",
    "human",
    "judge",
    "policy",
    "registry",
    "score",
    "evaluate",
    "validate",
    "sim",
    "routes",
    "scenarios",
    "vqa",
    "drive",
    "reason",
)
COMMANDS = (
    "anchoring",
    "comment",
    "compare",
    "doctor",
    "launch",
    "leaderboard",
    "promote",
    "publish",
    "replay",
    "report",
    "status",
)


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        typer.echo(f"driveproof {__version__}")
        raise typer.Exit


def _assemble() -> None:
    for name in GROUPS:
        group = importlib.import_module(f"driveproof.cli.{name}").app
        app.add_typer(group, name=name.replace("_", "-"), **_help(group))
    for name in COMMANDS:
        app.command(name)(importlib.import_module(f"driveproof.cli.{name}").command)


def _help(group: typer.Typer) -> dict[str, Any]:
    """A group's help with the first example of its commands; nothing where it is a command's own."""
    about = group.info.help
    documents = [inspect.getdoc(one.callback) or "" for one in group.registered_commands]
    parts = [part for text in documents for part in text.split("\n\n")]
    examples = [part for part in parts if part.startswith("Example: ")]
    if not (isinstance(about, str) and examples):
        return {}
    return {"help": f"{about}\n\n{examples[0]}"}


def main() -> None:
    """Entry point of the ``driveproof`` program."""
    _assemble()
    run(app, options=True)

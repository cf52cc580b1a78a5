"""Every command and every group of the program shows how it is called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from driveproof.cli import app as program


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield " ".join(path), command
    # not isinstance: typer may bring its own click
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, (*path, name))


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    program._assemble()
    return dict(commands(get_command(program.app), ("driveproof",)))


def examples(command: Any) -> list[str]:
    paragraphs = (command.help or "").split("\n\n")
    marked = (" ".join(part.split()) for part in paragraphs if part.strip().startswith("Example: "))
    return [part.removeprefix("Example: ") for part in marked]


def test_every_command_has_an_example(found: dict[str, Any]) -> None:
    assert len(found) > 80
    without = [name for name, one in found.items() if not examples(one)]
    assert not without
    strange = [
        text for one in found.values() for text in examples(one) if text[:11] != "driveproof "
    ]
    assert not strange


def test_examples_are_of_their_own_command(found: dict[str, Any]) -> None:
    strange = {
        name: text
        for name, one in found.items()
        for text in examples(one)
        if not text.startswith(f"{name} ") and text != name
    }
    assert not strange


@pytest.mark.parametrize("group", ["judge", "rubrics", "params", "evaluate"])
def test_groups_show_it(found: dict[str, Any], group: str) -> None:
    shown = CliRunner().invoke(program.app, [group, "--help"], env={"COLUMNS": "200"})
    assert f"Example: driveproof {group} " in shown.stdout


def written() -> list[str]:
    """Commands of the README that are to be typed as they stand: those with "…" leave something out."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"`(driveproof [^`]+)`", readme)
    return sorted({line for line in lines if "…" not in line and "--help" not in line})


def parse(line: str, found: dict[str, Any]) -> None:
    """Take a command line apart without running it: raises what is missing or unknown."""
    words = shlex.split(line)
    name, rest = words[0], words[1:]
    while rest and f"{name} {rest[0]}" in found:
        name, rest = f"{name} {rest[0]}", rest[1:]
    assert not (rest and name == "driveproof"), f"no such command: {rest[0]}"
    found[name].make_context(name, rest)


@pytest.mark.parametrize("line", written())
def test_commands_of_the_readme_lack_nothing(found: dict[str, Any], line: str) -> None:
    parse(line, found)


def test_examples_lack_nothing(found: dict[str, Any]) -> None:
    for one in found.values():
        for line in examples(one):
            parse(line, found)

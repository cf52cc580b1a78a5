"""What comes from outside is shown as it is: no markup, no smileys, no moved cursor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from rich.table import Table
from typer.testing import CliRunner

from driveproof.cli import drive as drive_module
from driveproof.cli import status as status_module
from driveproof.cli.console import Console, Progress, track
from driveproof.drive.begin import begin_run
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.states import Ending, verdict

HOSTILE = "no key in '… [/INST]' [keep] :warning: [bold \x1b[2J"
SHOWN = "no key in '… [/INST]' [keep] :warning: [bold \ufffd[2J"
SMOKE = Path(__file__).parents[2] / "suites" / "smoke.xml"
OWN = {
    "console.py",
    # what stages depend on; they take care themselves
    "policy.py",
    "score_drives.py",
    "sim.py",
}


@pytest.fixture
def lost(tmp_path: Path) -> RunDirectory:
    """A run of which a policy broke one route, with a reason that a model wrote."""
    run = begin_run(tmp_path / "run", SMOKE, "expert", DriveSettings(), limit=1)
    claim = run.claim_next()
    assert claim is not None
    with claim:
        status = claim.status.begun(0.0, "me").ended(1.0, Ending.MODEL_SERVER, HOSTILE)
        claim.write(verdict(status, 1))
    return run


def test_everything_that_is_drawn_is_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    console = Console()
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE)
    console.print(table)
    console.print(HOSTILE)
    with console.status(HOSTILE):
        pass
    with Progress(console=console) as bar:
        bar.add_task(HOSTILE, total=1)
    assert list(track([1, 2], HOSTILE)) == [1, 2]
    out = capsys.readouterr().out
    assert out.count(SHOWN) == 5
    assert "\x1b" not in out


def test_status_shows_a_hostile_reason(lost: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    app = typer.Typer()
    app.command()(status_module.command)
    shown = CliRunner().invoke(app, [str(lost.path)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert SHOWN in shown.stdout


def test_the_bar_of_a_drive_shows_a_hostile_reason(
    lost: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    ((episode, status),) = lost.statuses()
    with drive_module._Bar(lost) as bar:
        bar.note(episode.key, status)
    assert SHOWN in capsys.readouterr().err


def test_no_command_draws_with_rich_itself(root: Path) -> None:
    pattern = re.compile(
        r"from rich\.(console|progress) import .*\b(Console|Progress|track|TextColumn)\b"
    )
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((root / "driveproof" / "cli").glob("*.py"))
        if path.name not in OWN
        for line in path.read_text(encoding="utf-8").splitlines()
        if pattern.search(line)
    ]
    assert not found


def test_bars_of_stages_take_descriptions_as_text(root: Path) -> None:
    """Fixed words may go without."""
    fixed = {"collect.py", "scenarios.py"}
    for path in sorted((root / "stages").glob("*.py")):
        for column in re.findall(r"TextColumn\([^)]*\)", path.read_text(encoding="utf-8")):
            if "description" in column and path.name not in fixed:
                assert "markup=False" in column, path.name

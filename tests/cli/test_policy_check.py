"""``driveproof policy check``: what it tries, and what it ends with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driveproof.cli.policy import app
from driveproof.errors import BadInput, Unreachable

CODE = """\
from driveproof.policy import ChatReply, DriveDecision


class Broken:
    name, views, history = "broken", ("CAM_FRONT",), 1

    def identity(self):
        return {"kind": "broken"}

    def begin(self, episode, seed):
        pass

    def decide(self, seen):
        return self._wheel()["left"]

    def _wheel(self):
        raise KeyError("the wheel")  # line 17


class Nosy(Broken):
    views = ("CAM_NOSE",)


class Vague(Broken):
    def identity(self):
        return {"rate": float("nan")}


class Wordless(Broken):
    def decide(self, seen):
        return DriveDecision(error="no idea")


class Talker:
    name = "talker"
    says = "FOLLOW_LANE, KEEP"

    def identity(self):
        return {"kind": "talker"}

    def reply(self, requests):
        return [ChatReply(self.says) for _ in requests]


class Mute(Talker):
    def reply(self, requests):
        raise RuntimeError("no voice")  # line 47


class Poet(Talker):
    says = "a rose"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with plug-ins of all sorts."""
    (tmp_path / "checked_plugins.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return "checked_plugins"


def check(*words: str) -> Result:
    return CliRunner().invoke(app, ["check", *words])


@pytest.mark.parametrize("drive", [(), ("--drive",)])
def test_a_decision_that_fails_is_a_failure_with_its_line(module: str, drive: tuple[str]) -> None:
    done = check(f"{module}:Broken", *drive, "--json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert report["error"] == "KeyError: 'the wheel'"
    assert report["raised_at"].endswith("checked_plugins.py:17")
    said = check(f"{module}:Wordless", *drive)
    assert said.exit_code == 1
    assert "error: no idea" in said.stdout
    assert "raised_at" not in said.stdout


def test_cameras_and_identity_are_checked(module: str) -> None:
    for name, problem in (("Nosy", "no such camera: CAM_NOSE"), ("Vague", "must be JSON")):
        done = check(f"{module}:{name}", "--drive")
        assert isinstance(done.exception, BadInput)
        assert problem in str(done.exception)


def test_who_talks_is_tried_as_it_would_drive(module: str) -> None:
    done = check(f"{module}:Talker", "--drive", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["kind"], report["keys"]) == ("graph", "FOLLOW_LANE, KEEP")
    assert report["views"] == ["CAM_FRONT"]
    assert check(f"{module}:Poet", "--drive").exit_code == 1
    assert check(f"{module}:Talker").exit_code == 0


@pytest.mark.parametrize("drive", [(), ("--drive",)])
def test_who_talks_and_raises_is_a_failure_with_its_line(module: str, drive: tuple[str]) -> None:
    done = check(f"{module}:Mute", *drive)
    assert done.exit_code == 1
    assert "RuntimeError: no voice" in done.stdout
    assert "checked_plugins.py:47" in done.stdout


@pytest.mark.slow
def test_other_policies_are_tried_as_they_drive(tmp_path: Path) -> None:
    assert check("constant_velocity:8", "--drive").exit_code == 0
    assert isinstance(check("expert", "--drive").exception, BadInput)
    assert "did you mean random" in str(check("randon", "--drive").exception)
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "routes").mkdir()
    assert check(f"recorded:{tmp_path}").exit_code == 0
    dead = check("openai:http://127.0.0.1:9/v1#m", "--drive")
    assert isinstance(dead.exception, Unreachable)

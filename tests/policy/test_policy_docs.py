"""What docs/policies.md shows works as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.policy import app
from driveproof.drive.kinds import forms
from driveproof.drive.openers import DEFAULT_GRAPH, DEFAULT_MODE
from driveproof.policy import DRIVERS, KINDS, ChatRequest, DriveObservation, open_driver
from driveproof.policy.baselines import BASELINES
from driveproof.policy.latency import parse_latency
from driveproof.reasoning import PRESETS


@pytest.fixture
def text(root: Path) -> str:
    return (root / "docs" / "policies.md").read_text(encoding="utf-8")


def test_the_plugin_of_the_docs_drives(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = _plugin(text, "Careful")
    assert len([line for line in code.splitlines() if line]) <= 13
    (tmp_path / "my_driver.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    driver = open_driver("my_driver:Careful")
    driver.begin("1_rep0", 0)
    said = []
    for speed in (3.0, 9.0):
        keys = driver.decide(DriveObservation(0, 0.0, {}, speed)).keys
        assert keys is not None
        said.append(keys.text())
    assert said == ["FOLLOW_LANE, ACCELERATE", "FOLLOW_LANE, KEEP"]
    report = json.loads(CliRunner().invoke(app, ["check", "my_driver:Careful", "--json"]).stdout)
    assert report["keys"] == "FOLLOW_LANE, ACCELERATE"


def test_the_talking_plugin_of_the_docs_drives(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_chat.py").write_text(_plugin(text, "Talker"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    done = CliRunner().invoke(app, ["check", "my_chat:Talker", "--drive", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["keys"] == "FOLLOW_LANE, KEEP"
    assert (report["views"], report["history"]) == (["CAM_FRONT"], 1)
    assert report["graph"]["NODE"] == PRESETS[DEFAULT_GRAPH].graph.to_json()["NODE"] == [50]
    assert (DEFAULT_GRAPH, DEFAULT_MODE) == ("action", "camera")
    for name in ChatRequest.__dataclass_fields__:
        assert f"`{name}`" in text


def test_what_drives_is_listed() -> None:
    listed = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)["drive"]
    assert set(forms().values()) <= set(listed)


def _plugin(text: str, name: str) -> str:
    """The block of code that defines a class."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (code,) = [block for block in blocks if f"class {name}:" in block]
    return code


def test_every_kind_baseline_and_latency_stands_there(text: str) -> None:
    for kind in (*KINDS.values(), *DRIVERS.values()):
        assert f"`{kind.form}`" in text
    for known in BASELINES.values():
        assert known.model.rsplit("-", 2)[0] in text
    for words in re.findall(r"`((?:fixed|tokens|measured|none)[:0-9.,]*)`", text):
        parse_latency(words)

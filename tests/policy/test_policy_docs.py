"""What docs/policies.md shows works as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.policy import app
from driveproof.policy import DRIVERS, KINDS, DriveObservation, open_driver
from driveproof.policy.baselines import BASELINES
from driveproof.policy.latency import parse_latency


@pytest.fixture
def text(root: Path) -> str:
    return (root / "docs" / "policies.md").read_text(encoding="utf-8")


def test_the_plugin_of_the_docs_drives(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
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


def test_every_kind_baseline_and_latency_stands_there(text: str) -> None:
    for kind in (*KINDS.values(), *DRIVERS.values()):
        assert f"`{kind.form}`" in text
    for known in BASELINES.values():
        assert known.model.rsplit("-", 2)[0] in text
    for words in re.findall(r"`((?:fixed|tokens|measured|none)[:0-9.,]*)`", text):
        parse_latency(words)

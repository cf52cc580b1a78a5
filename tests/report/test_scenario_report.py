"""The chapter about scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driveproof.errors import BadInput
from driveproof.report.inputs import read_inputs
from driveproof.report.scenario_section import scenarios_section


def _row(driver: str, good: int, done: int) -> dict[str, object]:
    about = {"abilities": ["Overtaking"], "fails": "collision_vehicle", "lost": {"no room": 1}}
    return {"name": "Accident", "driver": driver, "good": good, "done": done, **about}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "reports/scenarios"
    made.mkdir(parents=True)
    rows = [_row("expert", 9, 10), _row("oblivious", 1, 1)]
    (made / "scenarios.json").write_text(json.dumps({"rows": rows, "open": ["HighwayExit"]}))
    (made / "Accident_expert.jpg").write_bytes(b"\xff\xd8picture")
    return tmp_path


def test_each_scenario_has_a_row_and_a_sheet(folder: Path) -> None:
    section = scenarios_section(read_inputs(folder))
    assert section.tables[0].rows == (
        ("Accident", "Overtaking", "collision_vehicle", "9 of 10", "1 of 1", "2"),
    )
    assert [caption for _, caption in section.figures] == ["Accident"]
    assert "data:image/jpeg;base64," in section.figures[0][0]
    assert "HighwayExit" in section.intro


def test_what_was_not_performed_is_said(tmp_path: Path, folder: Path) -> None:
    (folder / "reports/scenarios/scenarios.json").write_text("[]")
    with pytest.raises(BadInput, match="no result"):
        scenarios_section(read_inputs(folder))
    (folder / "reports/scenarios/scenarios.json").unlink()
    assert scenarios_section(read_inputs(tmp_path)).missing == "scenarios"

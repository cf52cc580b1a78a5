"""The chapter about scenarios: how the expert and an oblivious driver fared in each, and a contact sheet of each."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table

_NOTE = (
    "Good: the expert came through without infraction; the oblivious driver committed exactly the infraction that the "
    "scenario is about. No place: performances for which the town had none."
)


def scenarios_section(inputs: Inputs) -> Section:
    """What the stage scenarios performed, with the expert's first performance of each as a contact sheet."""
    anchor, title = "scenarios", "Scenarios"
    folder = inputs.root / "reports/scenarios"
    if not (folder / "scenarios.json").is_file():
        return Section(anchor, title, missing="scenarios")
    found = read_json(folder / "scenarios.json")
    if not isinstance(found, dict) or not isinstance(found.get("rows"), list):
        raise BadInput("is no result of the stage scenarios", path=folder / "scenarios.json")
    by_name: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in found["rows"]:
        by_name.setdefault(row["name"], {})[row["driver"]] = row
    rows = tuple(_row(name, drivers) for name, drivers in sorted(by_name.items()))
    head = ("scenario", "abilities", "about", "expert", "oblivious", "no place")
    table = Table("Performances by driver", head, rows, 3, _NOTE)
    intro = (
        f"{len(by_name)} scenario types on the embedded simulator. Known by name and refused so far: "
        f"{', '.join(found.get('open', [])) or 'none'}. The oblivious drivers' sheets are in reports/scenarios."
    )
    sheets = [(name, folder / f"{name}_expert.jpg") for name in sorted(by_name)]
    figures = tuple((_picture(path), name) for name, path in sheets if path.is_file())
    return Section(anchor, title, intro, (table,), figures)


def _row(name: str, drivers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    some = next(iter(drivers.values()))
    lost = sum(sum(row["lost"].values()) for row in drivers.values())
    fared = [
        f"{drivers[driver]['good']} of {drivers[driver]['done']}" if driver in drivers else MISSING
        for driver in ("expert", "oblivious")
    ]
    return (name, ", ".join(some["abilities"]), some["fails"], *fared, str(lost))


def _picture(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img src="data:image/jpeg;base64,{data}" alt="{path.stem}" style="max-width:100%">'

"""Run directories for tests, as ``driveproof drive`` lays them out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driveproof.evaluation.driving.records import RouteRecord, write_record

ROUTE = """  <route id="{route}" town="{town}">
    <waypoints><position x="0" y="0" z="0"/><position x="50" y="0" z="0"/></waypoints>
    <scenarios>{scenarios}</scenarios>
    <weathers/>
  </route>"""
SCENARIO = """<scenario name="{name}_1" type="{name}"><trigger_point x="1" y="0" z="0" yaw="0"/></scenario>"""
Drive = tuple[RouteRecord, Sequence[Mapping[str, Any]]] | tuple[str, str] | None


def make_run(
    folder: Path, drives: Mapping[str, Drive], repeats: int = 1, name: str = "tiny"
) -> Path:
    """A run: by route id a record with its decisions, a state with its reason, or None for a route not begun."""
    listed = []
    for route, drive in drives.items():
        record = drive[0] if drive and isinstance(drive[0], RouteRecord) else None
        types = record.scenarios if record else ("Accident",)
        scenarios = "".join(SCENARIO.format(name=one) for one in types)
        town = record.town if record else "Town12"
        listed.append(ROUTE.format(route=route, town=town, scenarios=scenarios))
        if drive is not None:
            _write(folder / "routes" / f"{route}_rep0", drive)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.xml").write_text("<routes>\n" + "\n".join(listed) + "\n</routes>\n")
    plan = {
        "schema_version": 1,
        "suite": {"name": "suite.xml", "sha256": "0" * 64},
        "routes": list(drives),
        "policy": {"spec": name, "name": name},
        "settings": {"seed": 0, "repeats": repeats},
    }
    (folder / "run.json").write_text(json.dumps(plan))
    return folder


def _write(folder: Path, drive: Any) -> None:
    folder.mkdir(parents=True)
    first, second = drive
    if isinstance(first, RouteRecord):
        write_record(folder / "record.json", first)
        lines = "".join(json.dumps(line) + "\n" for line in second)
        (folder / "decisions.jsonl").write_text(lines)
        state: dict[str, Any] = {"state": first.state.value, "reason": first.reason}
    else:
        state = {"state": first, "reason": second}
    (folder / "state.json").write_text(json.dumps({**state, "attempts": [], "forgiven": 0}))


def decision(time: float, keys: str = "", **more: Any) -> dict[str, Any]:
    """A line of ``decisions.jsonl``."""
    line = {
        "frame": round(20 * time),
        "time": time,
        "speed": 5.0,
        "keys": keys or None,
        "error": "",
    }
    return {**line, "latency_s": 0.0, "usage": {}, "trace": None, "truth": None, **more}

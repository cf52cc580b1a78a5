"""The table of a campaign: per scenario, how often each driver did as declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from driveproof.files import atomic_open, write_json
from driveproof.sim.scenarios.campaign import Row
from driveproof.sim.scenarios.registry import OPEN

EXPERT_SHARE = 0.9
"""Share of seeds in which the expert has to pass."""


def write_report(rows: Sequence[Row], folder: str | Path) -> dict[str, Any]:
    """Write ``scenarios.json`` (everything) and ``index.md`` (the table); returns the summary."""
    folder = Path(folder)
    summary = summarise(rows)
    content = {"summary": summary, "open": list(OPEN), "rows": [asdict(row) for row in rows]}
    write_json(folder / "scenarios.json", content)
    with atomic_open(folder / "index.md") as stream:
        stream.write(table(rows))
    return summary


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Numbers over all scenarios; shares only of performances that took place."""
    expert = [row for row in rows if row.driver == "expert"]
    oblivious = [row for row in rows if row.driver == "oblivious"]
    weak = [row.name for row in expert if row.good < EXPERT_SHARE * (row.done + len(row.lost))]
    return {
        "scenarios": len({row.name for row in rows}),
        "expert_passed": sum(row.good for row in expert),
        "expert_runs": sum(row.done for row in expert),
        "oblivious_as_declared": sum(row.good for row in oblivious),
        "oblivious_runs": sum(row.done for row in oblivious),
        "lost": sum(len(row.lost) for row in rows),
        "expert_below_90_percent": weak,
    }


def table(rows: Sequence[Row]) -> str:
    """Markdown with a line a scenario and links to the sheets."""
    lines = [
        "# Scenarios",
        "",
        "How often the expert passed without infraction, and how often a driver who ignores everybody",
        "committed exactly the infraction that the scenario is about. The pictures show the first seed.",
        "",
        "| scenario | abilities | about | expert | oblivious | no place | pictures |",
        "|---|---|---|---|---|---|---|",
    ]
    by_name: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_name.setdefault(row.name, {})[row.driver] = row
    for name, drivers in sorted(by_name.items()):
        first = next(iter(drivers.values()))
        scores = {d: f"{row.good} of {row.done}" for d, row in drivers.items()}
        lost = sum(len(row.lost) for row in drivers.values())
        links = " ".join(f"[{d}]({name}_{d}.jpg)" for d, row in drivers.items() if row.done)
        cells = [
            name,
            ", ".join(first.abilities),
            first.fails,
            scores.get("expert", ""),
            scores.get("oblivious", ""),
            str(lost),
            links,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"Not written yet: {', '.join(OPEN)}.", ""]
    return "\n".join(lines)

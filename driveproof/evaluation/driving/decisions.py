"""The decisions of a drive as its ``decisions.jsonl`` has them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput

DECISIONS_FILE = "decisions.jsonl"
_LONGEST_LINE = 8 << 20


@dataclass(frozen=True)
class DecisionLine:
    """A decision: when (tick and seconds since the episode began), what was seen, said and thought.

    ``keys`` is the text of the two keys, "" without; ``trace`` and ``truth`` are as their writers left them, None
    where there is none. ``command`` is the navigator's, ``latency_s`` how long the policy took in seconds of the wall
    clock.
    """

    frame: int
    time: float
    speed: float
    keys: str
    error: str
    trace: Mapping[str, Any] | None
    truth: Mapping[str, Any] | None
    command: str = ""
    latency_s: float = 0.0


def read_decisions(folder: str | Path) -> list[DecisionLine]:
    """The decisions in the folder of a drive, in order; none if they were not recorded.

    Raises
    ------
    BadInput
        Naming the line and the field.
    """
    path = Path(folder) / DECISIONS_FILE
    if not path.exists():
        return []
    try:
        with open(path, encoding="utf-8") as stream:
            # in pieces: a line without an end must not fill the memory before it is refused
            pieces = iter(lambda: stream.readline(_LONGEST_LINE + 1), "")
            lines = enumerate(pieces, start=1)
            return [_line(text, path, f"line {n}") for n, text in lines if text.strip()]
    except UnicodeDecodeError:
        raise BadInput("not UTF-8 text", path=path) from None


def _line(text: str, path: Path, place: str) -> DecisionLine:
    if len(text) > _LONGEST_LINE:
        raise BadInput("is longer than 8 MiB", path=path, field=place)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("is no JSON", path=path, field=place) from None
    if not isinstance(found, dict):
        raise BadInput("is no JSON object", path=path, field=place)
    for name, kinds in (("frame", int), ("time", int | float)):
        value = found.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 <= value < 1e9:
            raise BadInput(f"{name} is no number from 0 on", path=path, field=place)
    for name in ("trace", "truth"):
        if not isinstance(found.get(name), dict | None):
            raise BadInput(f"{name} is no object", path=path, field=place)
    return DecisionLine(
        found["frame"],
        float(found["time"]),
        _number(found.get("speed")),
        str(found.get("keys") or ""),
        str(found.get("error") or ""),
        found.get("trace"),
        found.get("truth"),
        str(found.get("command") or ""),
        _number(found.get("latency_s")),
    )


def _number(value: Any) -> float:
    """Infinite if there are too many digits."""
    try:
        return float(value) if isinstance(value, int | float) else 0.0
    except OverflowError:
        return math.inf

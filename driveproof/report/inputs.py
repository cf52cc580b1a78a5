"""What the report is made from: JSON files that stages wrote, any of which may not be there yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json


@dataclass(frozen=True)
class Inputs:
    """Contents of the files by what they are about; None where a stage has not run."""

    root: Path
    scenes: dict[str, Any] | None
    splits: dict[str, str] | None
    codebook: dict[str, Any] | None
    sweep: dict[str, Any] | None
    mcq: dict[str, Any] | None
    training: dict[str, Any] | None
    evaluation: dict[str, Any] | None
    details: dict[str, Any] | None
    validation: dict[str, Any] | None


def read_inputs(root: str | Path) -> Inputs:
    """Read everything that is there.

    Raises
    ------
    BadInput
        If a file is there and is not a JSON object.
    """
    root = Path(root)
    return Inputs(
        root=root,
        scenes=_read(root / "data/scenes/import.json"),
        splits=_read(root / "data/scenes/splits.json"),
        codebook=_read(root / "data/codebook/metrics.json"),
        sweep=_read(root / "reports/sweep/sweep.json"),
        mcq=_read(root / "data/mcq/stats.json"),
        training=_read(next(iter(sorted(root.glob("reports/sft/*.json"))), root / "none")),
        evaluation=_read(root / "reports/evaluate/summary.json"),
        details=_read(root / "reports/evaluate/details.json"),
        validation=_read(root / "reports/validate/results.json"),
    )


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected a JSON object", path=path)
    return content

"""Rubrics: what a good reason for one scene has to say. Made once, without future, candidates or oracle; kept on disk.

DEFT-RLVR, section 4.3 and appendix D.3: six to ten atomic criteria with positive integer weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.evaluation.normalise import normalise
from driveproof.files import atomic_path

SCHEMA_VERSION = "1"
LEAST, MOST = 6, 10
MAX_WEIGHT = 5
MAX_CHARS = 300
KINDS = (
    *("signal", "road_user", "implication", "ego", "route"),
    *("plan", "any_signal", "any_user", "any_action", "other"),
)
"""What a criterion is about. "plan" and "any_…" ask whether something of the kind is said at all."""
_LEAKS = (
    "ground truth",
    "ground-truth",
    "logged",
    "future trajectory",
    "candidate",
    "final_choice",
)

RUBRIC_SCHEMA = pa.schema(
    {
        "record_key": pa.string(),
        "version": pa.string(),
        "generator": pa.string(),
        "ego_speed": pa.float64(),
        "criteria": pa.list_(
            pa.struct({"text": pa.string(), "weight": pa.int8(), "kind": pa.string()})
        ),
    },
    metadata={"driveproof_table": "rubrics", "schema_version": SCHEMA_VERSION},
)


@dataclass(frozen=True)
class Criterion:
    """One thing that a trace has to state.

    ``weight`` is what it counts, 1 .. 5; ``kind`` one of :data:`KINDS`.
    """

    text: str
    weight: int
    kind: str = "other"


@dataclass(frozen=True)
class Rubric:
    """The criteria of one scene.

    Attributes
    ----------
    record_key
        Which moment.
    version
        Of the generator's rules or prompt; a change of either changes it.
    generator
        "offline", or the model that wrote it.
    ego_speed
        m/s at t = 0, by which a grader understands stated positions; the policy is told it, too.
    criteria
        Six to ten.
    """

    record_key: str
    version: str
    generator: str
    ego_speed: float
    criteria: tuple[Criterion, ...]

    @property
    def weights(self) -> tuple[int, ...]:
        """Weight of each criterion."""
        return tuple(c.weight for c in self.criteria)

    def share(self, met: Iterable[bool]) -> float:
        """Weighted share of met criteria (DEFT-RLVR, equation 10), 0 .. 1; ``met`` has one entry a criterion."""
        total = sum(self.weights)
        earned = sum(w for w, m in zip(self.weights, met, strict=True) if m)
        return earned / total


def problems_of(rubric: Rubric) -> list[str]:
    """What is wrong with a rubric, in words; empty for a good one."""
    found = []
    count = len(rubric.criteria)
    if not LEAST <= count <= MOST:
        found.append(f"{count} criteria, not {LEAST} to {MOST}")
    if not 0.0 <= rubric.ego_speed < 200.0:
        found.append(f"ego_speed {rubric.ego_speed} is no speed")
    seen: set[str] = set()
    for number, criterion in enumerate(rubric.criteria, 1):
        found += [f"criterion {number}: {problem}" for problem in _problems(criterion)]
        plain = " ".join(criterion.text.casefold().split())
        if plain in seen:
            found.append(f"criterion {number}: stands twice")
        seen.add(plain)
    return found


def _problems(criterion: Criterion) -> list[str]:
    text, found = criterion.text, []
    if not text.strip() or len(text) > MAX_CHARS or not text.isprintable():
        found.append(f"text is empty, longer than {MAX_CHARS} characters or not one printable line")
    weight = criterion.weight
    if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
        found.append(f"weight {weight!r} is no whole number of 1 to {MAX_WEIGHT}")
    if criterion.kind not in KINDS:
        found.append(f"kind {criterion.kind!r} is none of {', '.join(KINDS)}")
    if any(word in text.lower() for word in _LEAKS) or not normalise(text):
        found.append("speaks of candidates, an answer or the future")
    return found


def check_rubric(rubric: Rubric, path: str | Path | None = None) -> Rubric:
    """The rubric itself if it is good.

    Raises
    ------
    BadInput
        Naming the record and everything that is wrong.
    """
    if problems := problems_of(rubric):
        raise BadInput("; ".join(problems), path=path, field=rubric.record_key)
    return rubric


def write_rubrics(rubrics: Iterable[Rubric], path: str | Path) -> int:
    """Write good rubrics as one parquet file and return how many; the file appears whole or not at all.

    Raises
    ------
    BadInput
        If one is not good, or a record has two.
    """
    rows: dict[str, dict[str, Any]] = {}
    for rubric in rubrics:
        check_rubric(rubric)
        if rubric.record_key in rows:
            raise BadInput("two rubrics for one record", field=rubric.record_key)
        criteria = [{"text": c.text, "weight": c.weight, "kind": c.kind} for c in rubric.criteria]
        rows[rubric.record_key] = {
            "record_key": rubric.record_key,
            "version": rubric.version,
            "generator": rubric.generator,
            "ego_speed": rubric.ego_speed,
            "criteria": criteria,
        }
    table = pa.Table.from_pylist(list(rows.values()), schema=RUBRIC_SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return len(rows)


def read_rubrics(path: str | Path) -> dict[str, Rubric]:
    """Record key -> rubric, every one checked.

    Raises
    ------
    BadInput
        If the file is absent, no table of rubrics of this version, or a rubric is not good.
    """
    try:
        table = pq.ParquetFile(path).read()
    except FileNotFoundError:
        raise BadInput("no such file of rubrics", path=path) from None
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        raise BadInput(f"not a readable parquet file: {text}", path=path) from None
    metadata = table.schema.metadata or {}
    if metadata.get(b"driveproof_table") != b"rubrics" or table.schema != RUBRIC_SCHEMA:
        hint = "make the rubrics again"
        problem = f"not a table of rubrics of schema version {SCHEMA_VERSION}"
        raise BadInput(problem, path=path, hint=hint)
    rubrics: dict[str, Rubric] = {}
    for number, row in enumerate(table.to_pylist()):
        rubric = _from_row(row, path, number)
        if rubric.record_key in rubrics:
            raise BadInput("two rubrics for one record", path=path, field=rubric.record_key)
        rubrics[rubric.record_key] = check_rubric(rubric, path)
    return rubrics


def _from_row(row: Mapping[str, Any], path: str | Path, number: int) -> Rubric:
    name = str(row.get("record_key") or f"row {number}")
    entries = row["criteria"]
    if any(value is None for value in row.values()) or any(
        entry is None or None in entry.values() for entry in entries
    ):
        raise BadInput("a field is empty", path=path, field=name)
    criteria = tuple(Criterion(e["text"], e["weight"], e["kind"]) for e in entries)
    return Rubric(name, row["version"], row["generator"], row["ego_speed"], criteria)


def rubric_text(rubric: Rubric) -> str:
    """The criteria as a numbered list for people and models."""
    return "\n".join(f"{n}. {c.text}" for n, c in enumerate(rubric.criteria, 1))


def rubric_json(rubric: Rubric) -> str:
    """One line of JSON, keys in order."""
    criteria = [{"text": c.text, "weight": c.weight, "kind": c.kind} for c in rubric.criteria]
    content = {
        "record_key": rubric.record_key,
        "version": rubric.version,
        "generator": rubric.generator,
        "ego_speed": rubric.ego_speed,
        "criteria": criteria,
    }
    return json.dumps(content, ensure_ascii=False)

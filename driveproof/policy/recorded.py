"""A policy that repeats what another once answered: evaluation again without the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.policy.choice import Choice, Question
from driveproof.scene import Decision, Direction, SpeedChange

_COLUMNS = ["run", "record_key", "variant", "repeat", "choice", "direction", "speed", "reason"]
_COLUMNS += ["error"]


class Recorded:
    """Replays one run of a file of answers (``reports/evaluate/answers.parquet``).

    Parameters
    ----------
    path
        The file; see :func:`driveproof.mcq.answers.write_answers`.
    run
        Which of its runs; may be "" if it holds only one.

    Raises
    ------
    BadInput
        If the file is absent, no table of answers, has no such run, or ``run`` is "" and it has several.
    """

    def __init__(self, path: str | Path, run: str = "") -> None:
        rows = _read(Path(path))
        runs = sorted({row["run"] for row in rows})
        if not run and len(runs) != 1:
            raise BadInput(f"holds {len(runs)} runs", path=path, hint=f"{path}#RUN: {runs}")
        run = run or runs[0]
        if run not in runs:
            raise BadInput(f"has no run {run}", path=path, hint="one of " + ", ".join(runs))
        self._path, self._run = Path(path), run
        self._choices = {
            (row["record_key"], row["variant"], row["repeat"]): _choice(row, path)
            for row in rows
            if row["run"] == run
        }
        self._repeats: int = 1 + max(repeat for _, _, repeat in self._choices)

    @property
    def repeats(self) -> int:
        """How often each question was asked at most; asking more often could only report losses."""
        return self._repeats

    @property
    def name(self) -> str:
        """The run's name."""
        return f"recorded {self._run}"

    def identity(self) -> dict[str, Any]:
        """Kind, run and the file's sha256."""
        return {"kind": "recorded", "run": self._run, "revision": sha256_file(self._path)}

    def choose(self, question: Question, repeat: int) -> Choice:
        """What was recorded; lost if that question and repeat were not."""
        key = (question.record_key, question.variant, repeat)
        return self._choices.get(key) or Choice(None, None, error="not recorded")


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pq.ParquetFile(path).read(columns=_COLUMNS).to_pylist()
    except FileNotFoundError:
        raise BadInput("no such file of answers", path=path) from None
    except (pa.ArrowException, OSError, KeyError) as error:
        raise BadInput(f"not a table of answers: {str(error).splitlines()[0]}", path=path) from None
    odd = [name for name in _COLUMNS if rows and name not in rows[0]]
    if odd or not rows:
        raise BadInput("not a table of answers: " + (f"no {odd[0]}" if odd else "empty"), path=path)
    return rows


def _choice(row: dict[str, Any], path: str | Path) -> Choice:
    decision = None
    try:
        if row["direction"]:
            decision = Decision(Direction(row["direction"]), SpeedChange(row["speed"]))
    except ValueError as error:
        raise BadInput(str(error), path=path, field=row["record_key"]) from None
    return Choice(row["choice"], decision, row["reason"] or "", row["error"] or "")

"""Files of answers: what is read, and one clear line for what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.errors import BadInput
from driveproof.evaluation.vqa.given import Given, read_given
from driveproof.questions import QuestionKey

GOOD = {"clip": "a", "frame": 3, "number": 16, "subject": "c7", "text": "Stopped."}


def _lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_lines_and_columns_say_the_same(tmp_path: Path) -> None:
    bare = {**GOOD, "subject": "", "text": None, "error": "timeout"}
    lines = list(read_given(_lines(tmp_path / "a.jsonl", GOOD, bare)))
    assert lines == [
        Given("a", 3, QuestionKey(16, "c7"), "Stopped."),
        Given("a", 3, QuestionKey(16, ""), None, "timeout"),
    ]
    table = pa.Table.from_pylist([{**GOOD, "error": None}, bare])
    pq.write_table(table, tmp_path / "a.parquet")
    assert list(read_given(tmp_path / "a.parquet")) == lines


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"\n{json.dumps(GOOD)}\n\n")
    assert len(list(read_given(path))) == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**GOOD, "frame": "3"}, "frame is no int"),
        ({**GOOD, "frame": True}, "frame is no int"),
        ({**GOOD, "frame": float("nan")}, "frame is no int"),
        ({**GOOD, "number": None}, "number is no int"),
        ({**GOOD, "clip": 7}, "clip is no str"),
        ({**GOOD, "text": ["Stopped."]}, "text or subject is no string"),
        ({**GOOD, "subject": 5}, "text or subject is no string"),
        ({}, "clip is no str"),
        ([1], "is no JSON object"),
        ("x" * (1 << 21), "is longer than 1 MiB"),
    ],
)
def test_one_line_names_the_row_and_the_field(tmp_path: Path, row: object, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        list(read_given(_lines(tmp_path / "a.jsonl", GOOD, row)))
    assert problem in str(caught.value)
    assert "line 2" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{broken", "is no JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" * 100_000, "is no JSON"),
    ],
    ids=["broken", "binary", "deep"],
)
def test_what_is_no_text_of_objects_is_refused(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        list(read_given(path))


def test_parquet_that_is_none_or_lacks_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([GOOD]), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="not a readable parquet"):
        list(read_given(path))
    pq.write_table(pa.Table.from_pylist([{"clip": "a"}]), path)
    with pytest.raises(BadInput, match="has no column frame"):
        list(read_given(path))
    pq.write_table(pa.Table.from_pylist([{**GOOD, "frame": 3.5}]), path)
    with pytest.raises(BadInput, match="frame is no int"):
        list(read_given(path))


@pytest.mark.parametrize("name", ["absent.jsonl", "absent.parquet"])
def test_an_absent_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="no such file"):
        list(read_given(tmp_path / name))

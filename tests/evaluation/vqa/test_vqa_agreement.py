"""Agreement of graders: closed forms, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.errors import BadInput
from driveproof.evaluation.vqa.agreement import agreements, read_grades


def _file(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_agreement_in_closed_form() -> None:
    grades = {
        "ours": {"a": 0.0, "b": 30.0, "c": 60.0, "d": 90.0},
        "same": {"a": 0.0, "b": 30.0, "c": 60.0, "d": 90.0},
        "turned": {"a": 90.0, "b": 60.0, "c": 30.0, "d": 0.0},
        "flat": {"a": 50.0, "b": 50.0, "c": 50.0, "d": 50.0},
        "few": {"a": 0.0, "x": 1.0},
    }
    found = {(pair.first, pair.second): pair for pair in agreements(grades)}
    same = found["ours", "same"]
    assert (same.n, same.spearman, same.kappa, same.within_one) == (4, 1.0, 1.0, 1.0)
    turned = found["ours", "turned"]
    assert turned.spearman == pytest.approx(-1.0)
    # steps 0, 1, 3, 4 against 4, 3, 1, 0: squared differences 16 + 4 + 4 + 16 = 40; by chance 4 x 4 pairs have the
    # mean square 5 + 5 (variance 2.5 each) = 5: kappa = 1 - 10 / 5
    assert turned.kappa == pytest.approx(-1.0)
    assert turned.within_one == 0.0
    flat = found["flat", "ours"]
    assert flat.spearman is None
    assert flat.within_one == 0.5
    assert found["few", "ours"].n == 1
    assert found["few", "ours"].kappa is None


def test_grades_come_from_a_file(tmp_path: Path) -> None:
    path = _file(tmp_path / "g.csv", "item,grader,score", "a,ours,50", "a,mary,70.5")
    assert read_grades(path) == {"ours": {"a": 50.0}, "mary": {"a": 70.5}}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("item,score", "a,1"), "has no column grader"),
        (("item,grader,score", "a,ours,nan"), "not within 0 and 100"),
        (("item,grader,score", "a,ours,101"), "not within 0 and 100"),
        (("item,grader,score", "a,ours,many"), "not within 0 and 100"),
        (("item,grader,score", "a,ours"), "not within 0 and 100"),
        (("item,grader,score", ",ours,1"), "names no item"),
        (("item,grader,score", "a,ours,1", "a,ours,2"), "graded a twice"),
        ((), "has no column"),
    ],
)
def test_what_is_no_table_of_grades_is_refused(tmp_path: Path, lines, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_grades(_file(tmp_path / "g.csv", *lines))


def test_a_binary_or_absent_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_bytes(b"\xff\xfe\x00\x00")
    with pytest.raises(BadInput, match="not a CSV"):
        read_grades(tmp_path / "g.csv")
    with pytest.raises(BadInput, match="no such file"):
        read_grades(tmp_path / "absent.csv")

"""VLMEvalKit's results before and after training, in the layouts and spellings that it has."""

from __future__ import annotations

import contextlib
import json
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.errors import BadInput
from driveproof.evaluation.retention import (
    Result,
    averages,
    compare_results,
    group_of,
    read_results,
)
from driveproof.evaluation.retention_files import read_columns_of

_SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def _workbook(path: Path, rows: list[list[object]], *, shared: bool = True) -> None:
    """A sheet as pandas writes it: texts in a table of their own (or inline), numbers as numbers, no empty cells."""
    texts: list[str] = []
    lines = []
    for n, row in enumerate(rows, 1):
        cells = []
        for column, value in enumerate(row):
            place = f"{chr(ord('A') + column)}{n}"
            if value is None:
                continue
            if not isinstance(value, str):
                kind = ' t="b"' if isinstance(value, bool) else ""
                cells.append(f'<c r="{place}"{kind}><v>{int(value) if kind else value}</v></c>')
            elif shared:
                texts.append(value)
                cells.append(f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>')
            else:
                cells.append(f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>')
        lines.append(f"<row>{''.join(cells)}</row>")
    with zipfile.ZipFile(path, "w") as archive:
        sheet = f"<worksheet {_SPACE}><sheetData>{''.join(lines)}</sheetData></worksheet>"
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        entries = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        if shared:
            archive.writestr("xl/sharedStrings.xml", f"<sst {_SPACE}>{entries}</sst>")


def _questions(path: Path, hits: list[int], *, shared: bool = True) -> None:
    rows: list[list[object]] = [["index", "question", "prediction", "hit", "log"]]
    rows += [[n, "Which < one?", None, hit, "A & B"] for n, hit in enumerate(hits)]
    _workbook(path, rows, shared=shared)


def _model(work: Path, name: str, right: int) -> Path:
    """A work folder of one model: two runs, four benchmarks, each with other files."""
    old, new = work / name / "T20250101_Gaaa", work / name / "T20250301_Gbbb"
    for run in (old, new):
        run.mkdir(parents=True)
        # an older run was better by far: the latest counts
        count = right if run == new else 100
        (run / f"{name}_ERQA_acc.csv").write_text(
            f'"split","Overall","Other"\nnone,{count / 100},1\n'
        )
    hits = [int(n < right) for n in range(100)]
    _questions(new / f"{name}_ERQA.xlsx", hits)
    _questions(new / f"{name}_ERQA_exact_matching_result.xlsx", hits, shared=right % 2 == 0)
    score = {"overall": {"acc": float(right)}, "by_type": {"near": {"acc": 12.0}}}
    (new / f"{name}_CV-Bench-2D_gpt-4o-mini_score.json").write_text(json.dumps(score))
    (new / f"{name}_3DSRBench_acc.csv").write_text(
        f"Category,Num,Score\nnear,7,90\nOverall,10,{right}\n"
    )
    (new / f"{name}_MME_score.csv").write_text(f'"perception","Overall"\n1500,{1000 + right}\n')
    status = {"datasets": {"RefSpatial_Bench": {"metrics": {"Overall": right / 100}}}}
    (new / "status.json").write_text(json.dumps(status))
    (new / f"{name}_ERQA_meta.json").write_text('{"note": [1, 2]}')
    return work


def test_all_spellings_of_one_number(tmp_path: Path) -> None:
    found = read_results(_model(tmp_path, "Qwen3_VL", 60))
    assert set(found) == {"ERQA", "CV-Bench-2D", "3DSRBench", "MME", "RefSpatial_Bench"}
    assert found["ERQA"].score == pytest.approx(0.60)
    assert (found["ERQA"].questions, len(found["ERQA"].hits)) == (100, 100)
    assert found["CV-Bench-2D"].score == pytest.approx(0.60), "a percentage becomes a share"
    assert found["3DSRBench"].score == pytest.approx(0.60)
    assert (found["MME"].score, found["MME"].points) == (1060, True)
    assert found["RefSpatial_Bench"].score == pytest.approx(0.60)
    assert read_results(tmp_path / "Qwen3_VL/T20250101_Gaaa")["ERQA"].score == 1.0
    renamed = (tmp_path / "Qwen3_VL").rename(tmp_path / "before")
    with pytest.raises(BadInput, match="name the model"):
        read_results(renamed)
    assert read_results(renamed, "Qwen3_VL")["ERQA"].score == pytest.approx(0.60)


@pytest.mark.parametrize(
    ("numbers", "wanted", "points"),
    [
        ((612, 88), (612, 88), True),  # 88 of 1000 points are no 88 %
        ((88, 612), (88, 612), True),
        ((45, 0.8), (0.45, 0.008), False),  # 0.8 % and no 80 %
        ((0.45, 0.8), (0.45, 0.8), False),
        ((45, 61), (0.45, 0.61), False),
    ],
)
def test_both_sides_are_read_in_one_unit(
    tmp_path: Path, numbers: tuple[float, float], wanted: tuple[float, float], points: bool
) -> None:
    sides = []
    for name, number in zip(("before", "after"), numbers, strict=True):
        (tmp_path / name / "m").mkdir(parents=True)
        (tmp_path / name / "m" / "m_OCRBench_score.json").write_text(f'{{"Final Score": {number}}}')
        sides.append(read_results(tmp_path / name))
    (change,) = compare_results(*sides, 0)
    assert (change.before, change.after) == pytest.approx(wanted)
    assert change.difference == pytest.approx(wanted[1] - wanted[0])
    assert change.points == points


def test_single_questions_tell_a_share_from_a_small_percentage() -> None:
    share = Result(raw=0.6, score=0.6, hits={str(n): float(n < 6) for n in range(10)})
    percent = Result(raw=61.0, score=0.61)
    (change,) = compare_results({"ERQA": share}, {"ERQA": percent}, 0)
    assert (change.before, change.after) == (0.6, 0.61)


def test_the_change_is_paired_where_single_questions_are_known(tmp_path: Path) -> None:
    before = read_results(_model(tmp_path / "a", "base", 61))
    after = read_results(_model(tmp_path / "b", "deft", 40))
    changes = {change.benchmark: change for change in compare_results(before, after, 0)}
    assert next(iter(changes)) == "CV-Bench-2D", "the paper's groups in their order"
    erqa = changes["ERQA"]
    assert erqa.difference == pytest.approx(-0.21)
    assert erqa.paired is not None
    assert erqa.paired.mean == pytest.approx(-0.21)
    # 21 of 100 questions changed, all to wrong: sqrt(0.21 * 0.79 / 100) = 0.041
    assert erqa.paired.high == pytest.approx(-0.21 + 1.96 * 0.041, abs=0.02)
    assert (erqa.group, erqa.questions) == ("embodied spatial", 100)
    assert changes["3DSRBench"].paired is None
    assert changes["MME"].points
    means = averages(list(changes.values()))
    assert means["general"] == pytest.approx(
        {"before": 0.61, "after": 0.40, "difference": -0.21, "benchmarks": 4}
    )
    assert "other" not in means, "points are in no average"


def test_the_command_says_what_changed(tmp_path: Path) -> None:
    folders = [_model(tmp_path / n, n, r) for n, r in (("base", 61), ("deft", 40))]
    (folders[0] / "base/base_OCR_acc.csv").write_text("Overall\n0.5\n")
    runner = CliRunner()
    command = ["retention", "--before", str(folders[0]), "--after", str(folders[1])]
    done = runner.invoke(app, [*command, "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary
    assert summary["only_before"] == ["OCR"]
    shown = runner.invoke(app, command, env={"COLUMNS": "200"})
    assert "Only before: OCR." in shown.stdout
    assert "-21.00" in shown.stdout


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        read_results(tmp_path / "none")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_ERQA_acc.csv").write_text("Overall\n0.5\n")
    with pytest.raises(BadInput, match="several models: one, two"):
        read_results(tmp_path)
    with pytest.raises(BadInput, match="no benchmark is in both"):
        compare_results({"A": Result(0.5)}, {"B": Result(0.5)}, 0)
    (tmp_path / "one/one_ERQA_acc.csv").write_text("")
    with pytest.raises(BadInput, match=r"one_ERQA_acc\.csv: no table"):
        read_results(tmp_path / "one")
    (tmp_path / "two/two_X.xlsx").write_bytes(b"PK not a zip")
    with pytest.raises(BadInput, match=r"two_X\.xlsx: no table"):
        read_results(tmp_path / "two")
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w") as archive:
        entity = '<!DOCTYPE a [<!ENTITY e "boom">]><a>&e;</a>'
        archive.writestr("xl/worksheets/sheet1.xml", entity)
    with pytest.raises(BadInput, match="refused"):
        read_columns_of(bomb)


@given(st.binary(max_size=200), st.sampled_from([".csv", ".tsv", ".xlsx", ".json"]))
def test_any_bytes_are_a_table_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(BadInput):
        columns = read_columns_of(path)
        assert len({len(cells) for cells in columns.values()}) <= 1


def test_a_small_score_is_a_percentage_only_if_its_questions_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "m_Hard_acc.csv").write_text("Overall\n1.0\n")
    assert read_results(folder)["Hard"].score == 1.0
    _questions(folder / "m_Hard_result.xlsx", [int(n == 0) for n in range(100)])
    assert read_results(folder)["Hard"].score == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("CV-Bench-3D", "basic visual"),
        ("MMSIBench_wo_circular", "3D and multi-view"),
        ("RefSpatial_Bench", "referring"),
        ("MMStar", ""),
    ],
)
def test_groups_of_the_paper(name: str, group: str) -> None:
    assert group_of(name) == group


def test_rows_and_columns_are_one_table(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text('[{"index": 1, "hit": true}, {"index": 2}]')
    columns = tmp_path / "columns.json"
    columns.write_text('{"index": {"0": 1, "1": 2}, "hit": {"0": true, "1": null}}')
    assert (
        read_columns_of(rows)
        == read_columns_of(columns)
        == {
            "index": ["1", "2"],
            "hit": ["True", ""],
        }
    )
    wide = tmp_path / "wide.xlsx"
    _workbook(wide, [["index", "hit"], [5, True], [None, False]])
    assert read_columns_of(wide, ("hit",)) == {"hit": ["1", "0"]}
    assert np.isclose(float(read_columns_of(wide)["index"][0]), 5)

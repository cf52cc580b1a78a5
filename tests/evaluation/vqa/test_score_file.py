"""Scoring a whole file: the expert's ceiling, what is missing, what belongs elsewhere, baselines, and the figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from driveproof.commenter.dataset import AnswerRow, read_answers
from driveproof.errors import BadInput
from driveproof.evaluation.vqa.baselines import constant, score_baselines, shuffled
from driveproof.evaluation.vqa.run import score_file, write_scores
from driveproof.evaluation.vqa.waypoints import Replay
from driveproof.questions import QUESTIONS


@pytest.fixture
def rows(rows: list[AnswerRow]) -> list[AnswerRow]:
    """All questions but the waypoints, which need a log of the moments after."""
    return [row for row in rows if row.key.number != 42]


def test_the_expert_against_itself_scores_100(dataset, rows, give) -> None:
    scored, report = score_file(dataset, give(rows))
    assert len(scored) == len(rows)
    assert {row.value for row in scored} == {100.0}
    assert (report.unread, report.missing, report.unscored) == (0, 2 * 3, {})  # the waypoints
    assert report.overall.mean == report.overall.low == report.overall.high == 100.0
    assert set(report.by_question) == {row.key.number for row in rows}
    assert set(report.by_category) == {q.category.value for q in QUESTIONS.values()}
    assert sum(e.n for e in report.by_category.values()) == report.overall.n == len(rows)
    assert sum(e.n for e in report.by_scenario.values()) == len(rows)


def test_lost_answers_are_lost_and_missing_ones_counted(dataset, rows, give) -> None:
    said = give(rows[:10], [None, *(row.text for row in rows[1:10])])
    scored, report = score_file(dataset, said)
    in_frame = sum((r.clip, r.frame) == (rows[0].clip, rows[0].frame) for r in rows)
    assert report.missing == in_frame + 1 - 10
    assert (report.overall.n, report.overall.lost) == (9, 1)
    assert report.unscored == {"lost: no answer": 1}
    assert scored[0].value is None
    _, peer = score_file(dataset, said, peer_rules=True)
    assert (peer.overall.n, peer.overall.lost) == (10, 0), "the peer averages a zero"
    assert peer.overall.mean is not None
    assert peer.overall.mean < 100.0


def test_answers_of_another_dataset_are_refused(dataset, rows, give) -> None:
    path = give(rows[:1])
    other = json.loads(path.read_text())
    for field, value in (("clip", "Other_Town01_Route1_Weather1"), ("frame", 999)):
        path.write_text(json.dumps({**other, field: value}))
        with pytest.raises(BadInput, match="no question in frame"):
            score_file(dataset, path)
    for field, value in (("number", 45), ("subject", "c999")):
        path.write_text(json.dumps({**other, field: value}))
        with pytest.raises(BadInput, match="no question"):
            score_file(dataset, path)


def test_two_answers_to_one_question_are_refused(dataset, rows, give) -> None:
    with pytest.raises(BadInput, match="two answers to question"):
        score_file(dataset, give([rows[0], rows[0]]))


def test_waypoints_need_the_log(dataset, give) -> None:
    points = json.dumps({f"{0.5 * k:.1f}s": [2.0 * k, 0.0] for k in range(1, 9)})
    asked = [row for row in read_answers(dataset) if row.key.number == 42]
    assert asked
    said = give(asked, [points] * len(asked))
    scored, _ = score_file(dataset, said)
    assert {row.value for row in scored} == {None}
    expert = np.stack([np.arange(1, 9) * 2.0, np.zeros(8)], axis=1)
    free = Replay(expert, np.zeros((0, 8, 3)), np.zeros((0, 2)), (4.6, 2.0))
    scored, _ = score_file(dataset, said, replays=lambda clip, frame: free)
    assert {row.value for row in scored} == {100.0}


def test_scores_on_disk(dataset, rows, give, tmp_path: Path) -> None:
    scored, report = score_file(dataset, give(rows))
    write_scores(scored, report, tmp_path / "out", {"seed": 0})
    table = pq.read_table(tmp_path / "out" / "scores.parquet")
    assert table.num_rows == len(rows)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["overall"]["n"] == len(rows)
    assert summary["by_question"].keys() == {str(n) for n in report.by_question}
    first = (tmp_path / "out" / "scores.parquet").read_bytes()
    write_scores(*score_file(dataset, give(rows)), tmp_path / "again", {"seed": 0})
    assert (tmp_path / "again" / "scores.parquet").read_bytes() == first


def test_baselines_order_themselves(dataset, rows: list[AnswerRow]) -> None:
    reports = score_baselines(dataset)
    means = {name: report.overall.mean for name, report in reports.items()}
    assert means["expert"] == 100.0
    assert means["shuffled"] is not None
    assert 5.0 < means["shuffled"] < 95.0
    assert means["constant"] is not None
    assert 5.0 < means["constant"] < 95.0


def test_shuffled_answers_come_from_another_clip(rows: list[AnswerRow]) -> None:
    by_text = {(row.clip, row.key.number, row.text) for row in rows}
    for row, text in zip(rows, shuffled(rows, 0), strict=True):
        if text is not None:
            others = {clip for clip in {r.clip for r in rows} if clip != row.clip}
            assert any((clip, row.key.number, text) in by_text for clip in others)
    assert shuffled(rows, 0) == shuffled(rows, 0)


def test_the_constant_answer_is_one_a_question(rows: list[AnswerRow]) -> None:
    said: dict[int, set[str | None]] = {}
    for row, text in zip(rows, constant(rows, 0), strict=True):
        said.setdefault(row.key.number, set()).add(text)
    assert all(len(texts) == 1 for texts in said.values())


@pytest.mark.parametrize("damage", ["truncated", "columns", "version", "facts", "frames"])
def test_a_damaged_dataset_gives_one_line(dataset, tmp_path: Path, damage: str) -> None:
    import shutil

    import pyarrow as pa

    folder = tmp_path / "vqa"
    shutil.copytree(dataset, folder)
    path = folder / "answers-00000.parquet"
    table = pq.read_table(path)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "columns":
        pq.write_table(table.drop(["question"]), path)
    elif damage == "version":
        pq.write_table(table.replace_schema_metadata({"driveproof_table": "vqa"}), path)
    elif damage == "facts":
        broken = pa.array(["{}"] * table.num_rows)
        pq.write_table(
            table.set_column(table.schema.get_field_index("facts"), "facts", broken), path
        )
    else:
        (folder / "frames-00000.parquet").unlink()
    with pytest.raises(BadInput) as caught:
        list(read_answers(folder))
    assert "\n" not in str(caught.value)
    assert "00000.parquet" in str(caught.value)


def test_an_empty_folder_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no answers-"):
        list(read_answers(tmp_path))

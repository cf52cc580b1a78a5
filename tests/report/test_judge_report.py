"""The chapters on the judge and on humans: tables beside the papers', and honest where there is nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from driveproof.config.judge import JudgeEvaluateParams
from driveproof.evaluation import judge_run
from driveproof.evaluation.judge_write import write_benches
from driveproof.files import write_json
from driveproof.judge import PAPER_THRESHOLDS
from driveproof.report.inputs import read_inputs
from driveproof.report.judge_sections import humans_section, judge_section
from tests.judge.judge_examples import clip


def built(root: Path) -> None:
    clips = [
        clip(f"s{n}/{kind}", kind == "good", LK=float(n % 2))
        for n in range(6)
        for kind in ("good", "bad")
    ]
    params = JudgeEvaluateParams(judges=())
    bench = judge_run.run_benches(params, clips, [], PAPER_THRESHOLDS, 0, root=root)
    write_benches(bench, clips, {}, root / "reports/judge_evaluate", root=root)


def test_the_papers_numbers_stand_beside_ours_and_are_marked(tmp_path: Path) -> None:
    built(tmp_path)
    section = judge_section(read_inputs(tmp_path))
    table = next(t for t in section.tables if "table 1" in t.caption)
    names = [row[0] for row in table.rows]
    assert "EPDMS" in names
    assert "Paper (other data): EPDMS" in names
    assert next(r for r in table.rows if r[0] == "ADE/FDE")[2] == "n/a"
    assert {r[0]: r[-3:] for r in table.rows}["Paper (other data): DriveJudge-2B"] == (
        "77.95 %", "58.31 %", "89.83 %",
    )  # fmt: skip
    assert "cannot be compared" in table.note
    assert "12 scripted" in section.intro
    assert all(len(row) == len(table.head) for table in section.tables for row in table.rows)


def test_a_reinforced_judge_stands_beside_its_start_and_the_papers(tmp_path: Path) -> None:
    built(tmp_path)
    captions = [table.caption for table in judge_section(read_inputs(tmp_path)).tables]
    assert not any("Reinforced" in caption for caption in captions)
    figures = ("strict", "half", "half_all", "auc", "auc_all", "perfect")

    def found(value: float, improved: bool) -> dict[str, object]:
        one = {"mean": value, "low": value, "high": value, "n": 4, "lost": 0}
        values = dict.fromkeys(figures, one)
        counts = {"before": {"invalid": {"count": 3}}, "after": {"invalid": {}}}
        return {
            "before": values, "after": values, "gain": values, "counts": counts, "improved": improved,
        }  # fmt: skip

    summary = {
        "starts": {"sft": found(0.25, True), "zero_shot": found(0.0, False)},
        "settings": {"steps": 2, "questions": 4, "group": 8, "pairing": "all"},
        "train_pairs": 12,
    }
    rows = [{"step": 1, "reward": 0.5, "invalid": 0.0}, {"step": 2, "reward": 0.6, "invalid": 0.1}]
    write_json(tmp_path / "reports/judge_rl/summary.json", summary)
    write_json(tmp_path / "reports/judge_rl/curves.json", {"sft": rows, "zero_shot": rows})
    section = judge_section(read_inputs(tmp_path))
    table = next(t for t in section.tables if "Reinforced judge" in t.caption)
    assert table.rows[0][:3] == ("SFT", "before", "0.250 [0.250, 0.250] (n 4)")
    assert table.rows[0][-1] == "3 count"
    assert [row[1] for row in table.rows] == ["before", "after", "gain"] * 2 + [
        "before",
        "after",
    ] * 2
    assert ("Paper (other data): SFT", "after", "80.63 %") in [row[:3] for row in table.rows]
    assert "(interval above zero): SFT." in table.note
    assert all(len(row) == len(table.head) for row in table.rows)
    assert any("Reinforced judge" in caption for _, caption in section.figures)


def test_chapters_say_what_has_not_been_built(tmp_path: Path) -> None:
    inputs = read_inputs(tmp_path)
    assert judge_section(inputs).missing == "judge_evaluate"
    assert humans_section(inputs).missing == "humans"


def test_humans_without_logs_says_why(tmp_path: Path) -> None:
    write_json(
        tmp_path / "reports/humans/summary.json",
        {"logs": [], "skipped": {"av2": "x is not on this machine"}},
    )
    section = humans_section(read_inputs(tmp_path))
    assert "licences" in section.intro
    assert "x is not on this machine" in section.intro
    assert not section.tables


def test_humans_shows_rates_and_drawings(tmp_path: Path) -> None:
    folder = tmp_path / "reports/humans"
    rate = {"mean": 0.25, "low": 0.1, "high": 0.5, "n": 8, "lost": 0}
    summary = {
        "moments": 8, "broken_rate": {"LK": rate}, "mean": {"EPDMS_judged": rate}, "unjudged": {"TLC": 8},
        "notes": {}, "rejected": {"short_future": 2},
        "drawings": [{"file": "worst-01.png", "record_key": "a/b/1", "EPDMS_judged": 0.2, "broken": ["LK"]}],
    }  # fmt: skip
    write_json(folder / "summary.json", {"logs": ["av2"], "skipped": {}})
    write_json(folder / "av2/summary.json", summary)
    (folder / "av2/worst-01.png").write_bytes(np.zeros(8, np.uint8).tobytes())
    section = humans_section(read_inputs(tmp_path))
    assert section.tables[0].rows[0][:3] == ("av2", "8", "0.25 [0.10, 0.50] (n 8)")
    assert ("av2", "unjudged", "TLC", "8") in section.tables[1].rows
    assert "a/b/1 breaks LK" in section.figures[0][1]

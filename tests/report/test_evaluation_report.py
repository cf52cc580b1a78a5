"""The chapter about evaluation: faithfulness of the reasons beside accuracy, and the difficulty grid of any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from driveproof.report.inputs import read_inputs
from driveproof.report.model_sections import evaluation_section


def _estimate(mean: float, lost: int = 0) -> dict[str, Any]:
    return {"mean": mean, "low": mean - 0.05, "high": mean + 0.05, "n": 10, "lost": lost}


def _run(**changes: Any) -> dict[str, Any]:
    counts = {"items": 10, "scenes": 5, "repeats": 8, "answers": 80, "lost": 0, "invalid": 0}
    figures = {name: _estimate(0.5) for name in ("accuracy", "accuracy_valid", "hld")}
    kind = {"mode": "deft", "pictures": "own", "grid": False, "chance": 1 / 6, "cfs": None}
    return {**kind, **counts, **figures, **changes}


def _cfs(score: float, **axes: float) -> dict[str, Any]:
    means = {name: _estimate(mean, 3) for name, mean in axes.items()}
    why = {"no facts of this scene": 3}
    counts = {"judged": 77, "lost": 3, "reasons": why}
    return {"judge": "offline", "score": _estimate(score, 3), "axes": means, **counts}


def _section(root: Path, runs: dict[str, Any], details: dict[str, Any]) -> Any:
    folder = root / "reports/evaluate"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({"runs": runs}))
    (folder / "details.json").write_text(json.dumps(details))
    return evaluation_section(read_inputs(root))


def test_reasons_stand_beside_accuracy_with_their_axes(tmp_path: Path) -> None:
    runs = {
        "sft deft": _run(cfs=_cfs(0.7, grounding=0.4, coherence=1.0)),
        "random": _run(mode="choice"),
    }
    section = _section(tmp_path, runs, {})
    table, axes = section.tables
    column = table.head.index("CFS")
    assert table.head[column - 2 : column + 2] == ("ACC", "ACC of readable answers", "CFS", "HLD")
    assert [row[column] for row in table.rows] == ["0.700 [0.650, 0.750] (n 10, lost 3)", "–"]
    assert axes.head == (
        *("policy and mode", "judge", "grounding", "coherence"),
        *("texts judged", "lost, why"),
    )
    (row,) = axes.rows
    assert row[:3] == ("sft deft", "offline", "0.400 [0.350, 0.450] (n 10, lost 3)")
    assert row[-2:] == ("77", "no facts of this scene: 3")


def test_results_without_a_judge_have_a_dash_and_no_table_of_axes(tmp_path: Path) -> None:
    """Results of before there was a judge lack the key altogether."""
    old = _run()
    del old["cfs"]
    (table,) = _section(tmp_path, {"sft deft": old}, {}).tables
    assert table.rows[0][table.head.index("CFS")] == "–"


def test_the_grid_of_a_reinforced_model_is_a_table_of_its_own(tmp_path: Path) -> None:
    cells = {
        "m02_high0.50": {"accuracy": _estimate(0.9)},
        "m06_high0.95": {"accuracy": _estimate(0.4)},
    }
    runs = {"deft_rlvr deft": _run(), "deft_rlvr deft grid": _run(grid=True)}
    details = {"deft_rlvr deft grid": {"by_variant": cells}}
    section = _section(tmp_path, runs, details)
    (grid,) = [table for table in section.tables if "Difficulty grid" in table.caption]
    assert grid.head == ("similarity at most", "2 options", "6 options")
    assert grid.rows[0] == ("0.50", "0.900 [0.850, 0.950] (n 10)", "–")
    assert len(section.tables[0].rows) == 1, "the grid is no row of the main table"

"""Replay pages of a run of which some files are broken: the other drives are shown, and the index says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_records import Kind, record
from made_runs import decision, make_run
from typer.testing import CliRunner

from driveproof.cli import app as program
from driveproof.errors import BadInput
from driveproof.evaluation.driving.runs import read_run
from driveproof.report.replay import write_replays


def run_of_three(folder: Path) -> Path:
    told = [decision(0.05, "FOLLOW_LANE, KEEP")]
    return make_run(folder, {name: (record(name, Kind.RED_LIGHT), told) for name in "123"})


@pytest.fixture(scope="module")
def cli():
    program._assemble()
    return program.app


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("clip.tar", "cut off", "clip.tar"), ("decisions.jsonl", "{}\n{", "line 1: frame is")],
)
def test_a_broken_file_costs_one_page(
    tmp_path: Path, cli, name: str, content: str, said: str
) -> None:
    run = run_of_three(tmp_path / "run")
    (run / "routes/2_rep0" / name).write_text(content)
    args = ["replay", str(run), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, args, catch_exceptions=False)
    assert done.exit_code == 1
    assert "2_rep0: no page: " in done.stderr
    assert said in done.stderr
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["1_rep0.html", "3_rep0.html", "index.html"]
    index = (tmp_path / "out/index.html").read_text()
    assert said in index
    assert 'href="2_rep0.html"' not in index


def test_a_broken_motion_costs_one_page_and_no_scores(tmp_path: Path) -> None:
    moved = record("2", motion="motion.parquet")
    run = make_run(tmp_path / "run", {"1": (record("1"), []), "2": (moved, [])})
    (run / "routes/2_rep0/motion.parquet").write_bytes(b"PAR1")
    made = write_replays(read_run(run), tmp_path / "out", ["1"])
    assert made.files == ["1_rep0.html", "index.html"]
    index = (tmp_path / "out/index.html").read_text()
    assert "motion.parquet" in index, "named although its page was not asked for"
    assert "100.0" in index


def test_nothing_is_written_where_every_drive_is_broken(tmp_path: Path) -> None:
    run = run_of_three(tmp_path / "run")
    for name in "123":
        (run / f"routes/{name}_rep0/decisions.jsonl").write_text("no JSON\n")
    with pytest.raises(BadInput, match="is no JSON, and 2 more"):
        write_replays(read_run(run), tmp_path / "out")
    assert not (tmp_path / "out").exists()

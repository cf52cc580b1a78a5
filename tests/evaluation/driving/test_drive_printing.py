"""What the commands around drives print: one meaning of lost, n over what the mean is, names in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_records import Kind, record
from made_runs import decision, make_run
from typer.testing import CliRunner, Result

from driveproof.cli.evaluate import app
from driveproof.errors import BadInput


def shown(*args: object, columns: str | None = None) -> Result:
    done = CliRunner().invoke(
        app, [str(one) for one in args], env={"COLUMNS": columns}, catch_exceptions=False
    )
    assert done.exit_code == 0
    return done


def cells(text: str, name: str) -> str:
    """The rest of the first row that begins with a name."""
    row = next(line for line in text.splitlines() if line.startswith(f"│ {name} "))
    return row.removeprefix(f"│ {name} ").strip(" │")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(
        tmp_path / "run",
        {
            "1": (record("1", speed_shares=(1.5,)), []),
            "2": (record("2", Kind.COLLISION_VEHICLE, scenarios=("VehicleOpensDoorTwoWays",)), []),
            "3": ("quarantined", "three crashes"),
        },
    )


def test_lost_is_broken_or_not_driven_and_other_gaps_are_unscored(run: Path) -> None:
    out = shown("drive", run).stdout
    assert "n 2, lost 1)" in cells(out, "driving score")
    assert "n 3, of them 1 lost as 0)" in cells(out, "… lost drives as zeros")
    assert cells(out, "efficiency, %") == "150.0 (no interval; n 1, lost 1, unscored 1)"
    assert "no efficiency in 1 of 3 drives: no traffic around" in out
    assert "no comfort in 2 of 3 drives: no motion was recorded" in out
    assert "of 5 abilities)" in cells(out, "mean of abilities, %")
    assert "lost: route 3, repeat 0: quarantined: three crashes" in out


def test_a_longer_run_loses_nothing(tmp_path: Path) -> None:
    short = make_run(tmp_path / "a", {n: (record(n), []) for n in "12"})
    broken = {"5": ("quarantined", "three crashes")}
    long = make_run(tmp_path / "b", {n: (record(n), []) for n in "1234"} | broken)
    both = {n: (record(n, Kind.STOP_SIGN), []) for n in "12"}
    other = make_run(tmp_path / "c", both | {n: (record(n), []) for n in "5"})
    out = shown("drive-compare", short, long).stdout
    assert cells(out, "driving score") == "0.0 (0.0 to 0.0; n 2)"
    assert cells(out, "lost drives of each") == "0 and 0"
    assert cells(out, "drives not in both") == "3"
    out = shown("drive-compare", long, other).stdout
    assert cells(out, "lost drives of each") == "1 and 0"
    assert cells(out, "drives not in both") == "2"


def test_rows_are_whole_in_a_pipe_and_folded_in_a_narrow_window(run: Path) -> None:
    wide = shown("drive", run).stdout
    assert "2 (0), VehicleOpensDoorTwoWays, Town12" in wide
    narrow = shown("drive", run, columns="80").stdout
    assert all(len(line) <= 80 for line in narrow.splitlines() if line.startswith("│"))
    table = narrow[narrow.index("cause") :]
    assert "hit_vehicle" in table
    assert "…" not in table


def test_a_file_is_scored_on_its_own_suite_or_says_so(tmp_path: Path, run: Path) -> None:
    merged = tmp_path / "merged.json"
    shown("drive", run, "--variant", "bench2drive", "--merged", merged)
    alone = shown("bench2drive", merged)
    assert "n 220, of them 218 lost as 0)" in cells(alone.stdout, "driving score")
    assert "note: 218 of the 220 drives of Bench2Drive's suite are not in" in alone.stderr
    assert "--suite RUN" in alone.stderr
    assert "comfort needs the metric_info.json" in alone.stdout
    own = shown("bench2drive", merged, "--suite", run)
    assert cells(own.stdout, "driving score").startswith("53.3")  # (100 + 60) / 3
    assert own.stderr == ""
    # a part of a suite was driven: the run says which
    plan = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**plan, "routes": ["1", "2"]}))
    part = shown("bench2drive", merged, "--suite", run)
    assert cells(part.stdout, "driving score").startswith("80.0")


def test_both_means_of_answers_say_what_they_are_over(tmp_path: Path) -> None:
    keys = {"keys": {"direction": "FOLLOW_LANE", "speed": "KEEP"}}
    answer = {"number": 50, "subject": "", "text": "FOLLOW_LANE, KEEP"}
    facts = {"facts": keys, "objects": []}
    truth = {"objects": [], "answers": [answer | {"facts": facts}]}
    lines = [decision(0.05 + n, "FOLLOW_LANE, KEEP", truth=truth) for n in range(3)]
    run = make_run(tmp_path / "run", {"1": (record("1"), lines), "2": (record("2"), lines[:1])})
    out = shown("drive", run).stdout
    assert "mean over answers, %: 100.0 (100.0 to 100.0; n 4)" in out
    assert "mean over drives, %: 100.0 (100.0 to 100.0; n 2)" in out


@pytest.mark.parametrize(("written", "said"), [("NaN", "NaN"), ("-1e999", "-Infinity")])
def test_what_is_no_number_is_called_so(tmp_path: Path, run: Path, written: str, said: str) -> None:
    merged = tmp_path / "merged.json"
    shown("drive", run, "--merged", merged)
    text = merged.read_text().replace('"score_route": 100.0', f'"score_route": {written}', 1)
    merged.write_text(text)
    done = CliRunner().invoke(app, ["bench2drive", str(merged)])
    assert isinstance(done.exception, BadInput)
    place = "_checkpoint.records.0.scores.score_route"
    assert str(done.exception) == f"{merged}: {place}: {said} is no number"

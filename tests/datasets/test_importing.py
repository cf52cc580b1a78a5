"""Imports: whole or not at all, the same bytes for any number of workers, splits that never cut a drive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import dataset_makers as make
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from driveproof.cli import scenes as cli
from driveproof.datasets import import_logs, sniff, split_scenes
from driveproof.errors import BadInput
from driveproof.scene import WindowRules, read_scenes

RULES = WindowRules()


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four clips under data/raw of a working folder."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "Accident_Town03_Route1_W1",
        "Accident_Town03_Route2_W1",
        "Merge_Town04_Route3_W2",
    ):
        make.make_bench2drive(Path("data/raw") / f"{name}.tar")
    return Path("data/raw")


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_workers(raw: Path) -> None:
    import_logs("bench2drive", [raw], "one", RULES)
    import_logs("bench2drive", [raw], "two", RULES, workers=2)
    assert _bytes(Path("one")) == _bytes(Path("two"))


def test_import_json_counts_every_moment_of_every_log(raw: Path) -> None:
    report = import_logs("bench2drive", [raw], "out", RULES)
    told = json.loads(Path("out/import.json").read_text())
    assert told == report.to_json()
    assert told["kept"] == 9 == len(list(read_scenes("out")))
    # 8 s less 0.1 s at 2 Hz are 16 moments a clip: 3 lack history, 10 lack future
    assert told["rejected"] == {"short_future": 30, "short_history": 9}
    assert told["logs"][0] == {
        "scene_key": "bench2drive/Accident_Town03_Route1_W1",
        "path": "data/raw/Accident_Town03_Route1_W1.tar",
        "kept": 3,
        "rejected": {"short_future": 10, "short_history": 3},
    }


@pytest.mark.slow
def test_a_bad_log_stops_the_import_or_is_counted(raw: Path) -> None:
    (raw / "Broken_Town01_Route9_W1.tar").write_bytes(b"")
    bad = [*sorted(raw.glob("*.tar"))]
    for workers in (1, 2):
        with pytest.raises(BadInput, match=r"Broken_Town01.*not a readable archive"):
            import_logs("bench2drive", bad, "out", RULES, workers=workers)
        assert not Path("out").exists()
    report = import_logs("bench2drive", bad, "out", RULES, skip_bad=True)
    assert (report.kept, len(report.bad)) == (9, 1)
    assert report.bad[0]["path"] == "data/raw/Broken_Town01_Route9_W1.tar"


def test_a_failed_import_keeps_the_table_that_was_there(raw: Path) -> None:
    import_logs("bench2drive", [raw], "out", RULES)
    before = _bytes(Path("out"))
    Path("bad.tar").write_bytes(b"")
    with pytest.raises(BadInput):
        import_logs("bench2drive", ["bad.tar"], "out", RULES)
    assert _bytes(Path("out")) == before


def test_a_folder_of_something_else_is_not_replaced(raw: Path) -> None:
    with pytest.raises(BadInput, match="holds something else than scenes"):
        import_logs("bench2drive", [raw], "data", RULES)
    assert len(list(raw.iterdir())) == 3


def test_the_same_log_twice_is_counted_as_duplicate(raw: Path) -> None:
    clip = raw / "Merge_Town04_Route3_W2.tar"
    report = import_logs("bench2drive", [clip, clip], "out", RULES)
    assert (report.kept, report.rejected["duplicate"]) == (3, 3)


def test_unknown_formats_and_paths(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown format 'x'"):
        import_logs("x", [tmp_path], tmp_path / "out", RULES)
    with pytest.raises(BadInput, match="no such file"):
        import_logs("bench2drive", [tmp_path / "gone"], tmp_path / "out", RULES)
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(BadInput, match="no format claims this"):
        sniff(tmp_path / "note.txt")


@given(
    st.dictionaries(st.text("abcdef", min_size=1), st.sampled_from("xyz"), max_size=60),
    st.integers(0, 5),
)
def test_splits_are_even_and_reproducible(situations: dict[str, str], seed: int) -> None:
    fractions = {"train": 0.7, "dev": 0.1, "test": 0.2}
    splits = split_scenes(situations, fractions, seed)
    assert set(splits) == set(situations)
    counts = Counter(splits.values())
    for name, fraction in fractions.items():
        assert abs(counts[name] - fraction * len(situations)) <= 1.0
    assert splits == split_scenes(dict(reversed(situations.items())), fractions, seed)


def test_each_situation_is_spread_over_the_splits() -> None:
    situations = {f"{kind}{index}": kind for kind in "abc" for index in range(20)}
    splits = split_scenes(situations, {"train": 0.7, "dev": 0.1, "test": 0.2}, 0)
    for kind in "abc":
        counts = Counter(split for key, split in splits.items() if key.startswith(kind))
        assert counts == {"train": 14, "test": 4, "dev": 2}
    assert splits != split_scenes(situations, {"train": 0.7, "dev": 0.1, "test": 0.2}, 1)


@pytest.mark.slow
def test_the_stage_writes_table_report_and_splits(raw: Path, root: Path) -> None:
    Path("params.yaml").write_text("scenes:\n  workers: 2\n")
    environment = os.environ | {"PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-m", "stages.scenes"], check=True, env=environment)
    splits = json.loads(Path("data/scenes/splits.json").read_text())
    assert len(splits) == 3
    assert set(splits.values()) <= {"train", "dev", "test"}
    scene = next(read_scenes("data/scenes"))
    assert str(scene.images["front"][-1]).startswith("data/raw/Accident_Town03_Route1_W1.tar::")


def test_the_command_line(raw: Path) -> None:
    run = CliRunner().invoke
    found = run(cli.app, ["import", "data/raw", "--out", "all", "--json"])
    assert json.loads(found.stdout)["kept"] == 9
    clip = str((raw / "Merge_Town04_Route3_W2.tar").resolve())
    found = run(cli.app, ["import", clip, "--out", "out", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["kept"] == 3
    assert str(next(read_scenes("out")).images["front"][-1]).startswith("data/raw/Merge")
    shown = json.loads(run(cli.app, ["show", "out", "--json"]).stdout)
    assert shown["command"] == {"left": 3}
    assert shown["situation"] == {"Merge": 3}
    assert shown["rejected"] == {"short_future": 10, "short_history": 3}
    names = [row["name"] for row in json.loads(run(cli.app, ["formats", "--json"]).stdout)]
    assert "bench2drive" in names
    assert "Merge" in run(cli.app, ["show", "out"]).stdout
    counts = json.loads(run(cli.app, ["split", "all", "--train", "0.67", "--json"]).stdout)
    assert sum(counts.values()) == 3
    assert len(json.loads(Path("all/splits.json").read_text())) == 3
    again = run(cli.app, ["import", clip, "--out", "all"])
    assert "is there already" in str(again.exception)
    assert Path("all/splits.json").exists()
    assert run(cli.app, ["import", clip, "--out", "all", "--force"]).exit_code == 0
    assert not Path("all/splits.json").exists()


def test_an_import_without_a_usable_moment_is_no_success(raw: Path) -> None:
    np.savetxt("03.txt", np.eye(4)[:3].reshape(1, 12))  # a single pose of KITTI odometry
    done = CliRunner().invoke(cli.app, ["import", "03.txt", "--out", "none", "--format", "kitti"])
    assert "no moment could be used" in str(done.exception)


@pytest.mark.slow
def test_a_stage_takes_no_options(raw: Path, root: Path) -> None:
    for option, code in (("--help", 0), ("--verbose", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "stages.scenes", option],
            env=os.environ | {"PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert "params.yaml" in done.stdout + done.stderr
        assert not Path("data/scenes").exists()


@pytest.mark.slow
def test_the_program_says_one_line_without_a_traceback(raw: Path, root: Path) -> None:
    Path("bad.tar").write_bytes(b"no tar")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "driveproof",
            "scenes",
            "import",
            "bad.tar",
            "--out",
            "out",
            "--format",
            "bench2drive",
        ],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: bad.tar: not a readable archive")
    assert done.stderr.count("\n") == 1
    assert not Path("out").exists()

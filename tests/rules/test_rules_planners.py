"""Files of planners: what may be in them, what is refused, and runs that are killed and go on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from driveproof.cli.score import app
from driveproof.errors import BadInput
from driveproof.evaluation.planners import summarise_scores
from driveproof.evaluation.statistics import bootstrap_mean
from driveproof.geometry.arrays import Float
from driveproof.maps import load_town
from driveproof.rules.planner_run import score_file
from driveproof.rules.planners import PlannerRun, _plans
from driveproof.rules.proposals import count_rows, headings_along, read_batches
from driveproof.rules.scene_store import SceneStore
from driveproof.rules.scenes import world_of
from driveproof.scene import Scene, write_scenes
from driveproof.scene.types import FUTURE_TIMES, HISTORY_TIMES

SPEED = 8.0
STRAIGHT = [[SPEED * t, 0.0] for t in FUTURE_TIMES]


def scene(drive: int, number: int, source: str = "made") -> Scene:
    """Eastward or westward along a straight street of Town01, the rear axle on the lane's centre."""
    town = load_town("Town01")
    lanes = town.lanes
    long = np.flatnonzero((lanes.kind == 1) & ~lanes.is_junction & (lanes.length > 100.0))
    line = lanes.polyline(int(long[drive]))
    start = 10.0 + 5.0 * number
    times = np.concatenate([HISTORY_TIMES, FUTURE_TIMES])
    driven = np.stack([SPEED * times, np.zeros(len(times)), np.zeros(len(times))], -1)
    return Scene(
        record_key=f"{source}/{drive}/{number}",
        scene_key=f"{source}/{drive}",
        source=source,
        timestamp_s=float(number),
        history=driven[:4],
        future=driven[4:],
        velocity=np.array([SPEED, 0.0]),
        acceleration=np.zeros(2),
        town="Town01",
        world_pose=np.append(line.at(start), line.heading(start)),
    )


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes") / "table"
    write_scenes([scene(drive, n) for drive in range(2) for n in range(2)], folder)
    return folder


def parquet(path: Path, rows: list[tuple[str, str, Any]], **more: list[Any]) -> Path:
    keys, names, poses = zip(*rows, strict=True)
    columns = {"record_key": list(keys), "name": list(names), "poses": list(poses), **more}
    pq.write_table(pa.table(columns), path)
    return path


def plans(path: Path) -> Path:
    slow = [[0.5 * x, y] for x, y in STRAIGHT]
    rows = [
        (f"made/{drive}/{n}", name, poses)
        for drive in range(2)
        for n in range(2)
        for name, poses in (("fast", STRAIGHT), ("slow", slow))
    ]
    return parquet(path, rows)


# ---- files


def test_npz_and_parquet_mean_the_same(tmp_path: Path) -> None:
    poses = np.random.default_rng(0).normal(size=(5, 10, 3))
    keys = [f"s/{n}" for n in range(5)]
    np.savez(tmp_path / "a.npz", record_key=keys, poses=poses, dt=np.full(5, 0.5))
    nested = pa.array(poses.tolist())
    pq.write_table(pa.table({"record_key": keys, "poses": nested}), tmp_path / "a.parquet")
    flat = pa.array(poses.reshape(5, -1).tolist())
    both = {"record_key": keys, "poses": flat, "width": [3] * 5}
    pq.write_table(pa.table(both), tmp_path / "b.parquet")
    read = [list(read_batches(tmp_path / name, 2)) for name in ("a.npz", "a.parquet", "b.parquet")]
    for batches in read:
        assert [len(batch) for batch in batches] == [2, 2, 1]
        found = [proposal for batch in batches for proposal in batch]
        assert [p.row for p in found] == list(range(5))
        assert [p.record_key for p in found] == keys
        np.testing.assert_allclose([p.poses for p in found], poses)
        assert {p.dt for p in found} == {0.5}
    assert read[0][0][0].name == "a"
    assert count_rows(tmp_path / "a.npz") == count_rows(tmp_path / "a.parquet") == 5


def test_forty_poses_are_tenths_of_a_second(tmp_path: Path) -> None:
    rows = [("a", "p", [[0.1 * k, 0.0] for k in range(n)]) for n in (8, 40)]
    steps = [p.dt for p in next(read_batches(parquet(tmp_path / "p.parquet", rows)))]
    assert steps == [0.5, 0.1]


def test_a_plan_that_cannot_be_scored_carries_its_reason(tmp_path: Path) -> None:
    bad = [[[1.0, 0.0]] * 7, [[1.0, 0.0]] * 7 + [[float("nan"), 0.0]], [], None]
    path = parquet(tmp_path / "p.parquet", [("a", "p", poses) for poses in bad])
    problems = [proposal.problem for proposal in next(read_batches(path))]
    assert problems == [
        "poses: 7 at 0.5 s end before 4 s",
        "poses: pose 7 is not finite",
        "poses: is empty",
        "poses: is empty",
    ]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"poses": [STRAIGHT]}, "lacks the column 'record_key'"),
        ({"record_key": ["a"]}, "lacks the column 'poses'"),
        ({"record_key": [1], "poses": [STRAIGHT]}, "record_key: expected text"),
        ({"record_key": ["a"], "poses": ["x"]}, "poses: expected lists of numbers"),
        ({"record_key": ["a"], "poses": [[[1.0]] * 8]}, r"row 0: poses: expected \[x, y\]"),
        ({"record_key": ["a"], "poses": [[[1.0, 2.0], [1.0]]]}, r"row 0: poses: expected \[x, y\]"),
        ({"record_key": ["a"], "poses": [[1.0] * 24]}, "fits 2 and 3 numbers a pose"),
        ({"record_key": ["a"], "poses": [[1.0] * 25]}, "fits neither 2 nor 3"),
        ({"record_key": ["a", None], "poses": [STRAIGHT] * 2}, "row 1: record_key: is empty"),
        ({"record_key": ["a"], "poses": [STRAIGHT], "dt": [0.2]}, "row 0: dt: expected 0.5 or 0.1"),
        ({"record_key": ["a"], "poses": [STRAIGHT], "dt": ["x"]}, "dt: expected numbers"),
        ({"record_key": ["a"], "poses": [[[0.0, 0.0]] * 4000]}, "more than 1000 poses"),
    ],
)
def test_another_schema_is_an_error_that_names_file_row_and_field(
    tmp_path: Path, columns: dict[str, list[Any]], problem: str
) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(BadInput, match=problem) as caught:
        list(read_batches(path))
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"poses": np.zeros((1, 8, 2))}, "lacks the array 'record_key'"),
        ({"record_key": ["a"] * 2, "poses": np.zeros((1, 8, 2))}, "1 rows, record_key has 2"),
        ({"record_key": ["a"], "poses": np.zeros((1, 8, 4))}, "poses of 2 or 3 numbers"),
        ({"record_key": ["a"], "poses": np.zeros((1, 16))}, "expected numbers"),
        ({"record_key": np.array(["a"], object), "poses": np.zeros((1, 8, 2))}, "a plain array"),
    ],
)
def test_a_wrong_npz_is_named(tmp_path: Path, arrays: dict[str, Any], problem: str) -> None:
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(BadInput, match=problem):
        list(read_batches(tmp_path / "p.npz"))


@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_truncated_and_empty_files_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p.{suffix}"
    if suffix == "npz":
        np.savez(path, record_key=["a"], poses=np.zeros((1, 8, 2)))
    else:
        parquet(path, [("a", "p", STRAIGHT)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadInput, match=f"no readable {suffix}"):
        list(read_batches(path))
    pq.write_table(pa.table({"record_key": pa.array([], pa.string()), "poses": pa.array([], pa.list_(pa.float64()))}), tmp_path / "e.parquet")  # fmt: skip
    with pytest.raises(BadInput, match="holds no proposal"):
        list(read_batches(tmp_path / "e.parquet"))


# ---- headings and the point that poses follow


@given(st.floats(0.7, 20.0), st.floats(0.001, 0.05), st.sampled_from([-1.0, 1.0]))
def test_headings_on_a_circle_are_its_tangents(speed: float, bend: float, side: float) -> None:
    angle = side * bend * speed * FUTURE_TIMES
    points = np.stack([np.sin(angle), 1.0 - np.cos(angle)], -1) * side / bend
    np.testing.assert_allclose(
        headings_along(points[None])[0], (angle + np.pi) % (2 * np.pi) - np.pi, atol=1e-6
    )


def test_headings_hold_at_standstill_and_in_reverse() -> None:
    jitter = np.array([[0.1, 0.1], [0.0, 0.1], [0.1, 0.0]])
    assert (headings_along(jitter[None]) == 0.0).all()
    back = np.array([[-1.0, 0.0], [-2.0, 0.1], [-3.0, 0.1]])
    assert np.abs(headings_along(back[None])).max() < 0.2


def bend(count: int = 10) -> Float:
    angle = 0.02 * SPEED * FUTURE_TIMES[:count]
    return np.stack([50.0 * np.sin(angle), 50.0 * (1.0 - np.cos(angle)), angle], -1)


def test_poses_of_the_box_centre_are_moved_to_the_rear_axle() -> None:
    driven = replace(scene(0, 0), future=bend())
    made = world_of(driven, rear_axle=False)
    np.testing.assert_allclose(
        _plans(bend()[None], 0.5, made.world.ego[:3])[0], made.human, atol=1e-9
    )
    made = world_of(driven, rear_axle=True)
    np.testing.assert_allclose(
        _plans(bend()[None], 0.5, made.world.ego[:3])[0], made.human, atol=1e-9
    )


# ---- runs


def test_the_store_finds_a_scene_and_what_came_later(scenes: Path) -> None:
    store = SceneStore(scenes)
    found, later = store.get("made/1/0")
    assert found.record_key == "made/1/0"
    assert [each.record_key for each in later] == ["made/1/1"]
    assert "made/7/0" not in store
    assert store.drive_of("made/0/1") == "made/0"


def test_scores_of_a_file(scenes: Path, tmp_path: Path) -> None:
    rows = [
        ("made/0/0", "fast", STRAIGHT),
        ("made/9/0", "fast", STRAIGHT),
        ("made/0/0", "lost", STRAIGHT[:5]),
        ("made/0/0", "astray", [[x, 2.0 * n] for n, (x, _) in enumerate(STRAIGHT)]),
    ]
    run = PlannerRun(scenes, parquet(tmp_path / "p.parquet", rows))
    table = pq.read_table(score_file(run, tmp_path / "out")).to_pylist()
    assert [row["row"] for row in table] == [0, 1, 2, 3]
    kept = [table[0][code] for code in ("NC", "DAC", "DDC", "TLC", "TTC", "LK", "HC")]
    assert kept == [1.0] * 7
    assert table[0]["EPDMS"] == pytest.approx((5.0 * table[0]["EP"] + 9.0) / 14.0)
    assert table[0]["EC"] is None
    assert table[0]["reason"] is None
    assert [line[:4] for line in table[0]["broken"]] == ["EP ="]
    assert (table[1]["EPDMS"], table[1]["reason"]) == (None, "record_key: no such scene")
    assert table[2]["reason"] == "poses: 5 at 0.5 s end before 4 s"
    assert table[2]["scene_key"] == "made/0"
    assert table[3]["EPDMS"] == 0.0
    assert any(line.startswith("DAC = 0 at") for line in table[3]["broken"])
    assert not (tmp_path / "out/parts").exists()


def test_a_killed_run_goes_on_and_ends_the_same(scenes: Path, tmp_path: Path) -> None:
    run = PlannerRun(scenes, plans(tmp_path / "p.parquet"), batch_rows=2)
    whole = score_file(run, tmp_path / "whole").read_bytes()
    out = tmp_path / "out"
    seen: list[int] = []

    def killed(rows: int) -> None:
        seen.append(rows)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file(run, out, on_rows=killed)
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "parts").glob("*.parquet")}
    assert len(kept) == 2
    assert not (out / "scores.parquet").exists()
    with pytest.raises(BadInput, match="a run with other variant"):
        score_file(replace(run, variant="corrected"), out, resume=True)
    counted: list[int] = []

    def still_there(rows: int) -> None:
        counted.append(rows)
        if len(counted) == 4:
            parts = out / "parts"
            assert {name: (parts / name).stat().st_mtime_ns for name in kept} == kept

    assert score_file(run, out, resume=True, on_rows=still_there).read_bytes() == whole
    assert sum(counted) == 8


@pytest.mark.slow
def test_worker_processes_change_nothing(scenes: Path, tmp_path: Path) -> None:
    run = PlannerRun(scenes, plans(tmp_path / "p.parquet"), batch_rows=3)
    alone = score_file(run, tmp_path / "one").read_bytes()
    assert score_file(run, tmp_path / "two", workers=2).read_bytes() == alone


def test_a_scene_without_a_map_is_unscored_with_the_reason(tmp_path: Path) -> None:
    write_scenes([replace(scene(0, 0), town="")], tmp_path / "scenes")
    path = parquet(tmp_path / "p.parquet", [("made/0/0", "p", STRAIGHT)])
    run = PlannerRun(tmp_path / "scenes", path)
    row = pq.read_table(score_file(run, tmp_path / "out")).to_pylist()[0]
    assert row["EPDMS"] is None
    assert "DAC: the map has no drivable polygon" in row["reason"]
    assert "TLC: what the traffic lights show is unknown" in row["reason"]


def test_a_summary_is_the_mean_with_its_interval_over_drives(tmp_path: Path) -> None:
    from driveproof.rules.planners import SCORE_SCHEMA

    rng = np.random.default_rng(3)
    values = rng.random(50)
    values[7] = np.nan
    drives = [f"d{n // 5}" for n in range(50)]
    rows = [
        {"row": n, "record_key": f"r{n}", "scene_key": drives[n], "name": "p", "broken": [],
         "EPDMS": None if np.isnan(v) else v, "reason": "why" if np.isnan(v) else None}
        for n, v in enumerate(values)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=SCORE_SCHEMA), tmp_path / "scores.parquet")
    got = summarise_scores(tmp_path / "scores.parquet")["p"]
    expected = bootstrap_mean(values, 0, clusters=drives)
    for name in ("mean", "low", "high", "n", "lost"):
        assert got["scores"]["EPDMS"][name] == pytest.approx(getattr(expected, name)), name
    assert got["lost"] == {"why": 1}
    assert got["scores"]["NC"]["mean"] is None


def test_the_command_prints_what_it_writes(scenes: Path, tmp_path: Path) -> None:
    path = plans(tmp_path / "p.parquet")
    arguments = ["trajectories", "--scenes", str(scenes), "--proposals", str(path), "--json"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "out/summary.json").read_text())
    fast, slow = printed["planners"]["fast"], printed["planners"]["slow"]
    assert fast["scores"]["EPDMS"]["mean"] > slow["scores"]["EPDMS"]["mean"]
    assert fast["rows"] == 4
    bare = CliRunner().invoke(app, [*arguments, "--resume"])
    assert isinstance(bare.exception, BadInput)
    missing = CliRunner().invoke(app, ["trajectories", "--proposals", str(tmp_path / "no.npz")])
    assert isinstance(missing.exception, BadInput)

"""Sweeps: splits by drive, power law, the rule for the number of codes, the published ranges."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.codebook.build import build_codebook, choose_n_codes
from driveproof.codebook.paper import TABLE_5, TABLE_6
from driveproof.codebook.sweep import (
    fit_power_law,
    held_out_masks,
    recommend,
    run_sweep,
    write_sweep,
)
from driveproof.codebook.trajectories import load_splits, load_trajectories
from driveproof.config.codebook import ClusteringParams, CodebookParams
from driveproof.config.sweep import SweepParams
from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.scene.table import SCENE_SCHEMA

QUICK = ClusteringParams(n_init=1, max_iter=5)


def write_npz(path: Path, n: int = 600, drives: int = 12) -> Path:
    rng = np.random.default_rng(0)
    speed, yaw = rng.uniform(0, 15, (n, 1)), rng.normal(0, 0.1, (n, 1))
    times = np.linspace(0.5, 5, 10)
    traj = np.stack([speed * times, speed * times * np.sin(yaw * times / 2)], axis=-1)
    keys = np.array([f"{'ab'[i % 2]}/{i % drives}" for i in range(n)])
    np.savez(path, traj=traj.astype(np.float32), scene_key=keys)
    return path


@given(exponent=st.floats(0.05, 1), coefficient=st.floats(0.1, 10))
def test_power_law_is_found_again(exponent: float, coefficient: float) -> None:
    sizes = np.array([256, 512, 1024, 2048])
    law = fit_power_law(sizes, coefficient * sizes**-exponent)
    assert law is not None
    assert law.exponent == pytest.approx(exponent)
    assert law.coefficient == pytest.approx(coefficient)
    assert law.r2 == pytest.approx(1)


def test_power_law_of_the_published_table() -> None:
    law = fit_power_law([row[0] for row in TABLE_5], [row[1] for row in TABLE_5])
    assert law is not None
    assert 0.24 < law.exponent < 0.27
    assert {row[0] for row in TABLE_6} == {1024, 8192}


def test_splits_cut_no_drive() -> None:
    keys = np.repeat([f"d{i}" for i in range(20)], 7)
    masks = held_out_masks(keys, 5, 0.1, 0)
    assert len(masks) == 5
    for mask in masks:
        assert len(set(keys[mask])) == 2
        assert not set(keys[mask]) & set(keys[~mask])
    with pytest.raises(BadInput, match="two drives"):
        held_out_masks(np.array(["a", "a"]), 5, 0.1, 0)


def test_number_of_codes_by_rule() -> None:
    params = CodebookParams()
    assert choose_n_codes(489_042, params) == 8192
    assert choose_n_codes(24_093, params) == 2048
    assert choose_n_codes(3_000, params) == 256
    assert choose_n_codes(3_000, CodebookParams(n_codes=77)) == 77
    with pytest.raises(BadInput, match="do not support"):
        choose_n_codes(15, params)


def test_recommendation_follows_the_rule_on_the_published_table() -> None:
    rows = [
        {"n_codes": row[0], "n_fit": 489_042, "in_ade": row[1], "out_ade": row[2]}
        for row in TABLE_5
    ]
    assert recommend(rows) == 8192
    rows[5]["out_ade"] = 2 * rows[5]["in_ade"]
    assert recommend(rows) == 4096
    assert recommend([{**row, "n_fit": 10} for row in rows]) is None


@pytest.mark.slow
def test_sweep_reports_repeatably_and_skips_what_cannot_be(tmp_path: Path) -> None:
    data = load_trajectories(write_npz(tmp_path / "t.npz"))
    params = SweepParams(
        sizes=(8, 16, 1024), scale_sizes=(8,), scale_fractions=(0.25, 1.0), n_splits=2, workers=1
    )
    steps: list[tuple[int, int]] = []
    report = run_sweep(data, params, QUICK, 0, lambda done, total: steps.append((done, total)))
    assert steps[-1] == (8, 8)
    assert report["skipped"] == [1024]
    assert [row["n_codes"] for row in report["resolution"]] == [8, 16]
    assert report["resolution"][0]["in_ade"] > report["resolution"][1]["in_ade"]
    small, whole = report["scale"]
    assert small["n_fit"] < whole["n_fit"]
    assert small["gap"] > whole["gap"]
    write_sweep(report, tmp_path / "one")
    write_sweep(
        run_sweep(data, params.model_copy(update={"workers": 2}), QUICK, 0), tmp_path / "two"
    )
    for name in ("sweep.json", "resolution.csv", "scale.csv"):
        assert sha256_file(tmp_path / "one" / name) == sha256_file(tmp_path / "two" / name)
    with open(tmp_path / "one" / "resolution.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["n_codes"]) for row in rows] == [8, 16]


def test_cross_source_is_never_fitted(tmp_path: Path) -> None:
    data = load_trajectories(write_npz(tmp_path / "t.npz"))
    params = SweepParams(sizes=(8,), scale_sizes=(), n_splits=2, cross_sources=("b",), workers=1)
    report = run_sweep(data, params, QUICK)
    assert report["trajectories"] == 300
    assert report["runs"][0]["cross"]["n"] == 300
    assert report["resolution"][0]["cross_ade"] > 0
    with pytest.raises(BadInput, match="cross_sources"):
        run_sweep(data, params.model_copy(update={"cross_sources": ("a", "b")}), QUICK)


def test_codebook_of_a_corpus(tmp_path: Path) -> None:
    source = write_npz(tmp_path / "t.npz")
    splits = {f"{'ab'[i % 2]}/{i}": "test" if i > 8 else "train" for i in range(12)}
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    built = build_codebook(source, CodebookParams(clustering=QUICK), 0, tmp_path / "splits.json")
    assert built.codebook.n_codes == 32  # 450 train trajectories
    assert built.metrics["in"]["n"] == 450
    assert built.metrics["out"]["n"] == 150
    del splits["a/0"]
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    with pytest.raises(BadInput, match="without a split"):
        build_codebook(source, CodebookParams(), 0, tmp_path / "splits.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [("[1]", "expected an object"), ("{", "not JSON"), ('{"a": "trian"}', "train, dev or test")],
)
def test_bad_splits(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "splits.json").write_text(text)
    with pytest.raises(BadInput, match=message):
        load_splits(tmp_path / "splits.json")


def test_bad_sources(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    traj, keys = np.zeros((3, 10, 2)), np.array(["a", "b", "c"])
    for arrays, message in (
        ({"traj": traj}, "no array named scene_key"),
        ({"traj": traj[:, :9], "scene_key": keys}, "expected shape"),
        ({"traj": traj * np.nan, "scene_key": keys}, "not finite"),
        ({"traj": traj, "scene_key": keys[:2]}, "expected 3 texts"),
        ({"traj": traj[:0], "scene_key": keys[:0]}, "no trajectories"),
        ({"traj": traj, "scene_key": keys.astype(object)}, "not a readable"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(BadInput, match=message) as caught:
            load_trajectories(path)
        assert caught.value.path == str(path)


@pytest.mark.slow
@pytest.mark.shared
def test_published_ranges_on_real_trajectories(shared_dir: Path) -> None:
    """The whole file, ego or not; five splits by drive at 10 %."""
    data = load_trajectories(shared_dir / "data" / "real_trajectories.npz")
    assert len(data) == 24_093
    params = SweepParams(sizes=(256, 512, 1024, 2048), scale_sizes=())
    report = run_sweep(data, params, ClusteringParams(), 0)
    (row,) = (row for row in report["resolution"] if row["n_codes"] == 1024)
    assert 0.51 <= row["in_ade"] <= 0.56
    assert 0.56 <= row["out_ade"] <= 0.70
    assert 0.28 <= report["power_law"]["in"]["exponent"] <= 0.34
    assert 0.18 <= report["power_law"]["out"]["exponent"] <= 0.27


@pytest.mark.parametrize("damage", ["absent", "null", "short", "text"])
def test_damaged_futures_of_scenes_are_one_line(tmp_path: Path, damage: str) -> None:
    whole = [[[float(i), 0.0, 0.0] for i in range(10)] for _ in range(3)]
    futures = {"null": [None, *whole[1:]], "short": [whole[0][:9], *whole[1:]], "text": ["x"] * 3}
    rows = {"scene_key": ["s/0", "s/1", "s/2"], "source": ["s"] * 3, "future": whole}
    columns = {
        field.name: pa.array(rows.get(field.name, [None] * 3), field.type) for field in SCENE_SCHEMA
    }
    if damage == "absent":
        del columns["future"]
    else:
        columns["future"] = pa.array(
            futures[damage], None if damage == "text" else SCENE_SCHEMA.field("future").type
        )
    table = pa.table(columns).replace_schema_metadata(SCENE_SCHEMA.metadata)
    pq.write_table(table, tmp_path / "scenes-00000.parquet")
    with pytest.raises(BadInput, match=r"future: (not 10 poses in each row|is no list)") as caught:
        load_trajectories(tmp_path)
    assert "\n" not in str(caught.value)

"""Classes, selection, tables and statistics on closed-form scenes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from closed_form import make_scene

from driveproof.config.mcq import Band, ClassParams, GridParams, McqParams
from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.mcq import read_items, write_items
from driveproof.mcq.build import SplitResult, build_splits
from driveproof.mcq.candidates import Vocabulary
from driveproof.mcq.classes import DriveClass, classify, heading_of, motion_of
from driveproof.mcq.grid import difficulty_grid
from driveproof.mcq.separation import separation
from driveproof.mcq.stats import stats_of
from driveproof.mcq.write import write_mcq
from driveproof.scene import Scene

PARAMS = McqParams(
    train_band=Band(low=0.5, high=0.97),
    eval_band=Band(low=0.3, high=0.97),
    top_per_class=10,
    grid=GridParams(low=0.0),
)


@pytest.fixture(scope="module")
def results(
    scenes: list[Scene], splits: dict[str, str], vocabulary: Vocabulary
) -> dict[str, SplitResult]:
    return build_splits(scenes, splits, vocabulary, PARAMS, seed=0)


@pytest.mark.parametrize(
    ("speed", "acceleration", "yaw_rate", "expected", "heading"),
    [
        (1.0, 0.0, 0.3, DriveClass.LOW_SPEED, "left"),
        (10.0, -2.5, 0.0, DriveClass.STOP_FROM_MOTION, "straight"),
        (12.0, -2.2, 0.0, DriveClass.HARD_BRAKE, "straight"),
        (8.0, 0.0, 0.25, DriveClass.SHARP_TURN, "left"),
        (8.0, 0.0, -0.25, DriveClass.SHARP_TURN, "right"),
        (8.0, 0.0, 0.05, DriveClass.ROUTINE_STRAIGHT, "straight"),
        (8.0, -0.5, 0.0, DriveClass.ROUTINE_STRAIGHT, "straight"),
    ],
)
def test_classes_in_driving_terms(
    speed: float, acceleration: float, yaw_rate: float, expected: DriveClass, heading: str
) -> None:
    motion = motion_of(make_scene("a/b/c", speed, acceleration, yaw_rate))
    assert classify(motion, ClassParams()) is expected
    assert heading_of(motion, ClassParams()) == heading


def test_motion_of_constant_velocity_has_no_gap() -> None:
    motion = motion_of(make_scene("a/b/c", 10.0))
    assert motion.gap == pytest.approx(0, abs=1e-9)
    assert motion.braking_ratio == pytest.approx(1)
    braking = motion_of(make_scene("a/b/c", 10.0, -2.0))  # stops exactly after 5 s and 25 m
    assert braking.gap == pytest.approx(25, abs=0.2)
    assert braking.braking_ratio == pytest.approx(0.5, abs=0.01)


def test_least_speed_may_differ_by_source() -> None:
    params = ClassParams(min_speed=2.0, min_speed_by_source={"slow": 0.5})
    motion = motion_of(make_scene("a/b/c", 1.0, 0.0, 0.2))
    assert classify(motion, params, "fast") is DriveClass.LOW_SPEED
    assert classify(motion, params, "slow") is DriveClass.SHARP_TURN


def test_every_scene_is_accounted_for(results: dict[str, SplitResult]) -> None:
    for result in results.values():
        assert result.items
        assert result.scenes == len(result.items) + sum(result.rejected.values())
        assert result.scenes == sum(result.classes.values())


def test_splits_cut_no_drive_and_train_is_natural(
    results: dict[str, SplitResult], splits: dict[str, str]
) -> None:
    for split, result in results.items():
        assert {splits[item.scene_key] for item in result.items} == {split}
    assert {i.drive_class for i in results["train"].items} > {"low_speed", "routine_straight"}
    for split in ("dev", "test"):
        assert {i.drive_class for i in results[split].items} <= {
            "stop_from_motion",
            "hard_brake",
            "sharp_turn",
        }


def test_test_split_covers_directions(results: dict[str, SplitResult]) -> None:
    ends = np.array([item.waypoints[-1] for item in results["test"].items])
    assert (ends[:, 1] > 2).any()
    assert (ends[:, 1] < -2).any()
    assert (np.abs(ends[:, 1]) < 0.5).any()


def test_the_hardest_come_first(
    scenes: list[Scene], splits: dict[str, str], vocabulary: Vocabulary
) -> None:
    few = PARAMS.model_copy(update={"top_per_class": 2})
    chosen = build_splits(scenes, splits, vocabulary, few, 0)["dev"]
    everything = PARAMS.model_copy(update={"top_per_class": 1000})
    pool = build_splits(scenes, splits, vocabulary, everything, 0)["dev"]
    gaps = {s.record_key: motion_of(s).gap for s in scenes}
    for drive_class in {item.drive_class for item in chosen.items}:
        kept = [gaps[i.record_key] for i in chosen.items if i.drive_class == drive_class]
        valid = sorted(gaps[i.record_key] for i in pool.items if i.drive_class == drive_class)
        assert sorted(kept) == valid[-len(kept) :]
        assert len(kept) == min(2, len(valid))


def test_the_oracle_is_the_nearest_prototype(
    results: dict[str, SplitResult], vocabulary: Vocabulary
) -> None:
    codes = vocabulary.codebook.codes_.astype(np.float64)
    for item in results["test"].items:
        distance = ((codes - item.waypoints.astype(np.float32)) ** 2).sum((1, 2))
        assert item.option_codes[item.oracle_index] == distance.argmin()
        np.testing.assert_allclose(item.options, codes[item.option_codes], atol=0)


def test_written_items_come_back_and_bytes_repeat(
    results: dict[str, SplitResult], tmp_path: Path
) -> None:
    items = results["test"].items
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    assert write_items(items, first) == len(items)
    back = read_items(first)
    write_items(back, second)
    assert sha256_file(first) == sha256_file(second)
    for one, other in zip(items, back, strict=True):
        assert one.record_key == other.record_key
        assert one.option_kinds == other.option_kinds
        np.testing.assert_array_equal(one.options, other.options)
        np.testing.assert_array_equal(one.observation.history, other.observation.history)


@pytest.mark.slow
def test_the_whole_directory_repeats(
    scenes: list[Scene], splits: dict[str, str], vocabulary: Vocabulary, tmp_path: Path
) -> None:
    for name, order in (("a", scenes), ("b", scenes[::-1])):
        write_mcq(order, splits, vocabulary.codebook, PARAMS, 0, tmp_path / name)
    for file in ("train.parquet", "dev.parquet", "test.parquet", "grid.parquet", "stats.json"):
        assert sha256_file(tmp_path / "a" / file) == sha256_file(tmp_path / "b" / file)


def test_grid_holds_scene_and_oracle(
    results: dict[str, SplitResult], vocabulary: Vocabulary
) -> None:
    items = {item.record_key: item for item in results["test"].items}
    grid = difficulty_grid(list(items.values()), vocabulary, PARAMS.grid, 0)
    cells: dict[str, set[str]] = {}
    for item in grid.items:
        base = items[item.record_key]
        m, high = int(item.variant[1:3]), float(item.variant.split("high")[1])
        assert item.n_options == m
        assert item.option_codes[item.oracle_index] == base.option_codes[base.oracle_index]
        assert (np.delete(item.similarities, item.oracle_index) <= np.float32(high)).all()
        assert set(item.option_kinds) == {"oracle", "random"}
        cells.setdefault(item.variant, set()).add(item.record_key)
    assert len(cells) == 20
    assert len({frozenset(keys) for keys in cells.values()}) == 1
    kept = len(next(iter(cells.values())))
    assert kept + sum(grid.rejected.values()) == len(items)


def test_separation_in_closed_form(results: dict[str, SplitResult]) -> None:
    item = results["test"].items[0]
    options = np.repeat(item.waypoints[None], item.n_options, axis=0)
    shifts = np.arange(item.n_options, dtype=float)
    shifts[item.oracle_index], shifts[0] = 0.25, shifts[item.oracle_index] or 0.25
    options[:, :, 1] += shifts[:, None]
    found = separation([dataclasses.replace(item, options=options)])
    others = np.delete(shifts, item.oracle_index)
    assert found["oracle_ade"]["mean"] == pytest.approx(0.25)
    assert found["oracle_fde"]["p95"] == pytest.approx(0.25)
    assert found["nearest_distractor_ade"]["p50"] == pytest.approx(others.min())
    assert found["distractor_ade"]["mean"] == pytest.approx(others.mean())
    assert found["distractor_ade"]["n"] == item.n_options - 1
    assert found["nearest_farther_than_oracle"] == 1.0
    assert separation([])["oracle_ade"] == {
        "n": 0,
        **dict.fromkeys(("mean", "p50", "p75", "p90", "p95")),
    }


def test_stats_count_everything(results: dict[str, SplitResult], vocabulary: Vocabulary) -> None:
    grid = difficulty_grid(results["test"].items, vocabulary, PARAMS.grid, 0)
    stats = stats_of(results, grid)
    for split, result in results.items():
        found = stats["splits"][split]
        assert found["scenes"] == found["items"] + sum(found["rejected"].values())
        assert sum(found["oracle_positions"].values()) == len(result.items)
    assert stats["paper"]["table_10"]["nearest_distractor_ade"]["p50"] == 7.05


def test_unknown_drive_and_double_record(
    scenes: list[Scene], splits: dict[str, str], vocabulary: Vocabulary
) -> None:
    with pytest.raises(BadInput, match="without a split"):
        build_splits(scenes, {}, vocabulary, PARAMS, 0)
    with pytest.raises(BadInput, match="one record key"):
        build_splits([scenes[0], scenes[0]], splits, vocabulary, PARAMS, 0)


def test_bad_tables_are_refused(results: dict[str, SplitResult], tmp_path: Path) -> None:
    good = tmp_path / "good.parquet"
    write_items(results["dev"].items[:3], good)
    with pytest.raises(BadInput, match="no such file"):
        read_items(tmp_path / "absent.parquet")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(BadInput, match=r"cut\.parquet"):
        read_items(cut)
    table = pq.read_table(good)
    pq.write_table(table.replace_schema_metadata({}), cut)
    with pytest.raises(BadInput, match="schema version"):
        read_items(cut)
    column = table.schema.get_field_index("oracle_index")
    wrong = (table["oracle_index"].to_numpy() + 1) % 6
    moved = table.set_column(column, table.schema.field(column), [wrong.astype(np.int8)])
    pq.write_table(moved, cut)
    with pytest.raises(BadInput, match="bad question") as caught:
        read_items(cut)
    assert caught.value.field == results["dev"].items[0].record_key

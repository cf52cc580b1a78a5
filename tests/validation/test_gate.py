"""The data gate: good data passes; each property that is broken fails exactly its own expectation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.validate import ValidateParams
from driveproof.errors import BadInput, GateFailed
from driveproof.mcq import McqItem, write_items
from driveproof.scene import Scene, write_scenes
from driveproof.testing import make_scene
from driveproof.validation import gate, validate_data, write_results
from driveproof.validation.frames import fastest, position_p_value

LIMITS = ValidateParams(min_scenes=10, min_questions=3)
CODES = 8
SPLITS = ("train", "dev", "test")
TABLES = ("scenes", "codebook", "mcq")
"""Commentaries have a test of their own."""


def _scenes() -> list[Scene]:
    return [
        make_scene(log_id=f"drive{i:02d}", speed=2.0 + 0.5 * i, yaw_rate=0.01 * (i % 5))
        for i in range(30)
    ]


def _item(scene: Scene, codebook: TrajectoryCodebook, split: str, place: int) -> McqItem:
    oracle = int(codebook.encode(scene.waypoints[None])[0])
    others = [(oracle + step) % CODES for step in range(1, 6)]
    codes = np.array([*others[:place], oracle, *others[place:]])
    kinds = ["random"] * 6
    kinds[place] = "oracle"
    similarity = codebook.similarity()[oracle]
    return McqItem(
        record_key=scene.record_key,
        scene_key=scene.scene_key,
        split=split,
        source=scene.source,
        situation="",
        drive_class="hard_brake",
        observation=scene.observe(),
        waypoints=scene.waypoints,
        options=codebook.decode(codes),
        option_codes=codes,
        option_kinds=tuple(kinds),
        similarities=np.minimum(similarity[codes], np.where(codes == oracle, 1.0, 0.99)),
        oracle_index=place,
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("good")
    scenes = _scenes()
    write_scenes(scenes, root / "data" / "scenes")
    splits = {scene.scene_key: SPLITS[i % 3] for i, scene in enumerate(scenes)}
    (root / "data" / "scenes" / "splits.json").write_text(json.dumps(splits))
    codebook = TrajectoryCodebook(CODES).fit(np.stack([scene.waypoints for scene in scenes]))
    (root / "data" / "codebook").mkdir()
    codebook.save(root / "data" / "codebook" / "codebook.npz")
    for split in SPLITS:
        chosen = [scene for scene in scenes if splits[scene.scene_key] == split]
        items = [_item(s, codebook, split, i % 6) for i, s in enumerate(chosen)]
        write_items(items, root / "data" / "mcq" / f"{split}.parquet")
    return root


def _failed(root: Path, table: str) -> list[str]:
    results = validate_data(root, LIMITS, [table])
    return [f"{result.table}/{check.name}" for result in results for check in result.failed]


@pytest.fixture
def broken(
    good: Path, tmp_path: Path
) -> Callable[[str, Callable[[list[dict[str, Any]]], None]], Path]:
    """Break the rows of one table of a copy of the good data."""

    def copy(table: str, change: Callable[[list[dict[str, Any]]], None]) -> Path:
        root = tmp_path / "copy"
        shutil.copytree(good, root)
        path = root / "data" / table
        content = pq.read_table(path)
        rows = content.to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, schema=content.schema), path)
        return root

    return copy


@pytest.mark.slow
def test_good_data_passes_and_the_page_is_offline(good: Path, tmp_path: Path) -> None:
    results = validate_data(good, LIMITS, TABLES)
    gate(results)
    assert [r.table for r in results] == [
        "scenes",
        "codebook/codebook",
        "mcq/train",
        "mcq/dev",
        "mcq/test",
    ]
    write_results(results, tmp_path / "out")
    again = tmp_path / "again"
    write_results(validate_data(good, LIMITS, TABLES), again)
    for name in ("results.json", "summary.json", "index.html"):
        assert (tmp_path / "out" / name).read_bytes() == (again / name).read_bytes()
    page = (again / "index.html").read_text()
    assert "open</span>" in page
    assert "http" not in page
    assert "<script" not in page


def _set(column: str, value: Any, row: int = 0) -> Callable[[list[dict[str, Any]]], None]:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[row][column] = value(rows[row][column]) if callable(value) else value

    return change


def _replace(index: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda old: [*old[:index], value, *old[index + 1 :]]


SCENES, ITEMS = "scenes/scenes-00000.parquet", "mcq/test.parquet"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "change", "expected"),
    [
        (SCENES, lambda rows: rows.append(rows[0]), "record_key_unique"),
        (SCENES, _set("scene_key", "made/elsewhere"), "split_known"),
        (SCENES, _set("command", 9), "command"),
        (SCENES, _set("history", lambda old: old[1:]), "history_length"),
        (SCENES, _set("future", lambda old: old[:-1]), "future_length"),
        (SCENES, _set("future", _replace(9, [float("nan"), 0.0, 0.0])), "finite"),
        (SCENES, _set("velocity", [61.0, 0.0]), "speed"),
        (SCENES, _set("acceleration", [0.0, -31.0]), "acceleration"),
        (SCENES, _set("future", _replace(9, [99.0, 0.0, 0.0])), "path_speed"),
        (SCENES, _set("history", _replace(3, [0.1, 0.0, 0.0])), "origin"),
        (SCENES, lambda rows: rows.__delitem__(slice(5, None)), "enough"),
        (ITEMS, lambda rows: rows.append(rows[0]), "record_key_unique"),
        (ITEMS, _set("split", "dev"), "split_name"),
        (ITEMS, _set("drive_class", "low_speed"), "drive_class"),
        (ITEMS, _set("similarities", lambda old: old[:-1], 1), "aligned"),
        (ITEMS, _set("velocity", [float("inf"), 0.0]), "finite"),
        (ITEMS, _set("option_kinds", _replace(5, "oracle")), "oracle_once"),
        (ITEMS, _set("option_codes", lambda old: [*old[:-1], old[0]]), "codes_distinct"),
        (ITEMS, _set("options", lambda old: [*old[:-20], *old[:20]]), "options_distinct"),
        (ITEMS, _set("waypoints", _replace(18, 500.0)), "path_speed"),
        (ITEMS, _set("similarities", _replace(0, 0.9)), "oracle_similarity"),
        (ITEMS, _set("similarities", _replace(1, -0.1)), "least_similarity"),
        (ITEMS, _set("similarities", _replace(1, 1.5)), "most_similarity"),
    ],
)
def test_what_is_broken_is_what_fails(broken, table, change, expected) -> None:
    root = broken(table, change)
    failed = _failed(root, table.partition("/")[0])
    assert [name.rpartition("/")[2] for name in failed] == [expected]


@pytest.mark.slow
def test_an_oracle_index_past_the_end_fails_and_names_the_question(broken) -> None:
    root = broken(ITEMS, _set("oracle_index", 6))
    with pytest.raises(GateFailed, match=r"mcq/test/oracle_index: .*1 of 10 break it.*made/drive"):
        gate(validate_data(root, LIMITS, TABLES))


@pytest.mark.slow
def test_a_drive_in_two_splits_fails_in_both(broken, good: Path) -> None:
    foreign = pq.read_table(good / "data" / "mcq" / "train.parquet").to_pylist()[0]["scene_key"]
    assert _failed(broken(ITEMS, _set("scene_key", foreign)), "mcq") == [
        "mcq/train/split_disjoint",
        "mcq/test/split_disjoint",
    ]


@pytest.mark.slow
def test_oracles_in_one_place_fail(broken) -> None:
    def front(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            at = row["oracle_index"]
            for column, width in (("option_kinds", 1), ("similarities", 1), ("options", 20)):
                values = row[column]
                mine = values[at * width : (at + 1) * width]
                row[column] = mine + values[: at * width] + values[(at + 1) * width :]
            row["oracle_index"] = 0

    assert _failed(broken(ITEMS, front), "mcq") == ["mcq/test/position_balance"]


def test_prototypes_that_coincide_fail(good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "copy")
    path = tmp_path / "copy" / "data" / "codebook" / "codebook.npz"
    with np.load(path) as archive:
        codes = archive["codes"]
    codes[3] = codes[7]
    np.savez(path, codes=codes)
    assert _failed(tmp_path / "copy", "codebook") == ["codebook/codebook/distinct"]


@pytest.mark.slow
def test_the_grid_is_checked_where_there_is_one(good: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(good, root)
    items = root / "data" / "mcq"
    content = pq.read_table(items / "test.parquet")
    rows = [{**row, "variant": cell} for row in content.to_pylist() for cell in ("m02", "m06")]
    grid = items / "grid.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=content.schema), grid)
    assert _failed(root, "mcq") == []
    rows[1]["variant"] = "m02"
    pq.write_table(pa.Table.from_pylist(rows, schema=content.schema), grid)
    assert _failed(root, "mcq") == ["mcq/grid/record_key_unique"]


def test_an_empty_split_fails_without_noise(broken) -> None:
    assert _failed(broken(ITEMS, lambda rows: rows.clear()), "mcq") == ["mcq/test/enough"]


def test_tables_that_cannot_be_read_are_told(good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "copy")
    table = tmp_path / "copy" / "data" / ITEMS
    table.write_bytes(table.read_bytes()[:100])
    with pytest.raises(BadInput, match=r"test\.parquet: not a readable parquet"):
        validate_data(tmp_path / "copy", LIMITS, ["mcq"])
    table.unlink()
    with pytest.raises(BadInput, match=r"test\.parquet: no such table"):
        validate_data(tmp_path / "copy", LIMITS, ["mcq"])
    with pytest.raises(BadInput, match="no such table: nonsense"):
        validate_data(good, LIMITS, ["nonsense"])


def test_position_test_agrees_with_the_textbook() -> None:
    # Pearson's statistic of 30, 10, 20 on fair thirds is 10 with two degrees of freedom: exp(-5)
    places = [0] * 30 + [1] * 10 + [2] * 20
    assert position_p_value(places, [3] * 60) == pytest.approx(np.exp(-5.0))
    assert position_p_value([], []) == 1.0
    assert position_p_value([0, 1, 2, 3], [4] * 4) == pytest.approx(1.0)


def test_fastest_step_counts_from_the_origin() -> None:
    points = np.stack([np.full(10, 12.0), np.zeros(10)], axis=1)
    assert fastest(points) == pytest.approx(24.0)

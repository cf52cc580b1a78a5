"""Scene tables: whole or not at all, and the same scenes come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.scene import (
    Command,
    ImageRef,
    LightState,
    Scene,
    TrafficSignal,
    WindowReport,
    WindowRules,
    read_columns,
    read_scenes,
    scenes_of,
    write_scenes,
)
from driveproof.testing import make_lead, make_log


@pytest.fixture
def scenes() -> list[Scene]:
    times = np.linspace(0.0, 12.0, 121)
    log = make_log(agents=make_lead(30.0, 6.0, times), command=Command.LEFT)
    cut = list(scenes_of(log, WindowRules(), WindowReport()))
    return [
        replace(
            scene,
            images={"front": (None, ImageRef("a.tar", "b.jpg"), ImageRef("c.jpg"), None)},
            signals=(
                TrafficSignal("3", "traffic_light", (20.0, 1.0), LightState.GREEN, True, 18.0),
            ),
            missing=frozenset({"weather"}),
            situation="lead_brakes",
        )
        for scene in cut
    ]


def test_scenes_come_back_as_they_were(scenes: list[Scene], tmp_path: Path) -> None:
    assert write_scenes(scenes, tmp_path / "table") == len(scenes)
    back = list(read_scenes(tmp_path / "table"))
    assert len(back) == len(scenes)
    for a, b in zip(scenes, back, strict=True):
        np.testing.assert_array_equal(a.future, b.future)
        np.testing.assert_array_equal(a.history, b.history)
        np.testing.assert_allclose(a.agents.states, b.agents.states, rtol=1e-6)
        np.testing.assert_array_equal(a.agents.valid, b.agents.valid)
        assert (a.images, a.command, a.missing) == (b.images, b.command, b.missing)
        assert repr(a.signals) == repr(b.signals)


def test_the_same_scenes_give_the_same_bytes(scenes: list[Scene], tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_scenes(iter(scenes), tmp_path / name)
    one, two = (sha256_file(tmp_path / n / "scenes-00000.parquet") for n in ("one", "two"))
    assert one == two


def test_a_failure_in_the_middle_leaves_the_old_table(scenes: list[Scene], tmp_path: Path) -> None:
    write_scenes(scenes[:2], tmp_path / "table")

    def broken():
        yield scenes[0]
        raise BadInput("broken log")

    with pytest.raises(BadInput):
        write_scenes(broken(), tmp_path / "table")
    assert len(list(read_scenes(tmp_path / "table"))) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    assert write_scenes([], tmp_path / "table") == 0
    assert list(read_scenes(tmp_path / "table")) == []
    assert read_columns(tmp_path / "table", ["record_key"]).num_rows == 0


def test_another_version_and_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no scene shards"):
        list(read_scenes(tmp_path))
    shard = tmp_path / "scenes-00000.parquet"
    pq.write_table(pa.table({"a": [1]}), shard)
    with pytest.raises(BadInput, match="schema version"):
        list(read_scenes(tmp_path))
    shard.write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match="not a readable parquet"):
        list(read_scenes(tmp_path))


def test_shapes_are_checked_by_the_constructor(scenes: list[Scene]) -> None:
    with pytest.raises(ValueError, match=r"Scene.future: expected shape 10x3"):
        replace(scenes[0], future=np.zeros((8, 3)))
    with pytest.raises(ValueError, match=r"Scene.velocity: not finite"):
        replace(scenes[0], velocity=np.array([np.nan, 0.0]))


def test_broken_rows_and_columns_are_named(scenes: list[Scene], tmp_path: Path) -> None:
    write_scenes(scenes[:2], tmp_path)
    shard = tmp_path / "scenes-00000.parquet"
    good = pq.read_table(shard)

    pq.write_table(good.drop_columns(["future"]), shard)
    with pytest.raises(BadInput, match=r"scenes-00000.parquet: future: is no"):
        list(read_scenes(tmp_path))

    rows = good.to_pylist()
    rows[1]["command"] = 99
    pq.write_table(pa.Table.from_pylist(rows, schema=good.schema), shard)
    with pytest.raises(BadInput, match=r"made/log/000020: no scene: 99 is not a valid Command"):
        list(read_scenes(tmp_path))

    pq.write_table(good, shard)
    data = bytearray(shard.read_bytes())
    data[100:400] = bytes(300)
    shard.write_bytes(data)
    with pytest.raises(BadInput, match=r"scenes-00000.parquet: "):
        list(read_scenes(tmp_path))

"""Commenting on clips: the bytes, the dataset, the log for waypoints, and archives that are none."""

from __future__ import annotations

import gzip
import json
import tarfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from clip_makers import write_clip

from driveproof.commenter.campaign import comment_clips
from driveproof.commenter.dataset import read_answers, read_frames
from driveproof.commenter.statistics import dataset_statistics
from driveproof.errors import BadInput
from driveproof.evaluation.vqa.replays import ClipReplays
from driveproof.questions import QUESTIONS

FRAMES, VEHICLES = 46, 4


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    return [write_clip(folder, "Town05", route, FRAMES, VEHICLES) for route in (1, 2)]


@pytest.fixture(scope="module")
def dataset(clips: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vqa") / "one"
    comment_clips(clips, out, every=10)
    return out


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_workers(clips, dataset, tmp_path: Path) -> None:
    comment_clips(clips, tmp_path / "two", every=10, workers=2)
    assert _bytes(tmp_path / "two") == _bytes(dataset)


def test_the_seed_changes_wordings_and_nothing_else(clips, dataset, tmp_path: Path) -> None:
    comment_clips(clips, tmp_path / "other", every=10, seed=1)
    first, other = list(read_answers(dataset)), list(read_answers(tmp_path / "other"))
    assert [(r.key, r.answer, r.text) for r in first] == [(r.key, r.answer, r.text) for r in other]
    assert [r.question for r in first] != [r.question for r in other]


def test_what_is_written_can_be_read(clips, dataset) -> None:
    frames = list(read_frames(dataset))
    assert [row.frame for row in frames] == [0, 10, 20, 30, 40] * 2
    assert {row.town for row in frames} == {"Town05"}
    index = json.loads((dataset / "index.json").read_text())
    assert index["frames"] == 2 * FRAMES
    assert index["commented"] == 10
    assert [source["path"] for source in index["sources"]] == [path.name for path in clips]
    rows = list(read_answers(dataset))
    assert sum(index["questions"].values()) == len(rows)
    assert {row.key.number for row in rows} <= set(QUESTIONS)


def test_statistics_count_what_is_there(dataset) -> None:
    found, rows = dataset_statistics(dataset), list(read_answers(dataset))
    assert found["questions"] == len(rows) == sum(found["by_question"].values())
    assert sum(found["by_category"].values()) == len(rows)
    assert sum(found["directions"].values()) == found["frames"] == 10
    silent = [row for row in rows if row.key.number == 19]
    share = sum(not row.answer.objects for row in silent) / len(silent)
    assert found["none_share"]["19"] == pytest.approx(share, abs=1e-4)


def test_no_frame_to_write_is_an_empty_table(clips, tmp_path: Path) -> None:
    index = comment_clips(clips[:1], tmp_path / "few", every=1000)
    assert index["commented"] == 1  # frame 0
    assert index["frames"] == FRAMES


def test_the_log_tells_what_happened_after_a_frame(clips) -> None:
    replays = ClipReplays(clips)
    name = clips[0].stem
    replay = replays(name, 0)
    assert replay is not None
    # the ego drives along a straight lane at 6 m/s: 3 m every half second, straight ahead
    assert replay.expert == pytest.approx(
        np.stack([3.0 * np.arange(1, 9), np.zeros(8)], axis=1), abs=0.3
    )
    assert replay.poses.shape == (VEHICLES, 8, 3)
    assert replays(name, FRAMES - 1) is None, "the log ends"
    assert replays("Nobody_Town01_Route1_Weather1", 0) is None


def _archive(path: Path, member: str, data: bytes) -> Path:
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(data)
        archive.addfile(info, BytesIO(data))
    return path


NAME = "Accident_Town05_Route001_Weather1"


@pytest.mark.parametrize(
    ("member", "data"),
    [
        (f"{NAME}/anno/00000.json.gz", gzip.compress(b"{")),
        (f"{NAME}/anno/00000.json.gz", b"no gzip"),
        (f"{NAME}/anno/00000.json.gz", gzip.compress(b"[]")),
        (f"{NAME}/anno/00000.json.gz", gzip.compress(b'{"x": "far"}')),
        ("holiday/anno/00000.json.gz", gzip.compress(b"{}")),
        ("readme.txt", b"hello"),
    ],
    ids=["cut", "no-gzip", "list", "type", "name", "empty"],
)
def test_what_is_no_clip_gives_one_line_and_leaves_nothing(
    tmp_path: Path, member: str, data: bytes
) -> None:
    path = _archive(tmp_path / f"{NAME}.tar", member, data)
    out = tmp_path / "out"
    with pytest.raises(BadInput) as caught:
        comment_clips([path], out)
    assert "\n" not in str(caught.value)
    assert not out.exists()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]

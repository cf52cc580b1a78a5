"""ClipWriter: same frames, same bytes; nothing half-written."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path

import pytest

from driveproof.datasets.bench2drive_writer import ClipWriter

JPEG = b"\xff\xd8\xff\xe0 picture \xff\xd9"


def _write(path: Path) -> bytes:
    with ClipWriter(path) as clip:
        clip.add_frame({"x": 1.0, "b": [1, 2]}, {"rgb_front": JPEG, "rgb_back": JPEG})
        clip.add_frame({"x": 2.0}, {})
    return path.read_bytes()


def test_layout(tmp_path: Path) -> None:
    _write(tmp_path / "Accident_Town03_Route1_Weather2.tar")
    with tarfile.open(tmp_path / "Accident_Town03_Route1_Weather2.tar") as archive:
        names = archive.getnames()
        anno = archive.extractfile("Accident_Town03_Route1_Weather2/anno/00001.json.gz")
        assert anno is not None
        assert json.loads(gzip.decompress(anno.read())) == {"x": 2.0}
    assert [name.split("/", 1)[1] for name in names] == [
        "anno/00000.json.gz",
        "camera/rgb_back/00000.jpg",
        "camera/rgb_front/00000.jpg",
        "anno/00001.json.gz",
    ]


def test_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    assert _write(tmp_path / "a" / "Clip_1.tar") == _write(tmp_path / "b" / "Clip_1.tar")


def test_an_error_leaves_nothing_behind_and_keeps_the_old_clip(tmp_path: Path) -> None:
    old = _write(tmp_path / "Clip_1.tar")

    def overwrite() -> None:
        with ClipWriter(tmp_path / "Clip_1.tar") as clip:
            clip.add_frame({"x": 9.0}, {})
            clip.add_frame({"x": float("nan")}, {})

    with pytest.raises(ValueError, match="not JSON compliant"):
        overwrite()
    assert [path.name for path in tmp_path.iterdir()] == ["Clip_1.tar"]
    assert (tmp_path / "Clip_1.tar").read_bytes() == old


@pytest.mark.parametrize("images", [{"../rgb_front": JPEG}, {"rgb_front": b"text"}])
def test_refuses_unsafe_folders_and_non_pictures(tmp_path: Path, images: dict[str, bytes]) -> None:
    clip = ClipWriter(tmp_path / "Clip_1.tar")
    with clip, pytest.raises(ValueError, match=r"camera folder|JPEG"):
        clip.add_frame({}, images)

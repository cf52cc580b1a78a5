"""Atomic writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.files import atomic_dir, atomic_open, atomic_path, write_json


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_open(target) as stream:
        stream.write("new")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_successful_write_replaces_and_is_readable_by_others(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "a.txt"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o644


def test_directories_are_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_dir(target) as temporary:
        (temporary / "one").write_text("1")
    with pytest.raises(RuntimeError), atomic_dir(target) as temporary:
        raise RuntimeError
    with atomic_dir(target) as temporary:
        (temporary / "two").write_text("2")
    assert [p.name for p in target.iterdir()] == ["two"]
    assert list(tmp_path.iterdir()) == [target]


def test_json_refuses_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []

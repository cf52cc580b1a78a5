"""Atomic writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from driveproof.errors import BadInput, UserError, run
from driveproof.files import atomic_dir, atomic_open, atomic_path, read_json, write_json


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
        (temporary / "one").write_text("2")
        (temporary / "two").write_text("2")
    assert sorted(p.name for p in target.iterdir()) == ["one", "two"]
    assert (target / "one").read_text() == "2"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("held", ["logs.tar", "sub/one", "one/deep"])
def test_a_folder_that_holds_something_else_is_never_replaced(tmp_path: Path, held: str) -> None:
    target = tmp_path / "mine"
    (target / held).parent.mkdir(parents=True)
    (target / held).write_text("precious")
    with pytest.raises(UserError, match="would be lost"), atomic_dir(target) as temporary:
        (temporary / "two").write_text("2")
    assert (target / held).read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_the_working_directory_and_what_is_above_it_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for target in (".", "..", tmp_path):
        with pytest.raises(UserError, match="would be lost"), atomic_dir(target):
            pytest.fail("the work was begun")


def test_targets_of_the_wrong_kind_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        with (
            pytest.raises(UserError, match=r"file.*: (is a file|cannot be written)"),
            atomic_dir(target),
        ):
            pytest.fail("the work was begun")
    for target in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=r"is a folder|cannot be written"), atomic_path(target):
            pytest.fail("the work was begun")
    assert (tmp_path / "file").read_text() == "precious"


def test_a_kill_between_the_two_renames_loses_nothing(tmp_path: Path) -> None:
    retired = tmp_path / ".out.old"
    retired.mkdir()
    (retired / "one").write_text("precious")
    with pytest.raises(RuntimeError), atomic_dir(tmp_path / "out"):
        raise RuntimeError
    assert (tmp_path / "out" / "one").read_text() == "precious"


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    with atomic_dir(tmp_path / "out") as temporary:
        (temporary / "one").write_text("1")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "one").read_text() == "1"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"9" * 5_000])
def test_what_is_no_json_is_one_short_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"a\.json: not JSON") as caught:
        read_json(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        read_json(tmp_path)
    with pytest.raises(BadInput, match="no such file"):
        read_json(tmp_path / "none.json")


def test_what_the_system_refuses_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        Path("/dev/null/x").read_text()

    with pytest.raises(SystemExit) as caught:
        run(main, options=True)
    assert caught.value.code == 2
    assert capsys.readouterr().err == "error: /dev/null/x: Not a directory\n"


def test_json_refuses_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_hostile_names_stay_on_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise BadInput("unsafe", path="a\x1b[2J\nb.tar", field="x" * 5000)

    with pytest.raises(SystemExit):
        run(main, options=True)
    line = capsys.readouterr().err
    assert line.startswith("error: a [2J b.tar: xxx")
    assert line.endswith(": unsafe\n")
    assert line[:-1].isprintable()
    assert len(line) < 1100


def test_a_durable_write_reaches_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("sync"))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (steps.append("rename"), replace(a, b)))
    write_json(tmp_path / "a.json", 1)
    assert steps == ["rename"]
    write_json(tmp_path / "a.json", 2, durable=True)
    assert steps == ["rename", "sync", "rename"]
    assert read_json(tmp_path / "a.json") == 2

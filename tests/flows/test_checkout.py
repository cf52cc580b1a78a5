"""Preparing a checkout: worktrees share the cache, parameters go on top, only dead locks are dropped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flows._checkout import clear_dead_locks, override_params, remove_worktree, worktree_of


def _locked(tree: Path, pid: int, written: float | None = None) -> Path:
    path = tree / ".dvc" / "tmp" / "rwlock"
    path.parent.mkdir(parents=True, exist_ok=True)
    info = {"pid": pid, "cmd": "dvc repro"}
    path.write_text(json.dumps({"read": {"/a": [info]}, "write": {"/b": info}}))
    if written is not None:
        os.utime(path, (written, written))
    return path


def test_locks_of_the_living_stay(tmp_path: Path) -> None:
    path = _locked(tmp_path, os.getpid())
    assert clear_dead_locks(tmp_path) == []
    assert json.loads(path.read_text())["write"]["/b"]["pid"] == os.getpid()


def test_locks_of_the_dead_go(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    path = _locked(tmp_path, gone.pid)
    assert clear_dead_locks(tmp_path) == [gone.pid]
    assert json.loads(path.read_text()) == {"read": {}, "write": {}}


def test_a_process_younger_than_the_lock_does_not_hold_it(tmp_path: Path) -> None:
    _locked(tmp_path, os.getpid(), written=1e9)
    assert clear_dead_locks(tmp_path) == [os.getpid()]


@pytest.mark.parametrize("content", ["", '{"read": {"/a": [{"pi', "[]", '{"read": 3}'])
def test_a_lock_file_cut_off_in_a_write_goes(tmp_path: Path, content: str) -> None:
    path = _locked(tmp_path, os.getpid())
    path.write_text(content)
    assert clear_dead_locks(tmp_path) == []
    assert not path.exists()


def test_overrides_are_typed_nested_and_repeatable(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("seed: 0\nsft:\n  steps: 5\n  rate: 0.1\n")
    for _ in range(2):
        override_params(path, ["seed=3", "sft.steps=7", "mcq.band=[0.5, 0.9]"])
    assert yaml.safe_load(path.read_text()) == {
        "seed": 3,
        "sft": {"steps": 7, "rate": 0.1},
        "mcq": {"band": [0.5, 0.9]},
    }
    for wrong in ("seed", "seed.deeper=1", "=1"):
        with pytest.raises(ValueError, match="override"):
            override_params(path, [wrong])


@pytest.mark.slow
def test_a_worktree_shares_the_cache_and_leaves_the_checkout_alone(project) -> None:
    tree = worktree_of(project.path, "HEAD")
    assert worktree_of(project.path, "HEAD") == tree
    assert worktree_of(project.path, "HEAD", ["seed=4"]) != tree
    cache = subprocess.run(
        [sys.executable, "-m", "dvc", "cache", "dir"], cwd=tree, capture_output=True, text=True
    )
    shared = (tree / cache.stdout.strip()).resolve()
    assert shared == project.path / ".dvc" / "cache"
    assert project.git("status", "--porcelain") == ""
    remove_worktree(project.path, tree)
    assert not tree.exists()

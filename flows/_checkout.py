"""Preparing a checkout for a rebuild: a worktree of a commit, parameters on top, no dead locks."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import yaml

from flows._commands import output


def worktree_of(repo: Path, commit: str, changes: Sequence[str] = ()) -> Path:
    """A git worktree of ``commit`` that shares the DVC cache of ``repo``; made once, then found again.

    It lies in ``repo/.cache/worktrees/<commit>[-<hash of the changes to it>]``, so that a run that was
    killed resumes where it stopped, and neither another variant nor anybody's checkout is touched.
    """
    sha = output(["git", "rev-parse", "--verify", f"{commit}^{{commit}}"], repo)
    suffix = hashlib.sha256("\n".join(changes).encode()).hexdigest()[:8] if changes else ""
    tree = repo / ".cache" / "worktrees" / "-".join(part for part in (sha[:16], suffix) if part)
    output(["git", "worktree", "prune"], repo)
    if not (tree / ".git").exists():
        output(["git", "worktree", "add", "--detach", "--force", str(tree), sha], repo)
    dvc = [sys.executable, "-m", "dvc"]
    cache = output([*dvc, "cache", "dir"], repo)
    output([*dvc, "cache", "dir", "--local", str((repo / cache).resolve())], tree)
    return tree


def remove_worktree(repo: Path, tree: Path) -> None:
    """Forget a worktree whose work is done; its results are in the DVC cache and in the tracking store."""
    output(["git", "worktree", "remove", "--force", str(tree)], repo)


def override_params(path: Path, overrides: Sequence[str]) -> None:
    """Set ``section.key=value`` (value as YAML) in a params file, in order; again is no change.

    Raises
    ------
    ValueError
        If an override has no ``=`` or goes through something that is no section.
    """
    if not overrides:
        return
    params: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    for override in overrides:
        name, equals, value = override.partition("=")
        section = params
        *parents, key = name.split(".")
        for parent in parents:
            section = section.setdefault(parent, {})
            if not isinstance(section, dict):
                raise ValueError(f"override {override!r}: {parent} is no section of {path.name}")
        if not (equals and key):
            raise ValueError(f"override {override!r}: expected section.key=value")
        section[key] = yaml.safe_load(value)
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def clear_dead_locks(tree: Path) -> list[int]:
    """Drop the DVC read and write locks of processes that no longer live; return their process ids.

    DVC drops them itself only where the process id is free. An id that was given to a younger process, or a
    lock file cut off in the middle of a write, would block every later run.
    """
    path = tree / ".dvc" / "tmp" / "rwlock"
    if not path.exists():
        return []
    with open(path.with_name("rwlock.lock"), "a", encoding="utf-8") as mutex:
        try:
            fcntl.flock(mutex, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []  # somebody is writing the file at this moment: its holder lives
        return _drop_dead(path)


def _drop_dead(path: Path) -> list[int]:
    written = path.stat().st_mtime
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        readers, writers = dict(held["read"]), dict(held["write"])
        holders = {info["pid"] for infos in readers.values() for info in infos}
        holders |= {info["pid"] for info in writers.values()}
    except (ValueError, KeyError, TypeError):
        path.unlink()
        return []
    dead = {pid for pid in holders if not _lived_at(pid, written)}
    kept = {name: [i for i in infos if i["pid"] not in dead] for name, infos in readers.items()}
    fresh = {
        "read": {name: infos for name, infos in kept.items() if infos},
        "write": {name: info for name, info in writers.items() if info["pid"] not in dead},
    }
    temporary = path.with_name("rwlock.new")
    temporary.write_text(json.dumps(fresh), encoding="utf-8")
    os.replace(temporary, path)
    return sorted(dead)


def _lived_at(pid: int, moment: float) -> bool:
    """Whether ``pid`` lives and was already there at ``moment`` (seconds since the epoch)."""
    try:
        process = psutil.Process(pid)
        # one second of slack: start times are rounded to the kernel's tick
        return bool(
            process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= moment + 1.0
        )
    except psutil.NoSuchProcess:
        return False

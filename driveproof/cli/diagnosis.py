"""What ``driveproof doctor`` looks at: each check is a function that never fails and says what it found."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from driveproof.config import load_params
from driveproof.errors import UserError

State = Literal["ok", "note", "bad"]
TIMEOUT_S = 1.0
GIB = 1 << 30
MIN_FREE_GIB = 2.0
MAX_NAMED = 5


@dataclass(frozen=True)
class Finding:
    """One finding; only ``bad`` ones make the doctor unhappy."""

    name: str
    state: State
    detail: str


def diagnose(root: Path, carla: str | None = None) -> Iterator[Finding]:
    """All findings about the checkout ``root`` and this machine.

    Parameters
    ----------
    carla
        ``host:port`` of a simulator that has to be there; None looks for one at its usual place.
    """
    yield _python()
    yield _packages(root / "requirements.lock")
    yield _params(root)
    yield _maps(root)
    yield _git(root)
    yield _dvc(root)
    yield _machine()
    yield _gpu()
    yield _carla(carla)
    yield _mlflow(root)
    yield _prefect()


def _python() -> Finding:
    version = platform.python_version()
    good = sys.version_info[:2] == (3, 11)
    return Finding("python", "ok" if good else "bad", version if good else f"{version}, not 3.11")


def _packages(lock: Path) -> Finding:
    if not lock.is_file():
        return Finding("packages", "bad", f"{lock.name} is not here")
    wanted = dict(
        line.split("==", 1)
        for line in lock.read_text(encoding="utf-8").split()
        if "==" in line and not line.startswith("#")
    )
    missing, other = [], []
    for name, version in wanted.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
            continue
        # a build tag (+cpu, +cu128) is another build of the same version
        if version not in (found, found.partition("+")[0]):
            other.append(f"{name} {found} (locked {version})")
    odd = [f"{name} missing" for name in missing] + other
    if odd:
        more = f" and {len(odd) - MAX_NAMED} more" if len(odd) > MAX_NAMED else ""
        return Finding("packages", "bad", ", ".join(odd[:MAX_NAMED]) + more)
    return Finding("packages", "ok", f"all {len(wanted)} as in {lock.name}")


def _params(root: Path) -> Finding:
    try:
        load_params(root / "params.yaml")
    except UserError as error:
        return Finding("params", "bad", str(error))
    return Finding("params", "ok", "params.yaml is valid")


def _maps(root: Path) -> Finding:
    from driveproof.maps import list_towns

    towns = sorted(list_towns(root / "data" / "maps"))
    if not towns:
        return Finding("maps", "bad", "no town; install py123d or put *.xodr into data/maps")
    return Finding("maps", "ok", ", ".join(towns))


def _git(root: Path) -> Finding:
    changed = _run(["git", "status", "--porcelain"], root)
    if changed is None:
        return Finding("git", "note", "no git repository: results will carry no commit")
    commit = (_run(["git", "rev-parse", "--short", "HEAD"], root) or "no commit").strip()
    lines = changed.splitlines()
    if lines:
        return Finding("git", "note", f"{commit}, {len(lines)} uncommitted changes")
    return Finding("git", "ok", f"{commit}, clean")


def _dvc(root: Path) -> Finding:
    if not (root / ".dvc").is_dir():
        return Finding("dvc", "bad", "not a DVC repository; run dvc init")
    cache = _run([sys.executable, "-m", "dvc", "cache", "dir"], root)
    if cache is None:
        return Finding("dvc", "bad", "dvc does not run here")
    folder = (root / cache.strip()).resolve()
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(place, os.W_OK):
        return Finding("dvc", "bad", f"the cache {folder} cannot be written")
    free = shutil.disk_usage(place).free / GIB
    detail = f"cache {folder}, {free:.1f} GiB free"
    return Finding("dvc", "ok" if free >= MIN_FREE_GIB else "bad", detail)


def _machine() -> Finding:
    import psutil  # type: ignore[import-untyped]

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory()
    detail = f"{cores} cores, {memory.available / GIB:.1f} of {memory.total / GIB:.1f} GiB free"
    return Finding("machine", "ok", detail)


def _gpu() -> Finding:
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    listed = _run(query, Path.cwd())
    if not listed or not listed.strip():
        return Finding("gpu", "note", "none; the default profile needs none")
    return Finding("gpu", "ok", "; ".join(listed.strip().splitlines()))


def _carla(address: str | None) -> Finding:
    host, _, port = (address or "127.0.0.1:2000").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        return Finding("carla", "bad", f"{address!r} is not host:port")
    try:
        with socket.create_connection((host, int(port)), timeout=TIMEOUT_S):
            return Finding("carla", "ok", f"something listens at {host}:{port}")
    except OSError as error:
        # only a simulator that was asked for has to be there
        state: State = "bad" if address else "note"
        return Finding("carla", state, f"none at {host}:{port} ({error})")


def _mlflow(root: Path) -> Finding:
    try:
        uri = load_params(root / "params.yaml").publish.tracking_uri
    except UserError:
        return Finding("mlflow", "note", "unknown: params.yaml is not valid")
    if uri.startswith("sqlite:///"):
        path = root / uri.removeprefix("sqlite:///")
        there = "is there" if path.exists() else "will be made by the first publish"
        return Finding("mlflow", "ok", f"{uri} {there}")
    return _http("mlflow", uri, "/health")


def _prefect() -> Finding:
    url = os.environ.get("PREFECT_API_URL")
    if not url:
        detail = "PREFECT_API_URL is not set: flows start a temporary server (6 to 13 s)"
        return Finding("prefect", "note", detail)
    return _http("prefect", url, "/health")


def _http(name: str, url: str, path: str) -> Finding:
    try:
        with urllib.request.urlopen(url.rstrip("/") + path, timeout=TIMEOUT_S):
            return Finding(name, "ok", f"{url} answers")
    except (urllib.error.URLError, OSError, ValueError) as error:
        return Finding(name, "bad", f"{url} does not answer ({error})")


def _run(command: list[str], cwd: Path) -> str | None:
    """What a command prints, None if it is not there or fails."""
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None

"""What a run is made of, read from files: where it came from, its parameters, its numbers.

A stage that is restored from DVC's cache does not execute, so stages log nothing; what they wrote is read here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.config import Params
from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file

METRIC_FILES = (
    "data/*/metrics.json",
    "data/*/stats.json",
    "reports/*/metrics.json",
    "reports/sft/*.json",
    "reports/*/summary.json",
    "reports/grpo/*/summary.json",
    "reports/grpo/*/curves.json",
    "reports/*/sweep.json",
)
"""Files whose numbers become metrics."""
NOT_METRICS = frozenset({"paper", "params", "settings"})
"""Keys below which numbers are no results of ours."""
PICKLES = frozenset({".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth"})
"""Formats that run code when they are loaded; a registered model holds none."""
UNKNOWN = "unknown"
_MAX_VALUE = 6000
_NOT_IN_A_KEY = re.compile(r"[^\w\-./ ]+")


@dataclass(frozen=True)
class MetricPoint:
    """One number; ``step`` counts along a curve and is 0 for a single number."""

    name: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class Lineage:
    """What is recorded of a build.

    Attributes
    ----------
    lock_hash
        SHA-256 of dvc.lock, the identity of everything that was built.
    tags
        Commit, lock hash, prompt hash, model revision, seed.
    params
        All effective parameters, ``section.key`` -> text of at most 6,000 characters.
    metrics
        Numbers of :data:`METRIC_FILES`, named by folder and key.
    """

    lock_hash: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: tuple[MetricPoint, ...]


def read_lineage(root: str | Path, params: Params) -> Lineage:
    """Read what was built in ``root``.

    Raises
    ------
    BadInput
        If there is no dvc.lock, or a metric file is not JSON.
    """
    root = Path(root)
    lock = root / "dvc.lock"
    if not lock.is_file():
        raise BadInput("nothing was built here yet", path=lock, hint="run dvc repro first")
    lock_hash = sha256_file(lock)
    reports = {path: read_json(path) for path in _metric_files(root)}
    tags = {
        "git_commit": _git(root, "rev-parse", "HEAD") or UNKNOWN,
        "git_dirty": str(bool(_git(root, "status", "--porcelain"))).lower(),
        "dvc_lock": lock_hash,
        "seed": str(params.seed),
        "prompt_hash": _named(reports.values(), "prompt_hash"),
        "model_revision": _named(reports.values(), "model_revision"),
    }
    points = [
        point
        for path, content in reports.items()
        for point in _points(content, "/".join(path.relative_to(root).parts[1:-1]))
    ]
    return Lineage(lock_hash, tags, _flat_params(params), tuple(points))


def content_hash(directory: str | Path) -> str:
    """SHA-256 over names and bytes of all files below ``directory``: the identity of a model.

    Raises
    ------
    BadInput
        If a file is of a format that runs code when it is loaded.
    """
    digest = hashlib.sha256()
    directory = Path(directory)
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        name = path.relative_to(directory).as_posix()
        if path.suffix in PICKLES:
            raise BadInput(
                "a model to register holds no pickle", path=path, hint="save weights as safetensors"
            )
        digest.update(f"{name}\0{sha256_file(path)}\n".encode())
    return digest.hexdigest()


def weights_revisions(directory: str | Path) -> frozenset[str]:
    """Revisions of the models in a folder and below it, as a policy of ``transformers:`` names its own."""
    folders: dict[Path, list[str]] = {}
    for path in sorted(Path(directory).rglob("*.safetensors")):
        folders.setdefault(path.parent, []).append(f"{path.name} {sha256_file(path)}\n")
    return frozenset(hashlib.sha256("".join(one).encode()).hexdigest() for one in folders.values())


def revision_of(identity: Any) -> str | None:
    """The revision of the weights that a policy's identity names, however deep; None where it names none."""
    if not isinstance(identity, Mapping):
        return None
    revision = identity.get("revision")
    if identity.get("kind") == "transformers" and isinstance(revision, str):
        return revision
    return next(filter(None, map(revision_of, identity.values())), None)


def _metric_files(root: Path) -> list[Path]:
    return sorted(path for pattern in METRIC_FILES for path in root.glob(pattern))


def _points(value: Any, name: str, step: int = 0) -> Iterator[MetricPoint]:
    """Numeric leaves of a JSON value; a list of objects with a ``step`` is a curve, other lists are skipped."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in NOT_METRICS:
                continue
            yield from _points(inner, f"{name}/{_NOT_IN_A_KEY.sub('_', str(key))}", step)
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, Mapping) and isinstance(row.get("step"), int):
                rest = {key: inner for key, inner in row.items() if key != "step"}
                yield from _points(rest, name, row["step"])
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield MetricPoint(name[-250:], float(value), step)


def _named(contents: Any, key: str) -> str:
    """The values of ``key`` anywhere in the reports; more than one are joined."""
    found: set[str] = set()
    for content in contents:
        stack = [content]
        while stack:
            node = stack.pop()
            if isinstance(node, Mapping):
                if isinstance(node.get(key), str):
                    found.add(node[key])
                stack.extend(node.values())
            elif isinstance(node, list):
                stack.extend(node)
    return ",".join(sorted(found))[:_MAX_VALUE] or UNKNOWN


def _flat_params(params: Params) -> dict[str, str]:
    flat: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [("", params.model_dump(mode="json", by_alias=True))]
    while stack:
        name, value = stack.pop()
        if isinstance(value, Mapping) and value:
            stack += [(f"{name}.{key}".lstrip("."), inner) for key, inner in value.items()]
        else:
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            flat[name] = text[:_MAX_VALUE]
    return dict(sorted(flat.items()))


def _git(root: Path, *arguments: str) -> str:
    """What git prints, or "" where this is no repository."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

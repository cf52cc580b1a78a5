"""Labels that people gave: whether driving is reasonable, and which of two trajectories is better; and how far they agree.

Two forms of labels, both with the columns or keys ``clip``, ``annotator``, ``reasonable`` (true/false, yes/no, 1/0) and
``justification`` (may be empty): CSV with a header, and JSONL. Preferences are JSONL in DriveCritic's form.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.judge.clips import HUMAN, Clip, Pair

_FIELDS = ("clip", "annotator", "reasonable", "justification")
_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "y", "reasonable"), True),
    **dict.fromkeys(("0", "false", "no", "n", "unreasonable"), False),
}
LONGEST = 10_000
"""Characters of a line beyond which it is no label."""


@dataclass(frozen=True)
class Label:
    """What one annotator said of one clip."""

    clip: str
    annotator: str
    reasonable: bool
    justification: str = ""


def read_labels(path: str | Path) -> list[Label]:
    """Read labels from ``*.csv`` or ``*.jsonl``.

    Raises
    ------
    BadInput
        Naming the line that is malformed, unclear, or gives a clip a second label of the same annotator.
    """
    path = Path(path)
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else _jsonl_rows(path)
    labels: list[Label] = []
    seen: dict[tuple[str, str], int] = {}
    for number, row in rows:
        label = _label(row, path, number)
        key = (label.clip, label.annotator)
        if key in seen:
            raise BadInput(
                f"{label.annotator} labelled {label.clip} in line {seen[key]} already",
                path=path,
                field=f"line {number}",
            )
        seen[key] = number
        labels.append(label)
    if not labels:
        raise BadInput("holds no label", path=path)
    return labels


def _label(row: Mapping[str, Any], path: Path, number: int) -> Label:
    field = f"line {number}"
    for name in _FIELDS[:3]:
        if row.get(name) in (None, ""):
            raise BadInput(f"no {name}", path=path, field=field)
    clip, annotator = row["clip"], row["annotator"]
    if not isinstance(clip, str) or not isinstance(annotator, str | int):
        raise BadInput("clip and annotator must be texts", path=path, field=field)
    said = row["reasonable"]
    verdict = said if isinstance(said, bool) else _TRUTH.get(str(said).strip().lower())
    if verdict is None:
        raise BadInput(
            f"reasonable: {str(said)[:40]!r} is neither yes nor no", path=path, field=field
        )
    why = row.get("justification") or ""
    return Label(clip, str(annotator), verdict, str(why).strip())


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with _opened(path) as stream:
        try:
            reader = csv.DictReader(stream, strict=True)
            missing = [name for name in _FIELDS[:3] if name not in (reader.fieldnames or ())]
            if missing:
                raise BadInput(f"no column {missing[0]!r} in the header", path=path)
            for row in reader:
                yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"not CSV: {error}", path=path) from None


def _jsonl_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with _opened(path) as stream:
        try:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                if len(line) > LONGEST:
                    raise BadInput("too long for a label", path=path, field=f"line {number}")
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise BadInput(
                        f"not JSON: {error}", path=path, field=f"line {number}"
                    ) from None
                if not isinstance(row, dict):
                    raise BadInput("expected an object", path=path, field=f"line {number}")
                yield number, row
        except UnicodeDecodeError as error:
            raise BadInput(f"not UTF-8: {error}", path=path) from None


def _opened(path: Path) -> Any:
    try:
        return open(path, encoding="utf-8", newline="")
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree on the clips that several labelled.

    ``observed`` is the share of agreeing pairs of labels; ``alpha`` Krippendorff's (nominal, any number of annotators,
    missing labels allowed); ``kappa`` Cohen's of each two annotators with their number of common clips; None where it is
    not defined (nothing in common, or one label only).
    """

    clips: int
    shared: int
    annotators: int
    observed: float | None
    alpha: float | None
    kappa: dict[str, tuple[float | None, int]]


def agreement(labels: Sequence[Label]) -> Agreement:
    """Agreement of all annotators."""
    by_clip: dict[str, dict[str, bool]] = {}
    for label in labels:
        by_clip.setdefault(label.clip, {})[label.annotator] = label.reasonable
    shared = {clip: given for clip, given in by_clip.items() if len(given) > 1}
    names = sorted({label.annotator for label in labels})
    kappas: dict[str, tuple[float | None, int]] = {}
    for one, other in combinations(names, 2):
        both = [
            (given[one], given[other]) for given in shared.values() if {one, other} <= given.keys()
        ]
        if both:
            kappas[f"{one} / {other}"] = (_kappa(both), len(both))
    observed, alpha = _alpha([list(given.values()) for given in shared.values()])
    return Agreement(len(by_clip), len(shared), len(names), observed, alpha, kappas)


def _kappa(both: Sequence[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa, (p_o - p_e) / (1 - p_e)."""
    first, second = np.array(both, dtype=float).T
    observed = float((first == second).mean())
    expected = float(first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean()))
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def _alpha(units: Sequence[Sequence[bool]]) -> tuple[float | None, float | None]:
    """Share of agreeing pairs, and Krippendorff's alpha = 1 - D_o / D_e, of units with two or more labels each."""
    if not units:
        return None, None
    total = sum(len(unit) for unit in units)
    yes = sum(sum(unit) for unit in units)
    # each unit weighs its labels; pairs within a unit are counted both ways
    apart = sum(2.0 * sum(unit) * (len(unit) - sum(unit)) / (len(unit) - 1) for unit in units)
    pairs = sum(len(unit) * (len(unit) - 1) for unit in units)
    differing = sum(2 * sum(unit) * (len(unit) - sum(unit)) for unit in units)
    expected = 2.0 * yes * (total - yes) / (total - 1)
    alpha = None if expected == 0.0 else 1.0 - apart / expected
    return 1.0 - differing / pairs, alpha


@dataclass(frozen=True)
class Labelled:
    """Clips with the majority's label; ``undecided`` names clips with as many yes as no, ``unknown`` labels of no clip."""

    clips: list[Clip]
    labelled: int
    undecided: tuple[str, ...]
    unknown: tuple[str, ...]


def apply_labels(clips: Sequence[Clip], labels: Sequence[Label]) -> Labelled:
    """Give clips the label of the majority of annotators; an even vote leaves a clip unlabelled."""
    votes: dict[str, Counter[bool]] = {}
    for label in labels:
        votes.setdefault(label.clip, Counter())[label.reasonable] += 1
    made, undecided = [], []
    for clip in clips:
        vote = votes.get(clip.key)
        if vote is None:
            made.append(clip)
        elif vote[True] == vote[False]:
            undecided.append(clip.key)
            made.append(replace(clip, label=None, label_source=""))
        else:
            made.append(replace(clip, label=vote[True] > vote[False], label_source=HUMAN))
    known = {clip.key for clip in clips}
    unknown = tuple(sorted(votes.keys() - known))
    return Labelled(made, len(votes.keys() & known) - len(undecided), tuple(undecided), unknown)


def read_preferences(
    path: str | Path, clips: Mapping[str, Clip]
) -> tuple[list[Pair], Counter[str]]:
    """Read preferences in DriveCritic's form: JSONL with ``token``, ``trajectory_a``, ``trajectory_b`` (clip keys) and
    ``preferred`` ("A", "B", or "ambiguous"/"tie", which are left out and counted, as DriveJudge, B.3, does).

    Raises
    ------
    BadInput
        Naming the line that is malformed, names an unknown clip, or pairs clips of two scenes.
    """
    path = Path(path)
    pairs: list[Pair] = []
    left_out: Counter[str] = Counter()
    seen: set[str] = set()
    for number, row in _jsonl_rows(path):
        field = f"line {number}"
        token, said = str(row.get("token") or ""), str(row.get("preferred") or "").strip()
        if not token or token in seen:
            raise BadInput(
                "no token" if not token else f"token {token!r} comes twice", path=path, field=field
            )
        seen.add(token)
        if said.lower() in ("ambiguous", "tie"):
            left_out[said.lower()] += 1
            continue
        if said.upper() not in ("A", "B"):
            raise BadInput(
                f"preferred: {said[:40]!r} is none of A, B, ambiguous, tie", path=path, field=field
            )
        chosen = []
        for name in ("trajectory_a", "trajectory_b"):
            clip = clips.get(str(row.get(name)))
            if clip is None:
                raise BadInput(
                    f"{name}: no such clip: {str(row.get(name))[:80]}", path=path, field=field
                )
            chosen.append(clip)
        if chosen[0].setting != chosen[1].setting:
            raise BadInput("the two trajectories play in different scenes", path=path, field=field)
        first, second = chosen
        pairs.append(
            Pair(token, first.place, first.split, first.key, second.key, said.upper(), HUMAN)
        )
    return pairs, left_out

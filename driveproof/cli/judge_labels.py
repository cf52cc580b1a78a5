"""``driveproof judge label``, ``agree``, ``prefer`` and ``sweep``: labels of people, and thresholds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Clips = Annotated[Path, typer.Option(help="Table of clips.")]
_CLIPS = Path("data/judge/clips.parquet")


def label(
    labels: Annotated[Path, typer.Argument(help="Labels: CSV or JSONL.")],
    output: Annotated[Path, typer.Argument(help="Table of clips to write.")],
    clips: Clips = _CLIPS,
) -> None:
    """Give clips the labels of people: the majority of annotators; even votes stay unlabelled.

    Example: driveproof judge label labels.csv labelled.parquet --clips mined/clips.parquet
    """
    from driveproof.judge import apply_labels, read_clips, read_labels, write_clips

    result = apply_labels(read_clips(clips), read_labels(labels))
    write_clips(result.clips, output)
    typer.echo(f"{result.labelled} clips labelled, {len(result.undecided)} undecided")
    if result.unknown:
        typer.echo(
            f"{len(result.unknown)} labels of unknown clips, first {result.unknown[0]}", err=True
        )


def agree(
    labels: Annotated[Path, typer.Argument(help="Labels: CSV or JSONL.")], as_json: AsJson = False
) -> None:
    """How far annotators agree: share, Krippendorff's alpha, Cohen's kappa of each two.

    Example: driveproof judge agree labels.jsonl --json
    """
    from driveproof.judge import agreement, read_labels

    found = agreement(read_labels(labels))
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, allow_nan=False))
        return
    typer.echo(f"{found.clips} clips, {found.shared} by several of {found.annotators} annotators")
    typer.echo(f"agree on {_number(found.observed)} of pairs, alpha {_number(found.alpha)}")
    for pair, (kappa, count) in found.kappa.items():
        typer.echo(f"{pair}: kappa {_number(kappa)} on {count} clips")


def prefer(
    preferences: Annotated[Path, typer.Argument(help="Preferences: JSONL in DriveCritic's form.")],
    output: Annotated[Path, typer.Argument(help="Table of pairs to write.")],
    clips: Clips = _CLIPS,
) -> None:
    """Import preferences between trajectories; ambiguous ones are left out and counted.

    Example: driveproof judge prefer preferences.jsonl pairs.parquet
    """
    from driveproof.judge import read_clips, read_preferences, write_pairs

    known = {clip.key: clip for clip in read_clips(clips)}
    pairs, left_out = read_preferences(preferences, known)
    write_pairs(pairs, output)
    typer.echo(f"{len(pairs)} pairs, left out {dict(left_out)}")


def sweep(
    clips: Clips = _CLIPS,
    split: Annotated[str, typer.Option(help="Only clips of this split.")] = "train",
    cut: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Score above which is reasonable.")
    ] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Fit the violation thresholds to the labels (equation 13), and say which of them can matter.

    Example: driveproof judge sweep --split train
    """
    from driveproof.judge import PAPER_THRESHOLDS, read_clips, sweep_thresholds

    found = sweep_thresholds(read_clips(clips, [split] if split else []), PAPER_THRESHOLDS, cut=cut)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
        return
    typer.echo(f"accuracy {found.accuracy:.4f} at {cut:g} on {found.clips} clips")
    for code, value in found.thresholds.items():
        levels = found.to_json()["levels"][code]
        matters = "can matter" if found.matters[code] else "cannot matter"
        typer.echo(f"{code} {value:g}: {matters}; values below 1 in reasonable clips: {levels}")


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"

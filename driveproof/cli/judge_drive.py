"""``driveproof judge drive``: every window of a run judged by rules that a model gates."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driveproof.cli.console import Console, track

if TYPE_CHECKING:
    from collections import Counter

    from driveproof.evaluation.driving.runs import DriveRun
    from driveproof.evaluation.driving.windows import Cutting, Window
    from driveproof.judge.ask import Answers

NAMES = ("windows.parquet", "clips.parquet", "summary.json", "pictures.tar")


class Front(StrEnum):
    """What the front view of a frame is."""

    RENDERED = "rendered"
    RECORDED = "recorded"


class Rules(StrEnum):
    """Variants of EPDMS."""

    NAVSIM = "navsim"
    CORRECTED = "corrected"


class Style(StrEnum):
    """How long the question is."""

    FULL = "full"
    COMPACT = "compact"


class Nothing(StrEnum):
    """The mean where no soft criterion applies."""

    ONE = "one"
    UNGATED = "ungated"
    UNSCORED = "unscored"


def drive(
    run: Annotated[Path, typer.Argument(help="Directory of a run, driven with --record all.")],
    out: Annotated[Path, typer.Option(help="Folder for the table and the summary.")],
    judge: Annotated[str, typer.Option(help="Any model that talks.")] = (
        "transformers:models/judge_sft"
    ),
    style: Annotated[Style, typer.Option(help="Of the question.")] = Style.COMPACT,
    every: Annotated[float, typer.Option(min=0.5, max=60.0, help="Seconds between windows.")] = 2.0,
    front: Annotated[
        Front, typer.Option(help="Front views: drawn with the trajectory, or the camera's.")
    ] = (Front.RENDERED),
    rules: Annotated[Rules, typer.Option(help="Variant of EPDMS.")] = Rules.NAVSIM,
    repeats: Annotated[int, typer.Option(min=1, help="Answers a window.")] = 1,
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.0,
    empty: Annotated[
        Nothing, typer.Option(help="The mean where nothing soft applies.")
    ] = Nothing.ONE,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1)] = 0,
    cache: Annotated[Path | None, typer.Option(help="Folder that keeps answers.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary.")] = False,
) -> None:
    """Judge every window of a run, beside EPDMS and the driving score.

    Example: driveproof judge drive runs/tiny --out judged --judge openai:http://127.0.0.1:8000/v1#MODEL --style full
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation.driving.judged import judge_windows, summarise, write_judged
    from driveproof.evaluation.driving.runs import read_run
    from driveproof.evaluation.driving.windows import Cutting
    from driveproof.files import atomic_dir, check_folder, write_json
    from driveproof.judge import Reading
    from driveproof.judge.clips import write_clips
    from driveproof.judge.prompt import JudgeStyle, judge_hash
    from driveproof.policy import ChatPolicy, open_policy

    check_folder(out, NAMES)
    model = open_policy(judge)
    if not isinstance(model, ChatPolicy):
        raise BadInput("does not talk, so it cannot judge", field=judge)
    found, reading = read_run(run), Reading(empty=empty.value)
    cutting = Cutting(every_s=every, variant=rules.value, front=front.value)
    with atomic_dir(out) as folder:
        windows, rejected = _cut(found, cutting, folder, out)
        question = (style.value, repeats, temperature, seed, cache)
        answers = _ask(model, windows, folder, *question)
        judged = judge_windows(windows, answers.gates, reading)
        write_judged(folder / NAMES[0], judged)
        write_clips([window.clip for window in windows], folder / NAMES[1])
        summary = {
            "policy": found.name,
            "judge": {**model.identity(), "hash": judge_hash(JudgeStyle(style.value))},
            "settings": {
                "every_s": every, "front": front.value, "rules": rules.value, "repeats": repeats,
                "temperature": temperature, "empty": empty.value, "seed": seed,
            },
            "answers": {"asked": answers.asked, "invalid": dict(answers.invalid), "lost": dict(answers.lost)},
            **summarise(found.records, judged, rejected, seed),
        }  # fmt: skip
        write_json(folder / NAMES[2], summary)
    typer.echo(json.dumps(summary, indent=2)) if as_json else _print(summary)


def _cut(
    run: DriveRun, cutting: Cutting, folder: Path, out: Path
) -> tuple[list[Window], dict[tuple[str, int], Counter[str]]]:
    """The windows of all drives; their frames are written into ``folder``, which becomes ``out``."""
    from dataclasses import replace

    from driveproof.errors import BadInput
    from driveproof.evaluation.driving.windows import windows_of
    from driveproof.judge.archive import write_pictures
    from driveproof.judge.frames import encode

    windows: list[Window] = []
    pictures: list[tuple[bytes, ...]] = []
    rejected: dict[tuple[str, int], Counter[str]] = {}
    for record in track(run.records, "cutting"):
        made, frames, rejected[record.key] = windows_of(run, record, cutting)
        windows += made
        pictures += [tuple(encode(frame) for frame in each) for each in frames]
    if not windows:
        hint = "drive with --record all; a drive must last 6.5 s"
        raise BadInput("no drive has a window to judge", path=run.path, hint=hint)
    pairs = [(window.clip, shown) for window, shown in zip(windows, pictures, strict=True)]
    clips = write_pictures(pairs, folder / NAMES[3], out / NAMES[3])
    shown = zip(windows, clips, strict=True)
    return [replace(window, clip=clip) for window, clip in shown], rejected


def _ask(
    model: Any,
    windows: list[Window],
    folder: Path,
    style: Any,
    repeats: int,
    temperature: float,
    seed: int,
    cache: Path | None,
) -> Answers:
    from dataclasses import replace

    from driveproof.judge import Asking, JudgeStyle
    from driveproof.judge import ask as ask_model
    from driveproof.scene import ImageRef

    def placed(ref: ImageRef) -> ImageRef:
        return ImageRef((folder / NAMES[3]).as_posix(), ref.member)

    clips = [replace(w.clip, frames=tuple(map(placed, w.clip.frames))) for w in windows]
    asking = Asking(JudgeStyle(style), repeats, temperature, seed=seed)
    return ask_model(model, clips, "gate", asking, cache_dir=cache)


def _print(summary: dict[str, Any]) -> None:
    console = Console()
    console.print(
        f"{summary['windows']} windows of {summary['drives_judged']} of {summary['drives']} drives"
    )
    console.print(f"DriveJudge {_brief(summary['judge'])}, EPDMS {_brief(summary['epdms'])}")
    console.print(f"driving score {_brief(summary['driving_score'], 1)}")
    for name, found in summary["correlation_with_driving_score"].items():
        console.print(f"correlation of {name.replace('_', ' ')} with it: {_brief(found, 2)}")
    lost = ", ".join(f"{count} {reason}" for reason, count in summary["lost"].items())
    console.print(f"not judged: {lost or 'nothing'}")
    for one in summary["worst"]:
        waived = f", waived {' '.join(one['waived'])}" if one["waived"] else ""
        console.print(
            f"{one['route_id']} (repeat {one['repeat']}) at {one['time']:.1f} s: {one['judge']:.3f}, "
            f"broken {' '.join(one['broken']) or 'nothing'}{waived}"
        )


def _brief(found: dict[str, Any], digits: int = 3) -> str:
    from driveproof.evaluation.statistics import bounds_text

    if found["mean"] is None:
        return f"unscored (n {found['n']}, lost {found['lost']})"
    bounds = bounds_text(found["low"], found["high"], digits, " to ")
    return f"{found['mean']:.{digits}f} ({bounds}; n {found['n']}, lost {found['lost']})"

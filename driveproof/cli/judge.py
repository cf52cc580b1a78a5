"""``driveproof judge``: rules gated by context, labels, and what they agree on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driveproof.cli.judge_drive import drive
from driveproof.cli.judge_labels import agree, label, prefer, sweep
from driveproof.cli.judge_windows import mine

if TYPE_CHECKING:
    from driveproof.judge import Gates, Verdict

app = typer.Typer(help="Judge driving by rules that a model gates.", no_args_is_help=True)
for command in (mine, label, agree, prefer, sweep, drive):
    app.command()(command)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Empty = Annotated[
    str, typer.Option(help="The mean where no soft criterion applies: one, ungated or unscored.")
]


@app.command()
def prompt(
    task: Annotated[str, typer.Argument(help="gate or score")] = "gate",
    style: Annotated[str, typer.Option(help="full or compact")] = "full",
    frames: Annotated[int, typer.Option(min=1, max=4)] = 4,
) -> None:
    """Print what a judge is asked, and the hash that results carry.

    Example: driveproof judge prompt score --style full
    """
    from driveproof.errors import BadInput
    from driveproof.judge.prompt import JudgeStyle, judge_hash, render

    if task not in ("gate", "score"):
        raise BadInput(f"{task!r} is neither gate nor score", field="TASK")
    try:
        chosen = JudgeStyle(style, frames)  # type: ignore[arg-type]
    except ValueError as error:
        raise BadInput(str(error), field="--style") from None
    system, user = render(task, chosen)  # type: ignore[arg-type]
    for part in (system, user):
        if part:
            typer.echo(part + "\n")
    typer.echo(f"hash {judge_hash(chosen)}")


@app.command()
def score(
    cases: Annotated[list[Path], typer.Argument(help="Cases (JSON, navsim-epdms-golden/1).")],
    gates: Annotated[
        str,
        typer.Option(
            help='Seven labels, "apply, waive, …" in the order LK DDC DAC TTC NC EP COMFORT.'
        ),
    ] = ", ".join(["apply"] * 7),
    empty: Empty = "one",
    variant: Annotated[str, typer.Option(help="navsim or corrected")] = "navsim",
    as_json: AsJson = False,
) -> None:
    """Score the proposals of cases by equation 14 under given gates, beside EPDMS.

    Example: driveproof judge score case.json --gates "waive, waive, apply, apply, apply, apply, apply"
    """
    from driveproof.errors import BadInput
    from driveproof.judge import Reading, judge_score
    from driveproof.rules import read_case

    if variant not in ("navsim", "corrected"):
        raise BadInput(f"{variant!r} is neither navsim nor corrected", field="--variant")
    chosen, reading = _gates(gates), _reading(Reading, empty)
    results: dict[str, dict[str, Any]] = {}
    for path in cases:
        case = read_case(path)
        if case.id in results:
            raise BadInput(f"a case with the id {case.id!r} was read before", path=path)
        scores = case.score(variant=variant, grouping="pair")  # type: ignore[arg-type]
        results[case.id] = {}
        for n, name in enumerate(case.names):
            row = scores.row(n)
            rules = {code: row[code] for code in scores.rules}
            verdict = judge_score(rules, chosen, reading)
            results[case.id][name] = {"EPDMS": row["EPDMS_raw"], **_plain(verdict)}
    if as_json:
        typer.echo(json.dumps(results, indent=2, allow_nan=False))
        return
    for case_id, rows in results.items():
        for name, row in rows.items():
            found = "unscored" if row["score"] is None else f"{row['score']:.4f}"
            epdms = "unscored" if row["EPDMS"] is None else f"{row['EPDMS']:.4f}"
            typer.echo(f"{case_id} {name}: {found} (EPDMS {epdms}) {row['why']}".rstrip())


@app.command()
def ask(
    policy: Annotated[str, typer.Argument(help="See `driveproof policy list`.")],
    clips: Annotated[Path, typer.Option(help="Table of clips.")] = Path("data/judge/clips.parquet"),
    task: Annotated[str, typer.Option(help="gate or score")] = "gate",
    style: Annotated[str, typer.Option(help="full, or compact for the tiny model")] = "full",
    frames: Annotated[int, typer.Option(min=1, max=4)] = 4,
    split: Annotated[str, typer.Option(help="Only clips of this split.")] = "",
    most: Annotated[int, typer.Option(min=1, help="Only the first so many clips.")] = 1_000_000,
    repeats: Annotated[int, typer.Option(min=1, help="More than one makes gates soft.")] = 1,
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.0,
    cache: Annotated[Path | None, typer.Option(help="Folder where answers are kept.")] = None,
    empty: Empty = "one",
    as_json: AsJson = False,
) -> None:
    """Let a model judge clips: gates and the score they lead to, or a score at once.

    Example: driveproof judge ask transformers:models/judge_sft --style compact --split test --most 20
    """
    from driveproof.errors import BadInput
    from driveproof.judge import Asking, JudgeStyle, Reading, judge_score, read_clips
    from driveproof.judge import ask as ask_model
    from driveproof.policy import ChatPolicy, open_policy

    if task not in ("gate", "score") or style not in ("full", "compact"):
        raise BadInput("--task is gate or score, --style full or compact", field=f"{task}, {style}")
    model = open_policy(policy)
    if not isinstance(model, ChatPolicy):
        raise BadInput("does not talk, so it cannot judge", field=policy)
    chosen = read_clips(clips, [split] if split else [])[:most]
    asked = JudgeStyle(style, frames)  # type: ignore[arg-type]
    asking = Asking(asked, repeats, temperature)
    answers = ask_model(model, chosen, task, asking, cache_dir=cache)  # type: ignore[arg-type]
    rows: dict[str, dict[str, Any]] = {}
    for clip in chosen:
        found = answers.gates.get(clip.key)
        if task == "score":
            rows[clip.key] = {"score": answers.scores[clip.key]}
        elif found is None:
            rows[clip.key] = {"score": None, "why": "no readable answer"}
        else:
            rows[clip.key] = _plain(judge_score(clip.rules, found, _reading(Reading, empty)))
    counts = {
        "asked": answers.asked,
        "cached": answers.cached,
        "invalid": dict(answers.invalid),
        "lost": dict(answers.lost),
    }
    if as_json:
        typer.echo(json.dumps({**counts, "clips": rows}, indent=2, allow_nan=False))
        return
    for key, row in rows.items():
        shown = "unscored" if row["score"] is None else f"{row['score']:.3f}"
        typer.echo(f"{key}: {shown} {' '.join(row.get('waived', ()))}".rstrip())
    typer.echo(str(counts))


@app.command()
def explain(
    clip: Annotated[str, typer.Argument(help="Key of a clip.")],
    output: Annotated[Path, typer.Argument(help="PNG or SVG.")],
    data: Annotated[Path, typer.Option(help="Folder of the stage judge.")] = Path("data/judge"),
    gates: Annotated[str, typer.Option(help="Seven labels; by default those of the label.")] = "",
    empty: Empty = "one",
) -> None:
    """Draw one verdict: frames, gates, sub-scores, and who is blamed.

    Example: driveproof judge explain scripted/nudge-test-0000-on/nudge_stopped_car verdict.png
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation.judge_write import draw_verdict
    from driveproof.judge import PAPER_THRESHOLDS, Reading, gate_labels, read_clips
    from driveproof.scene import read_scenes

    if output.suffix not in (".png", ".svg"):
        raise BadInput("drawings are .png or .svg", path=output)
    known = {each.key: each for each in read_clips(data / "clips.parquet")}
    if clip not in known:
        raise BadInput("no such clip", path=data, field=clip)
    scenes = {scene.scene_key: scene for scene in read_scenes(data / "scenes")}
    one = known[clip]
    if not gates and one.label is None:
        raise BadInput("the clip has no label, so name its --gates", field=clip)
    chosen = (
        _gates(gates) if gates else gate_labels(one.criteria, bool(one.label), PAPER_THRESHOLDS)
    )
    if not draw_verdict(one, chosen, _reading(Reading, empty), scenes, output):
        raise BadInput("the clip's scene is not there", path=data / "scenes", field=one.setting)
    typer.echo(str(output))


def _gates(text: str) -> Gates:
    from driveproof.errors import BadInput
    from driveproof.judge import parse_gates

    parsed = parse_gates(text)
    if parsed.gates is None:
        raise BadInput(
            f"not seven labels ({parsed.reason})",
            field="--gates",
            hint="apply or waive, separated by commas",
        )
    return parsed.gates


def _reading(kind: Any, empty: str) -> Any:
    from driveproof.errors import BadInput

    try:
        return kind(empty=empty)
    except ValueError as error:
        raise BadInput(str(error), field="--empty") from None


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "score": verdict.score,
        "product": verdict.product,
        "mean": verdict.mean,
        "waived": list(verdict.gates.waived),
        "unjudged": list(verdict.unjudged),
        "why": verdict.why,
    }

"""``driveproof launch``: train on several GPUs and machines, or say what that would take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

if TYPE_CHECKING:
    from driveproof.config import Params
    from driveproof.training.launch import Command, Estimate, Plan


def command(
    kind: Annotated[str, typer.Argument(help="What to train: sft or grpo.")],
    variant: Annotated[str, typer.Argument(help="Of grpo: which variant.")] = "",
    overlay: Annotated[
        list[Path] | None, typer.Option(help="Parameter files on top of params.yaml.")
    ] = None,
    params: Annotated[Path, typer.Option("--params", help="The parameter file.")] = Path(
        "params.yaml"
    ),
    nodes: Annotated[int | None, typer.Option(min=1, help="Machines.")] = None,
    gpus: Annotated[int | None, typer.Option(min=1, help="GPUs of each.")] = None,
    zero: Annotated[int | None, typer.Option(min=2, max=3, help="Stage of ZeRO.")] = None,
    rank: Annotated[int, typer.Option(min=0, help="Which of the nodes this is.")] = 0,
    number: Annotated[int, typer.Option(min=0, help="Of grpo: which of the seeds.")] = 0,
    measure: Annotated[
        bool,
        typer.Option("--measure", help="Of grpo: measure what was trained; see docs/scale.md."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print; write and run nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Train with accelerate and DeepSpeed: run this node's command, or print all of them with an estimate of memory.

    Example: driveproof launch grpo deft_rlvr --overlay params/gpu.yaml --nodes 4 --gpus 8 --zero 3 --dry-run
    """
    from driveproof.config import load_params
    from driveproof.errors import BadInput
    from driveproof.training.launch import plan
    from driveproof.training.worker import Job

    if kind not in ("sft", "grpo"):
        raise BadInput(f"no such training: {kind}", hint="sft or grpo")
    loaded = load_params(params, overlay or [])
    asked = {"nodes": nodes, "gpus": gpus, "zero": zero}
    if measure:
        if kind != "grpo":
            raise BadInput(
                "reinforced models are measured", hint="for sft: driveproof evaluate run"
            )
        _measure(loaded, variant)
        return
    own = loaded.launch.nodes * loaded.launch.gpus
    changed = {name: value for name, value in asked.items() if value is not None}
    loaded = loaded.model_copy(update={"launch": loaded.launch.model_copy(update=changed)})
    job = Job(
        kind=cast(Literal["sft", "grpo"], kind),
        variant=variant,
        number=number,
        params=str(params),
        overlays=tuple(str(path) for path in overlay or ()),
    )
    try:
        made = plan(loaded, job.kind, job)
    except BadInput as error:
        if overlay or not error.field or own > 1:
            raise
        # the settings of the default profile are those of one small process
        hints = [error.hint, "settings for GPUs: --overlay params/gpu.yaml"]
        raise BadInput(
            error.problem, path=error.path, field=error.field, hint="; ".join(filter(None, hints))
        ) from None
    if dry_run or as_json:
        typer.echo(json.dumps(_json(made), indent=2) if as_json else _text(made))
    if not dry_run:
        _run(made, rank)


def _measure(params: Params, variant: str) -> None:
    from driveproof.evaluation.statistics import bounds_text
    from driveproof.training.grpo.launched import measure_launched

    summary = measure_launched(params, variant, lambda text: typer.echo(text, err=True))
    gain = summary["gain"]["accuracy"]
    typer.echo(
        f"{variant}: {len(summary['seeds'])} of its seeds, gain in ACC {gain['mean']:+.3f} "
        f"[{bounds_text(gain['low'], gain['high'])}], in models/grpo/{variant} and reports/grpo/{variant}"
    )


def _run(made: Plan, rank: int) -> None:
    import os
    import subprocess
    import sys

    from driveproof.errors import BadInput, UserError
    from driveproof.files import atomic_open

    own = [one for one in made.commands if one.argv[0] == "accelerate"]
    if rank >= len(own):
        raise BadInput(f"no node {rank}: there are {len(own)}", field="rank")
    if made.estimate is not None and not made.estimate.fits:
        raise BadInput(
            f"{made.estimate.total:.1f} GiB do not fit into {made.estimate.available:.1f}",
            field=made.estimate.largest,
            hint="see --dry-run",
        )
    for name, content in made.files.items():
        with atomic_open(name) as stream:
            stream.write(content + "\n")
    argv = list(own[rank].argv)
    program = Path(sys.executable).with_name("accelerate")
    done = subprocess.run(
        [str(program), *argv[1:]], env={**os.environ, **own[rank].environment}, check=False
    )
    if done.returncode:
        raise UserError(f"training ended with exit code {done.returncode}")


def _json(made: Plan) -> dict[str, Any]:
    return {
        "files": made.files,
        "commands": [
            {"where": one.where, "argv": list(one.argv), "environment": dict(one.environment)}
            for one in made.commands
        ],
        "memory": _memory(made.estimate) if made.estimate else None,
    }


def _memory(of: Estimate) -> dict[str, Any]:
    return {
        "model": of.model,
        "parameters": of.parameters,
        "trainable": of.trainable,
        "gib": {name: round(value, 3) for name, value in of.terms.items()},
        "total_gib": round(of.total, 3),
        "available_gib": of.available,
        "fits": of.fits,
        "largest": of.largest,
        "notes": list(of.notes),
    }


def _text(made: Plan) -> str:
    lines = []
    for name, content in made.files.items():
        lines += [f"# {name}", content.rstrip(), ""]
    for one in made.commands:
        lines += [f"# {one.where}", _shell(one), ""]
    if made.estimate is None:
        return "\n".join([*lines, "# no estimate of memory: the tiny model, or no GPU"])
    of = made.estimate
    lines.append(
        f"# memory of a training GPU: {of.model}, {of.parameters / 1e9:.2f} B parameters, "
        f"{of.trainable / 1e9:.3f} B trained"
    )
    lines += [f"{name:>18} {value:8.2f} GiB" for name, value in of.terms.items() if value]
    verdict = "fits" if of.fits else "DOES NOT FIT"
    lines.append(f"{'peak':>18} {of.total:8.2f} GiB of {of.available:g}: {verdict}")
    lines.append(f"{'largest term':>18} {of.largest}")
    return "\n".join([*lines, *of.notes])


def _shell(of: Command) -> str:
    import shlex

    environment = [f"{name}={shlex.quote(value)}" for name, value in of.environment.items()]
    return " ".join([*environment, shlex.join(of.argv)])

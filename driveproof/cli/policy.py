"""``driveproof policy``: what a policy can be, and whether one answers."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from driveproof.errors import Unreachable
from driveproof.policy import (
    KINDS,
    ChatPolicy,
    ChatReply,
    ChatRequest,
    Policy,
    PolicySettings,
    open_policy,
)

app = typer.Typer(help="Models and baselines that can be evaluated.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the kinds of policies and how they are written.

    Example: driveproof policy list
    """
    if as_json:
        kinds = {name: {"form": k.form, "summary": k.summary} for name, k in KINDS.items()}
        typer.echo(json.dumps(kinds, indent=2, sort_keys=True))
        return
    table = Table("write", "what it is")
    for kind in KINDS.values():
        table.add_row(kind.form.replace("[", r"\["), kind.summary)
    Console().print(table)


@app.command()
def check(
    spec: Annotated[str, typer.Argument(help="See `driveproof policy list`.")],
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for a served model.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Open a policy, ask a model one question with a picture, and say what it is.

    Example: driveproof policy check transformers:models/sft

    Example: driveproof policy check openai:http://127.0.0.1:8000/v1#Qwen/Qwen3-VL-8B-Instruct
    """
    policy = open_policy(spec, PolicySettings(timeout_s=timeout, attempts=1))
    report: dict[str, Any] = {"name": policy.name, **policy.identity()}
    reply = _try(policy)
    if reply is not None:
        report |= {"answer": reply.text, "seconds": round(reply.latency_s, 3), **reply.usage}
    if as_json:
        typer.echo(json.dumps(report, indent=2, sort_keys=True))
        return
    for name, value in report.items():
        typer.echo(f"{name}: {value}")


def _try(policy: Policy) -> ChatReply | None:
    """One small question; None for policies that do not talk, :class:`Unreachable` without an answer."""
    import numpy as np

    if not isinstance(policy, ChatPolicy):
        return None
    content = [{"type": "image"}, {"type": "text", "text": "Name the colour of the picture."}]
    picture = np.full((64, 96, 3), (200, 30, 30), dtype=np.uint8)
    request = ChatRequest([{"role": "user", "content": content}], [picture], max_tokens=16)
    reply = policy.reply([request])[0]
    if reply.error:
        raise Unreachable(f"{policy.name} gives no answer: {reply.error}")
    return reply

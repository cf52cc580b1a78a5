"""``driveproof policy``: what a policy can be, whether one answers, and serving one."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from driveproof.errors import BadInput, Unreachable
from driveproof.policy import (
    DRIVERS,
    KINDS,
    ChatPolicy,
    ChatRequest,
    ChoicePolicy,
    DriveDecision,
    DriveObservation,
    DrivingPolicy,
    Policy,
    PolicySettings,
    open_driver,
    open_policy,
)
from driveproof.policy.plugin import PLUGIN_FORM

if TYPE_CHECKING:
    from driveproof.policy.wire.serve import Bound

app = typer.Typer(help="Models and baselines that can be evaluated.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Spec = Annotated[str, typer.Argument(help="See `driveproof policy list`.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the kinds of policies and how they are written.

    Example: driveproof policy list
    """
    from driveproof.drive.kinds import EXPERT, TALK
    from driveproof.policy.baselines import BASELINES

    talk = {KINDS[name].form: f"{KINDS[name].summary}, by a graph of questions" for name in TALK}
    rows = {
        "answer questions": {kind.form: kind.summary for kind in KINDS.values()},
        "drive": {
            EXPERT: "the commenter's expert, beside the simulator",
            **{kind.form: kind.summary for kind in DRIVERS.values()},
            **talk,
        },
        "baselines": {
            f"baseline:{name}": f"{known.model} ({known.gigabytes:g} GB): {known.quirks.picture}"
            for name, known in BASELINES.items()
        },
    }
    for title in ("answer questions", "drive"):
        rows[title][PLUGIN_FORM] = "a class of yours"
    if as_json:
        typer.echo(json.dumps(rows, indent=2, sort_keys=True))
        return
    for title, kinds in rows.items():
        table = Table("write", "what it is", title=title, title_justify="left")
        for form, summary in kinds.items():
            table.add_row(form, summary)
        Console(markup=False, emoji=False).print(table)


@app.command()
def check(
    spec: Spec,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for a served model.")] = 30.0,
    drive: Annotated[
        bool,
        typer.Option(help="Open it as `driveproof drive` does; who talks, by its usual graph."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a policy, ask it one question with a picture or for one decision, and say what it is.

    Exit codes: 0 it answers; 1 it has no answer (with the line of a plug-in that raised); 2 it is no policy, wants a
    camera that there is not, or its identity is no JSON; 4 its server does not answer.

    Example: driveproof policy check transformers:models/sft

    Example: driveproof policy check openai:http://127.0.0.1:8000/v1#Qwen/Qwen3-VL-8B-Instruct

    Example: driveproof policy check my_package.my_module:MyDriver

    Example: driveproof policy check my_package.my_module:MyTalker --drive
    """
    from driveproof.drive.declared import identity_of

    blamed = _Blamed()
    policy = _open(spec, drive, PolicySettings(timeout_s=timeout, attempts=1), blamed)
    report: dict[str, Any] = {"name": policy.name, **identity_of(policy)}
    try:
        if isinstance(policy, DrivingPolicy):
            report |= _drive(policy, asked=report.get("kind") != "recorded")
        else:
            report |= _try(policy)
    finally:
        if hasattr(policy, "close"):
            policy.close()
    failed = bool(report.get("error"))
    if failed and blamed.place:
        report["raised_at"] = blamed.place
    if as_json:
        typer.echo(json.dumps(report, indent=2, sort_keys=True))
    else:
        for name, value in report.items():
            typer.echo(f"{name}: {value}")
    if failed:
        raise typer.Exit(1)


class _Blamed:
    """Notes where in a plug-in's own code its last exception was raised."""

    def __init__(self) -> None:
        self.place = ""

    def watch(self, plugin: Any) -> Any:
        """The plug-in, with every exception of its calls noted on the way."""
        return _Watched(plugin, self)

    def note(self, error: Exception) -> None:
        """Note the innermost line that is neither ours nor a library's."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = str(Path(__file__).parents[1])
        apart = (ours, "site-packages", "<frozen", sys.base_prefix)
        theirs = [frame for frame in frames if not any(part in frame.filename for part in apart)]
        if theirs:
            self.place = f"{theirs[-1].filename}:{theirs[-1].lineno}"


class _Watched:
    """Passes everything on to a plug-in."""

    def __init__(self, plugin: Any, blamed: _Blamed) -> None:
        self._plugin, self._blamed = plugin, blamed

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._plugin, name)
        if not callable(found):
            return found

        def call(*args: Any, **more: Any) -> Any:
            try:
                return found(*args, **more)
            except Exception as error:  # the plug-in's own code
                self._blamed.note(error)
                raise

        return call


@app.command()
def serve(
    spec: Spec,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7023,
    ready_file: Annotated[
        Path | None, typer.Option(help="Written as JSON when clients can connect.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token that clients must show.")
    ] = None,
    image_root: Annotated[
        Path | None, typer.Option(help="Folder below which clients may name picture files.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Calls that run at once.")] = 1,
    queue: Annotated[int, typer.Option(min=0, help="Calls that may wait.")] = 16,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one call.")] = 300.0,
    sessions: Annotated[int, typer.Option(min=1, help="Episodes driven at once.")] = 8,
    idle: Annotated[float, typer.Option(min=0.1, help="An unused session ends, s.")] = 120.0,
    seed: Annotated[int, typer.Option(help="Of the random policy.")] = 0,
    batch_size: Annotated[int, typer.Option(min=1, help="Of a local model.")] = 32,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads of a local model.")] = 0,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", help="End when the process that started this ends.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Serve a model or a driving policy to the driving side, until SIGTERM or Ctrl+C.

    Clients write `wire:http://HOST:PORT` wherever a policy is named. Elsewhere than on the loopback a token is wanted;
    clients take it from DRIVEPROOF_WIRE_TOKEN.

    Example: driveproof policy serve transformers:models/sft --port 0 --ready-file policy.json
    """
    from driveproof.policy.wire.serve import bind
    from driveproof.policy.wire.serve import serve as run_server
    from driveproof.policy.wire.service import Limits

    token = _token(token_file)
    limits = Limits(
        workers, queue, timeout, sessions, idle, str(image_root) if image_root else None
    )
    settings = PolicySettings(seed=seed, batch_size=batch_size, threads=threads)
    status = Console(stderr=True).status(Text(f"opening {spec}"))

    def ready(bound: Bound) -> None:
        status.stop()
        _announce(bound, ready_file, as_json)

    with bind(host, port, token) as listener, status:
        over = run_server(spec, settings, limits, listener, token, ready, with_parent=with_parent)
    if not over:  # a thread of the policy hangs and would be waited for
        os._exit(0)


def _token(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise BadInput(f"no token can be read: {error}", path=path) from None
    if len(token) < 16 or not token.isprintable() or " " in token:
        raise BadInput("a token is at least 16 characters without spaces", path=path)
    return token


def _announce(bound: Bound, ready_file: Path | None, as_json: bool) -> None:
    from driveproof.files import write_json

    if ready_file is not None:
        write_json(ready_file, bound.to_json())
    text = f"{bound.name} ({bound.role}) is served: {bound.spec}"
    typer.echo(json.dumps(bound.to_json(), sort_keys=True) if as_json else text)


def _open(
    spec: str, drive: bool, settings: PolicySettings, blamed: _Blamed
) -> Policy | DrivingPolicy:
    """What ``spec`` names; where the word says nothing, whatever it turns out to be."""
    from driveproof.policy.guard import Guarded
    from driveproof.policy.plugin import open_plugin
    from driveproof.policy.wire.client import connect

    kind, _, rest = spec.partition(":")
    if drive:
        return _open_to_drive(spec, settings, blamed)
    if kind == "wire":
        return connect(rest, settings)
    if kind == "recorded" and Path(rest).is_dir():
        return open_driver(spec, settings)
    if kind not in KINDS and rest:
        titles: dict[Any, str] = {DrivingPolicy: "driving policy", ChatPolicy: "model that talks"}
        plugin: Policy | DrivingPolicy = open_plugin(
            spec, {**titles, ChoicePolicy: "policy that chooses"}
        )
        watched: Any = blamed.watch(plugin)
        return Guarded(watched) if isinstance(plugin, DrivingPolicy) else watched
    return open_policy(spec, settings)


def _open_to_drive(spec: str, settings: PolicySettings, blamed: _Blamed) -> DrivingPolicy:
    """As ``driveproof drive`` opens it, with the graph and the mode that it takes where none are given."""
    from driveproof.drive import openers
    from driveproof.drive.kinds import EXPERT, check_kind, is_plugin
    from driveproof.drive.plan import DriveSettings
    from driveproof.policy.guard import Guarded
    from driveproof.policy.plugin import open_plugin
    from driveproof.reasoning import GraphPolicy, open_graph, open_graph_driver

    check_kind(spec)
    if spec == EXPERT:
        raise BadInput("reads the simulator, there is nothing to ask it here", field=EXPERT)
    words = openers.in_its_manner(spec, DriveSettings())
    graph = open_graph(words.graph or openers.DEFAULT_GRAPH)
    mode = openers.parse_mode(words.mode)
    if not is_plugin(spec):
        return open_graph_driver(spec, settings, graph=graph, mode=mode)
    titles: dict[Any, str] = {DrivingPolicy: "driving policy", ChatPolicy: "model that talks"}
    plugin = open_plugin(spec, titles)
    watched = blamed.watch(plugin)
    return GraphPolicy(watched, graph, mode) if isinstance(plugin, ChatPolicy) else Guarded(watched)


def _drive(policy: DrivingPolicy, asked: bool) -> dict[str, Any]:
    """One decision of an episode that has just begun, before a red wall; not of a recorded run, which has no such episode."""
    import numpy as np

    from driveproof.drive.declared import check_cameras
    from driveproof.drive.plan import Pictures

    check_cameras(policy, Pictures())
    said = {"views": list(policy.views), "history": policy.history}
    if not asked:
        return said
    picture = np.full((90, 160, 3), (200, 30, 30), dtype=np.uint8)
    pictures = {view: [picture] * policy.history for view in policy.views}
    policy.begin("check_rep0", 0)
    decision = policy.decide(DriveObservation(0, 0.0, pictures, 5.0, "follow", 30.0))
    if decision.outage:
        raise Unreachable(f"{policy.name} gives no decision: {decision.error}")
    return {**said, **_words(decision)}


def _words(decision: DriveDecision) -> dict[str, Any]:
    what = "error"
    value: Any = decision.error
    if decision.keys is not None:
        what, value = "keys", decision.keys.text()
    elif decision.controls is not None:
        what, value = "controls", vars(decision.controls)
    return {what: value, "seconds": round(decision.latency_s, 3), **decision.usage}


def _try(policy: Policy) -> dict[str, Any]:
    """The answer to one small question; nothing for policies that do not talk.

    Raises
    ------
    Unreachable
        If a server gives none.
    """
    import numpy as np

    from driveproof.reasoning.run import ask_all

    if not isinstance(policy, ChatPolicy):
        return {}
    content = [{"type": "image"}, {"type": "text", "text": "Name the colour of the picture."}]
    picture = np.full((64, 96, 3), (200, 30, 30), dtype=np.uint8)
    request = ChatRequest([{"role": "user", "content": content}], [picture], max_tokens=16)
    (reply,) = ask_all(policy, [request])
    if reply.outage:
        raise Unreachable(f"{policy.name} gives no answer: {reply.error}")
    answer = {"error": reply.error} if reply.error else {"answer": reply.text}
    return {**answer, "seconds": round(reply.latency_s, 3), **reply.usage}

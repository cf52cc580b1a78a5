"""``driveproof drive``: drive a suite of routes, plan one, or take part in one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driveproof.cli.console import Console
from driveproof.cli.drive_suite import suite_command

if TYPE_CHECKING:
    from driveproof.drive.models import ModelServer
    from driveproof.drive.plan import DriveSettings
    from driveproof.drive.rundir import RunDirectory
    from driveproof.drive.runner import Care
    from driveproof.drive.simulators import Where
    from driveproof.drive.states import RouteStatus
    from driveproof.drive.status import RouteReport
    from driveproof.evaluation.driving.records import RouteState

app = typer.Typer(no_args_is_help=True)  # its help is that of drive_command
app.command("suite")(suite_command)

PolicyOption = Annotated[
    str,
    typer.Option("--policy", help="expert, random, transformers:FOLDER, wire:URL, module:Class …"),
]
ServeOption = Annotated[
    str, typer.Option("--serve", help="Start a server for this policy and keep it alive.")
]
SuiteOption = Annotated[Path | None, typer.Option("--suite", help="Route file (XML).")]
OutOption = Annotated[Path | None, typer.Option("--out", help="Directory of the run.")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="At most so many routes.")]
OnlyOption = Annotated[str, typer.Option(help="Ids of routes, with commas between.")]
RepeatsOption = Annotated[int, typer.Option(min=1, max=1000, help="Drives of each route.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the run.")]
GraphOption = Annotated[str, typer.Option(help="Questions: a preset or a file; for who talks.")]
ModeOption = Annotated[
    str, typer.Option(help="camera, bev or text, and +six, +references, +history=N.")
]
RateOption = Annotated[float, typer.Option(min=0.1, max=20.0, help="Decisions a second.")]
LatencyOption = Annotated[str, typer.Option(help="The world goes on while the policy thinks.")]
RecordOption = Annotated[str, typer.Option(help="none, decisions, failures (clips), all.")]
TruthOption = Annotated[
    bool, typer.Option("--truth", help="Note the expert's answers beside the policy's.")
]
PicturesOption = Annotated[str, typer.Option(help="Size of the front camera's pictures.")]
SimOption = Annotated[str, typer.Option(help="embedded, or HOST:PORT[,HOST:PORT…].")]
CommandOption = Annotated[
    str,
    typer.Option(
        help="Start this CARLA in place of the embedded server; no shell; {port} and {gpu} are filled in."
    ),
]
GpusOption = Annotated[str, typer.Option(help="What {gpu} stands for, such as 0,1: goes round.")]
WorkersOption = Annotated[
    int, typer.Option(min=1, max=64, help="Servers of our own that drive at once.")
]
AttemptsOption = Annotated[int, typer.Option(min=1, help="Crashes until a route is given up.")]
RecycleOption = Annotated[
    int | None,
    typer.Option(min=0, help="Episodes until a server of our own is started anew (25); 0 never."),
]
ServerStartOption = Annotated[
    float,
    typer.Option(
        min=1.0, help="Seconds until a model served here is loaded, or one elsewhere is back."
    ),
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Try lost routes again.")]
RedoOption = Annotated[
    str, typer.Option("--redo", help="Drive routes in this state again, e.g. failed_by_policy.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@app.callback(invoke_without_command=True)
def drive_command(
    context: typer.Context,
    policy: PolicyOption = "",
    suite: SuiteOption = None,
    out: OutOption = None,
    serve: ServeOption = "",
    limit: LimitOption = None,
    only: OnlyOption = "",
    repeats: RepeatsOption = 1,
    seed: SeedOption = 0,
    graph: GraphOption = "",
    mode: ModeOption = "",
    rate: RateOption = 2.0,
    latency: LatencyOption = "none",
    record: RecordOption = "decisions",
    truth: TruthOption = False,
    pictures: PicturesOption = "224x128",
    sim: SimOption = "embedded",
    sim_command: CommandOption = "",
    sim_gpus: GpusOption = "",
    workers: WorkersOption = 1,
    attempts: AttemptsOption = 3,
    recycle: RecycleOption = None,
    server_start: ServerStartOption = 180.0,
    retry: RetryOption = False,
    redo: RedoOption = "",
    as_json: AsJson = False,
) -> None:
    """Drive the routes of a file; begun again with the same words, a run goes on where it was.

    Exit codes: 0 all routes ended by themselves; 1 some are lost (--retry), or the policy broke in some (--redo
    failed_by_policy); 2 bad option or another run's directory; 4 routes are left because no simulator, or the policy's
    server, could be reached; 130 interrupted (Ctrl+C, SIGTERM): again goes on.

    Example: driveproof drive --policy expert --suite suites/smoke.xml --out runs/expert

    Example: driveproof drive --policy transformers:models/vqa_sft/text --suite bench2drive220.xml --workers 2 --out runs/vlm
    """
    if context.invoked_subcommand is not None:
        return
    simulators = _simulators(sim, sim_command, sim_gpus, workers, recycle)
    again = _again(retry, redo)
    words = (graph, mode, rate, latency, record, truth, pictures, repeats, seed)
    with _begun(policy, serve, suite, out, limit, only, _settings(*words), server_start) as (
        run,
        model,
    ):
        _drive(run, simulators, _care(attempts, recycle, server_start), model, again, as_json)


@app.command("plan")
def plan_command(
    policy: PolicyOption = "",
    suite: SuiteOption = None,
    out: OutOption = None,
    serve: ServeOption = "",
    limit: LimitOption = None,
    only: OnlyOption = "",
    repeats: RepeatsOption = 1,
    seed: SeedOption = 0,
    graph: GraphOption = "",
    mode: ModeOption = "",
    rate: RateOption = 2.0,
    latency: LatencyOption = "none",
    record: RecordOption = "decisions",
    truth: TruthOption = False,
    pictures: PicturesOption = "224x128",
    server_start: ServerStartOption = 180.0,
) -> None:
    """Write the directory of a run and drive nothing: its routes are a queue for `driveproof drive worker`.

    Example: driveproof drive plan --policy expert --suite suites/smoke.xml --out runs/expert
    """
    words = (graph, mode, rate, latency, record, truth, pictures, repeats, seed)
    with _begun(policy, serve, suite, out, limit, only, _settings(*words), server_start) as (
        run,
        _,
    ):
        typer.echo(f"{len(run.plan.episodes)} routes in {run.path}")


@app.command("worker")
def worker_command(
    directory: Annotated[Path, typer.Argument(help="Of a run that has been planned.")],
    sim: SimOption = "embedded",
    sim_command: CommandOption = "",
    sim_gpus: GpusOption = "",
    workers: WorkersOption = 1,
    attempts: AttemptsOption = 3,
    recycle: RecycleOption = None,
    server_start: ServerStartOption = 180.0,
    retry: RetryOption = False,
    redo: RedoOption = "",
    as_json: AsJson = False,
) -> None:
    """Take routes from a run's queue until none is left; several may do so at once, on several hosts.

    Exit codes as of `driveproof drive`.

    Example: driveproof drive worker runs/expert --sim 127.0.0.1:2000

    Example: driveproof drive worker runs/expert --sim-command "./CarlaUE4.sh -RenderOffScreen -carla-rpc-port={port} -graphicsadapter={gpu}" --sim-gpus 0,1 --workers 2
    """
    from driveproof.drive.begin import check_policy, model_server
    from driveproof.drive.rundir import RunDirectory

    simulators = _simulators(sim, sim_command, sim_gpus, workers, recycle)
    again = _again(retry, redo)
    run = RunDirectory(directory)
    with model_server(run.plan.policy.served, run.plan.settings.seed, server_start) as model:
        check_policy(run, model)
        _drive(run, simulators, _care(attempts, recycle, server_start), model, again, as_json)


@contextmanager
def _begun(
    policy: str,
    serve: str,
    suite: Path | None,
    out: Path | None,
    limit: int | None,
    only: str,
    settings: DriveSettings,
    server_start: float,
) -> Iterator[tuple[RunDirectory, ModelServer | None]]:
    """The run's directory, begun or gone on with, and the model's server while it is needed."""
    from driveproof.drive.begin import begin_run, model_server, served_spec

    spec, served = served_spec(policy, serve)
    source, target = _needed(suite, "--suite"), _needed(out, "--out")
    with model_server(served, settings.seed, server_start) as model:
        run = begin_run(
            target,
            source,
            spec,
            settings,
            limit=limit,
            only=_ids(only),
            served=served,
            model=model,
        )
        yield run, model


def _settings(
    graph: str,
    mode: str,
    rate: float,
    latency: str,
    record: str,
    truth: bool,
    pictures: str,
    repeats: int,
    seed: int,
) -> DriveSettings:
    from driveproof.drive.plan import DriveSettings, Record, parse_pictures
    from driveproof.errors import BadInput

    if record not in list(Record):
        raise BadInput(f"{record} is none", field="--record", hint=", ".join(Record))
    return DriveSettings(
        seed=seed,
        repeats=repeats,
        rate_hz=rate,
        latency=latency,
        graph=graph,
        mode=mode,
        record=Record(record),
        truth=truth,
        pictures=parse_pictures(pictures),
    )


def _care(attempts: int, recycle: int | None, server_start: float) -> Care:
    from driveproof.drive.runner import Care

    care = Care(budget=attempts, model_wait_s=server_start)
    return care if recycle is None else replace(care, recycle_after=recycle or None)


@dataclass(frozen=True)
class _Again:
    """Which routes that have ended are driven again."""

    lost: bool
    states: tuple[RouteState, ...]


def _again(retry: bool, redo: str) -> _Again:
    from driveproof.errors import BadInput
    from driveproof.evaluation.driving.records import RouteState

    known = {state.value: state for state in RouteState if state.ended}
    names = _ids(redo)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInput(f"{unknown[0]} is none", field="--redo", hint=", ".join(known))
    return _Again(retry, tuple(known[name] for name in names))


def _simulators(
    sim: str, command: str, gpus: str, workers: int, recycle: int | None
) -> list[Where]:
    from driveproof.drive.simulators import Address, parse_simulators
    from driveproof.errors import BadInput

    found = parse_simulators(sim, workers, command, gpus)
    if recycle and any(isinstance(where, Address) for where in found):
        raise BadInput(
            f"who started {sim} must start it anew", field="--recycle", hint="or give --sim-command"
        )
    return found


def _needed(path: Path | None, option: str) -> Path:
    from driveproof.errors import BadInput

    if path is None:
        raise BadInput("is missing", field=option)
    return path


def _ids(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _drive(
    run: RunDirectory,
    simulators: list[Where],
    care: Care,
    model: ModelServer | None,
    again: _Again,
    as_json: bool,
) -> None:
    """Drive what is left, with a bar, and say how it ended; exit code 1 if routes are lost or the policy broke."""
    from driveproof.cli.status import show
    from driveproof.drive.runner import drive
    from driveproof.drive.status import look_at

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's polite end
    run.requeue(lost=again.lost, states=again.states)
    try:
        with _Bar(run) as bar:
            drive(run, simulators, care, bar.note, model)
    except KeyboardInterrupt:
        look = f"driveproof status {run.path}"
        typer.echo(
            f"interrupted: the same words again go on with it; {look} says where it is", err=True
        )
        raise
    reports = look_at(run)
    show(run, reports, as_json)
    advice = _advice(reports)
    for line in advice:
        typer.echo(line, err=True)
    if advice:
        raise typer.Exit(1)


def _advice(reports: list[RouteReport]) -> list[str]:
    """What can be done about routes that did not end by themselves, a line each kind."""
    from driveproof.drive.status import lost
    from driveproof.evaluation.driving.records import RouteState

    gone = len(lost(reports))
    state = RouteState.FAILED_BY_POLICY
    broke = sum(one.state is state and one.record is not None for one in reports)
    lines = [f"{gone} lost: --retry drives them again"] if gone else []
    if broke:
        lines.append(
            f"{broke} {state}: they are scored and stay, also with --retry; --redo {state} drives them again"
        )
    return lines


class _Bar:
    """A progress bar of routes on stderr."""

    def __init__(self, run: RunDirectory) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn
        from rich.progress import TimeRemainingColumn as Left

        from driveproof.cli.console import Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
        self._bar = Progress(*columns, console=Console(stderr=True))
        ended = sum(status.state.ended for _, status in run.statuses())
        total = len(run.plan.episodes)
        self._task = self._bar.add_task("driving", total=total, completed=ended)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def note(self, key: str, status: RouteStatus) -> None:
        """A route's state has changed."""
        if status.state.ended:
            self._bar.advance(self._task)
        last = status.attempts[-1]
        if last.reason:
            self._bar.console.print(f"{key}: {last.ending}: {last.reason}")

"""Drive a suite with many simulators, publish the scores, and let the version that drove challenge the champion.

A run directory is the queue: one worker a simulator takes routes from it until none is left, so any worker, and the
whole flow, may die at any moment and be started again. Workers run here, or in a work pool with a slot a simulator.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run
from prefect.task_runners import ThreadPoolTaskRunner

from flows._commands import CommandFailed, output, run
from flows.promotion import REPOSITORY, promote_challenger

DRIVEPROOF = [sys.executable, "-m", "driveproof"]
ROUTES_LOST, UNREACHABLE = 1, 4
MOST_SIMULATORS = 64
SCORED = ("completed", "failed_by_policy")
"""States of routes that say something about the policy."""


@task(cache_policy=NO_CACHE, task_run_name="{words[0]}")
def command(words: Sequence[str], repository: Path, grace_s: float) -> None:
    """``driveproof`` with these words."""
    run([*DRIVEPROOF, *words], repository, get_run_logger().info, grace_s)


@task(cache_policy=NO_CACHE, task_run_name="simulator {simulator}")
def take_routes(
    directory: Path, simulator: str, repository: Path, options: Sequence[str], grace_s: float
) -> bool:
    """Drive routes of a run with one simulator until none is left; returns whether all were scored.

    A simulator that cannot be reached is no failure of the flow: others take its routes, or they are lost.
    """
    words = ["drive", "worker", str(directory), "--sim", simulator, *options]
    log = get_run_logger().info
    answers = (0, ROUTES_LOST, UNREACHABLE)
    code = run([*DRIVEPROOF, *words], repository, log, grace_s, answers=answers)
    if code == UNREACHABLE:
        get_run_logger().warning("the simulator %s could not be reached", simulator)
    return code == 0


@task(cache_policy=NO_CACHE, task_run_name="slot for {simulator}")
def fill_slot(slots: str, directory: Path, simulator: str, options: list[str] | None) -> None:
    """Have a run of the deployment ``slots`` drive with a simulator, and wait for its end."""
    parameters = {"directory": str(directory), "simulator": simulator, "options": options or []}
    ended = run_deployment(slots, parameters=parameters, timeout=None, poll_interval=1.0)
    state = cast(FlowRun, ended).state
    if state is None or not state.is_completed():
        get_run_logger().warning("the slot of %s ended as %s", simulator, state and state.name)


@flow(name="simulator-slot", log_prints=True)
def simulator_slot(
    directory: Path,
    simulator: str = "embedded",
    repository: Path = REPOSITORY,
    options: list[str] | None = None,
    grace_s: float = 10.0,
) -> bool:
    """One slot of a work pool: a simulator of this host takes routes from a run's directory.

    The directory must lie on a file system that all hosts share and whose locks hold between them.
    """
    return take_routes(directory, simulator, repository.resolve(), options or [], grace_s)


@flow(
    name="closed-loop",
    log_prints=True,
    task_runner=cast(Any, ThreadPoolTaskRunner(max_workers=MOST_SIMULATORS)),
)
def closed_loop(
    suite: str = "suites/smoke.xml",
    policy: str = "",
    version: str = "",
    out: str = "",
    repository: Path = REPOSITORY,
    simulators: list[str] | None = None,
    slots: str = "",
    plan: list[str] | None = None,
    options: list[str] | None = None,
    publish: bool = True,
    promote: bool = False,
    grace_s: float = 10.0,
) -> str:
    """Drive a suite to its end; returns the run's directory.

    Parameters
    ----------
    suite
        Route file, from the repository's root.
    policy
        As of ``driveproof drive --policy``; "" for the model of ``version``.
    version
        ``name@alias`` or ``name/number`` in the registry: what drives if ``policy`` is "", and what the scores are
        attached to. An alias is looked up once, when the run begins: what is registered meanwhile gets nothing of it.
        "" attaches the scores to nothing.
    out
        Directory of the run; "" for ``runs/`` and the id of this flow run, so that a retry of it goes on.
    simulators
        One worker each: "embedded" or "HOST:PORT"; default: two embedded.
    slots
        A deployment of ``simulator-slot`` that gets a run for each simulator; "" for workers in this process.
    plan, options
        More words of ``driveproof drive plan`` and of ``driveproof drive worker``.
    publish, promote
        Whether the scores go to the registry, and whether the version may then become the champion.

    Raises
    ------
    CommandFailed
        If routes were lost: the others are scored and published first, but the night was not whole.
    """
    repository = repository.resolve()
    directory = repository / (out or f"runs/{flow_run.id or 'local'}")
    version = _pinned(version, directory, repository) if version else ""
    if version and not policy:
        folder = directory.with_name(f"{directory.name}-model")
        command(["registry", "fetch", version, str(folder)], repository, grace_s)
        policy = f"transformers:{folder}"
    words = ["drive", "plan", "--policy", policy, "--suite", suite, "--out", str(directory)]
    command([*words, *(plan or [])], repository, grace_s)
    problems = _drive(
        directory, simulators or ["embedded"] * 2, slots, repository, options, grace_s
    )
    totals = _totals(directory, repository)
    if any(totals[state] for state in SCORED):
        command(["evaluate", "drive", str(directory)], repository, grace_s)
        if version and publish:
            words = ["publish", "--drive", str(directory), "--version", version]
            command(words, repository, grace_s)
            if promote:
                name = version.partition("/")[0]
                promote_challenger(repository, name, False, grace_s, [version])
    lost = sum(count for state, count in totals.items() if state not in SCORED)
    if lost:
        look = f"look with: driveproof status {directory}"
        raise CommandFailed("\n".join([f"{lost} routes were lost; {look}", *problems]))
    return str(directory)


def _pinned(version: str, directory: Path, repository: Path) -> str:
    """The one version that a reference means, noted beside the run: a retry is about the same one."""
    note = directory.with_name(f"{directory.name}-version")
    if note.is_file():
        return note.read_text(encoding="utf-8").strip()
    found = output([*DRIVEPROOF, "registry", "resolve", version], repository)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(f"{found}\n", encoding="utf-8")
    return found


def _drive(
    directory: Path,
    simulators: Sequence[str],
    slots: str,
    repository: Path,
    options: list[str] | None,
    grace_s: float,
) -> list[str]:
    """All workers side by side, until each has ended; what went wrong with which.

    One that fails takes nothing from the others, and what it left they take.
    """
    going: list[PrefectFuture[Any]] = []
    for simulator in simulators:
        if slots:
            going.append(fill_slot.submit(slots, directory, simulator, options))
        else:
            words = options or []
            going.append(take_routes.submit(directory, simulator, repository, words, grace_s))
    problems = []
    for simulator, worker in zip(simulators, going, strict=True):
        ended = worker.result(raise_on_failure=False)
        if isinstance(ended, BaseException):
            problems.append(f"{simulator}: {ended}")
            get_run_logger().warning("the worker of %s failed: %s", simulator, ended)
    return problems


def _totals(directory: Path, repository: Path) -> dict[str, int]:
    """How many routes are in which state."""
    told = json.loads(output([*DRIVEPROOF, "status", str(directory), "--json"], repository))
    totals: dict[str, int] = told["totals"]
    return totals


if __name__ == "__main__":
    closed_loop(policy="expert")

"""Beginning a run, or going on with one: routes, policy and settings become a plan in a directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from driveproof.drive.models import READY_S, ModelServer
from driveproof.drive.openers import ADDRESS, answers, describe, graph_of
from driveproof.drive.plan import DriveSettings, choose_routes, differences, make_plan
from driveproof.drive.rundir import OtherRun, RunDirectory
from driveproof.errors import BadInput

WIRE = f"wire:{ADDRESS}"
OWN_PROCESS = ("transformers:", "baseline:")
"""Models that are served by a process of their own, so that it is loaded once and not by every episode."""


def served_spec(policy: str, serve: str) -> tuple[str, str]:
    """The policy's specification, and what a server of ours serves to it ("" for none).

    Raises
    ------
    BadInput
        If both are given and do not belong together.
    """
    if serve:
        if policy and policy != serve:
            raise BadInput("give --policy or --serve, not both", field="--serve")
        return WIRE, serve
    if policy.startswith(OWN_PROCESS):
        return WIRE, policy
    if not policy:
        raise BadInput(
            "who drives?", field="--policy", hint="expert, random, transformers:FOLDER …"
        )
    return policy, ""


@contextmanager
def model_server(
    served: str, seed: int = 0, ready_s: float = READY_S
) -> Iterator[ModelServer | None]:
    """The server of a policy for as long as the block lasts; None where nothing is served.

    ``ready_s`` seconds may pass until it answers, each time that it is started.

    Raises
    ------
    BadInput
        If the model's folder is not there; nothing is started then.
    """
    if not served:
        yield None
        return
    _check_folder(served)
    with ModelServer(served, lambda url: answers(f"wire:{url}"), seed, ready_s) as server:
        yield server


def _check_folder(served: str) -> None:
    kind, _, rest = served.partition(":")
    if kind == "transformers" and not Path(rest).is_dir():
        raise BadInput("no such model folder", path=rest)
    if kind == "baseline":
        from driveproof.policy.baselines import baseline_folder

        baseline_folder(rest)


def begin_run(
    out: str | Path,
    suite: str | Path,
    policy: str,
    settings: DriveSettings,
    *,
    limit: int | None = None,
    only: Sequence[str] = (),
    served: str = "",
    model: ModelServer | None = None,
) -> RunDirectory:
    """The directory of a run, new or the one that is there.

    Parameters
    ----------
    policy, served, model
        As :func:`served_spec` and :func:`model_server` give them.

    Raises
    ------
    BadInput
        If suite, policy or settings are none, or do not fit each other.
    OtherRun
        If the directory holds another run.
    Unreachable
        If the policy's server does not answer.
    """
    routes = choose_routes(suite, limit, only)
    address = "" if model is None else model.address()
    facts, settings = describe(policy, settings, served, address)
    return RunDirectory.begin(out, make_plan(suite, routes, facts, settings), suite)


def check_policy(run: RunDirectory, model: ModelServer | None) -> None:
    """Refuse to go on with a run by another policy than began it.

    Raises
    ------
    OtherRun
        If the policy is another one now.
    BadInput, Unreachable
        If it cannot be opened, or the graph in the run's plan is not the one it was begun with.
    """
    plan = run.plan
    address = "" if model is None else model.address()
    now, _ = describe(
        plan.policy.spec, plan.settings, plan.policy.served, address, graph_of(plan.policy)
    )
    found = differences(plan, plan.model_copy(update={"policy": now}))
    if found:
        raise OtherRun(f"another policy than began it: {'; '.join(found[:3])}", path=run.path)

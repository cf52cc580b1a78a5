"""Many performances: every scenario with several seeds and both drivers, and what came of them."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from driveproof.errors import UserError
from driveproof.sim.client import Session, start_server
from driveproof.sim.scenarios.registry import SCENARIOS, abilities
from driveproof.sim.scenarios.run import ScenarioResult, run_scenario
from driveproof.sim.scenarios.sheet import Moments, contact_sheet, write_sheet
from driveproof.sim.scenarios.stage import DriverName
from driveproof.workers import process_pool


@dataclass(frozen=True)
class Task:
    """All performances of one scenario by one driver."""

    name: str
    driver: DriverName
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """What came of a task.

    Attributes
    ----------
    done, good
        Performances that took place, and those that went as declared: the expert without infraction, the
        oblivious driver with exactly the infraction that the scenario is about.
    lost
        Seeds for which no place was found, with the reason.
    runs
        One entry a performance.
    """

    name: str
    driver: str
    abilities: tuple[str, ...]
    fails: str
    done: int
    good: int
    lost: dict[int, str]
    runs: tuple[dict[str, Any], ...]


def as_declared(result: ScenarioResult) -> bool:
    """Whether a performance went as the scenario declares."""
    if result.driver == "expert":
        return result.passed
    return result.kinds == (SCENARIOS[result.name].fails.value,)


def tasks_of(names: Iterable[str], seeds: int, oblivious_seeds: int, first: int) -> list[Task]:
    """Both drivers for every scenario, those of one town together."""
    ordered = sorted(names, key=lambda name: (SCENARIOS[name].towns[0], name))
    counts = dict(zip(get_args(DriverName), (seeds, oblivious_seeds), strict=True))
    return [
        Task(name, driver, tuple(range(first, first + counts[driver])))
        for name in ordered
        for driver in get_args(DriverName)
        if counts[driver] > 0
    ]


def perform(
    tasks: Sequence[Task],
    sheets: str | Path,
    workers: int = 1,
    done: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Perform tasks on embedded servers, one a worker; a sheet of each task's first performance.

    The rows are in the order of the tasks, whatever the number of workers.
    """
    town = SCENARIOS[tasks[0].name].towns[0] if tasks else "Town03"
    rows = []
    if workers == 1:
        with ExitStack() as stack:
            session = _open(stack, town)
            for task in tasks:
                rows.append(perform_task(session, task, Path(sheets)))
                done(rows[-1])
        return rows
    work = partial(_in_worker, sheets=Path(sheets))
    with process_pool(workers, _raise_server, (town,)) as pool:
        for row in pool.map(work, tasks):
            rows.append(row)
            done(row)
    return rows


def _open(stack: ExitStack, town: str) -> Session:
    """A session with a server of its own; both end with ``stack``."""
    server = start_server(town)
    stack.callback(server.stop)
    return stack.enter_context(Session.open(server.host, server.port, town=town))


_WORKER: list[Session] = []
"""The session of a worker process."""


def _raise_server(town: str) -> None:
    stack = ExitStack()
    atexit.register(stack.close)
    _WORKER.append(_open(stack, town))


def _in_worker(task: Task, sheets: Path) -> Row:
    return perform_task(_WORKER[0], task, sheets)


def perform_task(session: Session, task: Task, sheets: Path) -> Row:
    """One task in a session that is open."""
    runs: list[dict[str, Any]] = []
    lost: dict[int, str] = {}
    good = 0
    for seed in task.seeds:
        moments = Moments() if seed == task.seeds[0] else None
        town = SCENARIOS[task.name].towns[0]
        try:
            result = run_scenario(session, task.name, task.driver, seed, town, moments)
        except UserError as error:
            lost[seed] = str(error)
            continue
        good += as_declared(result)
        runs.append(_run(result))
        if moments is not None:
            kinds = ", ".join(result.kinds) or "no infraction"
            title = f"{task.name}, {task.driver}, {result.town}, seed {seed}: {kinds}"
            sheet = contact_sheet(moments, session.town, title)
            write_sheet(sheets / f"{task.name}_{task.driver}.jpg", sheet)
    fails = SCENARIOS[task.name].fails.value
    able = tuple(ability.value for ability in abilities(task.name))
    return Row(task.name, task.driver, able, fails, len(runs), good, lost, tuple(runs))


def _run(result: ScenarioResult) -> dict[str, Any]:
    """A performance as plain values; ids of actors depend on what ran before and stay out."""
    entry = asdict(result)
    entry["roles"] = {role: len(ids) for role, ids in result.roles.items()}
    entry["place"] = [round(value, 2) for value in result.place]
    entry["infractions"] = [
        {"kind": one.kind.value, "time": round(one.time, 2), "text": one.text}
        for one in result.infractions
    ]
    entry["as_declared"] = as_declared(result)
    return {key: entry[key] for key in entry if key not in ("name", "driver")}

"""A whole collection: many clips over situations and towns, by several simulators, and an index of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import asdict
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Self

from driveproof.collect.clips import (
    DELTA_S,
    ClipRecord,
    ClipTask,
    record_clip,
    roads_of,
)
from driveproof.collect.situations import shares
from driveproof.collect.staging import seeded
from driveproof.collect.weather import weather
from driveproof.config.collect import CollectParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.sim.client import ServerHandle, ServerLost, Session, Supervisor
from driveproof.workers import process_pool

Progress = Callable[[ClipRecord], None]
TRIES = 3
"""How often a clip is begun anew when its simulator or its process dies."""


def collect(
    params: CollectParams,
    seed: int,
    directory: str | Path,
    progress: Progress | None = None,
) -> list[ClipRecord]:
    """Record ``params.clips`` clips into ``directory`` with an ``index.json``.

    The bytes depend on the parameters (without ``workers``) and the seed only. The directory appears
    whole or not at all.

    Raises
    ------
    MissingMap, BadInput
        If a town, weather or situation is unknown, or no clip could be made at all.
    """
    names = shares(params.weights, params.clips)
    for number in params.weathers:
        weather(number)
    for town in params.towns:
        roads_of(town)
    order = seeded(seed, "campaign").permutation(len(names)).tolist()
    with atomic_dir(directory) as temporary:
        tasks = [
            ClipTask(number, names[index], seed, params, temporary)
            for number, index in enumerate(order)
        ]
        records = []
        for record in _run(tasks, params.workers):
            records.append(record)
            if progress is not None:
                progress(record)
        records.sort(key=lambda record: record.number)
        if not any(record.clip for record in records):
            raise BadInput(
                "no clip could be made", path=directory, hint="other towns, more attempts"
            )
        keep = {f"{record.clip}.tar" for record in records}
        for left in [path for path in temporary.iterdir() if path.name not in keep]:
            left.unlink()  # half a clip of a process that died
        write_json(temporary / "index.json", index_of(records, params, seed))
    return records


def _run(tasks: list[ClipTask], workers: int) -> Iterator[ClipRecord]:
    """Records in any order, from processes of their own: the client library can end its process."""
    left = {task.number: task for task in tasks}
    for _ in range(TRIES):
        try:
            for record in _pooled(list(left.values()), workers):
                del left[record.number]
                yield record
            return
        except BrokenProcessPool:  # one is dead, the clips of the others are kept
            continue
    raise ServerLost("processes of the collection die again and again")


def _pooled(tasks: list[ClipTask], workers: int) -> Iterator[ClipRecord]:
    simulator = tasks[0].params.simulator
    with process_pool(min(workers, len(tasks)), _open_simulator, (simulator,)) as pool:
        for done in as_completed([pool.submit(_record, task) for task in tasks]):
            yield done.result()


class Simulator:
    """A supervised server with one session for many clips. A context manager.

    ``command`` is that of a CARLA server; empty starts the embedded one.
    """

    def __init__(self, command: Sequence[str] = ()) -> None:
        self._supervisor = Supervisor("Town01", command=command or None)
        self._stack = ExitStack()
        self._session: Session | None = None

    def __enter__(self) -> Self:
        self._supervisor.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._supervisor.__exit__(None, None, None)

    def record(self, task: ClipTask) -> ClipRecord:
        """Make one clip; with a new server if this one is lost."""
        for left in reversed(range(TRIES)):
            try:
                return record_clip(task, self.session)
            except ServerLost:
                self._stack.close()
                self._session = None
                if not left:
                    raise
        raise AssertionError("unreachable")

    @property
    def server(self) -> ServerHandle:
        """The server that runs now."""
        return self._supervisor.server

    @property
    def session(self) -> Session:
        """The session, opened when it is first needed."""
        if self._session is None:
            opened = self._supervisor.session(DELTA_S)
            self._session = self._stack.enter_context(opened)
        return self._session


_OWN: dict[str, Simulator] = {}
"""The simulator of this worker process."""


def _open_simulator(command: Sequence[str]) -> None:
    _OWN["simulator"] = Simulator(command).__enter__()
    Finalize(None, _OWN["simulator"].__exit__, exitpriority=10)


def _record(task: ClipTask) -> ClipRecord:
    return _OWN["simulator"].record(task)


def index_of(records: list[ClipRecord], params: CollectParams, seed: int) -> dict[str, Any]:
    """What ``index.json`` says: each clip, and how many setups were rejected for which reason."""
    rejected = Counter(reason for record in records for reason in record.rejected)
    return {
        "seed": seed,
        "params": params.model_dump(mode="json", exclude={"workers"}),
        "clips": [asdict(record) for record in records if record.clip],
        "failed": [asdict(record) for record in records if not record.clip],
        "rejected_setups": dict(sorted(rejected.items())),
        "situations": dict(sorted(Counter(r.situation for r in records if r.clip).items())),
        "towns": dict(sorted(Counter(r.town for r in records if r.clip).items())),
    }

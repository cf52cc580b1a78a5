"""A run's directory: its plan and suite, a folder a route, and claims by which workers share it.

A claim is a lock of the operating system on ``routes/<key>/lock``: it ends with the process that holds it, however
that ends, so no claim is ever stale. Workers of several hosts need a file system whose locks hold between them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from driveproof.drive.notes import HEARTBEAT_FILE, LOG_FILE, SO_FAR_FILE
from driveproof.drive.plan import DrivePlan, Episode, differences, read_plan
from driveproof.drive.results import has_result
from driveproof.drive.states import STATE_FILE, RouteStatus, look_up, write_status
from driveproof.errors import UserError
from driveproof.evaluation.driving.records import RouteState
from driveproof.files import atomic_path, is_leftover, sha256_file, sync, write_json
from driveproof.sim.routes import RouteSpec, parse_routes

RUN_FILE, SUITE_FILE = "run.json", "suite.xml"
ATTEMPT = "attempt"
"""Folder of the attempt that goes on, within the route's; who claims the route next removes it."""


CRASH = "crash-"
"""Begins the names of what the processes of failed attempts printed."""


class OtherRun(UserError):
    """The directory belongs to a run of another suite, policy or other settings."""


@dataclass
class Claim:
    """The right to drive an episode; a context manager that gives it back."""

    folder: Path
    episode: Episode
    _handle: int

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give it back."""
        os.close(self._handle)

    @property
    def status(self) -> RouteStatus:
        """As the file says; queued if it is broken."""
        return look_up(self.folder)

    def write(self, status: RouteStatus) -> RouteStatus:
        """Write the state; returns it."""
        write_status(self.folder, status)
        return status

    def fresh(self) -> Path:
        """An empty folder for an attempt; what an earlier one left is gone."""
        folder = self.folder / ATTEMPT
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def publish(self) -> None:
        """Move what the attempt has made into the route's folder, in place of what is there."""
        attempt = self.folder / ATTEMPT
        for passing in (HEARTBEAT_FILE, SO_FAR_FILE):
            (attempt / passing).unlink(missing_ok=True)
        for old in self.folder.iterdir():
            if old.name not in ("lock", STATE_FILE, ATTEMPT) and not old.name.startswith(CRASH):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for made in sorted(attempt.iterdir()):
            sync(made)  # before the state says that it is there
            os.replace(made, self.folder / made.name)
        attempt.rmdir()

    def discard(self, number: int) -> None:
        """Remove what attempt ``number`` has made, but for what its process printed."""
        attempt = self.folder / ATTEMPT
        log = attempt / LOG_FILE
        if log.exists() and log.stat().st_size:
            os.replace(log, self.folder / f"{CRASH}{number}.txt")
        shutil.rmtree(attempt, ignore_errors=True)


class RunDirectory:
    """A run on disk.

    Attributes
    ----------
    path, plan
        Where, and what.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan: DrivePlan = read_plan(path / RUN_FILE)
        self._specs: dict[str, RouteSpec] = {}

    @classmethod
    def begin(cls, path: str | Path, plan: DrivePlan, suite: str | Path) -> RunDirectory:
        """Start a run, or go on with it if the directory holds the same one.

        Raises
        ------
        OtherRun
            If it holds another run; says what differs.
        UserError
            If it holds something else, or cannot be written.
        """
        path = Path(path)
        if (path / RUN_FILE).exists():
            run = cls(path)
            found = differences(run.plan, plan)
            if found:
                more = f" and {len(found) - 3} more" if len(found) > 3 else ""
                raise OtherRun(
                    f"holds another run: {'; '.join(found[:3])}{more}",
                    path=path,
                    hint=_other_hint(found),
                )
            return run
        if path.exists() and not path.is_dir():
            raise UserError("is a file, no directory of a run", path=path, field="--out")
        _clear(path)
        (path / "routes").mkdir(parents=True, exist_ok=True)
        with atomic_path(path / SUITE_FILE, durable=True) as temporary:
            shutil.copyfile(suite, temporary)
        write_json(path / RUN_FILE, plan.model_dump(mode="json"), durable=True)
        return cls(path)

    def folder(self, episode: Episode) -> Path:
        """Where an episode's files lie."""
        return self.path / "routes" / episode.key

    def spec(self, route: str) -> RouteSpec:
        """A route of the suite.

        Raises
        ------
        UserError
            If the copy of the suite is not the one that the run was begun with.
        """
        if not self._specs:
            self._specs = self._read_suite()
        if route not in self._specs:
            raise UserError(f"has no route {route}", path=self.path / SUITE_FILE)
        return self._specs[route]

    def _read_suite(self) -> dict[str, RouteSpec]:
        path, suite = self.path / SUITE_FILE, self.plan.suite
        routes = parse_routes(path)  # says what is wrong with a file that is absent or none
        if sha256_file(path) != suite.sha256:
            raise UserError(
                "is not the suite that the run was begun with",
                path=path,
                hint=f"put {suite.name} back, or begin a new run",
            )
        return {spec.key: spec for spec in routes}

    def statuses(self) -> Iterator[tuple[Episode, RouteStatus]]:
        """Every episode with its state, in the order of the plan."""
        for episode in self.plan.episodes:
            yield episode, look_up(self.folder(episode))

    def claim(self, episode: Episode) -> Claim | None:
        """The right to drive an episode; None if somebody else has it.

        Raises
        ------
        UserError
            If the file system knows no locks.
        """
        folder = self.folder(episode)
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return None
            raise UserError(f"cannot be locked: {error.strerror}", path=folder) from None
        return Claim(folder, episode, handle)

    def claim_next(self) -> Claim | None:
        """The first episode that is left and that nobody else drives; None if there is none."""
        for episode, status in self.statuses():
            claim = None if status.state.ended else self.claim(episode)
            if claim is None:
                continue
            if not claim.status.state.ended:  # it may have ended since the look
                return claim
            claim.release()
        return None

    def requeue(self, *, lost: bool = True, states: Collection[RouteState] = ()) -> int:
        """Put routes that have ended back into the queue with the whole budget; how many.

        Parameters
        ----------
        lost
            Those that are not scored, or without a record that can be read.
        states
            And all in one of these.
        """
        count = 0
        for episode, status in self.statuses():
            again = status.state in states or (lost and not self._scored(episode, status))
            claim = self.claim(episode) if status.state.ended and again else None
            if claim is not None:
                with claim:
                    claim.write(claim.status.queued_again())
                    count += 1
        return count

    def _scored(self, episode: Episode, status: RouteStatus) -> bool:
        return status.state.scored and has_result(self.folder(episode), episode)

    @property
    def over(self) -> bool:
        """Whether every route has ended."""
        return all(status.state.ended for _, status in self.statuses())

    def claimed(self, episode: Episode) -> bool:
        """Whether a living process holds an episode."""
        if not (self.folder(episode) / "lock").exists():
            return False
        claim = self.claim(episode)
        if claim is None:
            return True
        claim.release()
        return False


def _other_hint(found: list[str]) -> str:
    new = "choose a new directory"
    if any(line.startswith("routes: ") for line in found):
        return f"a run keeps its routes: for another --limit or --only {new}"
    return new


def _clear(path: Path) -> None:
    """Make sure that a directory holds nothing but what a run that was killed at its begin may have left.

    Raises
    ------
    UserError
        If it holds something else; nothing is touched then.
    """
    if not path.is_dir():
        return
    found = [item for item in path.iterdir() if item.name not in ("routes", SUITE_FILE)]
    ours = [item for item in found if any(is_leftover(item, n) for n in (RUN_FILE, SUITE_FILE))]
    if len(ours) < len(found):
        raise UserError("holds something else", path=path, hint="choose a new directory")
    for item in ours:
        item.unlink()

"""One episode: a route of a file, its scenarios, a policy in the ego, and everything that is written about it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from driveproof.drive.eyes import mounts_of
from driveproof.drive.film import Film
from driveproof.drive.notes import (
    MOTION_FILE,
    RECORD_FILE,
    SO_FAR_FILE,
    DecisionLog,
    Heartbeat,
    MotionLog,
)
from driveproof.drive.openers import make_seat
from driveproof.drive.plan import DrivePlan, Episode, Record
from driveproof.drive.seat import ModelLost, PolicyBroke, Seat, guarded
from driveproof.drive.states import Ending
from driveproof.errors import BadInput, Unreachable, UserError
from driveproof.evaluation.driving.clips import CLIP_FILE
from driveproof.evaluation.driving.records import (
    RouteRecord,
    RouteState,
    Status,
    read_record,
    status_of,
    write_record,
)
from driveproof.files import CannotWrite
from driveproof.maps import Route
from driveproof.sim.client import ServerLost, Session, SpawnBlocked, WorldState
from driveproof.sim.routes import RouteSpec
from driveproof.sim.scenarios import Stage
from driveproof.sim.scenarios.routes import RouteShow, start_route, story_of

TIMEOUT_S, TIMEOUT_S_A_METRE = 200.0, 0.8
"""Simulated seconds that a route may take: Bench2Drive's 4000 ticks, or by its length if that is more."""
_ASKED = "asked for a decision"


class RouteFailed(Exception):
    """The simulator cannot set the route up, or none of its scenarios."""


@dataclass(frozen=True)
class EpisodeTask:
    """All that a process needs to drive an episode.

    Attributes
    ----------
    plan, episode, spec
        What to drive.
    folder
        Where to write.
    address
        Where the policy's model is served, "" if it is not.
    """

    plan: DrivePlan
    episode: Episode
    spec: RouteSpec
    folder: Path
    address: str = ""


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended, and why if not of its own."""

    ending: Ending
    reason: str = ""


def drive_episode(session: Session, task: EpisodeTask) -> Outcome:
    """Drive an episode and write its files; the town is loaded afresh, so that no earlier drive leaves a trace.

    Raises
    ------
    ServerLost
        If the simulator is lost.
    """
    began = time.monotonic()
    try:
        return _drive(session, task)
    except ServerLost:
        raise
    except ModelLost as error:
        return Outcome(Ending.MODEL_SERVER, str(error))
    except PolicyBroke as error:  # before it drove
        record_broken(task, str(error), time.monotonic() - began)
        return Outcome(Ending.POLICY, str(error))
    except RouteFailed as error:
        return Outcome(Ending.ROUTE, str(error))
    except (CannotWrite, OSError) as error:
        if isinstance(error, ConnectionError | TimeoutError):
            raise
        return Outcome(Ending.DISK, disk_trouble(error))


def disk_trouble(error: CannotWrite | OSError) -> str:
    """What the operating system refused, and where, in one line."""
    if isinstance(error, CannotWrite):
        return str(error)
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


def record_broken(task: EpisodeTask, reason: str, system_s: float) -> None:
    """Write the record of an episode whose policy broke without a word, or before it drove.

    It says what was known when the policy was asked last; nothing was driven if it never was. Motion was not written.
    """
    folder = task.folder
    try:
        known = read_record(folder / SO_FAR_FILE)
    except BadInput:  # it was never asked
        known = _nothing_driven(task)
    record = replace(known, reason=reason, system_s=round(system_s, 3))
    write_record(folder / RECORD_FILE, record)
    (folder / SO_FAR_FILE).unlink(missing_ok=True)
    for half in (*folder.glob(".*"), *folder.glob("*.tar")):  # of a process that was ended
        half.unlink()


def _nothing_driven(task: EpisodeTask) -> RouteRecord:
    steps = np.diff(task.spec.positions[:, :2], axis=0)
    return RouteRecord(
        route_id=task.episode.route,
        repeat=task.episode.repeat,
        index=task.episode.index,
        scenarios=tuple(scenario.type for scenario in task.spec.scenarios),
        town=task.spec.town,
        weather_id="",
        state=RouteState.FAILED_BY_POLICY,
        status=Status.AGENT,
        completion=0.0,
        infractions=(),
        length_m=round(float(np.hypot(*steps.T).sum()), 3),
        game_s=0.0,
        system_s=0.0,
        speed_shares=(),
        seed=task.episode.seed,
        performed=(),
    )


def timeout_of(route: Route) -> float:
    """Simulated seconds after which a route is a ``route_timeout``."""
    return max(TIMEOUT_S, TIMEOUT_S_A_METRE * route.length)


@contextmanager
def _setting_up() -> Iterator[None]:
    """What goes wrong in the block is the route's; but for who does not answer, and a full disk."""
    try:
        yield
    except (Unreachable, CannotWrite):
        raise
    except (UserError, SpawnBlocked) as error:
        raise RouteFailed(str(error)) from error


def _drive(session: Session, task: EpisodeTask) -> Outcome:
    with _setting_up():
        session.load_town(task.spec.town)
    keep = task.plan.settings.record
    began = time.monotonic()
    with closing(DecisionLog(None if keep is Record.NONE else task.folder)) as log:
        staged = Staged(session, task, log)
        try:
            with staged, staged.filmed():
                broke = staged.play()
            log.close()
            staged.motion.write(task.folder)
            record = staged.record(time.monotonic() - began, broke)
            write_record(task.folder / RECORD_FILE, record)
            (task.folder / SO_FAR_FILE).unlink(missing_ok=True)
        finally:
            staged.leave()  # last: a policy that does not let go costs nothing that was driven
    if keep is Record.FAILURES and record.success:
        (task.folder / CLIP_FILE).unlink(missing_ok=True)
    return Outcome(Ending.POLICY, broke) if broke else Outcome(Ending.COMPLETED)


class Staged:
    """A route on a stage with its driver; a context manager that clears the stage."""

    def __init__(self, session: Session, task: EpisodeTask, log: DecisionLog) -> None:
        self._task, self._log = task, log
        self._began = time.monotonic()
        self._heartbeat = Heartbeat(task.folder)
        self._heartbeat.beat(
            0.0, 0.0, 0
        )  # the town is there: from now on it is the policy that may hang
        self._seat = make_seat(task.plan, task.episode, log, task.address, task.spec.weather(0.0))
        if isinstance(self._seat, Seat):
            policy, sizes = self._seat.policy, task.plan.settings.pictures
            guarded(lambda: mounts_of(policy.views, sizes))
            self._seat.before = self._note
        with _setting_up():  # reads the town
            self._stage = Stage(session, self._seat, story_of(task.spec))
        self._show: RouteShow | None = None
        self._route: Route | None = None
        self._begin: float | None = None
        self._time = 0.0
        self._film: Film | None = None
        self._junction: tuple[float, float] | None = None
        self.motion = MotionLog()

    def __enter__(self) -> Staged:
        return self

    def __exit__(self, *_: object) -> None:
        show = self._show
        self._stage.clear(show.actor_ids if show is not None else ())

    def leave(self) -> None:
        """Tell the policy that its episode is over."""
        self._seat.close()

    @contextmanager
    def filmed(self) -> Iterator[None]:
        """Record a clip of what is played in the block, if the run keeps clips."""
        task = self._task
        if task.plan.settings.record not in (Record.FAILURES, Record.ALL):
            yield
            return
        views = self._seat.policy.views if isinstance(self._seat, Seat) else ()
        sizes = task.plan.settings.pictures
        with Film(task.folder, task.episode, task.spec, views, sizes) as self._film:
            yield

    def play(self) -> str:
        """Drive until the route ends; how the policy broke, "" if it did not.

        Raises
        ------
        RouteFailed
            If the route cannot be begun, or as soon as none of its scenarios can be staged: an empty road says
            nothing about a policy.
        """
        task = self._task
        with _setting_up():
            route = start_route(self._stage, task.spec, timeout_of)
            self._route, self._junction = route, self._first_junction(route)
            self._show = RouteShow.of(self._stage, route, task.spec, task.episode.seed, math.inf)
        try:
            self._stage.play(self._show, self._watch)
        except PolicyBroke as error:
            return str(error)
        return ""

    def _watch(self, state: WorldState, ego_id: int) -> None:
        self._begin = state.time if self._begin is None else self._begin
        self._time = state.time - self._begin
        if self._show is not None and self._show.unstaged:
            raise RouteFailed(f"no scenario could be staged: {self._show.unstaged}")
        completion = self._stage.criteria.completion
        ego = state.actors.get(ego_id)
        if ego is not None and self._film is not None and self._route is not None:
            self._film.see(self._stage, self._stage.session.actor(ego_id), self._route, state)
        if ego is not None:
            self.motion.add(round(self._time, 9), ego, self._seat.pedals, completion)
        self._heartbeat.beat(self._time, completion, self._log.count)

    def _note(self) -> None:
        """Write down what is known, before the policy is asked."""
        record = replace(self.record(time.monotonic() - self._began, _ASKED), motion=None)
        write_record(self._task.folder / SO_FAR_FILE, record)

    def record(self, system_s: float, broke: str) -> RouteRecord:
        """What came of it; ``broke`` says how the policy broke, "" if it did not."""
        task, criteria, show = self._task, self._stage.criteria, self._show
        infractions = tuple(criteria.infractions)
        completion = round(criteria.completion, 6)
        return RouteRecord(
            route_id=task.episode.route,
            repeat=task.episode.repeat,
            index=task.episode.index,
            scenarios=tuple(scenario.type for scenario in task.spec.scenarios),
            town=task.spec.town,
            weather_id="",
            state=RouteState.FAILED_BY_POLICY if broke else RouteState.COMPLETED,
            status=Status.AGENT if broke else status_of(completion, infractions),
            completion=completion,
            infractions=infractions,
            length_m=round(criteria.route.length, 3),
            game_s=round(self._time, 3),
            system_s=round(system_s, 3),
            speed_shares=tuple(round(share, 6) for share in criteria.speed_shares),
            motion=MOTION_FILE,
            seed=task.episode.seed,
            reason=broke,
            first_junction=self._junction,
            performed=() if show is None else show.performed,
            skipped={} if show is None else dict(show.skipped),
        )

    def _first_junction(self, route: Route) -> tuple[float, float] | None:
        crossings = self._stage.roads.route_path(route).crossings
        return (crossings[0].start, crossings[0].end) if crossings else None

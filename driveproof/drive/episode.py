"""One episode: a route of a file, its scenarios, a policy in the ego, and everything that is written about it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from driveproof.drive.film import Film
from driveproof.drive.notes import MOTION_FILE, DecisionLog, Heartbeat, MotionLog
from driveproof.drive.openers import make_seat
from driveproof.drive.plan import DrivePlan, Episode, Record
from driveproof.drive.seat import ModelLost, PolicyBroke, Seat
from driveproof.drive.states import Ending
from driveproof.errors import UserError
from driveproof.evaluation.driving.clips import CLIP_FILE
from driveproof.evaluation.driving.records import (
    RouteRecord,
    RouteState,
    Status,
    status_of,
    write_record,
)
from driveproof.maps import Route
from driveproof.sim.client import ServerLost, Session, SpawnBlocked, WorldState
from driveproof.sim.routes import RouteSpec
from driveproof.sim.scenarios import Stage
from driveproof.sim.scenarios.routes import RouteShow, start_route, story_of

RECORD_FILE = "record.json"


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
    try:
        return _drive(session, task)
    except ServerLost:
        raise
    except ModelLost as error:
        return Outcome(Ending.MODEL_SERVER, str(error))
    except (UserError, SpawnBlocked) as error:
        return Outcome(Ending.ROUTE, str(error))


def _drive(session: Session, task: EpisodeTask) -> Outcome:
    session.load_town(task.spec.town)
    keep = task.plan.settings.record
    log = DecisionLog(None if keep is Record.NONE else task.folder)
    began = time.monotonic()
    with Staged(session, task, log) as staged, staged.filmed():
        broke = staged.play()
    log.close()
    staged.motion.write(task.folder)
    record = staged.record(time.monotonic() - began, broke)
    write_record(task.folder / RECORD_FILE, record)
    if keep is Record.FAILURES and record.success:
        (task.folder / CLIP_FILE).unlink(missing_ok=True)
    return Outcome(Ending.POLICY, broke) if broke else Outcome(Ending.COMPLETED)


class Staged:
    """A route on a stage with its driver; a context manager that clears the stage."""

    def __init__(self, session: Session, task: EpisodeTask, log: DecisionLog) -> None:
        self._task, self._log = task, log
        self._seat = make_seat(task.plan, task.episode, log, task.address, task.spec.weather(0.0))
        self._stage = Stage(session, self._seat, story_of(task.spec))
        self._show: RouteShow | None = None
        self._route: Route | None = None
        self._begin: float | None = None
        self._time = 0.0
        self._film: Film | None = None
        self._heartbeat = Heartbeat(task.folder)
        self.motion = MotionLog()

    def __enter__(self) -> Staged:
        return self

    def __exit__(self, *_: object) -> None:
        show = self._show
        self._stage.clear(show.actor_ids if show is not None else ())

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
        """Drive until the route ends; how the policy broke, "" if it did not."""
        self._route = start_route(self._stage, self._task.spec)
        seed = self._task.episode.seed
        self._show = RouteShow.of(self._stage, self._route, self._task.spec, seed)
        try:
            self._stage.play(self._show, self._watch)
        except PolicyBroke as error:
            return str(error)
        return ""

    def _watch(self, state: WorldState, ego_id: int) -> None:
        self._begin = state.time if self._begin is None else self._begin
        self._time = state.time - self._begin
        completion = self._stage.criteria.completion
        ego = state.actors.get(ego_id)
        if ego is not None and self._film is not None and self._route is not None:
            self._film.see(self._stage, self._stage.session.actor(ego_id), self._route, state)
        if ego is not None:
            self.motion.add(round(self._time, 9), ego, self._seat.pedals, completion)
        self._heartbeat.beat(self._time, completion, self._log.count)

    def record(self, system_s: float, broke: str) -> RouteRecord:
        """What came of it; ``broke`` says how the policy broke, "" if it did not."""
        task, criteria = self._task, self._stage.criteria
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
            first_junction=self._first_junction(),
        )

    def _first_junction(self) -> tuple[float, float] | None:
        if self._route is None:
            return None
        crossings = self._stage.roads.route_path(self._route).crossings
        return (crossings[0].start, crossings[0].end) if crossings else None

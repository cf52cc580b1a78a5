"""The expert in a running session: the same annotations as in a clip, hence the same answers, and the wheel.

What our recorder writes is what the live expert reads. A clip of a drive therefore replays to what was said live.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driveproof.action import ActionModule
from driveproof.action.driver import KeyDriver
from driveproof.commenter.annotation import RATE_HZ, frame_of
from driveproof.commenter.clips import PAST_S, Window
from driveproof.commenter.commentary import Commenter
from driveproof.commenter.decision import ExpertDecision
from driveproof.commenter.frame import Frame
from driveproof.commenter.lateral import FLOWING
from driveproof.maps import Route
from driveproof.questions import ActionKeys
from driveproof.sim.client import Session, WorldState
from driveproof.sim.drivers import Path, Roads, Vehicle
from driveproof.sim.drivers.fleet import plant_of
from driveproof.sim.recorder import FRAME_S, Annotator, Mount, Recorder
from driveproof.sim.recorder.recorder import Sink
from driveproof.sim.scenarios import Stage

RoleActors = Mapping[str, Sequence[int]]
"""Actor ids by role."""


class LiveWindows:
    """Windows of a session that is going on: a past, and no future.

    Its :meth:`add` takes what a recorder gives.
    """

    def __init__(self, scenario: str = "") -> None:
        self._scenario = scenario
        self._frames: deque[Frame] = deque(maxlen=round(PAST_S * RATE_HZ) + 1)
        self._count = 0

    def add(self, anno: Mapping[str, Any]) -> None:
        """Take in the next annotation, 0.1 s after the last one."""
        self._frames.append(frame_of(anno, self._count, self._scenario))
        self._count += 1

    @property
    def window(self) -> Window:
        """The last frame and what came before it; IndexError before the first."""
        *past, now = self._frames
        return Window(tuple(past), now)


class LiveExpert:
    """The expert on the ego of a session: sees every state, keeps a window, decides when asked.

    Parameters
    ----------
    session, ego
        The simulator and the ``carla.Vehicle``.
    path
        The ego's way, of which the navigator speaks.
    scenario
        Its type, "" if there is none.
    roles
        Tells its role actors.
    mounts, weather
        Cameras whose view counts (no pictures are taken), and CARLA's weather parameters.
    also
        Takes each annotation after the window has, such as a clip writer's ``add_frame``.
    """

    def __init__(
        self,
        session: Session,
        ego: Any,
        path: Path,
        scenario: str = "",
        roles: Callable[[], RoleActors] = dict,
        *,
        mounts: Sequence[Mount] = (),
        weather: Mapping[str, float] | None = None,
        also: Sink | None = None,
    ) -> None:
        self.windows = LiveWindows(scenario)
        self._also = also
        self.commenter = Commenter(session.town)
        self.decision: ExpertDecision | None = None
        self._vehicle = Vehicle.on(path, int(ego.id))
        self._roles = roles
        rng = np.random.default_rng(0)
        annotator = Annotator(session.town, path, weather or {}, mounts, rng)
        self._recorder = Recorder(session, ego, annotator, self._take, pictures=False)
        self._time: float | None = None
        self._due = -np.inf

    def _take(self, anno: dict[str, Any], pictures: dict[str, bytes]) -> None:
        self.windows.add(anno)
        if self._also is not None:
            self._also(anno, pictures)

    def see(self, state: WorldState) -> None:
        """Take in a state; frames are kept every 0.1 s."""
        dt = 0.0 if self._time is None else state.time - self._time
        self._time = state.time
        self._vehicle.see(state.actors[self._vehicle.agent_id], dt)
        if state.time < self._due - 1e-6:
            return
        self._due = state.time + FRAME_S
        self._recorder.record(state, self._vehicle, roles=self._roles())

    def keys(self) -> ActionKeys:
        """The keys for the last state; :attr:`decision` says why."""
        self.decision = self.commenter.decide(self.windows.window)
        return self.decision.keys


def expert_driver(
    session: Session,
    roads: Roads,
    ego: Any,
    route: Route,
    scenario: str = "",
    roles: Callable[[], RoleActors] = dict,
) -> KeyDriver:
    """The expert, who drives ``ego`` (a ``carla.Vehicle``) along a route by its own keys.

    ``roles`` tells the actors of the scenario by role; the driver's ``source`` is a :class:`LiveExpert`.
    """
    expert = LiveExpert(session, ego, roads.route_path(route), scenario, roles)
    module = ActionModule.on_route(session.town, route, flowing=scenario in FLOWING)
    module.plant = plant_of(ego.type_id)
    return KeyDriver(module, expert, int(ego.id))


@dataclass(frozen=True)
class ExpertKeys:
    """Puts the expert, who drives by its own keys, into the ego of a stage: a ``DriverFactory``."""

    name: str = "keys"

    def __call__(self, stage: Stage, ego: Any, route: Route) -> KeyDriver:
        """The driver, at the start of the route."""

        def roles() -> RoleActors:
            return stage.show.actors if stage.show is not None else {}

        return expert_driver(stage.session, stage.roads, ego, route, stage.story, roles)

"""A session with a CARLA server: synchronous ticks, plain states, and nothing left behind."""

from __future__ import annotations

import atexit
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from driveproof.errors import BadInput
from driveproof.maps.sources import town_name
from driveproof.sim.client.actors import Actors
from driveproof.sim.client.connecting import LOAD_TIMEOUT_S, connect
from driveproof.sim.client.failures import ServerLost

RECONNECT_S = 1.2
"""Seconds in which the client library gives up the stream of a dead server; ending before aborts the process."""


class Session(Actors):
    """A connection to a CARLA server, real or embedded, as a context manager.

    While it is open the server runs in synchronous mode with a fixed step. At the end everything that was
    spawned is destroyed, sensors are drained before they stop, and the settings found are restored.
    Poses are right-handed (metres, radians) and of CARLA's actor origin, which lies in the middle of a
    vehicle on the ground and in the middle of a walker's body.

    Attributes
    ----------
    client, world, carla_map
        The objects of the ``carla`` library behind it.
    library
        The blueprints that the server knows, a ``carla.BlueprintLibrary``.
    state
        The world after the last tick.
    lost
        Whether the server does no more answer.
    watch
        Makes the context manager within which a tick runs; the supervisor hooks in here.
    """

    def __init__(self, client: Any, delta_s: float, timeout_s: float) -> None:
        self._closed = False
        super().__init__(client, delta_s, timeout_s)
        atexit.register(self.close)  # a sensor that still listens then would abort the process

    @classmethod
    def open(
        cls,
        host: str = "127.0.0.1",
        port: int = 2000,
        timeout_s: float = 30.0,
        delta_s: float = 0.05,
        town: str | None = None,
    ) -> Session:
        """Connect (retrying until ``timeout_s``), load ``town`` if another one runs, and tick once.

        Parameters
        ----------
        timeout_s
            Seconds that any later call may take, too.
        delta_s
            Simulated seconds of a tick.

        Raises
        ------
        SimulatorUnreachable, WrongVersion
            As :func:`driveproof.sim.client.connecting.connect` says.
        BadInput
            If the server has no such town.
        """
        if not 0.0 < delta_s <= 0.1:
            raise BadInput("a tick has more than 0 and at most 0.1 s", field="delta_s")
        session = cls(connect(host, port, timeout_s), delta_s, timeout_s)
        try:
            if town is not None:
                session.enter_town(town)
        except BaseException:
            session.close()
            raise
        return session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drain and stop sensors, destroy what was spawned, restore the settings found; never raises for a dead server."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        listened = bool(self._sensors)
        with suppress(ServerLost, BadInput):
            self.clear()
        if self.lost:
            time.sleep(RECONNECT_S if listened else 0.0)
            return
        with suppress(ServerLost, BadInput), self._asking("restoring the settings"):
            self.world.apply_settings(self._found)

    def load_town(self, name: str) -> None:
        """Let the server load another town, or the same one afresh. All actors are gone afterwards.

        Raises
        ------
        BadInput
            If the server has no such town.
        """
        self.clear()
        wanted = town_name(name)
        self.client.set_timeout(max(LOAD_TIMEOUT_S, self.timeout_s))
        try:
            with self._asking(f"loading {wanted}"):
                path = self._path_of(name)
                self.world = self.client.load_world(path, False)
        finally:
            self.client.set_timeout(self.timeout_s)
        self._enter_world()

    def _path_of(self, name: str) -> str:
        """What the server calls a town; of several fits the one spelled alike."""
        offered: list[str] = self.client.get_available_maps()
        wanted = town_name(name)
        fits = [path for path in offered if town_name(path) == wanted]
        if not fits:
            known = ", ".join(sorted({town_name(path) for path in offered}))
            raise BadInput(f"the simulator has no town {wanted}", hint=f"it has {known}")
        exact = [path for path in fits if path.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]]
        return (exact or fits)[0]

    def enter_town(self, name: str) -> None:
        """Be in a town: as :meth:`load_town`, but only if another one runs."""
        if town_name(name) != town_name(self.carla_map.name):
            self.load_town(name)

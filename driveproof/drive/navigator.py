"""What a policy is told beside pictures: how long the drive goes on, how fast it is, and what the navigator says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from driveproof.policy.driving import DriveObservation
from driveproof.scene import Command
from driveproof.scene.images import Pixels
from driveproof.sim.client import WorldState
from driveproof.sim.drivers import Path, Vehicle
from driveproof.sim.recorder import commands


def instruction(path: Path, front: float, rear: float) -> tuple[str, float]:
    """The near command in words of the prompts, and metres from the bumper to its place (0 within it).

    The same command as an annotation's ``command_near``, so that a policy is told in a drive what it was told in
    training. The distance is nan for "follow".

    Parameters
    ----------
    front, rear
        Metres along the path of the ego's front bumper and rear axle.
    """
    near, _ = commands(path, front, rear)
    if near is Command.FOLLOW:
        return "follow", math.nan
    places = [(c.start, c.end, c.command) for c in path.crossings]
    places += [
        (c.begin, c.end, Command.CHANGE_LEFT if c.shift > 0.0 else Command.CHANGE_RIGHT)
        for c in path.changes
    ]
    begins = [begin for begin, end, command in places if command is near and end > rear]
    return near.name.lower(), max(min(begins, default=front) - front, 0.0)


class Navigator:
    """Follows the ego along its path. Give it every state, in order."""

    def __init__(self, path: Path, ego_id: int) -> None:
        self._path = path
        self._vehicle = Vehicle.on(path, ego_id)
        self._begin: WorldState | None = None
        self._now: WorldState | None = None

    def see(self, state: WorldState) -> None:
        """Take in a state."""
        if self._begin is None or self._now is None:
            self._begin = self._now = state
        ego = state.actors[self._vehicle.agent_id]
        self._vehicle.see(ego, state.time - self._now.time)
        self._now = state

    def observation(self, pictures: Mapping[str, Sequence[Pixels]]) -> DriveObservation:
        """All that a policy may see of the last state."""
        begin, now = self._begin, self._now
        assert begin is not None
        assert now is not None
        command, distance = instruction(self._path, self._vehicle.s_front, self._vehicle.s)
        return DriveObservation(
            frame=now.frame - begin.frame,
            time_s=round(now.time - begin.time, 9),
            pictures=pictures,
            speed=now.actors[self._vehicle.agent_id].speed,
            command=command,
            command_distance=distance,
        )

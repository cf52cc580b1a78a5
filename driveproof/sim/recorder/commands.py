"""What a navigator says along a path, in CARLA's numbers: 1 left, 2 right, 3 straight, 4 follow, 5 and 6 change lane."""

from __future__ import annotations

from driveproof.scene import Command
from driveproof.sim.drivers import Path

COMMAND_AHEAD = 35.0
"""Metres before a junction from which its command is the near one."""
CHANGE_AHEAD = 20.0
"""The same for a lane change."""
SIGHT = 120.0
"""Metres beyond which nothing is said."""


def commands(path: Path, front: float, rear: float) -> tuple[Command, Command]:
    """What a navigator says now and next, with the bumper at ``front`` and the rear axle at ``rear``."""
    ahead = [event for event in _events(path) if event[1] > rear]
    near = far = Command.FOLLOW
    if ahead and ahead[0][0] < front:
        near = ahead.pop(0)[2]
    if ahead and ahead[0][0] < front + SIGHT - COMMAND_AHEAD:
        far = ahead[0][2]
    return near, far


def _events(path: Path) -> list[tuple[float, float, Command]]:
    """From where, until where, what is said, in the order of the way."""
    turns = [
        (crossing.start - COMMAND_AHEAD, crossing.end, crossing.command)
        for crossing in path.crossings
        if crossing.command is not Command.FOLLOW
    ]
    changes = [
        (
            change.begin - CHANGE_AHEAD,
            change.end,
            Command.CHANGE_LEFT if change.shift > 0.0 else Command.CHANGE_RIGHT,
        )
        for change in path.changes
    ]
    return sorted(turns + changes)

"""Routes: a way through the town, with the command that a navigator would give at each point."""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.geometry import Polyline
from driveproof.geometry.arrays import Float, Int


@dataclass(frozen=True)
class Route:
    """A way along lanes, about one point a metre.

    Parameters
    ----------
    line
        The centre line, N points, world frame, metres.
    lanes
        ``[N]`` lane index of each point.
    commands
        ``[N]`` :class:`driveproof.scene.Command` values: the turn from 20 m before a junction to its
        end, a lane change while it happens, otherwise FOLLOW.
    speed_limit
        ``[N]`` metres a second, NaN where unknown.
    z
        ``[N]`` height of the road, metres.
    """

    line: Polyline
    lanes: Int
    commands: Int
    speed_limit: Float
    z: Float

    @property
    def length(self) -> float:
        """Metres."""
        return self.line.length

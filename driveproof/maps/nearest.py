"""Which lane is a point on?"""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.geometry.arrays import Float, Int


@dataclass(frozen=True)
class LaneMatch:
    """The nearest lane of each of N points.

    Parameters
    ----------
    lane
        ``[N]`` lane index.
    arc
        ``[N]`` metres along that lane.
    lateral
        ``[N]`` metres left of its centre.
    heading_error
        ``[N]`` radians, the point's heading minus the lane's, wrapped; zero if no heading was given.
    """

    lane: Int
    arc: Float
    lateral: Float
    heading_error: Float

"""Target speed of a speed key.

Source: Bench2Drive-VL, action module. There KEEP aims at the speed of every tick anew, so that a vehicle that is slowed
by a slope keeps the slower speed; here it holds the speed at the moment of the decision.
"""

from __future__ import annotations

from driveproof.questions import SpeedKey

FASTER_MPS = 6.0
SLOWER_MPS = 7.0
CRAWL_MPS = 2.0
"""DECELERATE does not go below this; :data:`FLOWING_CRAWL_MPS` where others come from behind fast."""
FLOWING_CRAWL_MPS = 3.0
LANE_CHANGE_MPS = 8.0
"""KEEP and ACCELERATE reach at least this while a lane change is under way: who crawls never gets across."""
TURN_CAP_MPS = 6.0
"""Most speed for the first decisions inside a junction where the route turns right."""


def target_speed(
    key: SpeedKey | None,
    speed: float,
    *,
    flowing: bool = False,
    changing: bool = False,
    turning: bool = False,
) -> float:
    """Speed to reach, m/s.

    Parameters
    ----------
    key
        None counts as KEEP.
    speed
        The ego's speed at the decision, m/s.
    flowing
        Highway or lane-change scenario.
    changing
        The last direction key is a lane change.
    turning
        Inside a junction, turning right, within the first three decisions there.
    """
    speed = max(speed, 0.0)
    if key is SpeedKey.STOP:
        return 0.0
    if key is SpeedKey.DECELERATE:
        # Who is slower already does not speed up because of DECELERATE.
        crawl = FLOWING_CRAWL_MPS if flowing else CRAWL_MPS
        return min(max(speed - SLOWER_MPS, crawl), speed)
    target = speed + FASTER_MPS if key is SpeedKey.ACCELERATE else speed
    if changing and not flowing:
        target = max(target, LANE_CHANGE_MPS) if key is SpeedKey.ACCELERATE else LANE_CHANGE_MPS
    return min(target, TURN_CAP_MPS) if turning else target

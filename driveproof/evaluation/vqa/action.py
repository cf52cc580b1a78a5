"""The two keys of action: F1 times the speed penalty (Bench2Drive-VL, equation 11)."""

from __future__ import annotations

from driveproof.questions import ActionKeys, DirectionKey, SpeedKey

_S = SpeedKey
SPEED_PENALTY: dict[tuple[SpeedKey, SpeedKey], float] = {
    (_S.KEEP, _S.ACCELERATE): 1.2,
    (_S.KEEP, _S.DECELERATE): 1.1,
    (_S.KEEP, _S.STOP): 1.0,
    (_S.ACCELERATE, _S.KEEP): 1.0,
    (_S.ACCELERATE, _S.DECELERATE): 1.0,
    (_S.ACCELERATE, _S.STOP): 1.0,
    (_S.DECELERATE, _S.KEEP): 1.0,
    (_S.DECELERATE, _S.ACCELERATE): 0.8,
    (_S.DECELERATE, _S.STOP): 1.0,
    (_S.STOP, _S.KEEP): 0.5,
    (_S.STOP, _S.ACCELERATE): 0.25,
    (_S.STOP, _S.DECELERATE): 1.0,
}
"""(true, said) → factor; 1 where both are the same."""


def score_keys(said: ActionKeys, true: ActionKeys) -> float:
    """0 to 1 for the keys of an answer, which are those that the action module would execute.

    A missing speed key is driven as KEEP, so its penalty is that of KEEP.
    """
    right = int(same_direction(said.direction, true.direction)) + int(
        said.speed is not None and said.speed is true.speed
    )
    named = (said.direction is not None) + (said.speed is not None)
    wanted = (true.direction is not None) + (true.speed is not None)
    f1 = 2.0 * right / (named + wanted) if named + wanted else 1.0
    assert true.speed is not None
    penalty = SPEED_PENALTY.get((true.speed, said.speed or SpeedKey.KEEP), 1.0)
    return min(f1 * penalty, 1.0)


def same_direction(said: DirectionKey | None, true: DirectionKey | None) -> bool:
    """FOLLOW_LANE counts where straight on through the junction is right: the way is the same."""
    if said is DirectionKey.FOLLOW_LANE and true is DirectionKey.GO_STRAIGHT:
        return True
    return said is not None and said is true

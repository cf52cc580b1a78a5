"""How often keys agree: counted by hand."""

from __future__ import annotations

import pytest

from driveproof.evaluation.vqa.keys import agreement, majority
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey

D, S = DirectionKey, SpeedKey


def keys(direction: DirectionKey | None, speed: SpeedKey | None) -> ActionKeys:
    return ActionKeys(direction, speed)


def test_shares_by_key() -> None:
    true = [keys(D.FOLLOW_LANE, S.KEEP)] * 3 + [keys(D.TURN_LEFT, S.STOP)] * 2
    said = [
        keys(D.FOLLOW_LANE, S.KEEP),  # both
        keys(D.FOLLOW_LANE, S.STOP),  # direction
        keys(None, S.KEEP),  # speed; a missing key agrees with none
        None,  # lost
        keys(D.TURN_LEFT, S.STOP),  # both
    ]
    found = agreement(list("aabbb"), true, said)
    assert (found.both.mean, found.both.n, found.both.lost) == (0.5, 4, 1)
    assert found.direction.mean == found.speed.mean == 0.75
    assert found.directions["FOLLOW_LANE"].mean == pytest.approx(2 / 3)
    assert (found.speeds["STOP"].mean, found.speeds["STOP"].lost) == (1.0, 1)
    assert found.said == {"KEEP": {"KEEP": 2, "STOP": 1}, "STOP": {"STOP": 1, "lost": 1}}


def test_the_usual_keys_are_each_the_most_frequent() -> None:
    true = [keys(D.FOLLOW_LANE, S.STOP), keys(D.FOLLOW_LANE, S.KEEP), keys(D.TURN_LEFT, S.STOP)]
    assert majority(true) == keys(D.FOLLOW_LANE, S.STOP)
    assert majority(true[1:]) == keys(D.FOLLOW_LANE, S.KEEP), "the alphabet decides between equals"
    with pytest.raises(ValueError, match="no keys"):
        majority([])


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        agreement(["a"], [], [])

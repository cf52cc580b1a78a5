"""The one parser of action keys: the last key of each kind counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.questions import ActionKeys, DirectionKey, SpeedKey, parse_keys

D, S = DirectionKey, SpeedKey


@pytest.mark.parametrize(
    ("text", "direction", "speed"),
    [
        ("FOLLOW_LANE, KEEP", D.FOLLOW_LANE, S.KEEP),
        ("I could STOP or CHANGE_LANE_LEFT, but ... FOLLOW_LANE, KEEP", D.FOLLOW_LANE, S.KEEP),
        ("**TURN_LEFT**, `DECELERATE`.", D.TURN_LEFT, S.DECELERATE),
        ("KEEP\nGO STRAIGHT", D.GO_STRAIGHT, S.KEEP),
        ("We should stop to keep safe.\nDEVIATE_RIGHT, ACCELERATE", D.DEVIATE_RIGHT, S.ACCELERATE),
        ("The answer:\nfollow_lane, keep", D.FOLLOW_LANE, S.KEEP),
        (
            "please stop here and do not accelerate\nSo: CHANGE_LANE_RIGHT",
            D.CHANGE_LANE_RIGHT,
            None,
        ),
        ("STOPPED, NON_STOP, TURN_LEFTWARDS", None, None),
        ("The car should stop and keep its lane.", None, None),
        ("keep", None, S.KEEP),
        ("Ich fahre weiter.", None, None),
        ("", None, None),
    ],
)
def test_the_last_key_of_each_kind_counts(text: str, direction: D | None, speed: S | None) -> None:
    assert parse_keys(text) == ActionKeys(direction, speed)


@given(st.sampled_from(D), st.sampled_from(S), st.text(max_size=60))
def test_keys_at_the_end_are_read_whatever_stands_before(d: D, s: S, before: str) -> None:
    keys = ActionKeys(d, s)
    assert parse_keys(f"{before}\n{keys.text()}") == keys


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    parse_keys(text)

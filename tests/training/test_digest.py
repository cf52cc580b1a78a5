"""Digests of what runs learn from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

from driveproof.config.rewards import RewardParams
from driveproof.training.digest import digest


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    name: str
    points: Any
    more: dict[str, Any]


def test_equal_values_have_equal_digests_and_others_others() -> None:
    def thing(**changes: Any) -> Thing:
        values = {"name": "a", "points": np.arange(4.0), "more": {"x": 1, "y": (2, Colour.RED)}}
        return Thing(**{**values, **changes})

    assert digest(thing()) == digest(thing())
    assert digest(thing()) == digest(thing(more={"y": (2, Colour.RED), "x": 1}))
    others = [
        thing(name="b"), thing(points=np.arange(4)), thing(points=np.arange(4.0)[::-1]),
        thing(points=np.arange(4.0).reshape(2, 2)), thing(more={"x": 1}), thing(more={}),
        RewardParams(), RewardParams(exact_share=0.25), ["ab", "c"], ["a", "bc"], "abc", b"abc",
        None, [], [[]], {1, 2}, {1: 2}, float("nan"), 1, 1.0,
    ]  # fmt: skip
    assert len({digest(value) for value in [thing(), *others]}) == len(others) + 1


def test_what_cannot_be_known_is_refused() -> None:
    with pytest.raises(TypeError, match="content of a object"):
        digest([object()])

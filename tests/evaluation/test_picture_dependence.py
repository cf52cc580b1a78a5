"""Pictures of other drives: the permutation, and what it shows of policies that look and that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.evaluation import (
    picture_dependence,
    scene_derangement,
    tabulate,
    true_decision,
    with_other_pictures,
    without_pictures,
)
from driveproof.mcq.interaction import AskSettings, ask
from driveproof.policy import ChatReply, ChatRequest
from driveproof.prompts import choice_line, decision_line


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40), st.integers(0, 9))
def test_nothing_stays_in_its_drive(scenes: list[str], seed: int) -> None:
    if 2 * max(Counter(scenes).values()) > len(scenes):
        with pytest.raises(BadInput, match="one drive"):
            scene_derangement(scenes, seed)
        return
    donors = scene_derangement(scenes, seed).tolist()
    assert sorted(donors) == list(range(len(scenes)))
    assert all(scenes[i] != scenes[donor] for i, donor in enumerate(donors))
    assert donors == scene_derangement(scenes, seed).tolist()


def test_only_the_pictures_change(make_item) -> None:
    items = [make_item(n, scene=f"d{n % 4}") for n in range(8)]
    for before, after in zip(items, with_other_pictures(items, 0), strict=True):
        assert after.record_key == before.record_key
        assert after.observation.speed == before.observation.speed
        donor = after.observation.images["front"][0]
        assert donor is not None
        assert not donor.path.startswith(before.scene_key)
    assert not without_pictures(items)[0].observation.images


@dataclass
class Driver:
    """Answers rightly from its pictures (``looks``) or from the numbers alone."""

    items: Sequence[Any]
    looks: bool
    name: str = "driver"

    def identity(self) -> dict[str, Any]:
        return {}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return [ChatReply(self._say(request)) for request in requests]

    def _say(self, request: ChatRequest) -> str:
        by_picture = {i.observation.images["front"][-1]: i for i in self.items}
        item = by_picture[request.images[-1]] if self.looks else self.items[0]
        return f"{decision_line(true_decision(item))}\n{choice_line(item.oracle_index)}"


@pytest.mark.parametrize(("looks", "drop"), [(True, 1.0), (False, 0.0)])
def test_a_drop_shows_that_a_policy_looks(make_item, looks: bool, drop: float) -> None:
    """Braking drives with oracle A, turning drives with oracle B: only the pictures tell them apart."""
    items = [make_item(n, scene=f"brake{n}", acceleration=-4.0, oracle=0) for n in range(4)]
    items += [make_item(n, scene=f"turn{n}", yaw_rate=0.3, oracle=1) for n in range(4)]
    settings = AskSettings(repeats=2)
    # every brake gets the pictures of a turn and the other way round
    swapped = items[4:] + items[:4]
    others = [_with_pictures_of(item, donor) for item, donor in zip(items, swapped, strict=True)]
    driver = Driver(items, looks)
    own = tabulate(items, ask(driver, items, "deft", settings))
    other = tabulate(others, ask(driver, others, "deft", settings))
    compared = picture_dependence(own, other, 0)
    assert compared.accuracy_drop.mean == pytest.approx(drop)
    assert compared.hld_drop.mean == pytest.approx(drop)
    assert compared.decisions_changed.mean == pytest.approx(drop)


def _with_pictures_of(item: Any, donor: Any) -> Any:
    from dataclasses import replace

    observation = replace(item.observation, images=donor.observation.images)
    return replace(item, observation=observation)

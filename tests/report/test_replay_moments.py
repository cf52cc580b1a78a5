"""The moments of a replay, for drives of any length."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.evaluation.driving.clips import CLIP_BEGINS_S
from driveproof.report.replay.episode import EVERY_S, _moments


@pytest.mark.parametrize("end", [0.0, CLIP_BEGINS_S, 2.0, 2.01, 7.3, 61.5])
def test_moments_are_evenly_apart_and_the_end_is_one(end: float) -> None:
    times = np.arange(CLIP_BEGINS_S, max(end, CLIP_BEGINS_S) + 1e-6, EVERY_S)
    if end - times[-1] > 1e-6:
        times = np.append(times, end)
    assert [one.time for one in _moments(end, [], 1000)] == times.round(3).tolist()
    few = [one.time for one in _moments(end, [], 4)]
    assert len(few) == min(4, len(times))
    assert (few[0], few[-1]) == (times[0].round(3), times[-1].round(3))


def test_a_thousand_years_are_thinned_like_a_minute() -> None:
    times = [one.time for one in _moments(1e18, [], 240)]
    assert len(times) == 240
    assert times[-1] == 1e18

"""The world goes on while the model thinks, in driving terms."""

from __future__ import annotations

import math
from typing import Any

import pytest

from driveproof.errors import BadInput
from driveproof.policy import DriveDecision
from driveproof.policy.latency import LONGEST_S, Latency, parse_latency
from driveproof.questions import ActionKeys, SpeedKey

STOP = ActionKeys(None, SpeedKey.STOP)


def decided(latency_s: float = 0.0, **usage: int) -> DriveDecision:
    return DriveDecision(STOP, usage=usage, latency_s=latency_s)


def test_a_stop_seen_at_10_mps_comes_three_metres_late() -> None:
    """0.1 s of network, 40 tokens written at 5 ms: 0.3 s, 3 m at 10 m/s."""
    latency = Latency(fixed_s=0.1, per_token_s=0.005)
    delay = latency.of(decided(completion_tokens=40, prompt_tokens=2000))
    assert delay == pytest.approx(0.3)
    assert delay * 10.0 == pytest.approx(3.0)


def test_reused_tokens_cost_nothing() -> None:
    latency = Latency(per_prompt_token_s=0.001)
    assert latency.of(decided(prompt_tokens=900)) == pytest.approx(0.9)
    reused = decided(prompt_tokens=900, prefilled_tokens=100)
    assert latency.of(reused) == pytest.approx(0.1)


def test_measured_time_counts_instead_of_tokens() -> None:
    latency = Latency(fixed_s=0.05, per_token_s=1.0, measured=True, scale=0.5)
    assert latency.of(decided(0.4, completion_tokens=100)) == pytest.approx(0.25)


def test_a_failure_took_its_time_and_an_outlier_is_cut() -> None:
    lost = DriveDecision(error="timed out", latency_s=2.0)
    assert Latency(measured=True).of(lost) == 2.0
    assert Latency(measured=True).of(DriveDecision(STOP, latency_s=1e6)) == LONGEST_S


def test_without_a_latency_the_world_stands_still() -> None:
    assert Latency().of(decided(5.0, completion_tokens=100)) == 0.0


@pytest.mark.parametrize(
    "values", [{"fixed_s": -0.1}, {"per_token_s": math.nan}, {"scale": math.inf}]
)
def test_impossible_latencies_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a latency"):
        Latency(**values)


@pytest.mark.parametrize(
    ("text", "latency"),
    [
        ("none", Latency()),
        ("fixed:0.4", Latency(0.4)),
        ("tokens:0.1,0.005", Latency(0.1, 0.005)),
        ("tokens:0.1,0.005,1e-4", Latency(0.1, 0.005, 1e-4)),
        ("measured", Latency(measured=True)),
        ("measured:0.5", Latency(measured=True, scale=0.5)),
    ],
)
def test_latencies_in_words(text: str, latency: Latency) -> None:
    assert parse_latency(text) == latency


@pytest.mark.parametrize(
    "text",
    ["", "slow", "none:1", "fixed", "fixed:", "fixed:nan", "fixed:-1", "fixed:1,2", "fixed:61",
     "tokens:1", "tokens:1,2,3,4", "measured:x", "measured:1,2"],
)  # fmt: skip
def test_what_is_no_latency_is_one_line(text: str) -> None:
    with pytest.raises(BadInput, match="not a latency"):
        parse_latency(text)

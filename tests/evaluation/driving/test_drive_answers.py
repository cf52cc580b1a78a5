"""Answers of a drive are scored like those of clips, and their quality is held against the driving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import Kind, record
from made_runs import decision, make_run
from scipy import stats

from driveproof.errors import BadInput
from driveproof.evaluation.driving.answers import answers_of, rank_correlation
from driveproof.evaluation.driving.runs import read_run

GOOD, BAD = "FOLLOW_LANE, KEEP", "CHANGE_LANE_LEFT, STOP"


def truth(direction: str = "FOLLOW_LANE", speed: str = "KEEP") -> dict[str, Any]:
    keys = {"direction": direction, "speed": speed}
    answer = {"number": 50, "subject": "", "text": f"{direction}, {speed}"}
    return {
        "keys": f"{direction}, {speed}",
        "objects": [],
        "answers": [{**answer, "facts": {"facts": {"keys": keys}, "objects": []}}],
    }


def step(number: int, text: str | None, **more: Any) -> dict[str, Any]:
    return {"number": number, "subject": "", "text": text, "error": "", **more}


def test_keys_answer_the_last_question(tmp_path: Path) -> None:
    lines = [
        decision(0.0, GOOD, truth=truth()),  # 100
        decision(0.5, BAD, truth=truth()),  # 0: neither key
        decision(1.0, GOOD),  # nobody noted the truth
        decision(1.5, truth=truth()),  # moves pedals: no answer
        decision(2.0, truth=truth(), error="the model said nothing"),  # lost
    ]
    report = answers_of(read_run(make_run(tmp_path, {"1": (record("1"), lines)})))
    assert report is not None
    assert report.vqa.overall.mean == 50.0
    assert (report.vqa.overall.n, report.vqa.overall.lost) == (2, 1)
    assert list(report.vqa.by_question) == [50]
    (drive,) = report.drives
    assert (drive.answers, drive.n, drive.driving) == (50.0, 2, 100.0)


def test_a_trace_says_what_was_answered(tmp_path: Path) -> None:
    trace = {
        "steps": [
            step(24, "two cars", truth=True),  # the expert told it: no answer of the policy
            step(7, "50 km/h"),  # nobody answered it for the expert
            step(50, f"I think so. {BAD}"),
        ]
    }
    lines = [decision(0.0, GOOD, trace=trace, truth=truth())]
    report = answers_of(read_run(make_run(tmp_path, {"1": (record("1"), lines)})))
    assert report is not None
    assert report.vqa.overall.mean == 0.0  # what it said, not what the module executed
    assert report.vqa.overall.n == 1
    assert report.vqa.missing == 1


def test_without_the_expert_beside_there_is_nothing_to_score(tmp_path: Path) -> None:
    assert (
        answers_of(read_run(make_run(tmp_path, {"1": (record("1"), [decision(0.0, GOOD)])})))
        is None
    )


def test_a_broken_truth_names_its_line(tmp_path: Path) -> None:
    lines = [decision(0.0, GOOD, truth=truth()), decision(0.5, GOOD, truth={"answers": []})]
    run = read_run(make_run(tmp_path, {"1": (record("1"), lines)}))
    with pytest.raises(BadInput, match=r"decisions\.jsonl: line 2: no truth"):
        answers_of(run)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("all fine", "is no list"),
        (None, "is no list"),
        (["hello"], "question 0 is no object"),
        ([step(7, "yes"), None], "question 1 is no object"),
        ([{"text": "yes"}], "question 0 has no number"),
        ([{"number": None}], "question 0 has no number"),
        ([{"number": "many"}], "question 0 has no number"),
    ],
)
def test_a_trace_of_others_names_its_line(tmp_path: Path, steps: Any, said: str) -> None:
    lines = [decision(0.0, GOOD, trace={"steps": steps}, truth=truth())]
    run = read_run(make_run(tmp_path, {"1": (record("1"), lines)}))
    with pytest.raises(BadInput, match=rf"decisions\.jsonl: line 1, trace\.steps: .*{said}"):
        answers_of(run)


def test_good_answers_go_with_good_driving(tmp_path: Path) -> None:
    # Answers 0, 25, 50, 75, 100; driving 60, 60, 70, 80, 100. Ranks 1 2 3 4 5 and 1.5 1.5 3 4 5:
    # sum of products of centred ranks -2*-1.5 + -1*-1.5 + 0 + 1 + 4 = 9.5, norms sqrt(10 * 9.5).
    penalties: list[list[Kind]] = [
        [Kind.COLLISION_VEHICLE],
        [Kind.COLLISION_VEHICLE],
        [Kind.RED_LIGHT],
        [Kind.STOP_SIGN],
        [],
    ]
    drives: Any = {}
    for number, kinds in enumerate(penalties):
        keys = [GOOD] * number + [BAD] * (4 - number)
        lines = [decision(n / 2, text, truth=truth()) for n, text in enumerate(keys)]
        drives[str(number)] = (record(str(number), *kinds, town=f"Town0{number % 2}"), lines)
    report = answers_of(read_run(make_run(tmp_path, drives)))
    assert report is not None
    found = report.overall.rank_correlation
    assert found.mean == pytest.approx(9.5 / np.sqrt(95.0))
    assert found.n == 5
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.mean <= found.high
    assert report.by_town["Town00"].answers.mean == pytest.approx(50.0)  # 0, 50, 100
    assert report.by_town["Town00"].rank_correlation.mean == pytest.approx(1.0)
    assert report.by_town["Town01"].rank_correlation.mean is None  # two drives say nothing
    assert set(report.by_ability) == {"Overtaking"}
    assert report.by_scenario["Accident"].driving.mean == pytest.approx(74.0)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(4, 12))
def test_the_rank_correlation_is_spearmans(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 5, (2, count)).astype(float)
    names = [str(number) for number in range(count)]
    found = rank_correlation(first.tolist(), second.tolist(), names)
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        assert found.mean is None
    else:
        assert found.mean == pytest.approx(stats.spearmanr(first, second).statistic)
        assert found == rank_correlation(first.tolist(), second.tolist(), names)


def test_a_lost_half_loses_the_pair() -> None:
    nan = float("nan")
    found = rank_correlation([1.0, 2.0, 3.0, nan], [1.0, 2.0, 3.0, 9.0], list("abcd"))
    assert (found.mean, found.n, found.lost) == (pytest.approx(1.0), 3, 1)

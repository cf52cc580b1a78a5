"""The judge's benches: measures against closed forms, and a whole run with a model that answers by rote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from driveproof.config.judge import JudgeEvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation import judge_run
from driveproof.evaluation.judge_methods import (
    classifier_methods,
    displacement_methods,
    epdms_method,
    pair_scores,
    random_method,
)
from driveproof.evaluation.judge_metrics import (
    Levels,
    accuracy_at,
    auc,
    average_precision,
    average_precision_of_failures,
    bootstrap,
    paired_gain,
    perfect_match,
    quality,
    selection,
)
from driveproof.evaluation.judge_write import summary_of, write_benches
from driveproof.judge import ALL_APPLY, PAPER_THRESHOLDS, Clip, Gates, Pair, Reading
from driveproof.policy import ChatReply, ChatRequest
from driveproof.policy.pictures import Pictures
from tests.judge.judge_examples import clip, picture

LABELS = np.array([True, True, False, False])


def value(measure, scores, labels=LABELS) -> float:
    return float(measure(Levels.of(np.asarray(scores, float), labels))[0])


def test_measures_of_four_clips() -> None:
    scores = [0.9, 0.6, 0.7, 0.1]
    assert value(auc, scores) == 0.75
    assert value(accuracy_at(0.65), scores) == 0.5
    assert value(average_precision, scores) == pytest.approx((1.0 + 2 / 3) / 2)
    assert value(average_precision_of_failures, scores) == pytest.approx((1.0 + 2 / 3) / 2)
    assert np.isnan(value(auc, scores, np.ones(4, bool)))


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 3)), min_size=2, max_size=20
    )
)
def test_measures_agree_with_scikit_learn_with_ties_and_weights(rows) -> None:
    scores = np.array([row[0] / 5 for row in rows])
    labels = np.array([row[1] for row in rows])
    weights = np.array([float(row[2]) for row in rows])
    assume(len(set(labels.tolist())) == 2)
    levels = Levels.of(scores, labels, weights[None])
    assert auc(levels)[0] == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights))
    plus = average_precision_score(labels, scores, sample_weight=weights)
    minus = average_precision_score(~labels, 1.0 - scores, sample_weight=weights)
    assert average_precision(levels)[0] == pytest.approx(plus)
    assert average_precision_of_failures(levels)[0] == pytest.approx(minus)


@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), st.integers(0, 3))
def test_what_is_lost_is_left_out_and_counted(values, missing) -> None:
    scores = np.array(values)
    scores[missing] = np.nan
    measures = {"ACC": accuracy_at(0.5)}
    found = bootstrap(measures, scores, LABELS, list("abcd"), 0)["ACC"]
    kept = np.arange(4) != missing
    assert (found.n, found.lost) == (3, 1)
    assert found.mean == pytest.approx(((scores[kept] > 0.5) == LABELS[kept]).mean())
    assert found.low <= found.mean <= found.high


def test_nothing_scored_is_no_number() -> None:
    found = quality(np.full(4, np.nan), LABELS, list("abcd"), (0.8,), 0)
    assert all((e.mean, e.n, e.lost) == (None, 0, 4) for e in found.values())


def test_intervals_draw_whole_places() -> None:
    scores, labels = np.tile([0.9, 0.1], 20), np.tile([True, True], 20)
    measures = {"ACC": accuracy_at(0.5)}
    alone = bootstrap(measures, scores, labels, [str(n) for n in range(40)], 0)["ACC"]
    together = bootstrap(measures, scores, labels, ["a"] * 20 + ["b"] * 20, 0)["ACC"]
    assert alone.low < 0.5 < alone.high
    assert together.low == together.mean == together.high == 0.5


def test_one_place_has_no_interval() -> None:
    scores, labels = np.array([0.1, 0.9, 0.4, 0.8]), np.array([False, True, False, True])
    found = quality(scores, labels, ["a"] * 4, (0.5,), 0)["AUC"]
    assert (found.mean, found.low, found.high) == (1.0, None, None)
    gain = paired_gain(auc, scores, scores, labels, ["a"] * 4, 0)
    assert (gain.mean, gain.low, gain.high) == (0.0, None, None)


def test_selection_counts_ties_and_losses_three_ways() -> None:
    found = selection([0.9, 0.5, 0.1, None], [0.1, 0.5, 0.9, 0.2], "AAAA", list("abcd"), 0)
    assert found["strict"].mean == 0.25
    assert (found["half"].mean, found["half"].lost) == (0.5, 1)
    assert found["ties"].mean == pytest.approx(1 / 3)


def test_perfect_match_wants_all_seven() -> None:
    almost = Gates((1.0,) * 6 + (0.4,))
    truth = [ALL_APPLY] * 3
    found = perfect_match([Gates((0.6,) * 7), almost, None], truth, list("abc"), 0)
    assert (found.mean, found.n, found.lost) == (0.5, 2, 1)


RED, GREEN = (220, 30, 30), (30, 220, 30)


def world(folder: Path, count: int = 12) -> tuple[list[Clip], list[Pair]]:
    """Green pictures: a nudge, reasonable; red ones: the same drift for nothing. Beside each a collision."""
    clips, pairs = [], []
    for n in range(count):
        good = n % 2 == 0
        split = "train" if n < count // 2 else "test"
        shade = GREEN if good else RED
        ref = picture(folder, f"{n}.png", tuple(min(255, c + n) for c in shade), 64)
        for kind, label, values, epdms in (
            ("drift", good, {"LK": 0.0}, 12 / 14),
            ("crash", False, {"NC": 0.0}, 0.0),
        ):
            one = replace(
                clip(f"s{n}/{kind}", label, **values), split=split, epdms=epdms, kind=kind,
                frames=(ref,) * 4, place=f"p{n}", ade=1.0 if kind == "drift" else 2.0, fde=3.0,
            )  # fmt: skip
            clips.append(one)
        if good:
            pairs.append(Pair(f"p{n}", f"p{n}", split, f"s{n}/crash", f"s{n}/drift", "B"))
    return clips, pairs


class Looker:
    """Waives lane keeping where the picture is green, and scores by the same; fails where told to."""

    name = "looker"

    def __init__(self, folder: Path) -> None:
        self._pictures = Pictures(folder)

    def identity(self):
        return {"kind": "looker"}

    def reply(self, requests: list[ChatRequest]) -> list[ChatReply]:
        return [self._one(request) for request in requests]

    def _one(self, request: ChatRequest) -> ChatReply:
        red, green, _ = self._pictures.pixels(request.images[-1]).mean((0, 1))
        asked = request.messages[-1]["content"][-1]["text"]
        if asked == "quality":
            return ChatReply(f"SCORE: {0.9 if green > red else 0.2:.2f}")
        return ChatReply(str(Gates((float(green < red),) + (1.0,) * 6)))


def bench(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: object):
    clips, pairs = world(folder)
    monkeypatch.setattr(judge_run, "open_policy", lambda spec, settings: Looker(folder))
    params = JudgeEvaluateParams.model_validate({"judges": ["looker"], "components": 4, **changes})
    return clips, judge_run.run_benches(params, clips, pairs, PAPER_THRESHOLDS, 0, root=folder)


def test_a_judge_that_sees_the_reason_beats_what_does_not(tmp_path: Path, monkeypatch) -> None:
    _, found = bench(tmp_path, monkeypatch)
    judge, direct = "DriveJudge (looker, trained)", "Direct score (looker, trained)"
    assert found.quality[judge]["AUC"].mean == 1.0
    assert found.quality["EPDMS"]["AUC"].mean < 1.0
    assert found.perfect[judge].mean > found.perfect["Classifier agent"].mean - 1.0
    assert found.selection[judge]["strict"].mean == 1.0
    assert found.selection[direct]["ties"].mean == 1.0  # it looks at the place, not at the drive
    assert found.quality["gates of the labels (ceiling)"]["AUC"].mean == 1.0
    assert "ADE" not in found.quality
    assert found.selection["ADE"]["strict"].mean == 1.0
    assert found.counts["test_clips"] == 12


@pytest.mark.slow
def test_the_files_say_everything_and_are_the_same_again(tmp_path: Path, monkeypatch) -> None:
    clips, found = bench(tmp_path, monkeypatch)
    for name in ("one", "two"):
        write_benches(found, clips, {}, tmp_path / name, explained=2, root=tmp_path)
    summary = json.loads((tmp_path / "one/summary.json").read_text())
    assert summary["drawings"] == []  # the scenes are not there
    assert summary["label_sources"] == {"scripted": 12}
    assert {m["name"] for m in summary["methods"]} == set(summary["selection"])
    for name in ("summary.json", "scores.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    json.dumps(summary_of(found), allow_nan=False)


def test_shared_gates_reach_the_pairs(tmp_path: Path, monkeypatch) -> None:
    clips, found = bench(tmp_path, monkeypatch, shared=True)
    _, pairs = world(tmp_path)
    judge = next(m for m in found.methods if m.name.startswith("DriveJudge"))
    test = [pair for pair in pairs if pair.split == "test"]
    firsts, seconds = pair_scores(judge, test, {c.key: c for c in clips}, Reading(shared=True))
    assert firsts == [0.0] * len(test)
    assert seconds == [1.0] * len(test)


def test_classifiers_learn_what_is_in_the_picture(tmp_path: Path) -> None:
    clips, _ = world(tmp_path, 24)
    train, test = ([c for c in clips if c.split == split] for split in ("train", "test"))
    label, agent = classifier_methods(
        train, test, PAPER_THRESHOLDS, Reading(), Pictures(tmp_path), frames=2, components=3, seed=0
    )
    drift = [c for c in test if c.kind == "drift"]
    scores = np.array([label.scores[c.key] for c in drift])
    assert value(auc, scores, np.array([c.label for c in drift])) == 1.0
    assert agent.gates is not None
    assert all(agent.scores[c.key] is not None for c in test)


def test_baselines_say_what_they_cannot(tmp_path: Path) -> None:
    one, other = clip("a/0/x"), replace(clip("a/0/y"), epdms=None)
    ade, fde = displacement_methods([one])
    assert ade.scores == fde.scores == {"a/0/x": None}
    assert not ade.quality
    assert epdms_method([one, other]).scores == {"a/0/x": 1.0, "a/0/y": None}
    assert (
        random_method([one], 0).scores
        == random_method([one], 0).scores
        != random_method([one], 1).scores
    )


def test_a_bench_needs_labelled_test_clips(tmp_path: Path) -> None:
    params = JudgeEvaluateParams(judges=())
    with pytest.raises(BadInput, match="no labelled test clip"):
        judge_run.run_benches(params, [clip()], [], PAPER_THRESHOLDS, 0)

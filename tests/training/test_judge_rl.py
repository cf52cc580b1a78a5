"""Reinforcing the judge: what is practised, what it is asked, and a whole run from both starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from driveproof.config.judge import JudgeEvaluateParams, JudgeSftParams
from driveproof.config.judge_rl import JudgeRlParams
from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file
from driveproof.judge import PAPER_THRESHOLDS, Clip, JudgeStyle, Pair, Reading, judge_messages
from driveproof.training.judge_rl import FormLessons, PreferenceTask
from driveproof.training.judge_rl_run import STARTS, JudgeRl, run_judge_rl
from tests.judge.judge_examples import clip, picture

pytestmark = pytest.mark.slow

TINY = {"hidden": 32, "layers": 1, "heads": 2, "vision_hidden": 16, "vision_layers": 1}
STYLE = JudgeStyle("compact", 1)


def params(**changes: Any) -> JudgeRlParams:
    values = {
        "form_steps": 2, "steps": 2, "questions": 4, "group": 4, "micro_batch": 8, "max_tokens": 20,
        "precision": "fp32", "learning_rate": 3e-3, **changes,
    }  # fmt: skip
    return JudgeRlParams.model_validate(values)


def world(folder: Path, split: str, count: int = 4) -> tuple[list[Clip], list[Pair]]:
    """Green pictures, where drifting is right, beside red ones of a crash; every second pair is not contested."""
    clips, pairs = [], []
    for n in range(count):
        good = clip(f"{split}{n}/0/good", True, LK=0.0 if n % 2 == 0 else 1.0)
        bad = clip(f"{split}{n}/0/bad", False, NC=0.0)
        for one, colour in ((good, (20, 200 + n, 20)), (bad, (200 + n, 20, 20))):
            name = one.key.replace("/", "-") + ".png"
            shown = (picture(folder, name, colour, 64),)
            clips.append(replace(one, split=split, kind=name[-7:-4], frames=shown))
        first, second = (good.key, bad.key) if n % 4 < 2 else (bad.key, good.key)
        preferred = "A" if n % 4 < 2 else "B"
        pairs.append(Pair(f"{split}{n}", good.place, split, first, second, preferred, "scripted"))
    return clips, pairs


def task(clips: Sequence[Clip], pairs: Sequence[Pair], **changes: Any) -> PreferenceTask:
    return PreferenceTask(clips, pairs, PAPER_THRESHOLDS, params(**changes), STYLE, Reading())


def test_the_fingerprint_is_of_pairs_clips_and_thresholds(tmp_path: Path) -> None:
    clips, pairs = world(tmp_path, "train")
    numbers = list(range(8))

    def mark(limits: Any = PAPER_THRESHOLDS, told: Any = pairs, shown: Any = clips) -> str:
        return PreferenceTask(shown, told, limits, params(), STYLE, Reading()).fingerprint(numbers)

    swapped = [replace(pairs[0], preferred="B" if pairs[0].preferred == "A" else "A"), *pairs[1:]]
    crashed = [replace(clips[0], rules={**clips[0].rules, "NC": 0.5}), *clips[1:]]
    stricter = {**PAPER_THRESHOLDS, "LK": 0.95}
    assert mark() == mark()
    assert len({mark(), mark(stricter), mark(told=swapped), mark(shown=crashed)}) == 4


def test_both_clips_of_a_pair_come_together_and_every_pair_in_its_turn(tmp_path: Path) -> None:
    clips, pairs = world(tmp_path, "train")
    practice = task(clips, pairs, contested_share=0.5)
    numbers = practice.schedule(400, 0)
    assert numbers == practice.schedule(400, 0) != practice.schedule(400, 1)
    assert all(b == a + 1 and a % 2 == 0 for a, b in zip(numbers[::2], numbers[1::2], strict=True))
    counts = Counter(number // 2 for number in numbers)
    assert set(counts) == {0, 1, 2, 3}
    assert abs(counts[0] - counts[2]) <= 2  # contested ones in turn, two clips each
    assert 140 < counts[0] + counts[2] < 260
    assert practice.contested == 2
    only = {n // 2 for n in task(clips, pairs, contested_share=1.0).schedule(40, 0)}
    assert only == {0, 2}
    # with one kind of pairs alone the share has nothing to choose
    assert {n // 2 for n in task(clips, pairs[1:2]).schedule(8, 0)} == {0}
    assert {n // 2 for n in task(clips, pairs[:1]).schedule(8, 0)} == {0}


def test_a_question_is_the_judges_own_and_does_not_tell_the_preference(tmp_path: Path) -> None:
    clips, pairs = world(tmp_path, "train")
    practice = task(clips, pairs)
    asked = [practice.question(number) for number in range(8)]
    assert [(q.pair, q.side, q.clip.key) for q in asked[:2]] == [
        ("train0", "A", "train0/0/good"), ("train0", "B", "train0/0/bad"),
    ]  # fmt: skip
    for question in asked:
        opening = practice.interaction.opening(question)
        assert opening.messages == judge_messages("gate", STYLE)
        assert list(opening.images) == list(question.clip.frames)


def test_a_rollout_is_read_and_paid(tmp_path: Path) -> None:
    clips, pairs = world(tmp_path, "train")
    practice = task(clips, pairs)
    talk, (a, b) = practice.interaction, (practice.question(0), practice.question(1))
    apply = ", ".join(["apply"] * 7)
    no_collision = "apply, apply, apply, apply, waive, apply, apply"
    finished = [
        talk.finish(a, [apply]),
        talk.finish(a, ["apply"]),
        talk.finish(b, [apply]),
        talk.finish(b, [no_collision]),
    ]
    assert [practice.valid(one) for one in finished] == [True, False, True, True]
    # 12/14 against 0, and against 1 where colliding is waived
    assert [one.reward for one in practice.start_reward(finished).result()] == [0.5, 0.0, 1.0, 0.0]
    row = practice.sample(0, finished[1])
    assert row["unreadable"] == "count"
    assert row["contested"] is True
    with pytest.raises(ValueError, match="one turn"):
        talk.reveal(a, [apply])


def test_only_whole_pairs_of_the_train_places_are_practised(tmp_path: Path) -> None:
    clips, pairs = world(tmp_path, "train")
    with pytest.raises(BadInput, match="no pairs"):
        task(clips, [])
    with pytest.raises(BadInput, match="train3/0/bad is not there"):
        task(clips[:-1], pairs)
    with pytest.raises(BadInput, match="not of the train split"):
        task(clips, [replace(pairs[0], split="test")])
    with pytest.raises(BadInput, match="not of the train split"):
        task([replace(one, split="test") for one in clips], pairs)
    with pytest.raises(BadInput, match="0 frames, 1 are asked for"):
        task([replace(one, frames=()) for one in clips], pairs)
    alone = task([*clips, clip("s/0/alone", True)], pairs)  # a clip in no pair is not practised
    assert all("alone" not in alone.question(n).clip.key for n in alone.schedule(100, 0))


def test_settings_must_leave_pairs_whole() -> None:
    for wrong in ({"questions": 3, "micro_batch": 4}, {"questions": 6, "rollout_chunks": 2}):
        with pytest.raises(ValidationError, match="even number"):
            params(**wrong)
    params(questions=8, rollout_chunks=2)


def test_the_form_is_taught_and_nothing_else(tmp_path: Path) -> None:
    clips, _ = world(tmp_path, "train", 8)
    sft = JudgeSftParams(frames=1, gate_steps=4, score_steps=0)
    lessons = FormLessons(clips, PAPER_THRESHOLDS, sft, 0)
    shown = {ref for n in range(4 * 16) for ref in lessons.lesson(n, n // 16).images}
    assert lessons.images() == sorted(shown, key=str)
    seen = Counter()
    for index in range(300):
        example = lessons.lesson(index, index % 4)
        waives = "waive" in example.messages[-1]["content"][0]["text"]
        seen["good" in str(example.images[0]), waives] += 1
    # whether something is waived does not hang on the picture
    shares = [seen[good, True] / (seen[good, True] + seen[good, False]) for good in (True, False)]
    assert abs(shares[0] - shares[1]) < 0.15
    assert 0.3 < shares[0] < 0.7


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, JudgeRl]:
    """A supervised judge of the little world."""
    from driveproof.training.judge import JudgeLessons
    from driveproof.training.sft import train

    folder = tmp_path_factory.mktemp("judge_rl")
    parts = [world(folder, split) for split in ("train", "test")]
    clips, pairs = ([one for part in parts for one in part[k]] for k in (0, 1))
    sft = JudgeSftParams.model_validate(
        {
            "tiny": TINY,
            "gate_steps": 80,
            "score_steps": 0,
            "log_every": 1,
            "batch_size": 8,
            "precision": "fp32",
            "frames": 1,
            "learning_rate": 0.01,
            "matrix_learning_rate": 0.04,
        }
    )
    lessons = JudgeLessons(parts[0][0], PAPER_THRESHOLDS, sft, 0)
    train(lessons, sft, 0, folder / "sft", root=folder)
    run = JudgeRl(
        clips, pairs, PAPER_THRESHOLDS, params(start=str(folder / "sft")), sft,
        JudgeEvaluateParams(frames=1, batch_size=8), 0, folder / "scratch", folder,
    )  # fmt: skip
    return folder, run


def test_a_run_reinforces_both_starts_and_says_what_they_gained(built: Any, tmp_path: Path) -> None:
    _, run = built
    told: list[tuple[str, str]] = []
    summary = run_judge_rl(
        run, tmp_path / "m", tmp_path / "r", lambda *entry: told.append(entry[:2])
    )
    assert {
        ("zero_shot", "form"),
        ("sft", "train"),
        ("zero_shot", "train"),
        ("sft", "after"),
    } <= set(told)
    written = read_json(tmp_path / "r/summary.json")
    assert written == {key: value for key, value in summary.items() if key != "timing"}
    assert (written["contested_train_pairs"], written["contested_pairs"], written["pairs"]) == (
        2,
        2,
        4,
    )
    for name in STARTS:
        found = written["starts"][name]
        for key, gain in found["gain"].items():
            if key in ("strict", "perfect") and not gain["lost"]:
                change = found["after"][key]["mean"] - found["before"][key]["mean"]
                assert gain["mean"] == pytest.approx(change)
        assert found["gain"]["strict"]["lost"] == 0
        assert found["counts"]["after"]["asked"] == 8
        manner = read_json(tmp_path / "m" / name / "driveproof.json")
        assert (manner["judge_style"], manner["reward"], manner["pairing"]) == (
            "compact",
            "preference",
            "all",
        )
    curves = read_json(tmp_path / "r/curves.json")
    assert [[row["step"] for row in curves[name]] for name in STARTS] == [[1, 2], [1, 2]]
    assert curves["zero_shot"][0]["invalid"] > curves["sft"][0]["invalid"]
    assert not run.scratch.exists()
    heard: list[tuple[str, str]] = []
    both = replace(run, params=run.params.model_copy(update={"workers": 2}))
    run_judge_rl(both, tmp_path / "m2", tmp_path / "r2", lambda *entry: heard.append(entry[:2]))
    assert sorted(heard) == sorted(told)
    for name in STARTS:
        weights = [sha256_file(tmp_path / m / name / "model.safetensors") for m in ("m", "m2")]
        assert weights[0] == weights[1]
    for name in ("summary.json", "curves.json", "samples.parquet"):
        assert sha256_file(tmp_path / "r" / name) == sha256_file(tmp_path / "r2" / name)


def test_what_must_not_be_is_refused_before_anything_is_trained(built: Any, tmp_path: Path) -> None:
    folder, run = built

    def refused(match: str, **changes: Any) -> None:
        with pytest.raises(BadInput, match=match):
            run_judge_rl(replace(run, **changes), tmp_path / "m", tmp_path / "r")
        assert not (tmp_path / "m").exists()

    leak = [replace(one, place="same") for one in run.clips]
    refused("a place of training and of the test", clips=leak)
    refused("no trained model", params=params(start=str(tmp_path / "none")))
    other = run.sft.model_copy(update={"style": "full"})
    refused("other questions", sft=other, params=params(start=str(folder / "sft")))


def test_a_start_whose_manner_is_no_object_is_said(tmp_path: Path) -> None:
    from driveproof.training.judge_rl_run import _check

    start = tmp_path / "start"
    start.mkdir()
    for name in ("config.json", "model.safetensors"):
        (start / name).write_text("{}")
    clips, pairs = world(tmp_path, "train")
    made = JudgeRl(
        clips, pairs, PAPER_THRESHOLDS, params(start=str(start)),
        JudgeSftParams(), JudgeEvaluateParams(), 0,
    )  # fmt: skip
    for text, problem in (("[1]", "expected a JSON object"), ("{}", "other questions")):
        (start / "driveproof.json").write_text(text)
        with pytest.raises(BadInput, match=problem):
            _check(made)

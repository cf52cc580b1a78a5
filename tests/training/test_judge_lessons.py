"""What a judge is taught, and that a small model learns to look."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from driveproof.config.judge import JudgeSftParams
from driveproof.config.sft import TinyParams
from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file
from driveproof.judge import (
    PAPER_THRESHOLDS,
    Asking,
    Clip,
    JudgeStyle,
    ask,
    parse_gates,
    parse_score,
)
from driveproof.training.judge import JudgeLessons
from tests.judge.judge_examples import clip, picture

TINY = TinyParams(hidden=32, layers=1, heads=2, vision_hidden=16, vision_layers=1)


def params(**changes: object) -> JudgeSftParams:
    settings = {
        "tiny": TINY, "gate_steps": 30, "score_steps": 10, "batch_size": 8, "precision": "fp32",
        "frames": 1, "learning_rate": 0.01, "matrix_learning_rate": 0.04, **changes,
    }  # fmt: skip
    return JudgeSftParams.model_validate(settings)


def world(folder: Path) -> list[Clip]:
    """Green pictures, where drifting is reasonable, and red ones, where it is not."""
    clips = []
    for n in range(8):
        good = n % 2 == 0
        ref = picture(folder, f"{n}.png", (20, 200 + n, 20) if good else (200 + n, 20, 20), 64)
        one = clip(f"s{n}/0/drift", good, LK=0.0)
        clips.append(replace(one, kind="good" if good else "bad", frames=(ref,)))
    return clips


def test_lessons_repeat_and_say_what_the_labels_imply(tmp_path: Path) -> None:
    lessons = JudgeLessons(world(tmp_path), PAPER_THRESHOLDS, params(), 0)
    again = JudgeLessons(world(tmp_path), PAPER_THRESHOLDS, params(), 0)
    waived = Counter()
    for index in range(60):
        example = lessons.example(index, "gate")
        assert example == again.example(index, "gate")
        answer = parse_gates(example.messages[-1]["content"][0]["text"]).gates
        waived[answer.waived] += 1
        good = int(example.images[0].path.removesuffix(".png")) % 2 == 0
        assert answer.waived == (("LK",) if good else ())
        said = parse_score(lessons.example(index, "score").messages[-1]["content"][0]["text"])
        assert said.score in (0.0, 1.0)
    assert 15 < waived[("LK",)] < 45


def test_tasks_are_mixed_in_their_shares(tmp_path: Path) -> None:
    lessons = JudgeLessons(world(tmp_path), PAPER_THRESHOLDS, params(), 0)
    texts = [lessons.lesson(step, step).messages[0]["content"][-1]["text"] for step in range(40)]
    assert Counter(texts) == {"criteria": 30, "quality": 10}
    assert Counter(texts[:20])["quality"] == 5


def test_lessons_need_both_labels_and_pictures(tmp_path: Path) -> None:
    clips = world(tmp_path)
    with pytest.raises(BadInput, match="reasonable and unreasonable"):
        JudgeLessons(clips[::2], PAPER_THRESHOLDS, params(), 0)
    with pytest.raises(BadInput, match="frames"):
        JudgeLessons(clips, PAPER_THRESHOLDS, params(frames=2), 0)


@pytest.mark.slow
def test_a_small_judge_learns_to_look_and_the_same_again(tmp_path: Path) -> None:
    from driveproof.policy.local import TransformersPolicy
    from driveproof.policy.pictures import Pictures
    from driveproof.training.sft import train

    clips = world(tmp_path)
    for name in ("one", "two"):
        lessons = JudgeLessons(clips, PAPER_THRESHOLDS, params(), 0)
        train(lessons, params(), 0, tmp_path / name, root=tmp_path)
    weights = [sha256_file(tmp_path / name / "model.safetensors") for name in ("one", "two")]
    assert weights[0] == weights[1]
    assert read_json(tmp_path / "one/driveproof.json")["judge_style"] == "compact"
    model = TransformersPolicy(tmp_path / "one", Pictures(tmp_path), threads=1)
    answers = ask(model, clips, "gate", Asking(JudgeStyle("compact", 1), max_tokens=24))
    assert {clip.key: answers.gates[clip.key].waived for clip in clips} == {
        clip.key: ("LK",) if clip.label else () for clip in clips
    }

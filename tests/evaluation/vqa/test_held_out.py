"""Models on clips that they were not taught: what is asked, what is scored, beside which baselines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driveproof.commenter.dataset import AnswerRow
from driveproof.commenter.moments import Moment
from driveproof.config.vqa import VqaEvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation.vqa.given import Given
from driveproof.evaluation.vqa.held_out import Asked, HeldOut, ask_models, report_held_out
from driveproof.files import write_json
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import InputMode, Shown, mode_to_json
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.report.vqa_models import model_tables
from driveproof.scene import ImageRef

USUAL = ActionKeys(DirectionKey.FOLLOW_LANE, SpeedKey.KEEP)


@pytest.fixture
def moments(rows: list[AnswerRow]) -> list[Moment]:
    """The moments of the small dataset; 3 of each of two clips."""
    by_frame: dict[tuple[str, int], list[AnswerRow]] = {}
    for row in rows:
        by_frame.setdefault((row.clip, row.frame), []).append(row)
    return [
        Moment(clip, frame, 5.0, "follow", (), ImageRef("none"), tuple(asked))
        for (clip, frame), asked in by_frame.items()
    ]


def held(moments: list[Moment], **changes: int) -> HeldOut:
    return HeldOut(tuple(moments), VqaEvaluateParams.model_validate({"workers": 1, **changes}))


def true_keys(moment: Moment) -> ActionKeys:
    (row,) = [row for row in moment.rows if row.key.number == 50]
    return row.answer.facts["keys"]  # type: ignore[return-value]


def test_every_so_many_moments_of_each_clip_are_asked(moments) -> None:
    some = held(moments, every=2, keys_every=3)
    assert [moment.frame for moment in some.asked] == [0, 10, 0, 10]
    assert [moment.frame for moment in some.keys] == [0, 0]
    assert {row.key.number for moment in some.keys for row in moment.rows} == {50}
    with pytest.raises(BadInput, match="no moment"):
        held([])


def test_a_model_that_knows_everything_and_one_that_is_lost(moments) -> None:
    some = held(moments, every=1, keys_every=1)
    knows = Asked(
        "knows",
        (50, 8),
        tuple(Given(r.clip, r.frame, r.key, r.text) for r in some.rows),
        tuple(true_keys(moment) for moment in moments),
    )
    lost = Asked(
        "lost",
        (50,),
        tuple(Given(r.clip, r.frame, r.key, None, "out of memory") for r in some.rows),
        tuple(None for _ in moments),
    )
    report = report_held_out([knows, lost], some, USUAL)
    scores = report["scores"]
    assert set(scores) == {"knows", "lost", "expert", "shuffled", "constant"}
    assert scores["knows"]["overall"]["mean"] == scores["expert"]["overall"]["mean"] == 100.0
    assert scores["lost"]["overall"]["mean"] is None
    assert scores["lost"]["overall"]["lost"] == len(some.rows)
    assert scores["constant"]["overall"]["mean"] < 100.0
    taught = [r for r in some.rows if r.key.number in (50, 8)]
    assert scores["knows"]["taught"]["n"] == len(taught)
    # waypoints have no log here: unscored, not 0
    waypoints = sum(r.key.number == 42 for r in some.rows)
    assert scores["knows"]["untaught"]["lost"] == waypoints
    assert scores["knows"]["untaught"]["n"] == len(some.rows) - len(taught) - waypoints
    keys = report["keys"]["agreement"]
    assert keys["knows"]["both"]["mean"] == 1.0
    assert keys["lost"]["both"]["lost"] == len(moments)
    right = sum(true_keys(moment) == USUAL for moment in moments)
    assert keys["usual"]["both"]["mean"] == pytest.approx(right / len(moments))
    written = json.loads(json.dumps(report))
    by_category, by_question, agreement = model_tables(written)
    assert by_category.head[1:] == ("expert", "shuffled", "constant", "knows", "lost")
    assert "knows: 50, 8; lost: 50" in by_category.note
    assert {row[0] for row in by_question.rows if row[1] == "yes"} == {"50", "8"}
    assert agreement.rows[0][0] == "both keys"


def test_a_model_folder_is_asked_as_it_says(moments, tmp_path: Path) -> None:
    """A tiny untrained model answers nonsense to everything, and everything is scored."""
    mode = InputMode(Shown.TEXT)
    folder = tmp_path / "text"
    build_tiny_vlm(folder, ["Actors"], hidden=16, layers=1, heads=2, vision_hidden=16, vision_layers=1)  # fmt: skip
    some = held(moments, every=3, keys_every=3, max_tokens=4)
    with pytest.raises(BadInput, match="does not say how"):
        ask_models({"text": folder}, some)
    manner = {"mode": mode_to_json(mode), "wording": "0" * 16, "questions": [50]}
    write_json(folder / "driveproof.json", manner)
    with pytest.raises(BadInput, match="was trained with"):
        ask_models({"text": folder}, some)
    write_json(folder / "driveproof.json", manner | {"wording": wording_hash(mode)})
    (asked,) = ask_models({"text": folder}, some)
    assert [(g.clip, g.frame, g.key) for g in asked.given] == [
        (r.clip, r.frame, r.key) for r in some.rows
    ]
    assert all(answer.text is not None for answer in asked.given)
    report = report_held_out([asked], some, USUAL)
    assert report["scores"]["text"]["overall"]["mean"] < 60.0
    assert report["taught"] == {"text": [50]}

"""``driveproof judge``: what it prints, and one line for whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.judge import app
from driveproof.errors import BadInput
from driveproof.judge import parse_gates, read_clips, read_pairs, write_clips
from driveproof.policy.pictures import Pictures
from tests.judge.judge_examples import clip
from tests.rules.rules_examples import street


def call(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    path = tmp_path / "clips.parquet"
    write_clips(
        [clip("s/0/good", True, EP=0.3), clip("s/0/bad", False, LK=0.0), clip("t/0/x")], path
    )
    return path


def drifting(folder: Path) -> Path:
    """A car that keeps a metre to the left of its lane's centre."""
    doc = street()
    doc["proposals"] = [
        {
            "name": "drift",
            "poses": [[8.0 * t, min(1.0, t), 0.0] for t in (0.5 * n for n in range(1, 9))],
            "dt": 0.5,
        }
    ]
    path = folder / "case.json"
    path.write_text(json.dumps(doc))
    return path


def test_gates_change_a_case(tmp_path: Path) -> None:
    path = drifting(tmp_path)
    plain = json.loads(call("score", path, "--json"))["street"]["drift"]
    assert plain["score"] == pytest.approx(plain["EPDMS"])
    gates = "waive, apply, apply, apply, apply, apply, apply"
    waived = json.loads(call("score", path, "--json", "--gates", gates))["street"]["drift"]
    assert waived["waived"] == ["LK"]
    assert waived["score"] > plain["score"]


def test_what_is_wrong_is_one_line(tmp_path: Path, clips: Path) -> None:
    path = drifting(tmp_path)
    for words, problem in (
        (("score", path, "--gates", "apply"), "not seven labels"),
        (("score", path, "--empty", "zero"), "not one, ungated"),
        (("score", path, "--variant", "mine"), "neither navsim"),
        (("prompt", "essay"), "neither gate nor score"),
        (("prompt", "gate", "--style", "long"), "not full or compact"),
        (("ask", "random", "--clips", clips), "does not talk"),
        (("explain", "s/0/good", tmp_path / "x.gif"), ".png or .svg"),
        (("sweep", "--clips", clips, "--split", "nowhere"), "no labelled clip"),
        (("mine", tmp_path, "--out", tmp_path / "out"), "."),
    ):
        with pytest.raises(BadInput, match=problem) as caught:
            call(*words)
        assert "\n" not in str(caught.value)


def test_labels_and_preferences_come_in(tmp_path: Path, clips: Path) -> None:
    labels = tmp_path / "l.csv"
    labels.write_text("clip,annotator,reasonable,justification\nt/0/x,ann,no,stops\nzz,ann,no,\n")
    out = tmp_path / "labelled.parquet"
    assert "1 clips labelled" in call("label", labels, out, "--clips", clips)
    assert [c.label for c in read_clips(out)] == [True, False, False]
    said = {"token": "1", "trajectory_a": "s/0/good", "trajectory_b": "s/0/bad", "preferred": "A"}
    preferences = tmp_path / "p.jsonl"
    preferences.write_text(json.dumps(said))
    call("prefer", preferences, tmp_path / "pairs.parquet", "--clips", out)
    assert len(read_pairs(tmp_path / "pairs.parquet")) == 1
    assert json.loads(call("agree", labels, "--json"))["clips"] == 2


def test_the_sweep_says_what_matters(clips: Path) -> None:
    found = json.loads(call("sweep", "--clips", clips, "--split", "test", "--json"))
    assert found["matters"]["EP"] is True
    assert found["matters"]["LK"] is False


def test_the_prompt_is_what_models_get() -> None:
    text = call("prompt", "gate")
    example = text.rpartition("For example: ")[2].splitlines()[0]
    assert parse_gates(example).gates is not None


@pytest.mark.slow
@pytest.mark.shared
def test_windows_of_a_real_log_are_mined_and_drawn(shared_dir: Path, tmp_path: Path) -> None:
    log = shared_dir / "data/fixtures/nuscenes_scenarionet/sd_nuscenes_v1.0-mini_scene-0757.pkl"
    call("mine", log, "--format", "scenarionet", "--out", tmp_path / "out", "--all")
    mined = read_clips(tmp_path / "out/clips.parquet")
    counts = json.loads((tmp_path / "out/mining.json").read_text())
    assert counts["kept"] == counts["windows"] == len(mined) > 3
    assert {one.label for one in mined} == {None}
    assert len({one.setting for one in mined}) == len(mined)
    assert all(one.rules["NC"] is not None and one.rules["LK"] is not None for one in mined)
    frame = Pictures().pixels(mined[0].frames[-1]).astype(int)
    red = (frame[..., 0] > 180) & (frame[..., 1:].max(-1) < 90)
    assert red[:, 96:].sum() > 20  # the ego

"""``driveproof reason`` on a clip: run, draw, ask again, score; and one line for what is wrong."""

from __future__ import annotations

import json
import tarfile
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from driveproof.cli.reason import app
from driveproof.commenter.campaign import comment_clips
from driveproof.errors import BadInput, UserError
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.reasoning import read_traces
from tests.commenter.clip_makers import write_clip


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve frames, with pictures of every fifth."""
    path = write_clip(tmp_path_factory.mktemp("clip"), frames=12, vehicles=4)
    rng = np.random.default_rng(0)
    with tarfile.open(path, "a") as archive:
        for camera in ("rgb_front", "rgb_top_down"):
            for frame in (0, 5, 10):
                pixels = rng.integers(0, 255, (64, 96, 3)).astype(np.uint8)
                data = cv2.imencode(".jpg", pixels)[1].tobytes()
                member = tarfile.TarInfo(f"{path.stem}/camera/{camera}/{frame:05d}.jpg")
                member.size = len(data)
                archive.addfile(member, BytesIO(data))
    return path


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny_vlm(folder, ["FOLLOW_LANE, KEEP"], hidden=32, layers=2, heads=2, vision_hidden=32)
    return f"transformers:{folder}"


def _call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _json(*arguments: object):
    done = _call(*arguments, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def test_graphs_are_listed_and_checked(tmp_path: Path) -> None:
    assert "action" in _json("presets")
    facts = _json("check", "paper")
    assert facts["order"] == [19, 15, 7, 24, 13, 47, 8, 43, 50]
    assert facts["context"]["13"] == {"now": [19, 24], "earlier": []}
    assert "the expert" in _call("check", "paper").stdout
    done = _call("check", "paper", "--blind")
    assert isinstance(done.exception, BadInput)
    (tmp_path / "g.yaml").write_text("NODE: [43]")
    assert isinstance(_call("check", tmp_path / "g.yaml", "--drives").exception, BadInput)


@pytest.mark.slow
def test_a_clip_is_run_drawn_asked_again_and_scored(
    clip: Path, policy: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--policy", policy, "--every", 5, "--max-tokens", 8, "--out", out)
    summary = _json("run", clip, *options, "--graph", "paper")
    assert (summary["frames"], summary["asked"], summary["failed"]) == (3, 24, 0)
    assert 0 < summary["usage"]["prefilled_tokens"] < summary["usage"]["prompt_tokens"]
    traces = list(read_traces(out / "traces.jsonl"))
    assert [trace.frame for trace in traces] == [0, 5, 10]
    assert all((out / "pictures" / f"{t.pictures[0]}.png").is_file() for t in traces)
    told = traces[0].step(24)
    assert told is not None
    assert told.text  # the expert on the recorded clip
    assert _json("replay", out, "--policy", policy, "--out", tmp_path / "again.jsonl") == {
        "same": 24,
        "other": 0,
        "failed": 0,
    }
    svg = tmp_path / "frame.svg"
    assert _call("show", "paper", "--traces", out, "--frame", 5, "--svg", svg).exit_code == 0
    ET.parse(svg)
    comment_clips([clip], tmp_path / "truth", every=5)
    report = _json("score", out, "--truth", tmp_path / "truth")
    assert report["overall"]["n"] == 24
    assert set(report["by_question"]) == {"7", "8", "13", "15", "19", "43", "47", "50"}


@pytest.mark.parametrize("mode", ["bev", "text+references", "camera+references+history=2"])
def test_modes_that_show_more(clip: Path, policy: str, tmp_path: Path, mode: str) -> None:
    options = ("--policy", policy, "--every", 5, "--max-tokens", 4, "--graph", "action")
    summary = _json("run", clip, *options, "--mode", mode, "--out", tmp_path / "out")
    assert (summary["frames"], summary["failed"]) == (3, 0)
    (first, *_) = read_traces(tmp_path / "out" / "traces.jsonl")
    assert len(first.pictures) == {"bev": 1, "text+references": 0}.get(mode, 2)
    assert ('"id": "c' in first.steps[0].prompt) == (mode == "text+references")


def test_a_folder_is_a_clip_too(clip: Path, policy: str, tmp_path: Path) -> None:
    with tarfile.open(clip) as archive:
        archive.extractall(tmp_path, filter="data")
    options = ("--policy", policy, "--every", 5, "--max-tokens", 4, "--graph", "action")
    for path, out in ((clip, tmp_path / "a"), (tmp_path / clip.stem, tmp_path / "b")):
        _json("run", path, *options, "--out", out)
    first, second = (list(read_traces(tmp_path / name / "traces.jsonl")) for name in "ab")
    assert [(t.episode, t.steps[0].prompt_hash, t.steps[0].text) for t in first] == [
        (t.episode, t.steps[0].prompt_hash, t.steps[0].text) for t in second
    ]


def test_nothing_is_left_of_what_fails(clip: Path, policy: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for options, says in (
        (("--every", 3), "has no picture rgb_front of frame 3"),
        (("--mode", "camera+six", "--every", 5), "has no picture rgb_front_left"),
        (("--graph", "absent.yaml"), "no such graph"),
        (("--mode", "sonar"), "no such mode"),
    ):
        done = _call("run", clip, "--policy", policy, "--max-tokens", 4, "--out", out, *options)
        assert isinstance(done.exception, UserError)
        assert says in str(done.exception)
        assert not out.exists()
    done = _call("run", clip, "--policy", "random", "--out", out)
    assert "does not talk" in str(done.exception)

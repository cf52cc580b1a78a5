"""Exports: the peers' layout, DriveLM's graph and conversations hold what the dataset says, and nothing of their own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from clip_makers import write_clip

from driveproof.commenter.campaign import comment_clips
from driveproof.commenter.dataset import read_answers
from driveproof.commenter.exports.conversations import CHAIN, KeepRatios, says_something
from driveproof.commenter.exports.files import write_conversations, write_drivelm, write_peers
from driveproof.errors import UserError
from driveproof.questions import QUESTIONS, Category

ALL = KeepRatios(1.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clips"), "Town05", 1, 21, 6)


@pytest.fixture(scope="module")
def dataset(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vqa") / "data"
    comment_clips([clip], out, every=10)
    return out


@pytest.fixture(scope="module")
def peers(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("peers") / "all"
    assert write_peers([clip], out, every=10) == 3
    return out / clip.stem


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_peers_layout(peers: Path, dataset: Path) -> None:
    assert sorted(p.name for p in peers.iterdir()) == ["00000.json", "00010.json", "00020.json"]
    record = json.loads((peers / "00010.json").read_text())
    assert set(record) == {"key_object_infos", "QA", "extra_flags", "image_paths"}
    assert set(record["QA"]) == {category.value for category in Category}
    items = [item for group in record["QA"].values() for item in group]
    said = [
        (row.key.number, row.question, row.text) for row in read_answers(dataset) if row.frame == 10
    ]
    assert sorted((item["qid"], item["Q"], item["A"]) for item in items) == sorted(said)
    assert {"Q", "A", "C", "qid", "con_up", "con_down", "cluster", "layer", "object_tags"} == set(
        items[0]
    )
    for item in items:
        assert set(item["object_tags"]) <= set(record["key_object_infos"])
        assert set(item["con_up"]) <= set(QUESTIONS[item["qid"]].after)
    front = record["image_paths"]["CAM_FRONT"]
    assert front.endswith("camera/rgb_front/00010.jpg")
    assert not front.startswith("/")


def test_edges_go_both_ways(peers: Path) -> None:
    record = json.loads((peers / "00000.json").read_text())
    items = [item for group in record["QA"].values() for item in group]
    up = {(before, item["qid"]) for item in items for before in item["con_up"]}
    down = {(item["qid"], after) for item in items for after in item["con_down"]}
    assert up == down


def test_things_have_boxes_where_they_are_seen(peers: Path) -> None:
    record = json.loads((peers / "00000.json").read_text())
    assert record["key_object_infos"], "six vehicles around, one of them matters"
    for thing in record["key_object_infos"].values():
        assert isinstance(thing["speed"], int | float), "a speed, not a position"
        for (left, top), (right, bottom) in thing["2d_bbox"].values():
            assert 0 <= left <= right
            assert 0 <= top <= bottom


def test_drivelm_holds_the_same_questions(clip: Path, peers: Path, tmp_path: Path) -> None:
    assert write_drivelm([clip], tmp_path / "graph.json", every=10) == 3
    graph = json.loads((tmp_path / "graph.json").read_text())
    frames = graph[clip.stem]["key_frames"]
    assert len(frames) == 3
    record = json.loads((peers / "00010.json").read_text())
    assert frames[f"{clip.stem}_00010"]["QA"] == record["QA"]


def test_all_questions_become_conversations(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    rows = list(read_answers(dataset))
    assert write_conversations(dataset, out, ratios=ALL) == len(rows)
    for line, row in zip(_lines(out), rows, strict=True):
        human, model = line["conversations"]
        assert (human["from"], model["from"]) == ("human", "gpt")
        assert human["value"] == f"<image>\n{row.question}"
        assert model["value"] == row.text
        assert line["images"] == [f"{row.clip}/camera/rgb_front/{row.frame:05d}.jpg"]
    ids = Counter(line["id"] for line in _lines(out))
    assert max(ids.values()) == 1


def test_keep_ratios_drop_answers_that_say_none(dataset: Path, tmp_path: Path) -> None:
    rows = list(read_answers(dataset))
    stating = sum(says_something(row.answer) for row in rows)
    assert 0 < stating < len(rows)
    out = tmp_path / "c.jsonl"
    assert write_conversations(dataset, out, ratios=KeepRatios(1.0, 1.0, 0.0)) == stating
    some = write_conversations(dataset, out, ratios=KeepRatios(1.0, 1.0, 0.5))
    assert stating < some < len(rows)
    first = out.read_bytes()
    write_conversations(dataset, out, ratios=KeepRatios(1.0, 1.0, 0.5))
    assert out.read_bytes() == first, "what is kept depends on the seed alone"


def test_a_chain_walks_through_the_frame(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    assert write_conversations(dataset, out, "chain", ratios=ALL, images="") == 3
    for line in _lines(out):
        assert line["images"] == []
        asked = [turn["value"] for turn in line["conversations"] if turn["from"] == "human"]
        assert len(asked) <= len(CHAIN)
        assert any(phrase == asked[-1] for phrase in QUESTIONS[50].phrasings), "keys come last"


def test_shares_are_shares() -> None:
    with pytest.raises(ValueError, match="trivial"):
        KeepRatios(trivial=1.5)


def test_an_export_replaces_no_foreign_folder(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "mine" / "photos").mkdir(parents=True)
    with pytest.raises(UserError, match="holds something else"):
        write_peers([clip], tmp_path / "mine", every=10)
    assert (tmp_path / "mine" / "photos").is_dir()

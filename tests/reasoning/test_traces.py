"""Traces: written, read, drawn, asked again, and refused where they are none."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from driveproof.errors import BadInput
from driveproof.prompts.inputs import InputMode
from driveproof.questions import QuestionKey
from driveproof.reasoning import (
    PRESETS,
    Moment,
    Reasoner,
    Sampling,
    Trace,
    read_traces,
    write_traces,
)
from driveproof.reasoning.draw import draw_svg, to_dot, to_mermaid
from driveproof.reasoning.replay import TracePictures, answers_of, compare, replay
from tests.reasoning.talkers import Talker

PAPER = PRESETS["paper"].graph
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = np.random.default_rng(0).integers(0, 255, (36, 64, 3)).astype(np.uint8)


def _truth(key: QuestionKey) -> str:
    return "There is <none> & nothing."


def _think(talker: Talker | None = None, frames: int = 2) -> list[Trace]:
    reasoner = Reasoner(
        talker or Talker(), PAPER, InputMode(), truth=_truth, sampling=Sampling(32, 0.5)
    )
    reasoner.begin("clip", 7)
    return [reasoner.think(Moment(5 * n, 0.5 * n, 3.0, "left", (PICTURE,))) for n in range(frames)]


def test_a_trace_survives_its_file(tmp_path: Path) -> None:
    traces = _think()
    path = tmp_path / "traces.jsonl"
    assert write_traces(path, traces) == 2
    assert list(read_traces(path)) == traces
    # and as what a run of drives keeps
    lines = [json.dumps({"frame": 1, "trace": trace.to_json()}) for trace in traces]
    path.write_text("\n".join([*lines, '{"frame": 2, "trace": null}', ""]))
    assert list(read_traces(path)) == traces


def test_the_reading_is_typed() -> None:
    (trace,) = _think(Talker(lambda _: "FOLLOW_LANE, KEEP"), frames=1)
    step = trace.step(50)
    assert step is not None
    assert step.reading is not None
    assert step.reading["answer"]["facts"]["keys"] == {"direction": "FOLLOW_LANE", "speed": "KEEP"}


def test_a_hash_stands_for_everything_that_is_asked() -> None:
    first, again = _think(), _think()
    assert [s.prompt_hash for t in first for s in t.steps] == [
        s.prompt_hash for t in again for s in t.steps
    ]
    asked = [step for trace in first for step in trace.steps if not step.truth]
    assert len({step.prompt_hash for step in asked}) == len(asked)


def test_the_same_requests_again(tmp_path: Path) -> None:
    before = Talker()
    traces = _think(before)
    store = TracePictures(tmp_path)
    store.keep(PICTURE)
    store.keep(PICTURE)
    assert len(list(tmp_path.iterdir())) == 1
    after = Talker()
    again = [replay(trace, after, store) for trace in traces]
    assert [[s.text for s in t.steps] for t in again] == [[s.text for s in t.steps] for t in traces]
    assert [len(batch) for batch in after.batches] == [8, 8]
    first = {json.dumps(r.messages): r for batch in before.batches for r in batch}
    for request in (request for batch in after.batches for request in batch):
        same = first[json.dumps(request.messages)]
        sampling = ("seed", "temperature", "top_p", "max_tokens")
        assert [getattr(request, n) for n in sampling] == [getattr(same, n) for n in sampling]
        assert np.array_equal(request.images[0], PICTURE)
    other = replay(traces[0], Talker(lambda _: "STOP"), store)
    assert compare(traces[0], traces[0]) == {"same": 8, "other": 0, "failed": 0}
    assert compare(traces[0], other) == {"same": 0, "other": 8, "failed": 0}
    told = other.step(24)
    assert told is not None
    assert told.text == _truth(QuestionKey(24))


def test_another_picture_is_not_taken_for_the_one_shown(tmp_path: Path) -> None:
    (trace,) = _think(frames=1)
    store = TracePictures(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        replay(trace, Talker(), store)
    store.keep(255 - PICTURE)
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"{trace.pictures[0]}.png")
    with pytest.raises(BadInput, match="another picture"):
        replay(trace, Talker(), store)
    for name in ("../../etc/passwd", "0" * 63, "Z" * 64):
        with pytest.raises(BadInput, match="not the hash"):
            store.load(name)


def test_the_experts_answers_are_not_scored_as_the_policys() -> None:
    rows = list(answers_of(_think()))
    assert len(rows) == 16
    assert {row["number"] for row in rows} == set(PAPER.asked)
    assert {(row["clip"], row["frame"]) for row in rows} == {("clip", 0), ("clip", 5)}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data | {"trace_version": 99},
        lambda data: {k: v for k, v in data.items() if k != "steps"},
        lambda data: data | {"steps": [{}]},
        lambda data: data | {"steps": 3},
        lambda data: data | {"steps": [{**data["steps"][0], "text": None, "error": ""}]},
        lambda data: data | {"sampling": {"heat": 1}},
        lambda data: [data],
    ],
)
def test_what_is_no_trace_is_named_with_its_line(tmp_path: Path, spoil) -> None:
    (trace,) = _think(frames=1)
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{json.dumps(trace.to_json())}\n{json.dumps(spoil(trace.to_json()))}\n")
    with pytest.raises(BadInput) as caught:
        list(read_traces(path))
    assert (caught.value.path, caught.value.field) == (str(path), "line 2")


def test_a_picture_of_the_graph_shows_every_node_and_edge() -> None:
    (trace,) = _think(Talker(lambda p: None if "brake now" in p else "<b>STOP</b> & go"), frames=1)
    drawing = ET.fromstring(draw_svg(PAPER, trace))
    boxes = {
        group.get("id"): (group.get("class"), group.find(f"{SVG}rect"))
        for group in drawing.iter(f"{SVG}g")
    }
    assert set(boxes) == {f"q{number}" for number in PAPER.nodes}
    assert boxes["q24"][0] == "truth"
    assert boxes["q8"][0] == "failed"
    ways = [path.get("class") for path in drawing.iter(f"{SVG}path")]
    assert ways.count("edge") == len(PAPER.edges)
    assert ways.count("inherit") == 3
    text = "".join(drawing.itertext())
    assert "<b>STOP</b> & go" in text
    places = [
        tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))
        for _, rect in boxes.values()
    ]
    for i, (x, y, w, h) in enumerate(places):
        assert x + w <= float(drawing.get("width"))
        assert y + h <= float(drawing.get("height"))
        for other in places[:i]:
            apart_x = x >= other[0] + other[2] or other[0] >= x + w
            apart_y = y >= other[1] + other[3] or other[1] >= y + h
            assert apart_x or apart_y


def test_text_for_other_programs_names_every_edge() -> None:
    mermaid, dot = to_mermaid(PAPER), to_dot(PAPER)
    for start, end in PAPER.edges:
        assert f"q{start} --> q{end}\n" in mermaid
        assert f"q{start} -> q{end};\n" in dot
    assert mermaid.count("-. earlier .->") == dot.count("style=dashed") == 3
    assert mermaid.count("[[") == dot.count("style=filled") == 1
    assert dot.count('"') % 2 == 0

"""Graphs as files: ours, the peer's configuration, and what is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.reasoning import PRESETS, load_graph, open_graph
from driveproof.reasoning.graph_files import MAX_BYTES, parse_graph

PEER = """{
 "TASK_CONFIGS": {"FRAME_PER_SEC": 10},
 "INFERENCE_BASICS": {"INPUT_WINDOW": 1, "CONVERSATION_WINDOW": 1, "USE_BEV": false},
 "CHAIN": {
  "NODE": [19, 15, 7, 24, 13, 47, 8, 43, 50],
  "EDGE": {"19": [24, 13, 8], "15": [7, 8], "7": [8], "24": [13, 47], "13": [47, 8, 43],
           "47": [8], "8": [43], "43": [50], "50": []},
  "INHERIT": {"19": [43, 7], "15": [7]},
  "USE_GT": [24]
 },
 "CONTROL_RATE": 2.0, "MODEL_NAME": "x", "PORT": 7023, "NO_PERC_INFO": true
}"""


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_the_peers_configuration_is_the_papers_example(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"config.{ending}"
    path.write_text(PEER)
    assert load_graph(path) == PRESETS["paper"].graph


@pytest.mark.parametrize("name", PRESETS)
def test_a_graph_survives_its_file(tmp_path: Path, name: str) -> None:
    graph = PRESETS[name].graph
    for ending, text in (
        ("json", json.dumps(graph.to_json())),
        ("yaml", yaml.safe_dump(graph.to_json())),
    ):
        path = tmp_path / f"graph.{ending}"
        path.write_text(text)
        read = open_graph(path)
        assert (read, read.digest, read.order) == (graph, graph.digest, graph.order)


def test_a_name_is_a_preset_or_a_file(tmp_path: Path) -> None:
    assert open_graph("cot") == PRESETS["cot"].graph
    with pytest.raises(BadInput, match="no such graph") as caught:
        open_graph(tmp_path / "absent.yaml")
    assert "paper, cot" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("NODE: [50", "line 1", "not YAML"),
        ("- 50", None, "not a graph"),
        ("", None, "not a graph"),
        ("EDGE: {}", "NODE", "required"),
        ("NODE: [fifty]", "NODE.0", "integer"),
        ("NODE: [50.0]", "NODE.0", "integer"),
        ("NODE: [true]", "NODE.0", "integer"),
        ("NODE: [50]\nNODES: [43]", "NODES", "not permitted"),
        ("NODE: [50]\nNODE: [43]", "line 2", "given twice"),
        ("NODE: [43, 50]\nEDGE: {43: [50], 43: []}", "line 2", "given twice"),
        ("NODE: [43, 50]\nEDGE: {43: [50], '43': []}", "line 2", "given twice"),
        ("NODE: [43, 50]\nEDGE: {43: 50}", "EDGE.43", "list"),
        ("NODE: [43, 50]\nEDGE: {x: [50]}", "EDGE.x", "integer"),
        ("NODE: [43, 50]\nUSE_GT: [43, 43]", "USE_GT", "twice"),
        ("NODE: [43, 50]\nINHERIT: {50: [8]}", "INHERIT.50", "never be filled"),
        ("CHAIN: {NODE: [45]}", "CHAIN.NODE", "no question 45"),
        ("CHAIN: {NODE: [50]}\nNODE: [43]", "NODE", "beside CHAIN"),
        ("NODE: !!python/object/apply:os.system ['true']", "line 1", "not YAML"),
        ("\x00", None, "not YAML"),
    ],
)
def test_a_broken_file_is_named_with_its_field(
    tmp_path: Path, text: str, field: str | None, problem: str
) -> None:
    path = tmp_path / "graph.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=problem) as caught:
        load_graph(path)
    assert caught.value.path == str(path)
    assert (caught.value.field or None) == field


def test_json_that_says_a_thing_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text('{"NODE": [50], "NODE": [43]}')
    with pytest.raises(BadInput, match="NODE is given twice"):
        load_graph(path)


def test_no_file_of_any_size_or_kind_is_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    for content in (b"\xff\xfe", b"[" * 100_000, b" " * (MAX_BYTES + 1)):
        path.write_bytes(content)
        with pytest.raises(BadInput):
            load_graph(path)
    with pytest.raises(BadInput):
        load_graph(tmp_path)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["NODE", "EDGE", "INHERIT", "USE_GT", "WINDOW"]), PLAIN))
def test_any_values_are_a_graph_or_bad_input(content: dict) -> None:
    try:
        graph = parse_graph(content)
    except BadInput:
        return
    assert parse_graph(graph.to_json()) == graph

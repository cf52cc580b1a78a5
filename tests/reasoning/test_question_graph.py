"""Order, levels, contexts and validation of graphs; the paper's example."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.questions import QUESTIONS, Category, Per, Question, QuestionKey, register
from driveproof.reasoning import PRESETS, ReasoningGraph, graph_name
from driveproof.reasoning.graph import keys_of, notes, require_action, require_blind

PAPER = PRESETS["paper"].graph
PAPER_SEQUENCE = (19, 24, 13, 47, 15, 7, 8, 43, 50)
PAPER_NOW = {
    19: set(),
    13: {19, 24},
    47: {19, 24},
    15: set(),
    7: {15},
    8: {13, 47, 15, 7},
    43: {13, 8},
    50: {43},
}
"""What the paper's text lists as context of the same frame, step by step."""
ASKABLE = sorted(
    n
    for n, q in QUESTIONS.items()
    if q.per in (Per.FRAME, Per.SIDE, Per.SENSE) and not q.given_objects
)


def test_the_papers_example_has_a_valid_order() -> None:
    for order in (PAPER.order, PAPER_SEQUENCE):
        assert sorted(order) == sorted(PAPER.nodes)
        assert all(order.index(start) < order.index(end) for start, end in PAPER.edges)
    # nothing has to be moved, so the order is the one that NODE gives
    assert PAPER.order == PAPER.nodes


def test_the_papers_example_gives_the_contexts_of_the_paper() -> None:
    assert PAPER.asked == tuple(n for n in PAPER.order if n != 24)  # "Question 24 is skipped"
    mine = {number: set(PAPER.before(number)) for number in PAPER.asked}
    assert {n for n in mine if mine[n] != PAPER_NOW[n]} == {47, 8}
    # there the paper's text leaves its own EDGE: 13 leads to 47 and 19 does not, and 19 leads to 8
    assert mine[47] == {24, 13}
    assert mine[8] == PAPER_NOW[8] | {19}
    assert PAPER.inherited(19) == (43, 7)
    assert PAPER.inherited(15) == (7,)
    assert all(PAPER.inherited(n) == () for n in PAPER.nodes if n not in (19, 15))


def test_the_experts_answers_wait_for_nobody() -> None:
    assert PAPER.levels == ((19, 15), (7, 13), (47,), (8,), (43,), (50,))
    assert PRESETS["cot"].graph.levels == ((19, 15), (7, 24), (13,), (47,), (8,), (43,), (50,))
    assert PRESETS["alone"].graph.levels == (PAPER.nodes,)


def test_presets_are_what_they_say() -> None:
    assert PRESETS["no_cot"].graph.edges == ((43, 50),)
    assert PRESETS["action"].graph.nodes == (50,)
    for name, preset in PRESETS.items():
        require_action(preset.graph)
        assert graph_name(preset.graph) == name
        assert notes(preset.graph) == []
    with pytest.raises(BadInput, match="must not see it"):
        require_blind(PAPER)
    require_blind(PRESETS["cot"].graph)


@st.composite
def graphs(draw: st.DrawFn) -> ReasoningGraph:
    nodes = draw(st.lists(st.sampled_from(ASKABLE), min_size=1, max_size=9, unique=True))
    hidden = draw(st.permutations(nodes))
    pairs = [(a, b) for i, a in enumerate(hidden) for b in hidden[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    told = draw(st.sets(st.sampled_from(nodes)))
    return ReasoningGraph(tuple(nodes), tuple(edges), use_truth=frozenset(told))


@given(graphs(), st.randoms(use_true_random=False))
def test_every_edge_leads_forward_and_the_order_is_stable(
    graph: ReasoningGraph, rng: random.Random
) -> None:
    assert sorted(graph.order) == sorted(graph.nodes)
    assert all(graph.order.index(a) < graph.order.index(b) for a, b in graph.edges)
    shuffled = list(graph.edges)
    rng.shuffle(shuffled)
    assert replace(graph, edges=tuple(shuffled)).order == graph.order
    # as early in NODE as the edges allow: whoever comes before its place was waited for
    for place, number in enumerate(graph.order):
        done = set(graph.order[:place])
        free = [n for n in graph.nodes if n not in done and set(graph.before(n)) <= done]
        assert number == free[0]


@given(graphs())
def test_a_level_needs_only_what_was_answered_before(graph: ReasoningGraph) -> None:
    asked = [number for level in graph.levels for number in level]
    assert sorted(asked) == sorted(graph.asked)
    known = set(graph.use_truth)
    for level in graph.levels:
        assert all(set(graph.before(number)) <= known for number in level)
        known |= set(level)


@given(graphs(), st.data())
def test_a_way_back_is_a_circle(graph: ReasoningGraph, data: st.DataObject) -> None:
    number = data.draw(st.sampled_from(graph.nodes))
    later = [b for a, b in graph.edges if a == number] or [number]
    back = (data.draw(st.sampled_from(later)), number)
    with pytest.raises(BadInput, match="circle") as caught:
        replace(graph, edges=(*graph.edges, back))
    assert caught.value.field is not None
    assert caught.value.field.startswith("EDGE.")


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"nodes": ()}, "NODE", "no question"),
        ({"nodes": (50, 45)}, "NODE", "no question 45"),
        ({"nodes": (50, 43, 50)}, "NODE", "50 is given twice"),
        ({"nodes": (50, 16)}, "NODE", "cannot name"),
        ({"nodes": (50, 14)}, "NODE", "cannot name"),
        ({"edges": ((8, 50),)}, "EDGE", "8 is not in NODE"),
        ({"edges": ((43, 8),)}, "EDGE.43", "8 is not in NODE"),
        ({"edges": ((43, 50), (43, 50))}, "EDGE.43", "50 is given twice"),
        ({"edges": ((43, 43),)}, "EDGE.43", "circle: 43 → 43"),
        ({"inherit": {8: (50,)}}, "INHERIT", "8 is not in NODE"),
        ({"inherit": {43: (8,)}}, "INHERIT.43", "can never be filled: 8 is not in NODE"),
        ({"inherit": {43: (50, 50)}}, "INHERIT.43", "50 is given twice"),
        ({"inherit": {43: (50,)}, "window": 0}, "INHERIT.43", "can never be filled: WINDOW is 0"),
        ({"window": -1}, "WINDOW", "negative"),
        ({"use_truth": frozenset({8})}, "USE_GT", "8 is not in NODE"),
    ],
)
def test_what_cannot_be_is_refused(change: dict, field: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        ReasoningGraph(**{"nodes": (43, 50), **change})
    assert caught.value.field == field


def test_a_graph_without_the_policys_action_cannot_drive() -> None:
    with pytest.raises(BadInput, match="no question 50"):
        require_action(ReasoningGraph((43,)))
    with pytest.raises(BadInput, match="expert"):
        require_action(ReasoningGraph((50,), use_truth=frozenset({50})))


def test_what_has_no_effect_is_noted() -> None:
    graph = ReasoningGraph((43, 50, 8), inherit={8: (50,)}, use_truth=frozenset({8}))
    assert [note.partition(":")[0] for note in notes(graph)] == ["INHERIT.8", "USE_GT"]


def test_sides_are_asked_one_by_one() -> None:
    assert keys_of(50) == (QuestionKey(50),)
    assert keys_of(32) == (QuestionKey(32, "left"), QuestionKey(32, "right"))
    assert keys_of(34) == (QuestionKey(34, "same"), QuestionKey(34, "opposite"))


def test_questions_of_plugins_are_questions() -> None:
    register(Question(1850, Category.PLANNING, 9, 9, ("Is the coffee hot?",)))
    assert ReasoningGraph((1850, 50), ((1850, 50),)).order == (1850, 50)

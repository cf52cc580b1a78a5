"""Which questions a policy is asked at a moment, in which order, and which answers each of them is given.

The four words are those of Bench2Drive-VL (section on graph-based reasoning): NODE, EDGE, INHERIT, USE_GT.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx  # type: ignore[import-untyped]  # it ships no types

from driveproof.errors import BadInput
from driveproof.questions import QUESTIONS, Per, QuestionKey

ACTION = 50
"""The question whose answer drives."""
_SUBJECTS: Mapping[Per, tuple[str, ...]] = {
    Per.FRAME: ("",),
    Per.SIDE: ("left", "right"),
    Per.SENSE: ("same", "opposite"),
}


@dataclass(frozen=True)
class ReasoningGraph:
    """A graph of questions.

    Attributes
    ----------
    nodes
        NODE: numbers of the questions. Their order breaks ties between questions that could be asked next.
    edges
        EDGE: (earlier, later); the later question is given the answer to the earlier one of the same frame.
    inherit
        INHERIT: question → questions whose answers of earlier frames it is given.
    use_truth
        USE_GT: questions that the expert answers, and that no policy is asked.
    window
        WINDOW: how many earlier frames INHERIT looks back; in the first frame there is nothing to inherit.

    Raises
    ------
    BadInput
        Whose ``field`` is the word and the question, if a node is unknown, given twice or needs a subject that a graph
        cannot name; if an edge starts or ends outside of NODE, or edges go round in a circle; if inheritance can never
        be filled; if USE_GT names no node.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int], ...] = ()
    inherit: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    use_truth: frozenset[int] = frozenset()
    window: int = 1

    def __post_init__(self) -> None:
        _check_nodes(self.nodes)
        _check_edges(self.edges, self.nodes)
        _check_inheritance(self.inherit, self.nodes, self.window)
        for number in sorted(self.use_truth):
            _listed(number, self.nodes, "USE_GT")
        # the order in which edges are written means nothing, so graphs that ask the same are equal
        place = self.nodes.index
        edges = sorted(self.edges, key=lambda edge: (place(edge[0]), place(edge[1])))
        object.__setattr__(self, "edges", tuple(edges))

    @property
    def asked(self) -> tuple[int, ...]:
        """The questions that the policy answers, in order."""
        return tuple(number for number in self.order if number not in self.use_truth)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All nodes so that every edge leads forward; among those free at once NODE's order decides."""
        place = {number: index for index, number in enumerate(self.nodes)}
        return tuple(nx.lexicographical_topological_sort(_network(self), key=place.__getitem__))

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The asked questions, each level needing only answers of those before: a level is one batch.

        The expert's answers wait for nobody, so nothing waits for what leads to them.
        """
        network = _network(self)
        network.remove_nodes_from(self.use_truth)
        return tuple(
            tuple(sorted(level, key=self.order.index))
            for level in nx.topological_generations(network)
        )

    def before(self, number: int) -> tuple[int, ...]:
        """The questions of the same frame whose answers ``number`` is given, in order."""
        earlier = {start for start, end in self.edges if end == number}
        return tuple(other for other in self.order if other in earlier)

    def inherited(self, number: int) -> tuple[int, ...]:
        """The questions of earlier frames whose answers ``number`` is given, as INHERIT lists them."""
        return tuple(self.inherit.get(number, ()))

    def to_json(self) -> dict[str, Any]:
        """The graph in its file format."""
        edges: dict[str, list[int]] = {}
        for start, end in self.edges:
            edges.setdefault(str(start), []).append(end)
        return {
            "NODE": list(self.nodes),
            "EDGE": edges,
            "INHERIT": {str(number): list(sources) for number, sources in self.inherit.items()},
            "USE_GT": sorted(self.use_truth),
            "WINDOW": self.window,
        }

    @property
    def digest(self) -> str:
        """sha256 of the graph: two graphs of one digest ask the same."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def keys_of(number: int) -> tuple[QuestionKey, ...]:
    """What a node asks: its question, once for each side or sense where it has them."""
    return tuple(QuestionKey(number, subject) for subject in _SUBJECTS[QUESTIONS[number].per])


def require_blind(graph: ReasoningGraph) -> None:
    """Refuse a graph that gives away the expert's answers.

    Raises
    ------
    BadInput
        If USE_GT names any question.
    """
    if graph.use_truth:
        named = ", ".join(map(str, sorted(graph.use_truth)))
        raise BadInput(
            f"ground truth of {named} is asked for a policy that must not see it",
            field="USE_GT",
            hint="leave USE_GT empty, or allow privileged input",
        )


def require_action(graph: ReasoningGraph) -> None:
    """Refuse a graph by which no policy can drive.

    Raises
    ------
    BadInput
        If question 50 is no node, or the expert answers it.
    """
    if ACTION not in graph.nodes:
        raise BadInput(f"has no question {ACTION}, whose keys drive", field="NODE")
    if ACTION in graph.use_truth:
        raise BadInput(
            f"question {ACTION} is the expert's: it would drive, not the policy",
            field="USE_GT",
            hint="to see the expert drive, name it as the policy",
        )


def notes(graph: ReasoningGraph) -> list[str]:
    """What is allowed but has no effect, in words."""
    idle = [n for n in graph.order if n in graph.use_truth and graph.inherited(n)]
    found = [f"INHERIT.{n}: not used, the expert answers {n}" for n in idle]
    cited = {start for start, _ in graph.edges} | {n for s in graph.inherit.values() for n in s}
    unused = [n for n in graph.order if n in graph.use_truth and n not in cited]
    return found + [f"USE_GT: not used, nothing is given the answer to {n}" for n in unused]


def _network(graph: ReasoningGraph) -> Any:
    network = nx.DiGraph()
    network.add_nodes_from(graph.nodes)
    network.add_edges_from(graph.edges)
    return network


def _check_nodes(nodes: Collection[int]) -> None:
    if not nodes:
        raise BadInput("no question is asked", field="NODE")
    _unique(nodes, "NODE")
    for number in nodes:
        question = QUESTIONS.get(number)
        if question is None:
            raise BadInput(
                f"no question {number}", field="NODE", hint="plugins register theirs from 1000 on"
            )
        if question.per not in _SUBJECTS or question.given_objects:
            raise BadInput(
                f"question {number} is asked about things that a graph cannot name",
                field="NODE",
                hint="15, 24 and 26 ask for all signs and vehicles",
            )


def _check_edges(edges: Collection[tuple[int, int]], nodes: Collection[int]) -> None:
    for start, end in edges:
        _listed(start, nodes, "EDGE")
        _listed(end, nodes, f"EDGE.{start}")
    for start in dict.fromkeys(start for start, _ in edges):
        _unique([end for other, end in edges if other == start], f"EDGE.{start}")
    network = nx.DiGraph(list(edges))
    try:
        circle = nx.find_cycle(network)
    except nx.NetworkXNoCycle:
        return
    way = " → ".join(str(start) for start, _ in [*circle, circle[0]])
    raise BadInput(f"the edges go round in a circle: {way}", field=f"EDGE.{circle[0][0]}")


def _check_inheritance(
    inherit: Mapping[int, tuple[int, ...]], nodes: Collection[int], window: int
) -> None:
    if window < 0:
        raise BadInput("is negative", field="WINDOW")
    for number, sources in inherit.items():
        place = f"INHERIT.{number}"
        _listed(number, nodes, "INHERIT")
        _unique(sources, place)
        for source in sources:
            if source not in nodes:
                raise BadInput(
                    f"can never be filled: {source} is not in NODE, no frame answers it",
                    field=place,
                )
        if sources and window == 0:
            raise BadInput(
                "can never be filled: WINDOW is 0, no earlier frame is kept", field=place
            )


def _listed(number: int, nodes: Collection[int], place: str) -> None:
    if number not in nodes:
        raise BadInput(f"question {number} is not in NODE", field=place)


def _unique(numbers: Iterable[int], place: str) -> None:
    seen: set[int] = set()
    for number in numbers:
        if number in seen:
            raise BadInput(f"question {number} is given twice", field=place)
        seen.add(number)

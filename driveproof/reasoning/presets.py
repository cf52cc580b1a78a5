"""Graphs that have names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from driveproof.reasoning.graph import ReasoningGraph


@dataclass(frozen=True)
class Preset:
    """A named graph and what it is for."""

    graph: ReasoningGraph
    summary: str


_PAPER = ReasoningGraph(
    nodes=(19, 15, 7, 24, 13, 47, 8, 43, 50),
    edges=(
        (19, 24), (19, 13), (19, 8), (15, 7), (15, 8), (7, 8), (24, 13), (24, 47),
        (13, 47), (13, 8), (13, 43), (47, 8), (8, 43), (43, 50),
    ),
    inherit={19: (43, 7), 15: (7,)},
    use_truth=frozenset({24}),
)  # fmt: skip

PRESETS: Mapping[str, Preset] = {
    "paper": Preset(_PAPER, "the example of Bench2Drive-VL; the expert answers 24 (privileged)"),
    "cot": Preset(
        replace(_PAPER, use_truth=frozenset()),
        "the same chain of thought, and the policy answers all of it",
    ),
    "no_cot": Preset(
        ReasoningGraph(nodes=_PAPER.nodes, edges=((43, 50),)),
        "the same questions, each alone; only 50 is given the answer to 43 (the paper's non-CoT mode)",
    ),
    "alone": Preset(ReasoningGraph(nodes=_PAPER.nodes), "the same questions, each alone"),
    "action": Preset(ReasoningGraph(nodes=(50,)), "the keys alone"),
}
"""Name → graph."""


def graph_name(graph: ReasoningGraph) -> str:
    """The preset's name if the graph is one, else the first sixteen digits of its digest."""
    named = (name for name, preset in PRESETS.items() if preset.graph.digest == graph.digest)
    return next(named, graph.digest[:16])

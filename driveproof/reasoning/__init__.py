"""Graphs of questions: which are asked at a moment, in what order, with whose answers as context; and driving by them."""

from driveproof.reasoning.driver import GraphPolicy, open_graph_driver, open_talker
from driveproof.reasoning.graph import ReasoningGraph
from driveproof.reasoning.graph_files import load_graph, open_graph
from driveproof.reasoning.presets import PRESETS, Preset, graph_name
from driveproof.reasoning.privileged import Privileged
from driveproof.reasoning.run import Moment, Reasoner, context_line
from driveproof.reasoning.trace import Sampling, Step, Trace, read_traces, write_traces

__all__ = [
    "PRESETS",
    "GraphPolicy",
    "Moment",
    "Preset",
    "Privileged",
    "Reasoner",
    "ReasoningGraph",
    "Sampling",
    "Step",
    "Trace",
    "context_line",
    "graph_name",
    "load_graph",
    "open_graph",
    "open_graph_driver",
    "open_talker",
    "read_traces",
    "write_traces",
]

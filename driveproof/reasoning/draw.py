"""Graphs and traces as pictures: SVG, and text for Mermaid and Graphviz."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.sax.saxutils import escape

from driveproof.questions import QUESTIONS
from driveproof.reasoning.graph import ReasoningGraph
from driveproof.reasoning.trace import Trace

_BOX_W, _LINE_H, _PAD, _GAP_X, _GAP_Y, _COLUMNS = 230, 15, 10, 70, 26, 34
_FILL = {"asked": "#ffffff", "truth": "#fff3d6", "failed": "#fbe3e4"}


def draw_svg(graph: ReasoningGraph, trace: Trace | None = None) -> str:
    """The graph from left to right, a column a level; with the answers of ``trace`` in the boxes.

    Full lines are EDGE, dashed ones INHERIT, yellow boxes USE_GT, red ones failed.
    """
    columns = _columns(graph)
    boxes: dict[int, tuple[float, float, float, list[str]]] = {}
    for place, column in enumerate(columns):
        top = float(_PAD)
        for number in column:
            lines = _lines(number, trace)
            height = 2 * _PAD + _LINE_H * len(lines)
            boxes[number] = (_PAD + place * (_BOX_W + _GAP_X), top, height, lines)
            top += height + _GAP_Y
    width = 2 * _PAD + len(columns) * _BOX_W + (len(columns) - 1) * _GAP_X
    bottom = max(top + height for _, top, height, _ in boxes.values()) + _PAD
    arcs = [source for sources in graph.inherit.values() for source in sources]
    total = bottom + (40 if arcs else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total:g}" '
        f'viewBox="0 0 {width} {total:g}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#556"/></marker></defs>',
    ]
    parts += [_edge(boxes[start], boxes[end]) for start, end in graph.edges]
    parts += [
        _arc(boxes[source], boxes[number], bottom)
        for number, sources in graph.inherit.items()
        for source in sources
    ]
    parts += [_box(number, graph, trace, boxes[number]) for number in graph.order]
    return "\n".join([*parts, "</svg>", ""])


def to_mermaid(graph: ReasoningGraph) -> str:
    """The graph as a Mermaid flow chart; dotted arrows are INHERIT, double boxes USE_GT."""
    lines = ["flowchart LR"]
    for number in graph.order:
        text = _quoted(f"{number} {_title(number)}")
        lines.append(f"  q{number}" + (f'[["{text}"]]' if _told(graph, number) else f'["{text}"]'))
    lines += [f"  q{start} --> q{end}" for start, end in graph.edges]
    lines += [
        f"  q{s} -. earlier .-> q{n}" for n, sources in graph.inherit.items() for s in sources
    ]
    return "\n".join([*lines, ""])


def to_dot(graph: ReasoningGraph) -> str:
    """The graph for Graphviz; dashed arrows are INHERIT, filled boxes USE_GT."""
    lines = ["digraph reasoning {", "  rankdir=LR; node [shape=box];"]
    for number in graph.order:
        text = _quoted(f"{number} {_title(number)}")
        style = ' style=filled fillcolor="#fff3d6"' if _told(graph, number) else ""
        lines.append(f'  q{number} [label="{text}"{style}];')
    lines += [f"  q{start} -> q{end};" for start, end in graph.edges]
    lines += [
        f"  q{s} -> q{n} [style=dashed constraint=false];"
        for n, sources in graph.inherit.items()
        for s in sources
    ]
    return "\n".join([*lines, "}", ""])


def _columns(graph: ReasoningGraph) -> list[list[int]]:
    """Nodes by depth: one more than the deepest node before; the expert's answers wait for nobody."""
    depth: dict[int, int] = {}
    for number in graph.order:
        waits = () if _told(graph, number) else graph.before(number)
        depth[number] = max((depth[n] + 1 for n in waits), default=0)
    return [
        [n for n in graph.order if depth[n] == level] for level in range(max(depth.values()) + 1)
    ]


def _told(graph: ReasoningGraph, number: int) -> bool:
    return number in graph.use_truth


def _title(number: int) -> str:
    return textwrap.shorten(QUESTIONS[number].phrasings[0], 70, placeholder=" …")


def _lines(number: int, trace: Trace | None) -> list[str]:
    lines = textwrap.wrap(f"{number}. {_title(number)}", _COLUMNS)
    for step in trace.steps if trace else ():
        if step.key.number == number:
            said = step.text if step.text is not None else f"failed: {step.error}"
            said = f"{step.key.subject}: {said}" if step.key.subject else said
            lines += textwrap.wrap(f"→ {said}", _COLUMNS, max_lines=5, placeholder=" …")
    return lines


def _box(
    number: int,
    graph: ReasoningGraph,
    trace: Trace | None,
    box: tuple[float, float, float, Sequence[str]],
) -> str:
    x, y, height, lines = box
    failed = any(s.key.number == number and s.text is None for s in (trace.steps if trace else ()))
    kind = "failed" if failed else "truth" if _told(graph, number) else "asked"
    text = "".join(
        f'<text x="{x + _PAD:g}" y="{y + _PAD + 11 + _LINE_H * row:g}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    )
    return (
        f'<g id="q{number}" class="{kind}"><rect x="{x:g}" y="{y:g}" width="{_BOX_W}" '
        f'height="{height:g}" rx="6" fill="{_FILL[kind]}" stroke="#556"/>{text}</g>'
    )


def _edge(
    start: tuple[float, float, float, object], end: tuple[float, float, float, object]
) -> str:
    x0, y0 = start[0] + _BOX_W, start[1] + start[2] / 2.0
    x1, y1 = end[0], end[1] + end[2] / 2.0
    if x1 <= x0:  # to a box of the expert's in the same or an earlier column
        x0, y0, x1, y1 = start[0] + _BOX_W / 2, start[1] + start[2], end[0] + _BOX_W / 2, end[1]
    bend = max(abs(x1 - x0) / 2.0, 20.0)
    way = f"M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x1 - bend:g} {y1:g} {x1:g} {y1:g}"
    return f'<path class="edge" d="{way}" fill="none" stroke="#556" marker-end="url(#tip)"/>'


def _arc(
    source: tuple[float, float, float, object],
    target: tuple[float, float, float, object],
    bottom: float,
) -> str:
    """From below the source, along the bottom, to below the target."""
    x0, y0 = source[0] + _BOX_W * 0.6, source[1] + source[2]
    x1, y1 = target[0] + _BOX_W * 0.4, target[1] + target[2]
    way = f"M{x0:g} {y0:g}C{x0:g} {bottom + 40:g} {x1:g} {bottom + 40:g} {x1:g} {y1:g}"
    return (
        f'<path class="inherit" d="{way}" fill="none" stroke="#99a" stroke-dasharray="5 4" '
        'marker-end="url(#tip)"/>'
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")

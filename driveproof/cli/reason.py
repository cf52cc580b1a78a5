"""``driveproof reason``: graphs of questions, run, drawn, asked again and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console, Progress

if TYPE_CHECKING:
    from driveproof.reasoning import ReasoningGraph, Trace

app = typer.Typer(
    help="Graphs of questions: check, draw, run over clips, ask again, score.",
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Graph = Annotated[str, typer.Argument(help="A preset, or a YAML or JSON file.")]
Traces = Annotated[Path, typer.Argument(help="Folder of `reason run`, or a file of traces.")]
TRACES, PICTURES, SUMMARY = "traces.jsonl", "pictures", "summary.json"


@app.command()
def presets(as_json: AsJson = False) -> None:
    """List the graphs that have names.

    Example: driveproof reason presets
    """
    from driveproof.reasoning import PRESETS

    if as_json:
        found = {
            name: {"summary": preset.summary, **preset.graph.to_json()}
            for name, preset in PRESETS.items()
        }
        typer.echo(json.dumps(found, indent=2))
        return
    table = Table("graph", "questions", "what it is")
    for name, preset in PRESETS.items():
        table.add_row(name, " ".join(map(str, preset.graph.order)), preset.summary)
    Console().print(table)


@app.command()
def check(
    graph: Graph,
    drives: Annotated[
        bool, typer.Option("--drives", help="It must have question 50, whose keys drive.")
    ] = False,
    blind: Annotated[
        bool, typer.Option("--blind", help="It must give away none of the expert's answers.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a graph, and say in which order it asks and what each question is told.

    Example: driveproof reason check paper

    Example: driveproof reason check graph.yaml --drives --blind
    """
    from driveproof.reasoning import open_graph
    from driveproof.reasoning.graph import notes, require_action, require_blind

    found = open_graph(graph)
    if drives:
        require_action(found)
    if blind:
        require_blind(found)
    if as_json:
        typer.echo(json.dumps(_facts(found), indent=2))
        return
    table = Table("question", "answered by", "is told now", "of earlier frames")
    for number in found.order:
        told = number in found.use_truth
        rows = (found.before(number), found.inherited(number))
        words = ("" if told else " ".join(map(str, row)) for row in rows)
        table.add_row(str(number), "the expert" if told else "the policy", *words)
    Console().print(table)
    typer.echo(f"{len(found.levels)} batches: {'; '.join(_words(x) for x in found.levels)}")
    for note in notes(found):
        typer.echo(f"note: {note}")


def _words(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


def _facts(graph: ReasoningGraph) -> dict[str, Any]:
    from driveproof.reasoning.graph import notes

    return {
        **graph.to_json(),
        "digest": graph.digest,
        "order": list(graph.order),
        "levels": [list(level) for level in graph.levels],
        "context": {
            str(n): {"now": list(graph.before(n)), "earlier": list(graph.inherited(n))}
            for n in graph.asked
        },
        "notes": notes(graph),
    }


@app.command()
def show(
    graph: Graph,
    svg: Annotated[Path | None, typer.Option(help="Write a picture here.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print Mermaid text.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz text.")] = False,
    traces: Annotated[
        Path | None, typer.Option(help="Write the answers of a trace into the picture.")
    ] = None,
    frame: Annotated[int | None, typer.Option(help="Of which frame; the first by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a graph, or what a policy thought along it.

    Example: driveproof reason show paper --svg paper.svg

    Example: driveproof reason show cot --traces reasoned --frame 20 --svg frame20.svg
    """
    from driveproof.errors import BadInput
    from driveproof.files import atomic_open
    from driveproof.reasoning import open_graph
    from driveproof.reasoning.draw import draw_svg, to_dot, to_mermaid

    found = open_graph(graph)
    trace = _one(traces, frame, found) if traces else None
    if svg:
        with atomic_open(svg) as stream:
            stream.write(draw_svg(found, trace))
    if mermaid:
        typer.echo(to_mermaid(found), nl=False)
    if dot:
        typer.echo(to_dot(found), nl=False)
    if as_json:
        typer.echo(json.dumps(trace.to_json() if trace else found.to_json(), indent=2))
    if not (svg or mermaid or dot or as_json):
        raise BadInput("nothing to show it as", hint="--svg FILE, --mermaid, --dot or --json")


def _one(path: Path, frame: int | None, graph: ReasoningGraph) -> Trace:
    """The first trace of a file (of a frame); of this graph."""
    from driveproof.errors import BadInput

    for trace in _read(path):
        if frame is None or trace.frame == frame:
            if trace.graph != graph.digest:
                raise BadInput("was thought along another graph", path=path)
            return trace
    raise BadInput("has no such trace" if frame is None else f"has no frame {frame}", path=path)


def _read(path: Path) -> list[Trace]:
    from driveproof.reasoning import read_traces

    return list(read_traces(path / TRACES if path.is_dir() else path))


@app.command("run")
def run_(
    clips: Annotated[list[Path], typer.Argument(help="Clips in Bench2Drive's layout.")],
    policy: Annotated[str, typer.Option(help="A model; see `driveproof policy list`.")],
    out: Annotated[Path, typer.Option(help="Folder for traces and pictures; replaced.")],
    graph: Annotated[str, typer.Option(help="A preset, or a YAML or JSON file.")] = "cot",
    mode: Annotated[
        str, typer.Option(help="camera, bev or text, with +references, +six, +history=N.")
    ] = "camera",
    every: Annotated[int, typer.Option(min=1, help="Ask about every so many frames.")] = 10,
    limit: Annotated[int | None, typer.Option(min=1, help="Most frames a clip.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest answer.")] = 256,
    temperature: Annotated[float, typer.Option(min=0.0, help="Of the sampling.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the sampling.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run a graph over recorded clips, and write what the policy thought.

    Example: driveproof reason run data/raw/Accident_Town01_Route00024_Weather2.tar --policy openai:http://127.0.0.1:8000/v1#Qwen/Qwen3-VL-8B-Instruct --graph cot --out reasoned
    """
    from driveproof.drive.openers import parse_mode
    from driveproof.files import atomic_dir, check_folder, write_json
    from driveproof.reasoning import Sampling, open_graph, open_talker, write_traces
    from driveproof.reasoning.recorded import run_clips
    from driveproof.reasoning.replay import TracePictures

    check_folder(out, [SUMMARY])
    found, shown = open_graph(graph), parse_mode(mode)
    chat = open_talker(policy, found, shown)
    sampling = Sampling(max_tokens, temperature)
    console = Console(stderr=True)
    traces = []
    with (
        atomic_dir(out) as folder,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task("asking", total=None)
        (folder / PICTURES).mkdir()
        store = TracePictures(folder / PICTURES)
        frames = run_clips(
            clips, chat, found, shown, every=every, limit=limit, sampling=sampling, seed=seed
        )
        for trace, pictures in frames:
            traces.append(trace)
            for picture in pictures:
                store.keep(picture)
            bar.advance(task)
        write_traces(folder / TRACES, traces)
        summary = {**_summary(traces), "policy": chat.identity(), "graph": found.to_json()}
        write_json(folder / SUMMARY, summary)
    _report(summary, out, as_json)


def _summary(traces: list[Trace]) -> dict[str, Any]:
    """Counts over traces; tokens as far as the policy tells."""
    steps = [step for trace in traces for step in trace.steps if not step.truth]
    usage: dict[str, int] = {}
    for trace in traces:
        for name, count in trace.usage.items():
            usage[name] = usage.get(name, 0) + count
    return {
        "frames": len(traces),
        "asked": len(steps),
        "failed": sum(step.text is None for step in steps),
        "usage": usage,
    }


def _report(summary: dict[str, Any], out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    usage = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in summary["usage"].items()
    )
    typer.echo(
        f"{summary['asked']} questions about {summary['frames']} frames, "
        f"{summary['failed']} without an answer; {usage or 'no tokens counted'}; in {out}"
    )


@app.command()
def replay(
    traces: Traces,
    policy: Annotated[str, typer.Option(help="A model; see `driveproof policy list`.")],
    out: Annotated[Path, typer.Option(help="File for the new traces.")],
    pictures: Annotated[
        Path | None, typer.Option(help="Folder of the pictures, beside the traces by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a policy the same requests again: same words, contexts, pictures and seeds.

    Example: driveproof reason replay reasoned --policy transformers:models/vqa_sft/camera --out again.jsonl
    """
    from driveproof.errors import BadInput
    from driveproof.files import check_file
    from driveproof.policy import ChatPolicy, open_policy
    from driveproof.reasoning import write_traces
    from driveproof.reasoning.replay import TracePictures, compare
    from driveproof.reasoning.replay import replay as ask_again

    check_file(out)
    before = _read(traces)
    chat = open_policy(policy)
    if not isinstance(chat, ChatPolicy):
        raise BadInput(f"does not talk, hence cannot answer questions: {policy}")
    beside = traces if traces.is_dir() else traces.parent
    store = TracePictures(pictures or beside / PICTURES)
    after = [ask_again(trace, chat, store) for trace in before]
    write_traces(out, after)
    counts = {"same": 0, "other": 0, "failed": 0}
    for old, new in zip(before, after, strict=True):
        for name, count in compare(old, new).items():
            counts[name] += count
    if as_json:
        typer.echo(json.dumps(counts, indent=2))
        return
    typer.echo(", ".join(f"{count} {name}" for name, count in counts.items()) + f"; in {out}")


@app.command()
def score(
    traces: Traces,
    truth: Annotated[Path, typer.Option(help="Folder of `driveproof comment` of the same clips.")],
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Score what a policy answered against the expert, as `driveproof evaluate vqa` does.

    Example: driveproof reason score reasoned --truth data/vqa
    """
    import tempfile

    from driveproof.cli.evaluate_vqa import print_report
    from driveproof.evaluation.vqa.run import score_file
    from driveproof.reasoning.replay import answers_of

    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.jsonl"
        with answers.open("w", encoding="utf-8") as stream:
            for row in answers_of(_read(traces)):
                stream.write(json.dumps(row) + "\n")
        _, report = score_file(truth, answers, seed=seed)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
    else:
        print_report(report)

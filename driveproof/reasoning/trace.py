"""What a policy thought at a moment: every question with its context, its answer and how the answer reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import atomic_open
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions.reading import read_answer
from driveproof.questions.serial import answer_to_json, object_to_json
from driveproof.scene.images import Pixels

TRACE_VERSION = 1
_MAX_LINE = 8 << 20


@dataclass(frozen=True)
class Cited:
    """An answer that a question was given: to which question, of which frame."""

    key: QuestionKey
    frame: int


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn; see :class:`~driveproof.policy.ChatRequest`."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0


@dataclass(frozen=True)
class Step:
    """One question of a frame.

    Attributes
    ----------
    key, question
        Which, and its words.
    truth
        The expert answered (USE_GT); no policy was asked.
    prompt
        The text of the request; the pictures of the frame stand before it. "" where no policy was asked.
    prompt_hash
        sha256 of text, pictures and sampling: two requests of one hash are the same request.
    context
        Whose answers it was given, in the order of the prompt.
    text, error
        The answer, or why there is none.
    seed
        Of the sampling.
    reading
        What the answer says, by rules alone and without the truth: ``answer``, ``objects``, ``unread``.
    usage, latency_s
        Tokens, and wall-clock seconds of the policy.
    outage
        The error is the server's, not the policy's; see :class:`~driveproof.policy.ChatReply`.
    """

    key: QuestionKey
    question: str
    truth: bool = False
    prompt: str = ""
    prompt_hash: str = ""
    context: tuple[Cited, ...] = ()
    text: str | None = None
    error: str = ""
    seed: int = 0
    reading: Mapping[str, Any] | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency_s: float = 0.0
    outage: bool = False


@dataclass(frozen=True)
class Trace:
    """The run of a graph at one frame; ``pictures`` are the hashes of what was shown, in order."""

    episode: str
    frame: int
    time_s: float
    policy: str
    graph: str
    mode: Mapping[str, Any]
    sampling: Sampling
    pictures: tuple[str, ...]
    steps: tuple[Step, ...]

    def step(self, number: int, subject: str = "") -> Step | None:
        """The step of a question."""
        key = QuestionKey(number, subject)
        return next((step for step in self.steps if step.key == key), None)

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of the whole frame."""
        total: dict[str, int] = {}
        for step in self.steps:
            for name, count in step.usage.items():
                total[name] = total.get(name, 0) + count
        return total

    @property
    def latency_s(self) -> float:
        """Seconds of the policy for the whole frame."""
        return sum(step.latency_s for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "trace_version": TRACE_VERSION,
            "episode": self.episode,
            "frame": self.frame,
            "time_s": self.time_s,
            "policy": self.policy,
            "graph": self.graph,
            "mode": dict(self.mode),
            "sampling": vars(self.sampling).copy(),
            "pictures": list(self.pictures),
            "steps": [_step_to_json(step) for step in self.steps],
        }


def trace_from_json(data: Any) -> Trace:
    """The trace of :meth:`Trace.to_json`.

    Raises
    ------
    ValueError
        If it is none, or of another version.
    """
    if not isinstance(data, dict) or data.get("trace_version") != TRACE_VERSION:
        raise ValueError(f"not a trace of version {TRACE_VERSION}")
    try:
        return Trace(
            episode=str(data["episode"]),
            frame=int(data["frame"]),
            time_s=float(data["time_s"]),
            policy=str(data["policy"]),
            graph=str(data["graph"]),
            mode=dict(data["mode"]),
            sampling=Sampling(**data["sampling"]),
            pictures=tuple(map(str, data["pictures"])),
            steps=tuple(_step_from_json(item) for item in data["steps"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a trace: {type(error).__name__} {error}") from None


def write_traces(path: str | Path, traces: Iterable[Trace]) -> int:
    """Write JSON lines, whole or not at all; how many."""
    count = 0
    with atomic_open(path) as stream:
        for trace in traces:
            stream.write(json.dumps(trace.to_json(), allow_nan=False) + "\n")
            count += 1
    return count


def read_traces(path: str | Path) -> Iterator[Trace]:
    """Traces of a file of JSON lines: ours, or a run's ``decisions.jsonl``, whose ``trace`` is taken.

    Raises
    ------
    BadInput
        Naming the line.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if len(line) > _MAX_LINE:
                    raise BadInput("is longer than 8 MiB", path=path, field=f"line {number}")
                if line.strip():
                    yield from _traces_of(line, path, number)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError:
        raise BadInput("not UTF-8 text", path=path) from None


def read_text(key: QuestionKey, text: str) -> dict[str, Any]:
    """What an answer says by the rules of reading, without knowledge of the scene."""
    reading = read_answer(QUESTIONS[key.number], text)
    return {
        "answer": answer_to_json(reading.answer),
        "objects": [object_to_json(ref) for ref in reading.answer.refs],
        "unread": list(reading.unread),
    }


def picture_hash(picture: Pixels) -> str:
    """sha256 of a picture's height, width and pixels."""
    head = f"{picture.shape[0]}x{picture.shape[1]}:".encode()
    return hashlib.sha256(head + picture.tobytes()).hexdigest()


def prompt_hash(text: str, pictures: Sequence[str], sampling: Sampling, seed: int) -> str:
    """sha256 over everything that an answer depends on but the policy."""
    content = {"text": text, "pictures": list(pictures), "seed": seed, **vars(sampling)}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _traces_of(line: str, path: str | Path, number: int) -> Iterator[Trace]:
    try:
        data = json.loads(line)
        if isinstance(data, dict) and "trace_version" not in data and "trace" in data:
            data = data["trace"]
            if data is None:  # a policy that does not say what it thinks
                return
        yield trace_from_json(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(str(error)[:200], path=path, field=f"line {number}") from None


def _step_to_json(step: Step) -> dict[str, Any]:
    data = {name: value for name, value in vars(step).items() if name not in ("key", "context")}
    data["usage"] = dict(step.usage)
    if not step.outage:  # said only where there is one
        del data["outage"]
    cited = [{**vars(item.key), "frame": item.frame} for item in step.context]
    return {**vars(step.key), **data, "context": cited}


def _step_from_json(data: Mapping[str, Any]) -> Step:
    values = {name: data[name] for name in Step.__dataclass_fields__ if name in data}
    values["key"] = QuestionKey(int(data["number"]), str(data["subject"]))
    values["context"] = tuple(
        Cited(QuestionKey(int(item["number"]), str(item["subject"])), int(item["frame"]))
        for item in data["context"]
    )
    text, error = data["text"], data["error"]
    if not (text is None or isinstance(text, str)) or (text is None) != bool(error):
        raise ValueError("not a trace: a step has exactly one of text and error")
    return Step(**values)

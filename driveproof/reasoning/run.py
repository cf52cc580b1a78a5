"""The run of a graph: frame after frame, level after level, with the answers before as context."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from driveproof.errors import Unreachable
from driveproof.policy.chat import ChatPolicy, ChatReply, ChatRequest
from driveproof.policy.seeds import derive_seed
from driveproof.prompts.asking import compose_question
from driveproof.prompts.inputs import InputMode, mode_to_json, without_references
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions.wording import ask
from driveproof.reasoning.graph import ReasoningGraph, keys_of, require_blind
from driveproof.reasoning.trace import (
    Cited,
    Sampling,
    Step,
    Trace,
    picture_hash,
    prompt_hash,
    read_text,
)
from driveproof.render.marks import Mark
from driveproof.scene.images import Pixels

Truth = Callable[[QuestionKey], str | None]
"""The expert's answer in words; None if there is none."""
CITED_CHARS = 2000
"""A longer answer is cited by its end, where what counts stands."""


@dataclass(frozen=True)
class Moment:
    """What is shown and said of a frame: pictures as the mode orders them, marks for its list of actors, m/s."""

    frame: int
    time_s: float
    speed: float
    command: str = ""
    pictures: tuple[Pixels, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class _Past:
    frame: int
    time_s: float
    steps: dict[QuestionKey, Step]


class Reasoner:
    """Asks a policy the questions of a graph, and remembers what INHERIT needs.

    All requests of a frame begin with the same pictures and legend (and list of actors); then come speed and command
    where the question has them, the context, and the question. They share a session, so that a policy can compute the
    common beginning once. Questions of one level go out as one batch.

    The context of a question is first what it inherits, the oldest frame first, then the answers of the frame to the
    questions before it. A question without an answer, or with an empty one, gives no context; its own error stays in the trace.

    Parameters
    ----------
    truth
        Answers the questions of USE_GT.
    wording_seed
        Which phrasing each question has; the same in every frame.

    Raises
    ------
    BadInput
        If the graph uses ground truth and nobody tells it.
    """

    def __init__(
        self,
        chat: ChatPolicy,
        graph: ReasoningGraph,
        mode: InputMode,
        *,
        truth: Truth | None = None,
        sampling: Sampling | None = None,
        wording_seed: int = 0,
    ) -> None:
        if truth is None:
            require_blind(graph)
        self.chat, self.graph, self.mode = chat, graph, mode
        self.sampling = sampling or Sampling()
        self._truth = truth
        self._keys = {number: keys_of(number) for number in graph.nodes}
        self._words = {
            key: _question(key, mode, wording_seed) for keys in self._keys.values() for key in keys
        }
        self.begin("", 0)

    def begin(self, episode: str, seed: int) -> None:
        """A new episode: nothing is remembered."""
        self._episode, self._seed = episode, seed
        self._past: deque[_Past] = deque(maxlen=self.graph.window)

    def think(self, moment: Moment) -> Trace:
        """Run the graph at the next frame; a question that fails is a step with an error."""
        shown = tuple(picture_hash(picture) for picture in moment.pictures)
        done: dict[QuestionKey, Step] = {}
        for number in self.graph.order:
            if number in self.graph.use_truth:
                done.update((key, self._told(key)) for key in self._keys[number])
        for level in self.graph.levels:
            steps = [
                self._prepare(key, moment, done, shown)
                for number in level
                for key in self._keys[number]
            ]
            done.update((step.key, step) for step in self._ask(steps, moment))
        self._past.append(_Past(moment.frame, moment.time_s, done))
        return Trace(
            episode=self._episode,
            frame=moment.frame,
            time_s=moment.time_s,
            policy=self.chat.name,
            graph=self.graph.digest,
            mode=mode_to_json(self.mode),
            sampling=self.sampling,
            pictures=shown,
            steps=tuple(done[key] for number in self.graph.order for key in self._keys[number]),
        )

    def _told(self, key: QuestionKey) -> Step:
        text = self._truth(key) if self._truth else None
        if text is None:
            return Step(key, self._words[key], truth=True, error="the expert has no answer")
        text = text if self.mode.references else without_references(text)
        return Step(key, self._words[key], truth=True, text=text, reading=read_text(key, text))

    def _prepare(
        self,
        key: QuestionKey,
        moment: Moment,
        done: dict[QuestionKey, Step],
        shown: Sequence[str],
    ) -> Step:
        """The step of a question that is about to be asked."""
        lines, context = self._context(key.number, moment, done)
        messages, _ = compose_question(
            self.mode,
            QUESTIONS[key.number],
            "\n".join([*lines, self._words[key]]),
            moment.pictures,
            moment.marks,
            ego_speed=moment.speed,
            command=moment.command,
        )
        prompt: str = messages[0]["content"][-1]["text"]
        seed = derive_seed(self._seed, self._episode, moment.frame, key.number, key.subject)
        digest = prompt_hash(prompt, shown, self.sampling, seed)
        return Step(
            key, self._words[key], prompt=prompt, prompt_hash=digest, context=context, seed=seed
        )

    def _context(
        self, number: int, moment: Moment, done: dict[QuestionKey, Step]
    ) -> tuple[list[str], tuple[Cited, ...]]:
        lines: list[str] = []
        cited: list[Cited] = []
        for past in self._past:
            ago = f"{moment.time_s - past.time_s:.1f} s ago"
            for source in self.graph.inherited(number):
                self._cite(source, past.steps, ago, past.frame, lines, cited)
        for source in self.graph.before(number):
            self._cite(source, done, "now", moment.frame, lines, cited)
        return lines, tuple(cited)

    def _cite(
        self,
        source: int,
        steps: dict[QuestionKey, Step],
        when: str,
        frame: int,
        lines: list[str],
        cited: list[Cited],
    ) -> None:
        for key in self._keys[source]:
            text = steps[key].text
            if text is not None and text.strip():
                lines.append(context_line(self._words[key], text, when))
                cited.append(Cited(key, frame))

    def _ask(self, steps: Sequence[Step], moment: Moment) -> list[Step]:
        requests = [
            request_of(step, moment.pictures, self.sampling, self._episode or "episode")
            for step in steps
        ]
        return [
            answered(step, reply)
            for step, reply in zip(steps, ask_all(self.chat, requests), strict=True)
        ]


def request_of(
    step: Step, pictures: Sequence[Pixels], sampling: Sampling, session: str
) -> ChatRequest:
    """The request of a step: the pictures, then its text."""
    content: list[dict[str, Any]] = [{"type": "image"} for _ in pictures]
    content.append({"type": "text", "text": step.prompt})
    return ChatRequest(
        [{"role": "user", "content": content}],
        list(pictures),
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=step.seed,
        session=session,
    )


def ask_all(chat: ChatPolicy, requests: Sequence[ChatRequest]) -> list[ChatReply]:
    """One reply a request, whatever the policy does: a policy that raises, or loses count, loses its answers."""
    if not requests:
        return []
    try:
        replies = list(chat.reply(requests))
    except Exception as error:  # the policy may be the user's own code
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return [ChatReply(None, text, outage=isinstance(error, Unreachable))] * len(requests)
    if len(replies) != len(requests):
        problem = f"{len(replies)} replies to {len(requests)} requests"
        return [ChatReply(None, problem)] * len(requests)
    return replies


def answered(step: Step, reply: ChatReply) -> Step:
    """The step with a reply and how it reads."""
    return replace(
        step,
        text=reply.text,
        error=reply.error,
        reading=read_text(step.key, reply.text) if reply.text is not None else None,
        usage=dict(reply.usage),
        latency_s=reply.latency_s,
        outage=reply.outage,
    )


def context_line(question: str, answer: str, when: str = "now") -> str:
    """How an answer is cited in the context of a later question: "now" or "0.5 s ago"."""
    return f"Answered {when}: {question} {' '.join(answer[-CITED_CHARS:].split())}"


def _question(key: QuestionKey, mode: InputMode, seed: int) -> str:
    text = ask(QUESTIONS[key.number], seed=seed, subject=key.subject)
    return text if mode.references else without_references(text)

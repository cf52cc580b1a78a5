"""Asking the questions: DEFT in two turns, JEFT in one, or a choice without words.

DEFT (DEFT-RLVR, section 4.1): turn 1 is built from the observation alone; its reply stays in the
conversation as the assistant's message, and only then are the candidates revealed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from driveproof.mcq.items import McqItem
from driveproof.policy import ChatPolicy, ChatReply, ChatRequest, Policy, derive_seed
from driveproof.prompts import (
    COMPACT,
    Message,
    PromptStyle,
    joint_messages,
    parse_choice,
    parse_decision,
    scene_messages,
    shown_images,
    with_options,
)
from driveproof.scene import Decision

Mode = Literal["deft", "jeft", "choice"]
MODES = ("deft", "jeft")
Progress = Callable[[int], None]
"""Called with the number of answers that were just finished."""


@dataclass(frozen=True)
class AskSettings:
    """How questions are asked.

    Attributes
    ----------
    style
        Wording and pictures of the prompts.
    repeats
        How often each question is asked (eight in DEFT-RLVR, appendix D.2).
    temperature, top_p, max_tokens
        Sampling; ``max_tokens`` is the limit of each DEFT turn, JEFT gets twice as much in its one turn.
    seed
        Each turn of each repeat of each question derives its own.
    chunk
        Answers under way at once.
    """

    style: PromptStyle = COMPACT
    repeats: int = 8
    temperature: float = 1.0
    top_p: float = 0.95
    max_tokens: int = 48
    seed: int = 0
    chunk: int = 256


@dataclass(frozen=True)
class Answer:
    """What a policy said to one question.

    Attributes
    ----------
    record_key, variant, repeat, mode
        Which question, which repeat, how it was asked.
    turn1, turn2
        The texts; JEFT has only ``turn1``, a choice policy neither.
    decision
        The high-level decision, None if it could not be read.
    choice
        0-based option, None if it could not be read.
    reason
        Why there is no choice ("no_choice", "malformed", "out_of_range", "no_answer"), "" otherwise.
    error
        Why the model gave no answer at all; such an answer is lost, not wrong.
    usage
        Tokens of all turns together, as far as the model tells.
    """

    record_key: str
    repeat: int
    mode: Mode
    turn1: str | None = None
    turn2: str | None = None
    decision: Decision | None = None
    choice: int | None = None
    reason: str = ""
    error: str = ""
    variant: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> bool:
        """The model failed before a choice: not scored."""
        return bool(self.error)

    @property
    def decision_lost(self) -> bool:
        """The model failed before a decision: not scored."""
        return self.lost and self.turn1 is None


def ask(
    policy: Policy,
    items: Sequence[McqItem],
    mode: Mode,
    settings: AskSettings,
    progress: Progress | None = None,
) -> list[Answer]:
    """Ask every question ``settings.repeats`` times; answers in the order (item, repeat).

    A policy that chooses without words answers in mode "choice" whatever ``mode`` says.
    """
    jobs = [(item, repeat) for item in items for repeat in range(settings.repeats)]
    answers: list[Answer] = []
    for start in range(0, len(jobs), settings.chunk):
        part = jobs[start : start + settings.chunk]
        if not isinstance(policy, ChatPolicy):
            answers += [_chosen(policy, item, repeat) for item, repeat in part]
        elif mode == "deft":
            answers += _deft(policy, part, settings)
        else:
            answers += _jeft(policy, part, settings)
        if progress:
            progress(len(part))
    return answers


_Job = tuple[McqItem, int]


def _chosen(policy: Policy, item: McqItem, repeat: int) -> Answer:
    assert not isinstance(policy, ChatPolicy)
    chosen = policy.choose(item, repeat)
    return Answer(
        item.record_key,
        repeat,
        "choice",
        decision=chosen.decision,
        choice=chosen.index,
        reason=chosen.reason,
        error=chosen.error,
        variant=item.variant,
    )


def _deft(policy: ChatPolicy, jobs: Sequence[_Job], settings: AskSettings) -> list[Answer]:
    openings = [scene_messages(item.observation, settings.style) for item, _ in jobs]
    first = policy.reply(
        [
            _request(messages, job, 1, settings.max_tokens, settings)
            for messages, job in zip(openings, jobs, strict=True)
        ]
    )
    # only conversations whose first turn was answered go on
    going = [i for i, reply in enumerate(first) if reply.text is not None]
    revealed = [
        with_options(openings[i], first[i].text or "", jobs[i][0].options, settings.style)
        for i in going
    ]
    second = policy.reply(
        [
            _request(messages, jobs[i], 2, settings.max_tokens, settings)
            for messages, i in zip(revealed, going, strict=True)
        ]
    )
    matched = dict(zip(going, second, strict=True))
    return [
        _answer(job, "deft", first[i], matched.get(i, first[i]), matched.get(i))
        for i, job in enumerate(jobs)
    ]


def _jeft(policy: ChatPolicy, jobs: Sequence[_Job], settings: AskSettings) -> list[Answer]:
    requests = [
        _request(
            joint_messages(item.observation, item.options, settings.style),
            (item, repeat),
            1,
            2 * settings.max_tokens,
            settings,
        )
        for item, repeat in jobs
    ]
    replies = policy.reply(requests)
    return [
        _answer(job, "jeft", reply, reply, None) for job, reply in zip(jobs, replies, strict=True)
    ]


def _request(
    messages: list[Message], job: _Job, turn: int, max_tokens: int, settings: AskSettings
) -> ChatRequest:
    item, repeat = job
    # the mode is no part of the seed: DEFT and JEFT differ in their prompts alone
    seed = derive_seed(settings.seed, item.record_key, item.variant, repeat, turn)
    return ChatRequest(
        messages=messages,
        images=[image.ref for image in shown_images(item.observation, settings.style)],
        max_tokens=max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=seed,
    )


def _answer(
    job: _Job, mode: Mode, deciding: ChatReply, choosing: ChatReply, turn2: ChatReply | None
) -> Answer:
    item, repeat = job
    parsed = parse_choice(choosing.text, item.n_options) if not choosing.error else None
    return Answer(
        record_key=item.record_key,
        repeat=repeat,
        mode=mode,
        turn1=deciding.text,
        turn2=turn2.text if turn2 else None,
        decision=parse_decision(deciding.text),
        choice=parsed.index if parsed else None,
        reason=parsed.reason if parsed else "",
        error=choosing.error,
        variant=item.variant,
        usage=_sum_usage([deciding, turn2] if turn2 else [deciding]),
    )


def _sum_usage(replies: Iterable[ChatReply]) -> dict[str, int]:
    total: dict[str, int] = {}
    for reply in replies:
        for name, count in reply.usage.items():
            total[name] = total.get(name, 0) + count
    return total

"""Rollouts: the policy talks, the environment answers, and what the environment said is no part of the loss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from driveproof.errors import BadInput
from driveproof.prompts.messages import text_message
from driveproof.rewards.reward import Pending, Scored
from driveproof.training.grpo.private import generate, tokenize
from driveproof.training.grpo.task import Task

SENTINEL = "REPLY"
"""Stands for an answer where only what follows it is wanted."""


@dataclass
class Conversations:
    """Conversations of one batch under way; one entry each.

    Attributes
    ----------
    prompt_ids
        Tokens of the opening.
    completion_ids, mask, logprobs
        Tokens since, 1 for those of the policy and 0 for the environment's, and log-probabilities if the generator
        tells them (0 for the environment's).
    replies
        The policy's texts, one a turn.
    """

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    mask: list[list[int]]
    logprobs: list[list[float]] | None
    replies: list[list[str]]

    @classmethod
    def begin(cls, prompt_ids: list[list[int]]) -> Self:
        """Nobody has said anything yet."""

        def none() -> list[list[Any]]:
            return [[] for _ in prompt_ids]

        return cls(prompt_ids, none(), none(), none(), none())

    def contexts(self) -> list[list[int]]:
        """All tokens so far."""
        pairs = zip(self.prompt_ids, self.completion_ids, strict=True)
        return [[*prompt, *completion] for prompt, completion in pairs]

    def say(self, row: int, ids: Sequence[int], scores: Sequence[float] | None) -> None:
        """Tokens of the policy; they carry the loss."""
        self._extend(row, ids, 1, scores)

    def hear(self, row: int, ids: Sequence[int]) -> None:
        """Tokens of the environment; they carry none."""
        self._extend(row, ids, 0, [0.0] * len(ids))

    def _extend(self, row: int, ids: Sequence[int], own: int, scores: Any) -> None:
        self.completion_ids[row] += ids
        self.mask[row] += [own] * len(ids)
        if self.logprobs is not None:
            self.logprobs[row] += scores


@dataclass
class Batch:
    """What became of the rollouts of the last batch, for the reward and for the tables."""

    numbers: list[int] = field(default_factory=list)
    finished: list[Any] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    scored: list[Scored] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    generation_s: float = 0.0
    waited_s: float = 0.0
    grading_s: float = 0.0


class RolloutRunner:
    """TRL's ``rollout_func`` and reward function for a task.

    Grading begins as soon as a part of the batch has ended, and goes on while the next part is generated and while
    the reference model reads the batch.

    Parameters
    ----------
    task
        What is practised.
    processor
        The model's, for its chat template and tokenizer.
    group
        Rollouts of one question; they are neighbours in a batch.
    chunks
        Parts into which a batch is split.
    max_context
        Most tokens of a conversation.
    section
        Of params.yaml, for messages.
    """

    __name__ = "reward"  # TRL names its metrics by it

    def __init__(
        self,
        task: Task,
        processor: Any,
        group: int,
        chunks: int,
        max_context: int,
        section: str = "grpo",
    ) -> None:
        self._task, self._processor = task, processor
        self._tokenizer = processor.tokenizer
        self._group, self._chunks, self._max_context = group, chunks, max_context
        self._section = section
        self.batch = Batch()

    def roll_out(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """Play every conversation to its end (the signature is TRL's)."""
        self.batch = batch = Batch(numbers=list(trainer.numbers))
        parts = []
        start = time.perf_counter()
        for first, last in _parts(len(prompts), self._group, self._chunks):
            part = self._converse(prompts[first:last], batch.numbers[first:last], trainer)
            finished = [
                self._task.interaction.finish(self._task.question(number), replies)
                for number, replies in zip(batch.numbers[first:last], part.replies, strict=True)
            ]
            batch.finished += finished
            batch.pending.append(self._task.start_reward(finished))
            parts.append(part)
        batch.generation_s = time.perf_counter() - start
        batch.lengths = [sum(mask) for part in parts for mask in part.mask]
        return {
            "prompt_ids": [row for part in parts for row in part.prompt_ids],
            "completion_ids": [row for part in parts for row in part.completion_ids],
            "env_mask": [row for part in parts for row in part.mask],
            "logprobs": None
            if parts[0].logprobs is None
            else [row for part in parts for row in part.logprobs or ()],
        }

    def __call__(self, prompts: Any, completions: Any, **_: Any) -> list[float]:
        """The rewards of the batch (the signature is TRL's); waits for graders that are not done yet."""
        batch = self.batch
        start = time.perf_counter()
        batch.scored = [scored for pending in batch.pending for scored in pending.result()]
        batch.waited_s = time.perf_counter() - start
        batch.grading_s = sum(pending.grading_s for pending in batch.pending)
        return [scored.reward for scored in batch.scored]

    def _converse(
        self, prompts: Sequence[Any], numbers: Sequence[int], trainer: Any
    ) -> Conversations:
        interaction = self._task.interaction
        prompt_ids, images, fields = tokenize(trainer, prompts)
        talk = Conversations.begin(prompt_ids)
        for turn in range(interaction.turns):
            if turn:
                self._answer(talk, numbers)
            contexts = talk.contexts()
            self._check_length(contexts, interaction.budget)
            said, scores = generate(trainer, contexts, images, fields, 1 if turn else self._group)
            if scores is None:
                talk.logprobs = None
            texts = self._tokenizer.batch_decode(said, skip_special_tokens=True)
            for row, (ids, text) in enumerate(zip(said, texts, strict=True)):
                talk.say(row, ids, scores[row] if scores is not None else None)
                talk.replies[row].append(text.strip())
        return talk

    def _answer(self, talk: Conversations, numbers: Sequence[int]) -> None:
        """The environment's turn; an answer that ran into its limit is ended by the environment."""
        for row, number in enumerate(numbers):
            question = self._task.question(number)
            text = self._task.interaction.reveal(question, talk.replies[row])
            suffix = self._after_reply(text)
            ended = talk.completion_ids[row][-1:] == [self._tokenizer.eos_token_id]
            if ended:
                suffix = suffix.removeprefix(self._tokenizer.eos_token)
            talk.hear(row, self._tokenizer(suffix, add_special_tokens=False)["input_ids"])

    def _after_reply(self, text: str) -> str:
        """What the chat template puts between the end of an answer and the beginning of the next."""
        messages = [
            text_message("user", "-"),
            text_message("assistant", SENTINEL),
            text_message("user", text),
        ]
        rendered: str = self._processor.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return rendered.split(SENTINEL, 1)[1]

    def _check_length(self, contexts: Sequence[Sequence[int]], budget: int) -> None:
        longest = max(map(len, contexts)) + budget
        if self._max_context and longest > self._max_context:
            raise BadInput(
                f"a prompt and its answer of {longest} tokens exceed the context of {self._max_context}",
                field=f"{self._section}.max_context",
            )


def _parts(rows: int, group: int, chunks: int) -> list[tuple[int, int]]:
    """Bounds of at most ``chunks`` parts of whole groups."""
    groups = rows // group
    bounds = sorted({groups * k // chunks for k in range(chunks + 1)})
    return [(a * group, b * group) for a, b in pairwise(bounds)]

"""A chat policy is asked the questions of recorded moments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from driveproof.commenter.moments import Moment
from driveproof.evaluation.vqa.given import Given
from driveproof.policy.chat import ChatPolicy, ChatRequest
from driveproof.prompts.inputs import InputMode


def ask_moments(
    policy: ChatPolicy,
    mode: InputMode,
    moments: Sequence[Moment],
    *,
    numbers: Collection[int] | None = None,
    max_tokens: int = 48,
) -> list[Given]:
    """The policy's answers, moment by moment, most likely words; what it loses has a reason and no text.

    Parameters
    ----------
    numbers
        Questions that are asked; None for all.
    max_tokens
        Longest answer; what is longer is cut, and scored as it is.

    Raises
    ------
    BadInput
        If the mode shows what is not recorded.
    """
    rows = [
        (moment, row)
        for moment in moments
        for row in moment.rows
        if numbers is None or row.key.number in numbers
    ]
    requests = []
    for moment, row in rows:
        messages, images = moment.request(mode, row)
        requests.append(ChatRequest(messages, images, max_tokens=max_tokens))
    replies = policy.reply(requests)
    return [
        Given(row.clip, row.frame, row.key, reply.text, reply.error)
        for (_, row), reply in zip(rows, replies, strict=True)
    ]

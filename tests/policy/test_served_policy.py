"""The OpenAI-compatible client against ``transformers serve``, the real server, with a tiny model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from driveproof.policy import ChatPolicy, open_policy


@pytest.mark.slow
def test_a_served_model_answers_with_pictures(
    served_model: str, tiny_model: Path, request_for
) -> None:
    policy = open_policy(f"openai:{served_model}#{tiny_model}")
    assert isinstance(policy, ChatPolicy)
    replies = policy.reply([request_for(pictures=n, max_tokens=8) for n in (0, 1, 2)])
    assert [reply.error for reply in replies] == ["", "", ""]
    assert all(isinstance(reply.text, str) for reply in replies)


@pytest.mark.slow
def test_a_served_and_a_local_model_say_the_same(
    served_model: str, tiny_model: Path, request_for
) -> None:
    """Greedy: template, pictures and decoding agree between the two ways to the same weights."""
    asked = [request_for(pictures=n, max_tokens=8, temperature=0.0) for n in (0, 1, 2)]
    served = open_policy(f"openai:{served_model}#{tiny_model}")
    local = open_policy(f"transformers:{tiny_model}")
    assert isinstance(served, ChatPolicy)
    assert isinstance(local, ChatPolicy)
    # A random model also says special tokens, which the server writes out and the local policy leaves out.
    texts, over_the_wire = (
        [re.sub(r"<\|\w+\|>", "", reply.text or "").strip() for reply in policy.reply(asked)]
        for policy in (local, served)
    )
    assert all(texts)
    assert len(set(texts)) == 3, "the pictures must matter"
    assert over_the_wire == texts

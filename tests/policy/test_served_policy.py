"""The OpenAI-compatible client against ``transformers serve``, the real server, with a tiny model."""

from __future__ import annotations

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
    texts = [reply.text for reply in local.reply(asked)]
    assert all(texts)
    assert len(set(texts)) == 3, "the pictures must matter"
    assert [(reply.text or "").strip() for reply in served.reply(asked)] == texts

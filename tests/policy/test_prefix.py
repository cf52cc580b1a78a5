"""What requests begin with is computed once, and the answers are those of the whole prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driveproof.policy import ChatReply, ChatRequest
from driveproof.policy.local import TransformersPolicy
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.scene.images import Pixels

HEAD = "You drive. Look at the pictures. "


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> TransformersPolicy:
    return TransformersPolicy(tiny_model, threads=1)


def _pictures(count: int, seed: int = 0) -> list[Pixels]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 255, (64, 96, 3)).astype(np.uint8) for _ in range(count)]


def _request(text: str, pictures: Sequence[Pixels], **values) -> ChatRequest:
    content = [*({"type": "image"} for _ in pictures), {"type": "text", "text": HEAD + text}]
    return ChatRequest(
        [{"role": "user", "content": content}], pictures, **{"max_tokens": 12, **values}
    )


def _texts(replies: Sequence[ChatReply]) -> list[str | None]:
    assert [reply.error for reply in replies] == [""] * len(replies)
    return [reply.text for reply in replies]


TEXTS = ["left", "right keep", "direction speed keep FINAL_CHOICE", "A", "left right left"]


@pytest.mark.parametrize("pictures", [0, 1, 2])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_answers_are_those_of_the_whole_prompts(model, pictures: int, temperature: float) -> None:
    shown = _pictures(pictures)
    asked = [_request(t, shown, temperature=temperature, seed=n) for n, t in enumerate(TEXTS)]
    alone = _texts(model.reply(asked))
    name = f"{pictures} {temperature}"
    shared = model.reply([replace(request, session=name) for request in asked])
    assert _texts(shared) == alone
    assert len(set(alone)) > 1
    again = [model.reply([replace(request, session=name)])[0] for request in asked]
    assert _texts(again) == alone
    lengths = [reply.usage["prompt_tokens"] for reply in shared]
    assert [reply.usage["prompt_tokens"] for reply in again] == lengths
    computed = sum(reply.usage["prefilled_tokens"] for reply in shared)
    assert max(lengths) <= computed < sum(lengths)
    # one by one, each finds at least pictures and head of the one before
    head = len(HEAD.split())
    saved = [reply.usage["prompt_tokens"] - reply.usage["prefilled_tokens"] for reply in again]
    assert min(saved) > head + 5 * pictures


def test_a_request_without_a_session_is_computed_as_before(model) -> None:
    (reply,) = model.reply([_request("left", _pictures(1))])
    assert set(reply.usage) == {"prompt_tokens", "completion_tokens"}


def test_other_pictures_share_nothing(model) -> None:
    first, second = (
        _request("left", _pictures(1, seed), session="x", temperature=1.0) for seed in (1, 2)
    )
    alone = _texts(model.reply([replace(first, session=""), replace(second, session="")]))
    together = model.reply([first, second])
    assert _texts(together) == alone
    for reply in together:
        assert reply.usage["prefilled_tokens"] == reply.usage["prompt_tokens"]


def test_sessions_are_forgotten_in_turn(model) -> None:
    request = _request("left", _pictures(1))
    for name in "abcde":
        model.reply([replace(request, session=name)])

    def computed(name: str) -> int:
        return model.reply([replace(request, session=name)])[0].usage["prefilled_tokens"]

    assert computed("e") == 1  # the last token's answer is never kept
    assert computed("a") > 10


def test_a_kept_beginning_stays_as_it_is(model) -> None:
    shown = _pictures(1)
    asked = [_request(t, shown, session="same", temperature=1.0, seed=3) for t in TEXTS]
    once = [model.reply([request])[0].text for request in asked]
    assert [model.reply([request])[0].text for request in asked[::-1]] == once[::-1]


def test_prompts_beyond_the_context_are_errors_alike(model) -> None:
    (reply,) = model.reply([_request("left", [], session="long", max_tokens=100_000)])
    assert "exceed the context" in reply.error


def test_gemma_shares_too(tmp_path: Path) -> None:
    build_tiny_vlm(
        tmp_path / "g",
        [HEAD + " ".join(TEXTS)],
        hidden=32,
        layers=2,
        heads=2,
        vision_hidden=32,
        family="gemma3",
    )
    gemma = TransformersPolicy(tmp_path / "g", threads=1)
    shown = _pictures(1)
    asked = [_request(t, shown, temperature=1.0, seed=n) for n, t in enumerate(TEXTS)]
    alone = _texts(gemma.reply(asked))
    shared = gemma.reply([replace(request, session="g") for request in asked])
    assert _texts(shared) == alone
    computed = sum(reply.usage["prefilled_tokens"] for reply in shared)
    assert computed < 0.6 * sum(reply.usage["prompt_tokens"] for reply in shared)

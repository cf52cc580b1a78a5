"""A token a code: what is taught, how answers are read, and errors that can be worked out by hand."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

import toy_world

from driveproof.config.distill import DistillParams
from driveproof.errors import BadInput
from driveproof.policy import ChatReply, ChatRequest
from driveproof.training.trajectory_tokens import (
    TokenLessons,
    check_tokens,
    extend_vocabulary,
    parse_token,
    score_tokens,
    token_of,
)

PARAMS = DistillParams.model_validate(
    {
        "tiny": {"hidden": 32, "layers": 2, "heads": 2, "vision_hidden": 16, "vision_layers": 1},
        "steps": 2, "batch_size": 4, "precision": "fp32", "threads": 1,
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any], dict[str, Any], Any]:
    folder = tmp_path_factory.mktemp("tokens")
    made, book = toy_world.scenes(folder), toy_world.codebook()
    return folder, toy_world.items(made, book), {s.record_key: s for s in made}, book


@given(st.integers(0, 8191))
def test_a_token_is_read_as_it_is_written(code: int) -> None:
    assert parse_token(f"because <traj_1> {token_of(code)}", 8192) == code


@pytest.mark.parametrize(
    "text", [None, "", "traj_3", "<traj_>", "<traj_12>", "<traj_-1>", "<traj_" + "9" * 5000 + ">"]
)
def test_what_is_no_token_of_the_codebook_is_a_failure(text: str | None) -> None:
    assert parse_token(text, 12) is None


@pytest.mark.parametrize("reasons", [False, True])
def test_the_oracle_is_taught(world: Any, reasons: bool) -> None:
    _, items, scenes, book = world
    lessons = TokenLessons(items, scenes, book, PARAMS, 0, reasons)
    oracles = {
        str(i.observation.images["front"][-1]): i.option_codes[i.oracle_index] for i in items
    }
    for index in range(len(items)):
        example = lessons.lesson(index, 0)
        answer = example.messages[-1]["content"][0]["text"]
        assert parse_token(answer, lessons.codes) == oracles[str(example.images[0])]
        assert (answer == token_of(parse_token(answer, lessons.codes) or 0)) != reasons


def test_tokens_of_another_codebook_or_other_prompts_are_refused(world: Any) -> None:
    _, items, scenes, book = world
    trained = TokenLessons(items, scenes, book, PARAMS, 0, True).identity()
    assert check_tokens("m", trained, book, PARAMS)
    other = copy.deepcopy(book)
    other.codes_ = other.codes_[::-1]
    with pytest.raises(BadInput, match=r"m: codebook_hash: .*another codebook"):
        check_tokens("m", trained, other, PARAMS)
    with pytest.raises(BadInput, match="another codebook"):
        check_tokens("m", {**trained, "codebook_hash": None}, book, PARAMS)
    for change in ({"decimals": 2}, {"frames": 2}, {"style": "full"}):
        with pytest.raises(BadInput, match="prompt_hash: was trained with other prompts"):
            check_tokens("m", trained, book, PARAMS.model_copy(update=change))
    with pytest.raises(BadInput, match="has no tokens"):
        check_tokens("m", {}, book, PARAMS)


class Says:
    """A policy with fixed answers."""

    name = "says"

    def __init__(self, replies: Sequence[ChatReply]) -> None:
        self._replies = replies

    def identity(self) -> dict[str, Any]:
        return {}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        assert len(requests) == len(self._replies)
        return list(self._replies)


def test_errors_are_those_of_the_codes_named(world: Any) -> None:
    _, items, _, book = world
    replies = [ChatReply(token_of(int(i.option_codes[i.oracle_index]))) for i in items]
    perfect = score_tokens(Says(replies), items, book, PARAMS, 0, False)
    assert perfect["predicted"] == perfect["codebook"]
    other = int(items[0].option_codes[items[0].oracle_index - 1])
    replies[:3] = [ChatReply(token_of(other)), ChatReply("go on"), ChatReply(None, error="gone")]
    found = score_tokens(Says(replies), items, book, PARAMS, 0, False)
    assert (found["parse_failures"], found["lost"]) == (1, 1)
    assert found["predicted"]["ade"]["n"] == len(items) - 2
    away = np.linalg.norm(book.decode(np.array([other]))[0] - items[0].waypoints, axis=1)
    ends = [np.linalg.norm(i.options[i.oracle_index][-1] - i.waypoints[-1]) for i in items[3:]]
    assert found["predicted"]["fde"]["mean"] == pytest.approx(np.mean([away[-1], *ends]), rel=1e-5)


@pytest.mark.slow
def test_tokens_are_single_in_the_tiny_and_in_an_extended_model(world: Any, tmp_path: Path) -> None:
    from driveproof.policy.local import TransformersPolicy
    from driveproof.policy.pictures import Pictures
    from driveproof.policy.tiny import load_processor
    from driveproof.training.sft import load_model, train

    folder, items, scenes, book = world
    lessons = TokenLessons(items, scenes, book, PARAMS, 0, False)
    train(lessons, PARAMS, 0, tmp_path / "tiny", root=folder)
    extend_vocabulary(tmp_path / "tiny", tmp_path / "more", ("<traj_900>", "<traj_901>"), 0)
    for name, tokens in (("tiny", lessons.tokens), ("more", ("<traj_3>", "<traj_901>"))):
        kit: Any = load_processor(tmp_path / name)
        for token in tokens:
            ids = kit.tokenizer(token, add_special_tokens=False)["input_ids"]
            assert len(ids) == 1
            assert parse_token(kit.tokenizer.decode(ids, skip_special_tokens=True), 902) is not None
    before, after = load_model(tmp_path / "tiny"), load_model(tmp_path / "more")
    assert after.get_input_embeddings().weight.shape[0] == len(kit.tokenizer)
    assert before.get_input_embeddings().weight.shape[0] < len(kit.tokenizer)
    policy = TransformersPolicy(tmp_path / "tiny", pictures=Pictures(folder))
    found = score_tokens(policy, items, book, PARAMS, 0, False)
    assert found["questions"] == len(items)
    assert found["lost"] == 0

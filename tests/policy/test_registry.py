"""Specification strings: every kind opens, every mistake is one clear line."""

from __future__ import annotations

import pytest

from driveproof.errors import BadInput
from driveproof.policy import KINDS, ChatPolicy, ChatRequest, ChoicePolicy, open_policy


@pytest.mark.parametrize("spec", ["random", "constant_velocity", "oracle"])
def test_baselines_open(spec: str) -> None:
    policy = open_policy(spec)
    assert isinstance(policy, ChoicePolicy)
    assert policy.name == spec
    assert policy.identity()["kind"] == spec


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "no such kind"),
        ("gpt", "no such kind"),
        ("random:3", "write random"),
        ("transformers", "write transformers:FOLDER"),
        ("transformers:nowhere", "no such model folder"),
        ("openai:http://localhost:1/v1", "no model is named"),
        ("openai:ftp://host#m", "not a server's URL"),
        ("openai:http://[broken#m", "not a server's URL"),
        ("openai:http://user:secret@host/v1#m", "holds credentials"),
        ("recorded:nowhere.parquet", "no such file"),
    ],
)
def test_a_bad_specification_is_one_line(spec: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        open_policy(spec)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_served_policy_opens_without_asking_the_server() -> None:
    policy = open_policy("openai:http://localhost:1/v1#org/model")
    assert isinstance(policy, ChatPolicy)
    assert policy.identity()["model"] == "org/model"


def test_every_kind_says_how_it_is_written() -> None:
    assert all(kind.form.startswith(name) and kind.summary for name, kind in KINDS.items())


def test_places_and_pictures_must_match() -> None:
    message = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "?"}]}
    with pytest.raises(ValueError, match="1 image places for 0 images"):
        ChatRequest([message])

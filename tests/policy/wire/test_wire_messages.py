"""Messages: closed, lossless in both formats, and hostile bytes are refused in one line."""

from __future__ import annotations

import math
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import JSON, MSGPACK, Refused, decode, encode

SEEN = {
    "frame": 3,
    "time_s": 0.15,
    "pictures": {"CAM_FRONT": [{"kind": "encoded", "data": b"\x00\xff\xfe\xfb"}]},
    "speed": 5.0,
    "command": "left",
    "command_distance": None,
}
DECIDE = {"step": 0, "observation": SEEN}


def all_messages() -> list[type[BaseModel]]:
    return [
        kind
        for kind in vars(wire).values()
        if isinstance(kind, type) and issubclass(kind, wire.Closed)
    ]


def test_every_message_is_closed_and_strict() -> None:
    assert len(all_messages()) > 15
    for kind in all_messages():
        assert kind.model_config["extra"] == "forbid", kind
        assert kind.model_config["strict"] is True, kind
        assert kind.model_config["allow_inf_nan"] is False, kind


def test_what_the_driving_side_sends_is_listed_here_completely() -> None:
    """Whoever adds a field must add it here too, and say why it is not the truth."""
    picture = {"data", "height", "kind", "name", "offset", "path", "width"}
    observation = {"frame", "time_s", "pictures", "speed", "command", "command_distance"}
    expected = {"step", "observation"} | {f"observation.{name}" for name in observation}
    expected |= {f"observation.pictures.{name}" for name in picture}
    assert set(wire.fields_of(wire.Decide)) == expected
    assert set(wire.fields_of(wire.Begin)) == {"episode", "seed"}
    chat = {"messages", "images", "max_tokens", "temperature", "top_p", "seed", "answer_schema"}
    chat |= {"session"}  # a hash
    chat |= {f"images.{name}" for name in picture}
    chat |= {"messages.role", "messages.content", "messages.content.type", "messages.content.text"}
    assert set(wire.fields_of(wire.ChatBatch)) == {"requests"} | {f"requests.{n}" for n in chat}


@pytest.mark.parametrize("kind", [JSON, MSGPACK])
def test_a_message_comes_back_equal(kind: str) -> None:
    message = wire.Decide.model_validate(DECIDE)
    assert decode(encode(message, kind), kind, wire.Decide) == message
    assert encode(message, kind) == encode(message, kind)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    temperature=st.floats(0.0, 100.0),
    seed=st.integers(0, 2**63 - 1),
    data=st.binary(max_size=60),
)
def test_chats_come_back_equal(text: str, temperature: float, seed: int, data: bytes) -> None:
    parts = [wire.ImagePart(), wire.TextPart(text=text)]
    chat = wire.Chat(
        messages=[wire.Turn(role="user", content=parts)],
        images=[wire.Encoded(data=data)],
        temperature=temperature,
        seed=seed,
        answer_schema={"a": [1, None, {"b": text}]},
    )
    batch = wire.ChatBatch(requests=[chat])
    for kind in (JSON, MSGPACK):
        assert decode(encode(batch, kind), kind, wire.ChatBatch) == batch


def mutated(**values: Any) -> bytes:
    packed: bytes = msgpack.packb({"step": 0, "observation": {**SEEN, **values}})
    return packed


@pytest.mark.parametrize(
    ("data", "kind", "status", "said"),
    [
        (b"", MSGPACK, 400, "not msgpack"),
        (b"", JSON, 400, "Invalid JSON"),
        (msgpack.packb(DECIDE)[:-3], MSGPACK, 400, "incomplete"),
        (msgpack.packb(DECIDE) + b"\x00", MSGPACK, 400, "extra data"),
        (b"\xdd\xff\xff\xff\xff", MSGPACK, 400, "exceeds"),
        (b"\xc6\xff\xff\xff\xff", MSGPACK, 400, "not msgpack"),
        (b"\x91" * 100_000, MSGPACK, 400, "not msgpack"),
        (b"[" * 100_000, JSON, 400, "recursion"),
        (b"\xa1\xff", MSGPACK, 400, "utf-8"),
        (msgpack.packb(msgpack.ExtType(1, b"x")), MSGPACK, 400, "max_ext_len"),
        (msgpack.packb({b"step": 0}), MSGPACK, 422, ""),
        (b"\x80\x04\x95", MSGPACK, 400, "extra data"),  # how a pickle begins
        (b'{"step": 0, "observation": {"frame": 1e999}}', JSON, 422, "frame"),
        (b'{"step": NaN}', JSON, 422, "step"),
        (mutated(speed=math.nan), MSGPACK, 422, "observation.speed"),
        (mutated(speed=math.inf), MSGPACK, 422, "observation.speed"),
        (mutated(speed="5"), MSGPACK, 422, "observation.speed"),
        (mutated(frame=True), MSGPACK, 422, "observation.frame"),
        (mutated(frame=-1), MSGPACK, 422, "observation.frame"),
        (mutated(command="fly"), MSGPACK, 422, "observation.command"),
        (mutated(truth=1), MSGPACK, 422, "observation.truth: Extra inputs"),
        (mutated(pictures={"BEV": SEEN["pictures"]["CAM_FRONT"]}), MSGPACK, 422, "BEV"),  # type: ignore[index]
        (mutated(pictures={"CAM_FRONT": []}), MSGPACK, 422, "CAM_FRONT"),
        (msgpack.packb({**DECIDE, "gt": 1}), MSGPACK, 422, "gt: Extra inputs"),
        (b"{}", "text/plain", 415, "not application/msgpack"),
        (b"{}", "application/x-python-pickle", 415, "not application/msgpack"),
    ],
)  # fmt: skip
def test_hostile_bytes_are_refused(data: bytes, kind: str, status: int, said: str) -> None:
    with pytest.raises(Refused) as caught:
        decode(data, kind, wire.Decide)
    assert caught.value.status == status
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    for kind in (JSON, MSGPACK):
        with pytest.raises(Refused):
            decode(data, kind, wire.ReplyBatch)

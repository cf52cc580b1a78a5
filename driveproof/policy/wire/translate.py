"""Between the library's objects and the messages of the wire."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.driving import DriveDecision, DriveObservation, Pedals
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.pictures import Receiver, Sender
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey


def chat_to_wire(request: ChatRequest, sender: Sender) -> wire.Chat:
    """:class:`ValueError` (pydantic's) if the request is beyond what a message can say, BadInput without a picture."""
    turns = [
        {"role": message["role"], "content": [dict(part) for part in message["content"]]}
        for message in request.messages
    ]
    schema = None if request.schema is None else json.loads(json.dumps(request.schema))
    return wire.Chat(
        messages=[wire.Turn.model_validate(turn) for turn in turns],
        images=sender.send(request.images),
        max_tokens=request.max_tokens,
        temperature=float(request.temperature),
        top_p=float(request.top_p),
        seed=request.seed,
        answer_schema=schema,
        session=hashlib.sha256(request.session.encode()).hexdigest()[:32]
        if request.session
        else "",
    )


def chat_from_wire(chat: wire.Chat, receiver: Receiver) -> ChatRequest:
    """:class:`Refused` for a picture that is none, ValueError if places and pictures do not match."""
    return ChatRequest(
        [turn.model_dump() for turn in chat.messages],
        [receiver.pixels(image) for image in chat.images],
        max_tokens=chat.max_tokens,
        temperature=chat.temperature,
        top_p=chat.top_p,
        seed=chat.seed,
        schema=chat.answer_schema,
        session=chat.session,
    )


def reply_to_wire(reply: ChatReply) -> wire.Reply:
    """The same reply."""
    return wire.Reply(
        text=reply.text,
        error=reply.error,
        usage=_counts(reply.usage),
        latency_s=reply.latency_s,
        cached=reply.cached,
        outage=reply.outage,
    )


def reply_from_wire(reply: wire.Reply) -> ChatReply:
    """ValueError if it is neither an answer nor an error."""
    return ChatReply(
        reply.text, reply.error, reply.usage, reply.latency_s, reply.cached, reply.outage
    )


def observation_to_wire(seen: DriveObservation, sender: Sender) -> wire.Observation:
    """What the policy may see, and nothing else: each field by name."""
    distance = float(seen.command_distance)
    return wire.Observation.model_validate(
        {
            "frame": int(seen.frame),
            "time_s": float(seen.time_s),
            "pictures": {name: sender.send(moments) for name, moments in seen.pictures.items()},
            "speed": float(seen.speed),
            "command": seen.command,
            "command_distance": None if math.isnan(distance) else distance,
        }
    )


def observation_from_wire(seen: wire.Observation, receiver: Receiver) -> DriveObservation:
    """:class:`Refused` for a picture that is none."""
    pictures = {name: [receiver.pixels(p) for p in some] for name, some in seen.pictures.items()}
    distance = math.nan if seen.command_distance is None else seen.command_distance
    return DriveObservation(seen.frame, seen.time_s, pictures, seen.speed, seen.command, distance)


def decision_to_wire(decision: DriveDecision) -> wire.Decision:
    """TypeError or ValueError if the policy's trace is no JSON."""
    keys, controls = decision.keys, decision.controls
    trace = decision.trace
    return wire.Decision.model_validate(
        {
            "keys": keys and {"direction": _word(keys.direction), "speed": _word(keys.speed)},
            "controls": controls
            and {
                "throttle": float(controls.throttle),
                "brake": float(controls.brake),
                "steer": float(controls.steer),
            },
            "error": decision.error,
            "trace": None if trace is None else json.loads(json.dumps(trace, allow_nan=False)),
            "usage": _counts(decision.usage),
            "latency_s": float(decision.latency_s),
            "outage": bool(decision.outage),
        }
    )


def decision_from_wire(decision: wire.Decision) -> DriveDecision:
    """ValueError unless it is exactly one of keys, controls and error."""
    keys = controls = None
    if decision.keys is not None:
        direction, speed = decision.keys.direction, decision.keys.speed
        keys = ActionKeys(
            DirectionKey(direction) if direction else None, SpeedKey(speed) if speed else None
        )
    if decision.controls is not None:
        controls = Pedals(**decision.controls.model_dump())
    return DriveDecision(
        keys,
        controls,
        decision.error,
        decision.trace,
        decision.usage,
        decision.latency_s,
        decision.outage,
    )


def identity_digest(content: Mapping[str, Any]) -> str:
    """sha256 over an identity's fields but the digest itself."""
    known = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _word(key: DirectionKey | SpeedKey | None) -> str | None:
    return None if key is None else key.value


def _counts(usage: Mapping[str, int]) -> dict[str, int]:
    """Counts as plain numbers; what is no count is left out."""
    return {str(k): int(v) for k, v in usage.items() if not isinstance(v, bool) and int(v) >= 0}

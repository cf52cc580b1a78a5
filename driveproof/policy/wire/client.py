"""A policy on the other end of the wire: as one that talks, and as one that drives."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import urlsplit

from driveproof.errors import BadInput, UserError
from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.driving import DriveDecision, DriveObservation
from driveproof.policy.pictures import Pictures
from driveproof.policy.registry import Carrier, PolicySettings
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import MAX_BODY, Refused
from driveproof.policy.wire.pictures import Sender, pixels_of
from driveproof.policy.wire.translate import (
    chat_to_wire,
    decision_from_wire,
    observation_to_wire,
    reply_from_wire,
)
from driveproof.policy.wire.transport import ServerFailed, Transport, described

LEAVE_S = 2.0
"""Longest wait for a server to be told that an episode is over."""
BATCH = 64
"""Requests of one call."""
_NOT_BEGUN = DriveDecision(error="no episode has begun")
_LOCAL = ("127.0.0.1", "localhost", "::1")


class _Remote:
    """What both have in common."""

    def __init__(self, transport: Transport, sender: Sender) -> None:
        self._transport, self._sender = transport, sender

    @property
    def name(self) -> str:
        """What the server calls its policy."""
        return self._transport.identity.name

    def identity(self) -> dict[str, Any]:
        """Where it is served, what the policy says it is, and the hashes of that and of the server's prompts."""
        said = self._transport.identity
        return {
            "kind": "wire",
            "url": self._transport.url,
            "digest": said.digest,
            "prompts": said.prompts,
            "program": said.program,
            "policy": said.identity,
        }

    def health(self) -> wire.Health:
        """Whether the server lives; :class:`ServerFailed` if not."""
        return self._transport.call("GET", "/health", wire.Health)

    def close(self) -> None:
        """Close connections and shared memory."""
        self._sender.close()
        self._transport.close()


class WireChat(_Remote):
    """A :class:`driveproof.policy.ChatPolicy` that a policy server answers for."""

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies in order; a request that cannot be sent is lost alone, a failed call loses what it asked."""
        replies: list[ChatReply] = []
        for start in range(0, len(requests), BATCH):
            replies += self._batch(requests[start : start + BATCH])
        return replies

    def _batch(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        try:
            return self._ask(requests)
        except Refused as refusal:
            if not self._sender.refused(refusal.code):
                return [ChatReply(None, described(refusal))] * len(requests)
        return self._batch(requests)

    def _ask(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        replies: dict[int, ChatReply] = {}
        asked: dict[int, wire.Chat] = {}
        try:
            for place, request in enumerate(requests):
                try:
                    asked[place] = chat_to_wire(request, self._sender)
                except (UserError, ValueError, TypeError, RecursionError) as error:
                    text = " ".join(str(error).split())[:300]
                    replies[place] = ChatReply(None, f"cannot be sent: {text}")
            for places in _parts(asked):
                replies |= self._call(places, [asked[place] for place in places])
        finally:
            self._sender.release()
        return [replies[place] for place in range(len(requests))]

    def _call(self, places: list[int], asked: list[wire.Chat]) -> dict[int, ChatReply]:
        try:
            batch = wire.ChatBatch(requests=asked)
            answers = self._transport.call("POST", "/v1/chat", wire.ReplyBatch, batch).replies
            given = [reply_from_wire(answer) for answer in answers]
            return dict(zip(places, given, strict=True))
        except ServerFailed as error:
            return dict.fromkeys(places, _lost(error))
        except ValueError as error:
            return dict.fromkeys(places, _lost(_none(error)))


class WireDriver(_Remote):
    """A :class:`driveproof.policy.DrivingPolicy` that a policy server drives with."""

    def __init__(self, transport: Transport, sender: Sender) -> None:
        super().__init__(transport, sender)
        self._session = _Session(transport)
        self._step = 0
        self._failed: DriveDecision | None = _NOT_BEGUN
        # whoever forgets to close it, or ends its process, frees the place all the same
        weakref.finalize(self, self._session.end)

    @property
    def views(self) -> tuple[str, ...]:
        """Cameras that the policy wants."""
        return tuple(self._transport.identity.views)

    @property
    def history(self) -> int:
        """Moments of each camera that it wants."""
        return self._transport.identity.history

    def begin(self, episode: str, seed: int) -> None:
        """Begin in a new session; if there is none, every decision of the episode is an error that says so."""
        self.end()
        try:
            call = wire.Begin(episode=episode, seed=seed)
            answer = self._transport.call("POST", "/v1/sessions", wire.Session, call)
        except (UserError, ValueError) as error:
            self._failed = _error(error)
            return
        self._session.name, self._step, self._failed = answer.session, 0, None

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """The server's decision, or why there is none. A lost session is lost for the rest of the episode."""
        if self._failed is not None:
            return self._failed
        start = time.monotonic()
        try:
            decision = _read(self._ask(observation))
        except (UserError, ValueError, TypeError) as error:
            lost = _error(error)
            if lost.outage:
                self._failed = lost
            return replace(lost, latency_s=time.monotonic() - start)
        self._step += 1
        return decision

    def _ask(self, observation: DriveObservation) -> wire.Decision:
        try:
            return self._send(observation)
        except Refused as refusal:
            if not self._sender.refused(refusal.code):
                raise
        return self._send(observation)

    def _send(self, observation: DriveObservation) -> wire.Decision:
        path = f"/v1/sessions/{self._session.name}/decide"
        try:
            seen = observation_to_wire(observation, self._sender)
            call = wire.Decide(step=self._step, observation=seen)
            return self._transport.call("POST", path, wire.Decision, call)
        finally:
            self._sender.release()

    def end(self) -> None:
        """End the episode, so that its place is free at once."""
        self._session.end()
        self._failed = _NOT_BEGUN

    def close(self) -> None:
        """End the episode and close connections and shared memory."""
        self.end()
        super().close()


class _Session:
    """The session of an episode, "" for none."""

    def __init__(self, transport: Transport) -> None:
        self._transport, self.name = transport, ""

    def end(self) -> None:
        """Free its place; a server that is gone has none to free."""
        name, self.name = self.name, ""
        if name:
            with suppress(UserError, RuntimeError):  # a closed client is a RuntimeError
                self._transport.call(
                    "DELETE", f"/v1/sessions/{name}", wire.Health, within_s=LEAVE_S
                )


def connect(
    rest: str,
    settings: PolicySettings | None = None,
    role: Literal["chat", "driving"] | None = None,
) -> WireChat | WireDriver:
    """The policy of a server: ``http://host:port``, with ``#NAME`` only if it serves a policy of that name.

    Pictures travel as the settings say; if they say nothing, in shared memory to a server of this machine and as bytes to
    others.

    Parameters
    ----------
    role
        What it must be; None takes what it is.

    Raises
    ------
    BadInput
        If the URL is none, or the server serves another policy or another kind of it.
    ServerFailed
        If it cannot be reached.
    """
    settings = settings or PolicySettings()
    url, _, name = rest.partition("#")
    transport = Transport(url, timeout_s=settings.timeout_s)
    found = transport.identity
    problem = ""
    if role is not None and found.role != role:
        what = {"chat": "answers conversations", "driving": "drives in sessions"}
        problem = f"{url} {what[found.role]}, a server that {what[role]} is wanted"
    elif name and found.name != name:
        problem = f"{url} serves {found.name}, not {name}"
    if problem:
        transport.close()
        raise BadInput(problem)
    usual: Carrier = "shared" if urlsplit(url).hostname in _LOCAL else "bytes"
    sender = Sender(Pictures(settings.image_root), settings.carrier or usual)
    return (WireChat if found.role == "chat" else WireDriver)(transport, sender)


def _lost(error: ServerFailed) -> ChatReply:
    return ChatReply(None, described(error), outage=True)


def _error(error: Exception) -> DriveDecision:
    return DriveDecision(error=described(error), outage=isinstance(error, ServerFailed))


def _read(decision: wire.Decision) -> DriveDecision:
    try:
        return decision_from_wire(decision)
    except ValueError as error:
        raise _none(error) from None


def _none(error: ValueError) -> ServerFailed:
    return ServerFailed(f"the server's answer is none: {error}")


def _parts(asked: dict[int, wire.Chat]) -> list[list[int]]:
    """Places of requests that fit into one call together, by the bytes of its body and by its pixels."""
    parts: list[list[int]] = []
    room = left = 0
    for place, chat in asked.items():
        length = 4096 + sum(len(image.data) for image in chat.images if image.kind == "encoded")
        length += sum(
            4 * len(part.text)
            for turn in chat.messages
            for part in turn.content
            if part.type == "text"
        )
        pixels = sum(map(pixels_of, chat.images))
        if not parts or length > room or pixels > left:
            parts.append([])
            room, left = MAX_BODY - 2**20, wire.MAX_CALL_PIXELS
        parts[-1].append(place)
        room -= length
        left -= pixels
    return parts

"""What a policy server does, apart from HTTP: answers conversations, or decides in sessions."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from driveproof import __version__
from driveproof.errors import UserError
from driveproof.policy.chat import ChatPolicy, ChatReply, ChatRequest
from driveproof.policy.driving import DriveDecision, DrivingPolicy
from driveproof.policy.guard import Guarded
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import Refused
from driveproof.policy.wire.desk import Desk, Place
from driveproof.policy.wire.pictures import Receiver
from driveproof.policy.wire.sessions import Lent, Sessions
from driveproof.policy.wire.translate import (
    chat_from_wire,
    decision_to_wire,
    identity_digest,
    observation_from_wire,
    reply_to_wire,
)
from driveproof.prompts import STYLES, prompt_hash
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import InputMode


@dataclass(frozen=True)
class Limits:
    """Of a server; see :class:`Desk`, :class:`Sessions` and :class:`Receiver`."""

    workers: int = 1
    queue: int = 16
    timeout_s: float = 300.0
    sessions: int = 8
    idle_s: float = 120.0
    image_root: str | None = None


class Service:
    """A policy behind a desk.

    Parameters
    ----------
    policy
        What is served.
    again
        Makes another of a driving policy, for a second episode at the same time; None serves one.
    """

    def __init__(
        self,
        policy: ChatPolicy | DrivingPolicy,
        limits: Limits | None = None,
        again: Callable[[], DrivingPolicy] | None = None,
    ) -> None:
        limits = limits or Limits()
        self.policy = policy
        self.desk = Desk(limits.workers, limits.queue, limits.timeout_s)
        self._image_root = limits.image_root
        self._again = again
        self.sessions = Sessions(limits.sessions if again else 1, limits.idle_s)
        if isinstance(policy, DrivingPolicy):
            self.sessions.keep(Guarded(policy))
        self.identity = _identity(policy)

    def health(self) -> wire.Health:
        """That it lives, and how busy it is."""
        return wire.Health(
            versions=list(wire.VERSIONS),
            running=self.desk.running,
            waiting=self.desk.waiting,
            capacity=self.desk.capacity,
            sessions=len(self.sessions),
        )

    async def chat(self, batch: wire.ChatBatch, place: Place) -> wire.ReplyBatch:
        """Answers; a request with a broken picture is lost alone."""
        policy = self.policy
        if not isinstance(policy, ChatPolicy):
            raise Refused(
                404, "role", "this server drives in sessions and answers no conversations"
            )
        receiver = Receiver(self._image_root)
        replies = await place.run(lambda: _answers(policy, batch, receiver))
        return wire.ReplyBatch(replies=[reply_to_wire(reply) for reply in replies])

    async def begin(self, call: wire.Begin, place: Place) -> wire.Session:
        """Begin an episode in a session of its own."""
        if not isinstance(self.policy, DrivingPolicy):
            raise Refused(404, "role", "this server answers conversations and has no sessions")
        session, lent = self.sessions.begin()

        def start() -> Guarded:
            policy = lent.policy or self._another()
            policy.begin(call.episode, call.seed)
            return policy

        try:
            async with lent.lock:
                lent.policy = await place.run(start)
        except Refused as refusal:
            self._close(session, refusal)
            raise
        return wire.Session(session=session, idle_s=self.sessions.idle_s)

    async def decide(self, session: str, call: wire.Decide, place: Place) -> wire.Decision:
        """Decide once for each step, however often it is asked."""
        lent = self.sessions.find(session)
        async with lent.lock:
            if lent.last is not None and call.step == lent.steps - 1:
                return lent.last
            if call.step != lent.steps:
                raise Refused(409, "step", f"step {lent.steps} comes next, not {call.step}")
            try:
                receiver = Receiver(self._image_root)
                lent.last = await place.run(lambda: _decision(lent, call, receiver))
            except Refused as refusal:
                if refusal.code == "timeout":  # it may still be at work
                    self.sessions.drop(session)
                raise
            lent.steps += 1
            lent.used = time.monotonic()
            return lent.last

    def _another(self) -> Guarded:
        if self._again is None:
            raise Refused(503, "policy", "the policy of this server hangs")
        try:
            return Guarded(self._again())
        except UserError as error:
            raise Refused(500, "policy", str(error)) from None

    def _close(self, session: str, refusal: Refused) -> None:
        if refusal.code == "timeout":
            self.sessions.drop(session)
        else:
            self.sessions.end(session)

    def end(self, session: str) -> None:
        """End an episode; one that ended already may be ended again."""
        if not re.fullmatch(r"[0-9a-f]{32}", session):
            raise Refused(404, "session", "no such session")
        self.sessions.end(session)


def _answers(policy: ChatPolicy, batch: wire.ChatBatch, receiver: Receiver) -> list[ChatReply]:
    """Replies in order. Whatever the policy does wrong is an error of each reply."""
    replies: dict[int, ChatReply] = {}
    asked: dict[int, ChatRequest] = {}
    for place, chat in enumerate(batch.requests):
        try:
            asked[place] = chat_from_wire(chat, receiver)
        except Refused as refusal:
            if refusal.code != "picture":
                raise
            replies[place] = ChatReply(None, f"image: {refusal}")
        except ValueError as error:
            raise Refused(422, "message", str(error), field=f"requests.{place}") from None
    try:
        answers = policy.reply(list(asked.values())) if asked else []
        replies |= dict(zip(asked, answers, strict=True))
    except Exception as error:  # the policy's own code
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        replies |= {place: ChatReply(None, problem) for place in asked}
    return [replies[place] for place in range(len(batch.requests))]


def _decision(lent: Lent, call: wire.Decide, receiver: Receiver) -> wire.Decision:
    assert lent.policy is not None  # since it began
    decision = lent.policy.decide(observation_from_wire(call.observation, receiver))
    try:
        return decision_to_wire(decision)
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"the decision cannot be sent: {' '.join(str(error).split())[:300]}"
        return decision_to_wire(DriveDecision(error=problem))


def _identity(policy: ChatPolicy | DrivingPolicy) -> wire.Identity:
    said = {name: prompt_hash(style) for name, style in STYLES.items()}
    said["questions"] = wording_hash(InputMode())
    content: dict[str, Any] = {
        "role": "driving" if isinstance(policy, DrivingPolicy) else "chat",
        "name": policy.name,
        "identity": policy.identity(),
        "program": f"driveproof {__version__}",
        "prompts": identity_digest(said),
    }
    if isinstance(policy, DrivingPolicy):
        content |= {"views": list(policy.views), "history": policy.history}
    return wire.Identity.model_validate({**content, "digest": identity_digest(content)})

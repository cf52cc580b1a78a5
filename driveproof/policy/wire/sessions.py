"""Episodes under way: each has a driving policy of its own, lent from a pool."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field

from driveproof.policy.guard import Guarded
from driveproof.policy.wire.codec import Refused
from driveproof.policy.wire.desk import Busy
from driveproof.policy.wire.messages import Decision


@dataclass
class Lent:
    """A session: its policy, how many decisions it made, the last of them, and when it was used last."""

    policy: Guarded | None
    used: float
    steps: int = 0
    last: Decision | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Sessions:
    """Sessions by their id. All methods run in the server's event loop.

    Parameters
    ----------
    most
        How many sessions there may be at once.
    idle_s
        Unused for so long a session ends.
    """

    def __init__(self, most: int = 8, idle_s: float = 120.0) -> None:
        self._most, self.idle_s = most, idle_s
        self._free: list[Guarded] = []
        self._lent: dict[str, Lent] = {}

    def __len__(self) -> int:
        self.expire()
        return len(self._lent)

    def keep(self, policy: Guarded) -> None:
        """A policy that is free for a session."""
        self._free.append(policy)

    def begin(self) -> tuple[str, Lent]:
        """A new session, with the policy of one that ended if there is one; :class:`Busy` if there are too many."""
        self.expire()
        if len(self._lent) >= self._most:
            oldest = min(lent.used for lent in self._lent.values())
            wait = oldest + self.idle_s - time.monotonic()
            raise Busy(f"{self._most} episodes are under way", min(max(wait, 0.05), 5.0))
        session = secrets.token_hex(16)
        lent = Lent(self._free.pop() if self._free else None, time.monotonic())
        self._lent[session] = lent
        return session, lent

    def find(self, session: str) -> Lent:
        """The session of an id; 404 if it ended or never was."""
        self.expire()
        lent = self._lent.get(session)
        if lent is None:
            raise Refused(404, "session", "no such session: it was ended, or unused for too long")
        lent.used = time.monotonic()
        return lent

    def end(self, session: str) -> None:
        """End a session; its policy is free for another unless it is at work."""
        lent = self._lent.pop(session, None)
        if lent is not None and lent.policy is not None and not lent.lock.locked():
            self._free.append(lent.policy)

    def drop(self, session: str) -> None:
        """End a session whose policy hangs, and never lend that policy again."""
        self._lent.pop(session, None)

    def expire(self) -> None:
        """End the sessions that nobody uses."""
        before = time.monotonic() - self.idle_s
        for session, lent in list(self._lent.items()):
            if lent.used < before and not lent.lock.locked():
                self.end(session)

"""Where calls wait for the policy: a bounded queue before a few workers, and a limit of time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from driveproof.policy.wire.codec import Refused

T = TypeVar("T")


class Busy(Refused):
    """The queue is full; ``retry_s`` says when there may be a place."""

    def __init__(self, problem: str, retry_s: float) -> None:
        super().__init__(503, "busy", problem)
        self.retry_s = retry_s


class Desk:
    """Runs calls in threads. A call has a place from before its body is read until it ends.

    Parameters
    ----------
    workers
        Calls that run at once; a local model wants one.
    queue
        Calls that may wait.
    timeout_s
        Longest time from a call's arrival to its answer. What runs then cannot be stopped: it keeps its worker until
        it ends, and its answer is thrown away.
    """

    def __init__(self, workers: int = 1, queue: int = 16, timeout_s: float = 300.0) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="policy")
        self._workers, self._timeout_s = workers, timeout_s
        self.capacity = workers + queue
        self.inside = 0
        self._at_work = 0
        self._usual_s = 0.2

    @property
    def running(self) -> int:
        """Calls that have a worker."""
        return min(self._at_work, self._workers)

    @property
    def waiting(self) -> int:
        """Calls that have none yet: their body is on its way, or they wait for one."""
        return self.inside - self.running

    def place(self) -> Place:
        """A place for a call, for a ``with``.

        Raises
        ------
        Busy
            503 if the queue is full.
        """
        if self.inside >= self.capacity:
            wait = self._usual_s * (self.waiting + 1) / self._workers
            raise Busy(f"{self.inside} calls are under way", min(max(wait, 0.05), 30.0))
        self.inside += 1
        return Place(self)

    def leave(self) -> None:
        """A place is free again."""
        self.inside -= 1

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Give a call that has a place to the workers; it leaves when it has ended."""
        loop = asyncio.get_running_loop()
        start = time.monotonic()
        future = self._pool.submit(call)
        self._at_work += 1

        def leave(_: Future[Any]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._leave, start)

        future.add_done_callback(leave)
        return future

    async def answer(self, future: Future[T]) -> T:
        """The value of a call; :class:`Refused` 504 after ``timeout_s``."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._timeout_s)
        except TimeoutError:
            problem = f"the policy took longer than {self._timeout_s:g} s"
            raise Refused(504, "timeout", problem) from None

    def _leave(self, start: float) -> None:
        self._at_work -= 1
        self.leave()
        self._usual_s += 0.2 * (time.monotonic() - start - self._usual_s)

    def close(self) -> None:
        """Take no more calls."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Place:
    """A call's place at a desk, for one run. A context manager: left without one, the place is free."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._used = desk, False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._used:
            self._desk.leave()

    async def run(self, call: Callable[[], T]) -> T:
        """The value of ``call``, from a worker.

        Raises
        ------
        Refused
            504 after the desk's ``timeout_s``.
        """
        future = self._desk.submit(call)
        self._used = True
        return await self._desk.answer(future)

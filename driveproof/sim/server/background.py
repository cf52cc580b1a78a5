"""Long work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Deferred(Generic[T]):
    """A value that is computed in the background when somebody first asks for it, once for all who ask.

    Parameters
    ----------
    work
        Computes it; runs in a thread of its own, so it must not touch what the event loop changes.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._task: asyncio.Future[T] | None = None

    async def get(self) -> T:
        """The value, or the error that computing it gave."""
        if self._task is None:
            self._task = asyncio.ensure_future(in_background(self._work))
        return await asyncio.shield(self._task)


async def in_background(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread that does not keep the process alive, and give its result or raise its error.

    (The executor of asyncio would make a server that is told to stop wait until a large town has been read.)
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None only if T is

    def run() -> None:
        try:
            outcome = (work(), None)
        except BaseException as error:  # handed to the one who waits
            outcome = (None, error)  # type: ignore[assignment]
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True, name="load").start()
    return await future

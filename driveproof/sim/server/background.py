"""Long work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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

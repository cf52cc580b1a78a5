"""Pools of worker processes that end with whoever started them, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any


def process_pool(
    workers: int, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """A pool of spawned processes; use it as any executor.

    A worker of the standard library whose parent is killed waits for work for ever, since it holds the other end of
    its own queue.

    Parameters
    ----------
    workers
        Processes, at least one.
    initializer, initargs
        Called once in each of them; picklable.
    """
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(initializer, initargs),
    )


def report_queue() -> Any:
    """A queue on which worker processes report what they do; give it to them by ``initargs``.

    What is put is in the pipe when ``put`` returns, so a worker's result never overtakes its reports.
    """
    return multiprocessing.get_context("spawn").SimpleQueue()


def follow(
    futures: Sequence[Future[Any]], reports: Any, watch: Callable[..., object] | None
) -> None:
    """Call ``watch`` with every entry (a tuple) of ``reports`` until all futures have ended or one has failed."""
    while True:
        ended = wait(futures, timeout=0.2).done
        while not reports.empty():
            entry = reports.get()
            if watch:
                watch(*entry)
        if len(ended) == len(futures) or any(future.exception() for future in ended):
            return


def end_with_parent() -> None:
    """From now on this process ends when the one that started it is gone; nothing happens in a main process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_end_after, args=(parent,), name="parent watch", daemon=True
        ).start()


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    end_with_parent()
    if initializer is not None:
        initializer(*initargs)


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)

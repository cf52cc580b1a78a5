"""Pools of worker processes that end with whoever started them, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
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


def end_with_parent() -> None:
    """From now on this process ends when the one that started it is gone; nothing happens in a main process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), name="parent watch", daemon=True).start()


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    end_with_parent()
    if initializer is not None:
        initializer(*initargs)


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)

"""When the world steps: at a client's cue, or freely."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driveproof.sim.server.world import World

log = logging.getLogger(__name__)

#: A step of the synchronous mode without a fixed delta: not the time that the client took, so that runs repeat.
SYNCHRONOUS_S = 0.05
#: Steps a second of the free-running mode without a fixed delta.
FREE_RATE = 30.0
#: The longest step of the free-running mode, however late it is.
LONGEST_S = 0.1
#: The shortest pause between two free steps, in which clients are heard.
_BREATH_S = 0.001
_RETRY_S = 1.0


class Clock:
    """Steps a world.

    In asynchronous mode the simulated time follows the wall clock, with a fixed delta too (a real server then runs
    as fast as it can, which would take the processor from everybody else).
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Settings have changed."""
        self._woken.set()

    def cue(self) -> int:
        """A client's cue while nothing holds the world: the frame that answers it.

        In asynchronous mode that is the next one, which comes by itself.
        """
        if not self._world.settings.synchronous_mode:
            return self._world.frame + 1
        return self._world.step(self._world.next_delta)

    async def held_cue(self) -> int:
        """A client's cue that waits until sockets on their way have arrived."""
        await self._world.settle()
        return self.cue()

    async def run(self) -> None:
        """Step freely while the mode is asynchronous, for ever."""
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            self._woken.clear()
            if self._world.settings.synchronous_mode:
                await self._woken.wait()
                last = loop.time()
                continue
            await self._world.settle()
            fixed = self._world.settings.fixed_delta_seconds
            now = loop.time()
            delta = fixed or min(max(now - last, _BREATH_S), LONGEST_S)
            last = now
            pause = fixed or 1.0 / FREE_RATE
            try:
                self._world.step(delta)
            except Exception:
                log.exception("a step has failed")
                pause = _RETRY_S
            pause = max(pause - (loop.time() - now), _BREATH_S)
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                pass

"""The gate: a few requests are computed at once, some wait, the others are sent away at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import torch

from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.server.limits import Limits

Result = TypeVar("Result")


class BusyError(Exception):
    """More requests than may wait."""


class TimeLimitError(Exception):
    """A request that took longer than it may."""


def deadline(seconds: float, clock: Callable[[], float] = time.monotonic) -> Pause:
    """What raises a TimeLimitError once so many seconds have passed."""
    end = clock() + seconds

    def pause() -> None:
        if clock() > end:
            raise TimeLimitError

    return pause


class Gate:
    """Worker threads with a bounded queue, used from one event loop.

    A request counts until its work has really ended, even if its client was told before that it took too long.
    """

    def __init__(self, limits: Limits, torch_threads: int = 1) -> None:
        self.limits = limits
        self.inside = 0
        # A thread's number of OpenMP threads is its own.
        self.pool = ThreadPoolExecutor(limits.at_once, "answering", torch.set_num_threads, (torch_threads,))

    async def run(self, work: Callable[[Pause], Result]) -> Result:
        """The result of the work, which is given a pause that ends it when its time is over."""
        if self.inside >= self.limits.at_once + self.limits.waiting:
            raise BusyError
        pause = deadline(self.limits.seconds)
        loop = asyncio.get_running_loop()
        future: Future[Result] = self.pool.submit(_run, work, pause)
        self.inside += 1
        future.add_done_callback(partial(self._leave, loop))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limits.seconds)
        except TimeoutError:  # the future is cancelled where it has not begun; else the pause ends it
            raise TimeLimitError from None

    def _leave(self, loop: asyncio.AbstractEventLoop, _: Future[Result]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self.inside -= 1

    def close(self) -> None:
        """Let the workers end."""
        self.pool.shutdown(wait=False, cancel_futures=True)


def _run(work: Callable[[Pause], Result], pause: Pause) -> Result:
    pause()  # the wait alone may have taken too long
    try:
        return work(pause)
    except UserError as error:
        raise UserError(str(error)) from None  # the message may take a while to make: not on the event loop

"""The gate: a few requests are computed at once, some wait, the others are sent away at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import torch

from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.server.limits import Limits

Result = TypeVar("Result")
Leaving = Callable[[], Coroutine[Any, Any, None]]  # ends when the client has gone


class BusyError(Exception):
    """More requests than may wait."""


class ClientGoneError(Exception):
    """A request whose client does not wait for the answer any more."""


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

    async def run(self, work: Callable[[Pause], Result], left: Leaving | None = None) -> Result:
        """The result of the work; its pause ends it when its time is over or its client has `left`."""
        if self.inside >= self.limits.at_once + self.limits.waiting:
            raise BusyError
        pause = deadline(self.limits.seconds)
        gone = threading.Event()

        def pause_or_end() -> None:
            pause()
            if gone.is_set():
                raise ClientGoneError

        future: Future[Result] = self.pool.submit(_run, work, pause_or_end)
        self.inside += 1
        future.add_done_callback(partial(self._leave, asyncio.get_running_loop()))
        result = asyncio.wrap_future(future)
        waited: set[asyncio.Future[Any]] = {result}
        if left is not None:
            waited.add(asyncio.create_task(left()))
        try:
            done, _ = await asyncio.wait(waited, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.set()
            for each in waited:  # what has not begun never will; what has ends at its next pause
                each.cancel()
        if result in done:
            return result.result()
        raise ClientGoneError if done else TimeLimitError

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

"""The gate: a few requests are computed at once, some wait, the others are sent away; clients share it fairly."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from kgreckon.engine.oxigraph import LoadingError
from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.server.limits import Limits
from kgreckon.server.misread import MisreadError

Result = TypeVar("Result")
Leaving = Callable[[], Coroutine[Any, Any, None]]  # ends when the client has gone


class BusyError(Exception):
    """More requests than may wait, of all clients or of this one."""

    def __init__(self, of_client: bool = False) -> None:
        self.of_client = of_client
        super().__init__("too many requests " + ("of one client " if of_client else "") + "at once: try again soon")


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
    """Worker threads with bounded queues, used from one event loop.

    What is quick has a worker of its own, so that it never waits for a question. A request counts until its work has
    really ended, even if its client was already told that it took too long.
    """

    def __init__(self, limits: Limits, torch_threads: int = 1) -> None:
        self.limits = limits
        self.questions = FairQueue(limits, limits.at_once, "answering", torch_threads)
        self.quick = FairQueue(limits, 1, "looking up", torch_threads)

    @property
    def running(self) -> int:
        """How many requests are computed now."""
        return self.questions.running + self.quick.running

    @property
    def waiting(self) -> int:
        """How many requests wait for their turn."""
        return self.questions.waiting + self.quick.waiting

    async def run(
        self, work: Callable[[Pause], Result], left: Leaving | None = None, client: str = "", quick: bool = False
    ) -> Result:
        """The result of a client's work; its pause ends it when its time is over or its client has `left`."""
        pause = deadline(self.limits.seconds)
        gone = threading.Event()

        def pause_or_end() -> None:
            pause()
            if gone.is_set():
                raise ClientGoneError

        queue = self.quick if quick else self.questions
        job = queue.enter(client, partial(_run, work, pause_or_end))
        waited: set[asyncio.Future[Any]] = {job.result}
        if left is not None:
            waited.add(asyncio.create_task(left()))
        try:
            done, _ = await asyncio.wait(waited, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.set()  # what has begun ends at its next pause
            queue.withdraw(job)
            for each in waited:
                each.cancel()
        if job.result in done:
            return job.result.result()
        raise ClientGoneError if done else TimeLimitError

    def close(self) -> None:
        """Let the workers end."""
        self.questions.pool.shutdown(wait=False, cancel_futures=True)
        self.quick.pool.shutdown(wait=False, cancel_futures=True)


@dataclass(eq=False)
class _Client:
    """A client of a queue: what it waits for, and how much of the workers' time it has had."""

    seconds: float  # counted from what others had had when it came
    jobs: deque[_Job] = field(default_factory=deque)
    running: int = 0


@dataclass(eq=False)
class _Job:
    """Some work that waits for its turn, or has begun."""

    client: _Client
    work: Callable[[], Any]
    result: asyncio.Future[Any]


def _limit_torch(threads: int) -> None:
    """Bound the threads of an operation that this thread begins; a server of a plain graph never imports torch."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)  # a thread's number of OpenMP threads is its own


class FairQueue:
    """Workers, and what waits for them: the next one is for the client that has had the least of their time.

    No client has all of several workers, and where the queue is full, who waits for more makes room for who waits for
    less. So a client that asks much waits for itself.
    """

    def __init__(
        self,
        limits: Limits,
        workers: int,
        name: str = "",
        torch_threads: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits, self.workers, self.clock = limits, workers, clock
        self.pool = ThreadPoolExecutor(workers, name, _limit_torch, (torch_threads,))
        self.clients: dict[str, _Client] = {}
        self.running = self.waiting = 0
        self.level = 0.0  # what the client whose turn came last had had: who comes now has no claim on more

    def enter(self, client: str, work: Callable[[], Any]) -> _Job:
        """The work at its place in the queue; a BusyError where it has none."""
        account = self.clients.setdefault(client, _Client(self.level))
        if not account.jobs and not account.running:
            account.seconds = max(account.seconds, self.level)
        job = _Job(account, work, asyncio.get_running_loop().create_future())
        account.jobs.append(job)
        self.waiting += 1
        self._begin()
        if len(account.jobs) > self.limits.client_waiting:
            self.withdraw(job)
            raise BusyError(of_client=True)
        if self.waiting > self.limits.waiting:
            most = max(self.clients.values(), key=lambda each: len(each.jobs))
            if len(most.jobs) <= len(account.jobs):
                self.withdraw(job)
                raise BusyError
            last = most.jobs[-1]
            self.withdraw(last)
            last.result.set_exception(BusyError(of_client=True))
        return job

    def withdraw(self, job: _Job) -> None:
        """Take a job that has not begun out of the queue."""
        with suppress(ValueError):
            job.client.jobs.remove(job)
            self.waiting -= 1

    def _begin(self) -> None:
        """Give free workers to those whose turn it is."""
        most = max(1, self.workers - 1)
        while self.running < self.workers:
            ready = [waiting for waiting in self.clients.values() if waiting.jobs and waiting.running < most]
            if not ready:
                return
            client = min(ready, key=lambda waiting: waiting.seconds)
            job = client.jobs.popleft()
            self.level = max(self.level, client.seconds)
            self.waiting -= 1
            self.running += 1
            client.running += 1
            end = partial(self._tell, asyncio.get_running_loop(), job, self.clock())
            self.pool.submit(job.work).add_done_callback(end)

    def _tell(self, loop: asyncio.AbstractEventLoop, job: _Job, start: float, future: Future[Any]) -> None:
        """Go back from a worker's thread to the event loop, which may have ended."""
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, job, start, future)

    def _end(self, job: _Job, start: float, future: Future[Any]) -> None:
        self.running -= 1
        job.client.running -= 1
        job.client.seconds += self.clock() - start
        if not job.result.done():
            if future.cancelled():
                job.result.cancel()
            elif (error := future.exception()) is not None:
                job.result.set_exception(error)
            else:
                job.result.set_result(future.result())
        self._begin()
        # Whoever has had no more than those whose turn comes now is like a newcomer.
        self.clients = {
            name: client
            for name, client in self.clients.items()
            if client.jobs or client.running or (self.running and client.seconds > self.level)
        }


def _run(work: Callable[[Pause], Result], pause: Pause) -> Result:
    pause()  # the wait alone may have taken too long
    try:
        return work(pause)
    except (LoadingError, MisreadError):
        raise
    except UserError as error:
        raise UserError(str(error)) from None  # the message may take a while to make: not on the event loop

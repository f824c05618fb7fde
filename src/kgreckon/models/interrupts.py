"""Ctrl-C and SIGTERM between steps, never within one: what stands then is whole and can be kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class WholeSteps:
    """While it is entered, an interrupt within a step waits for the step's end; a second one does not wait.

    Only signals that raise a KeyboardInterrupt anyway are waited with.
    """

    def __init__(self) -> None:
        self._within = self._asked = False
        self._taken: list[signal.Signals] = []

    def __enter__(self) -> WholeSteps:
        if threading.current_thread() is threading.main_thread():  # no other may choose what signals do
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is signal.default_int_handler:
                    signal.signal(number, self._interrupt)
                    self._taken.append(number)
        return self

    def __exit__(self, *error: object) -> None:
        for number in self._taken:
            signal.signal(number, signal.default_int_handler)

    @contextmanager
    def step(self) -> Iterator[None]:
        """What an interrupt waits for."""
        self._within = True
        try:
            yield
        finally:
            self._within = False
        if self._asked:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._within or self._asked:
            raise KeyboardInterrupt
        self._asked = True

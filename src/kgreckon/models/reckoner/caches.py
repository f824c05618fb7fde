"""What was computed for a question and may be asked for again: the latest, as far as there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Latest(Generic[K, V]):
    """A cache of bounded size, which several threads may use; what was asked for longest ago is dropped first."""

    def __init__(self, room: int, size: Callable[[V], int]) -> None:
        self.room, self.size = room, size
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._used = 0
        self._lock = Lock()

    def find(self, key: K) -> V | None:
        """What is kept under a key."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: K, value: V) -> None:
        """Keep something, and drop the oldest where there is no room."""
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = value
            self._used += self.size(value)
            while self._used > self.room and len(self._kept) > 1:
                self._used -= self.size(self._kept.popitem(last=False)[1])

    def get(self, key: K, make: Callable[[], V]) -> V:
        """What is kept under a key, or what is made now."""
        found = self.find(key)
        if found is None:
            found = make()
            self.keep(key, found)
        return found

    def __len__(self) -> int:
        return len(self._kept)

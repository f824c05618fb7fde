"""Ragged sets: one sorted set per query, end to end in one array, and what the compiled kernels share.

Entities are points, ids in rising order. Numbers are intervals of rows of the value table, because a comparison yields
a range: two arrays, from and up to, rising and apart from each other. Kernels use one thread and release the GIL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kgreckon.compiling import compiled


@dataclass(frozen=True)
class Ragged:
    """One run of items per query."""

    offsets: np.ndarray  # (queries + 1,) int64
    items: np.ndarray  # (all items,) int32

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> np.ndarray:
        return self.items[self.offsets[query] : self.offsets[query + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> np.ndarray:  # (queries,) int64
        """How many items each query has."""
        return np.diff(self.offsets)

    def take(self, queries: np.ndarray) -> Ragged:  # (n,) int
        """Some of the queries, in that order."""
        counts = self.counts[queries]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        places = np.repeat(self.offsets[queries] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Ragged(offsets, self.items[places])

    @staticmethod
    def concatenate(parts: list[Ragged]) -> Ragged:
        """The queries of all parts, one part after the other."""
        if not parts:
            return Ragged(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        ends = np.cumsum([0] + [len(part.items) for part in parts])
        offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return Ragged(np.concatenate([np.zeros(1, dtype=np.int64), *offsets]), np.concatenate([p.items for p in parts]))


Int = int | np.int64  # numba would make an unsigned number of int(np.uint64)


@compiled
def grown(array: np.ndarray, used: int, needed: Int) -> np.ndarray:
    """`array`, or a copy with room for `needed` items."""
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


@compiled
def first_at_least(array: np.ndarray, low: int, high: int, key: int) -> int:
    """The first place from `low` on, up to `high`, whose entry is at least `key`."""
    while low < high:
        middle = (low + high) >> 1
        if array[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low

"""Triples: labelled edges in three arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]  # the sources, labels and targets of edges


@dataclass(frozen=True)
class Triples:
    """Labelled edges, one array for each place, distinct and sorted by source, label and target."""

    sources: np.ndarray  # (edges,) int32
    labels: np.ndarray  # (edges,) int32
    targets: np.ndarray  # (edges,) int32

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, edges: np.ndarray | slice) -> Triples:
        """Some of the edges; a mask or rising indices keep them sorted."""
        return Triples(self.sources[edges], self.labels[edges], self.targets[edges])

    def each_way(self) -> tuple[Columns, Columns]:
        """The columns of all edges r as 2r, and those of all edges turned round as 2r + 1."""
        doubled = 2 * self.labels
        return (self.sources, doubled, self.targets), (self.targets, doubled + 1, self.sources)

    def both_ways(self) -> Columns:  # (2 edges,) each
        """Sources, labels and targets of all edges r as 2r, then of all edges turned round as 2r + 1.

        The edges come in this order, which is not sorted.
        """
        sources, labels, targets = (np.concatenate(column) for column in zip(*self.each_way(), strict=True))
        return sources, labels, targets

    def rows_of(self, sources: np.ndarray, labels: np.ndarray, targets: np.ndarray) -> np.ndarray:  # (n,) int64
        """The row of each of some edges, -1 where it is none of these; no number may be negative."""
        if not len(self):
            return np.full(len(sources), -1, dtype=np.int64)
        pairs = _packed(self.sources, self.labels)
        first = first_of_run(pairs)
        groups = pairs[first]
        group = np.minimum(np.searchsorted(groups, _packed(sources, labels)), len(groups) - 1)
        edges = _packed(np.cumsum(first) - 1, self.targets)
        wanted = _packed(group, targets)
        rows = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
        matches = (edges[rows] == wanted) & (groups[group] == _packed(sources, labels))
        return np.where(matches, rows, -1)

    @staticmethod
    def from_arrays(sources: np.ndarray, labels: np.ndarray, targets: np.ndarray) -> Triples:
        """The distinct edges among some that may be unsorted and repeated."""
        return Triples.from_parts((sources, labels, targets))

    @staticmethod
    def from_parts(*parts: Columns) -> Triples:
        """The distinct edges of several parts, each of which may be unsorted and have repeats."""
        parts = tuple(part for part in parts if len(part[0]))
        if not parts:
            return Triples(*(np.zeros(0, dtype=np.int32) for _ in range(3)))
        bits = [max(int(part[place].max()).bit_length() for part in parts) for place in range(3)]
        if sum(bits) <= 63:  # one sort of packed keys is many times faster than sorting three columns
            key = np.empty(sum(len(part[0]) for part in parts), dtype=np.int64)
            start = 0
            for sources, labels, targets in parts:
                own = key[start : start + len(sources)]
                own[:] = sources
                for column, width in ((labels, bits[1]), (targets, bits[2])):
                    own <<= width
                    own |= column
                start += len(own)
            key.sort()
            first = first_of_run(key)
            if not first.all():
                key = key[first]
            found = []
            for width in (bits[2], bits[1]):  # taken apart in its own place: there may be hundreds of millions
                found.append(np.empty(len(key), dtype=np.int32))
                np.bitwise_and(key, (1 << width) - 1, out=found[-1], casting="unsafe")
                key >>= width
            return Triples(key.astype(np.int32), found[1], found[0])
        sources, labels, targets = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((targets, labels, sources))
        columns = [sources[order], labels[order], targets[order]]
        first = first_of_run(*columns)
        return Triples(*(column[first].astype(np.int32) for column in columns))


def _packed(high: np.ndarray, low: np.ndarray) -> np.ndarray:  # (n,) int64
    """Two columns of numbers below 2^31 as one that sorts like them."""
    return (high.astype(np.int64) << 31) | low


def first_of_run(*columns: np.ndarray) -> np.ndarray:
    """Which entries of sorted columns differ from the entry before."""
    first = np.ones(len(columns[0]), dtype=bool)
    first[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        first[1:] |= column[1:] != column[:-1]
    return first

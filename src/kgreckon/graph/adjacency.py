"""Triples and their compressed rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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

    @staticmethod
    def from_arrays(sources: np.ndarray, labels: np.ndarray, targets: np.ndarray) -> Triples:
        """The distinct edges among some that may be unsorted and repeated."""
        if not len(sources):
            return Triples(*(np.zeros(0, dtype=np.int32) for _ in range(3)))
        bits = [int(column.max()).bit_length() for column in (sources, labels, targets)]
        if sum(bits) <= 63:  # one sort of packed keys is many times faster than sorting three columns
            key = sources.astype(np.int64)
            for column, width in ((labels, bits[1]), (targets, bits[2])):
                key = (key << width) | column
            key.sort()
            key = key[_first(key)]
            mask = np.int64(1)
            columns = (
                key >> (bits[1] + bits[2]),
                (key >> bits[2]) & ((mask << bits[1]) - 1),
                key & ((mask << bits[2]) - 1),
            )
        else:
            order = np.lexsort((targets, labels, sources))
            columns = (sources[order], labels[order], targets[order])
            first = _first(*columns)
            columns = (columns[0][first], columns[1][first], columns[2][first])
        return Triples(*(column.astype(np.int32) for column in columns))


def _first(*columns: np.ndarray) -> np.ndarray:
    """Which entries of sorted columns differ from the entry before."""
    first = np.ones(len(columns[0]), dtype=bool)
    first[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        first[1:] |= column[1:] != column[:-1]
    return first


@dataclass(frozen=True)
class Adjacency:
    """Edges in compressed rows: source and label lead to a sorted run of targets.

    A group is the run of one source and one label. The groups of a source stand together, sorted by label, so that a
    lookup is a binary search among the few labels that the source has.
    """

    offsets: np.ndarray  # (sources + 1,) int64: the groups of each source
    labels: np.ndarray  # (groups,) int32
    starts: np.ndarray  # (groups + 1,) int64: the targets of each group
    targets: np.ndarray  # (edges,) int32
    num_targets: int

    @staticmethod
    def from_triples(triples: Triples, num_sources: int, num_targets: int) -> Adjacency:
        """The compressed rows of some triples."""
        count = len(triples)
        groups = np.flatnonzero(_first(triples.sources, triples.labels))
        return Adjacency(
            offsets=np.searchsorted(triples.sources[groups], np.arange(num_sources + 1)).astype(np.int64),
            labels=triples.labels[groups],
            starts=np.append(groups, count).astype(np.int64),
            targets=triples.targets.copy(),  # arrays mapped from files are read-only, which is another type to numba
            num_targets=num_targets,
        )

    @property
    def group_sources(self) -> np.ndarray:  # (groups,) int32
        """The source of each group."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def row(self, source: int, label: int) -> np.ndarray:
        """The targets of one source and label."""
        low, high = int(self.offsets[source]), int(self.offsets[source + 1])
        group = low + int(np.searchsorted(self.labels[low:high], label))
        if group == high or self.labels[group] != label:
            return self.targets[:0]
        return self.targets[self.starts[group] : self.starts[group + 1]]

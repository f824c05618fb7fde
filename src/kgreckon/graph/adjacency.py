"""Compressed rows of triples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.graph.triples import Triples, first_of_run

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # offsets, labels, starts and targets of an adjacency


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
        starts = np.flatnonzero(np.append(first_of_run(triples.sources, triples.labels), True))
        groups = starts[:-1]
        return Adjacency(
            offsets=np.searchsorted(triples.sources[groups], np.arange(num_sources + 1)).astype(np.int64),
            labels=triples.labels[groups],
            starts=starts,
            targets=_writable(triples.targets),
            num_targets=num_targets,
        )

    def sources_of(self, groups: np.ndarray) -> np.ndarray:  # (groups,) int64
        """The source of each of some groups."""
        return np.searchsorted(self.offsets, groups, side="right") - 1

    def touched(self, sources: np.ndarray) -> Rows:
        """The arrays, of which only the rows of these sources may be looked at."""
        return self.offsets, self.labels, self.starts, self.targets

    def row(self, source: int, label: int) -> np.ndarray:
        """The targets of one source and label."""
        offsets, labels, starts, targets = self.touched(np.array([source]))
        low, high = int(offsets[source]), int(offsets[source + 1])
        group = low + int(np.searchsorted(labels[low:high], label))
        if group == high or labels[group] != label:
            return targets[:0]
        return targets[starts[group] : starts[group + 1]]


def _writable(array: np.ndarray) -> np.ndarray:
    """Arrays mapped from files may be read-only, which is another type to numba."""
    return array if array.flags.writeable else array.copy()

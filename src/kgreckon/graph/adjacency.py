"""Compressed rows of triples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.graph.triples import Triples, first_of_run


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
        groups = np.flatnonzero(first_of_run(triples.sources, triples.labels))
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

"""Sorted edges of which some are taken out and others put in: the rest is copied, never sorted again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kgreckon.graph.adjacency import Adjacency, Rows
from kgreckon.graph.triples import Triples, first_of_run


@dataclass(frozen=True)
class EdgeChanges:
    """Edges to take out, which are there, and edges to put in, which are not; ids of both as they are before."""

    removed: Triples
    added: Triples

    def __len__(self) -> int:
        return len(self.removed) + len(self.added)

    def turned(self) -> EdgeChanges:
        """From label, by target, to source."""
        return EdgeChanges(*(Triples.from_arrays(own.labels, own.targets, own.sources) for own in self._both))

    def both_ways(self) -> EdgeChanges:
        """Relations in both directions."""
        return EdgeChanges(*(Triples.from_arrays(*own.both_ways()) for own in self._both))

    @property
    def _both(self) -> tuple[Triples, Triples]:
        return self.removed, self.added


@dataclass(frozen=True)
class Renumbering:
    """The new row of each row of a value table; None where all keep their place."""

    rows: np.ndarray | None = None  # (old rows,) int32, rising; anything where a row is gone

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The new places of some rows."""
        return rows if self.rows is None else self.rows[rows]


STILL = Renumbering()


def edges_of(keys: Iterable[tuple[int, int, int]]) -> Triples:
    """Some edges in order."""
    columns = np.array(list(keys), dtype=np.int32).reshape(-1, 3)
    return Triples.from_arrays(columns[:, 0], columns[:, 1], columns[:, 2])


def changed_triples(
    base: Triples, changes: EdgeChanges, targets: Renumbering = STILL
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns of sorted edges after some changes; what is put in has the new numbers of targets already."""
    gone = _lower_bounds(base, changes.removed)
    columns = [np.delete(column, gone) for column in (base.sources, base.labels, base.targets)]
    columns[2] = targets.of(columns[2])
    added = changes.added
    places = _lower_bounds(Triples(*columns), added)
    one, two, three = (
        np.insert(column, places, own)
        for column, own in zip(columns, (added.sources, added.labels, added.targets), strict=True)
    )
    return one, two, three


def states(adjacency: Adjacency, edges: Triples) -> np.ndarray:  # (edges,) bool
    """Which of some edges compressed rows hold; edges of sources beyond them are not there."""
    found = np.zeros(len(edges), dtype=bool)
    own = np.flatnonzero(edges.sources < adjacency_sources(adjacency))
    if not len(own):
        return found
    sources, wanted, targets = edges.sources[own], edges.labels[own], edges.targets[own]
    offsets, labels, starts, ends = adjacency.touched(sources)
    high = offsets[sources + 1]
    group = _bisected(labels, offsets[sources], high, wanted)
    there = (group < high) & (labels[np.minimum(group, len(labels) - 1)] == wanted) if len(labels) else group < high
    own, group, targets = own[there], group[there], targets[there]
    low, high = starts[group], starts[group + 1]
    place = _bisected(ends, low, high, targets)
    found[own] = (place < high) & (ends[np.minimum(place, len(ends) - 1)] == targets)
    return found


def adjacency_sources(adjacency: Adjacency) -> int:
    """How many sources compressed rows have."""
    return len(adjacency.offsets) - 1


def changed_rows(
    base: Adjacency,
    changes: EdgeChanges,
    num_sources: int,
    labels_to: Renumbering = STILL,
    targets_to: Renumbering = STILL,
) -> Rows:
    """Compressed rows after some changes: those of touched sources are made anew, all others are copied.

    What is put in has the new numbers of labels and targets already.
    """
    touched = np.unique(np.concatenate([changes.removed.sources, changes.added.sources]))
    old = touched[touched < adjacency_sources(base)]
    group_lows, group_highs = base.offsets[old].astype(np.int64), base.offsets[old + 1].astype(np.int64)
    edge_lows, edge_highs = base.starts[group_lows].astype(np.int64), base.starts[group_highs].astype(np.int64)
    rows = _without(_edges_between(base, old, edge_lows, edge_highs), changes.removed)
    rows = Triples.from_arrays(
        np.concatenate([rows.sources, changes.added.sources]),
        np.concatenate([labels_to.of(rows.labels), changes.added.labels]),
        np.concatenate([targets_to.of(rows.targets), changes.added.targets]),
    )
    groups = np.flatnonzero(first_of_run(rows.sources, rows.labels))
    beyond = len(touched) - len(old)  # sources that are new come after all others
    group_cuts = _cuts(group_lows, group_highs, len(base.labels), beyond)
    edge_cuts = _cuts(edge_lows, edge_highs, len(base.targets), beyond)
    group_ends = np.searchsorted(rows.sources[groups], touched, side="right")
    edge_ends = np.searchsorted(rows.sources, touched, side="right")
    counts = np.zeros(num_sources, dtype=np.int64)
    counts[: adjacency_sources(base)] = np.diff(base.offsets)
    counts[touched] = np.diff(group_ends, prepend=0)
    sizes = np.diff(np.append(groups, len(rows)))
    spliced_sizes = _spliced(np.diff(base.starts), group_cuts, sizes, group_ends)
    return (
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        _spliced(labels_to.of(base.labels), group_cuts, rows.labels[groups], group_ends),
        np.concatenate([[0], np.cumsum(spliced_sizes)]).astype(np.int64),
        _spliced(targets_to.of(base.targets), edge_cuts, rows.targets, edge_ends),
    )


def _edges_between(base: Adjacency, sources: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> Triples:
    """The edges of some sources, which stand from each low up to its high."""
    counts = highs - lows
    edges = np.arange(int(counts.sum())) + np.repeat(lows - (np.cumsum(counts) - counts), counts)
    groups = np.searchsorted(base.starts, edges, side="right") - 1
    return Triples(np.repeat(sources, counts).astype(np.int32), base.labels[groups], base.targets[edges])


def _without(edges: Triples, removed: Triples) -> Triples:
    if not len(removed):
        return edges
    kept = np.ones(len(edges), dtype=bool)
    kept[_lower_bounds(edges, removed)] = False
    return edges[kept]


def _cuts(lows: np.ndarray, highs: np.ndarray, end: int, beyond: int) -> list[tuple[int, int]]:
    """What is cut out of an array, in order; at its end nothing, so many times."""
    return [*zip(lows.tolist(), highs.tolist(), strict=True), *[(end, end)] * beyond]


def _spliced(
    array: np.ndarray, cuts: list[tuple[int, int]], pieces: np.ndarray, ends: np.ndarray
) -> np.ndarray:  # pieces in the places of cuts
    parts, last, start = [], 0, 0
    for (low, high), end in zip(cuts, ends.tolist(), strict=True):
        parts += [array[last:low], pieces[start:end]]
        last, start = high, end
    return np.concatenate([*parts, array[last:]]).astype(array.dtype, copy=False)


def _lower_bounds(edges: Triples, wanted: Triples) -> np.ndarray:  # (wanted,) int64
    """The row of each of some edges, or the one that it would stand before."""
    low = np.searchsorted(edges.sources, wanted.sources, side="left")
    high = np.searchsorted(edges.sources, wanted.sources, side="right")
    from_label = _bisected(edges.labels, low, high, wanted.labels)
    to_label = _bisected(edges.labels, low, high, wanted.labels + 1)
    return _bisected(edges.targets, from_label, to_label, wanted.targets)


def _bisected(column: np.ndarray, lows: np.ndarray, highs: np.ndarray, keys: np.ndarray) -> np.ndarray:  # (keys,)
    """The first place from each low on, and before its high, whose number is at least the key; else the high."""
    low, high = lows.astype(np.int64), highs.astype(np.int64)
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        less = open_ & (column[np.minimum(middle, len(column) - 1)] < keys)
        low, high = np.where(less, middle + 1, low), np.where(open_ & ~less, middle, high)
    return low

"""Sampling: random queries of a general type on a graph, without repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgreckon.benchmark.splits import entities_in, values_in
from kgreckon.benchmark.walking import Program, add_new_rows, walk
from kgreckon.exact import ComparisonMode
from kgreckon.exact.arithmetic import comparison_table, ranges_of
from kgreckon.graph import Adjacency, KnowledgeGraph, Triples
from kgreckon.query import SEVEN, Shape

# Every value stands in a computed relation to thousands of others: so few one-hop comparisons of each kind are kept.
COMPUTED_ONE_HOP_COMPARISONS = 500

CompressedRows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class DrawnQueries:
    """Queries of one general type: their ids, and what each of their columns is."""

    ids: np.ndarray  # (queries, width) int32
    kinds: np.ndarray  # (queries, width) int8

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, queries: np.ndarray | slice) -> DrawnQueries:
        return DrawnQueries(self.ids[queries], self.kinds[queries])

    @cached_property
    def codes(self) -> np.ndarray:  # (queries,) int64
        """A number for each query that identifies its specific type."""
        weights = 4 ** np.arange(self.kinds.shape[1], dtype=np.int64)
        return self.kinds.astype(np.int64) @ weights


class Walker:
    """Walks backwards on one graph. It never changes, so threads may share it."""

    def __init__(self, graph: KnowledgeGraph, mode: ComparisonMode) -> None:
        values = graph.values
        self.computed = mode.is_computed
        self.entities = np.flatnonzero(entities_in(graph)).astype(np.int32)
        self.values = np.flatnonzero(values_in(graph)).astype(np.int32)
        self.numbers, self.row_units = values.numbers, values.unit_ids
        self.unit_offsets = np.searchsorted(self.values, values.unit_starts).astype(np.int64)
        heads, labels, tails = graph.facts.both_ways()
        stated = graph.attribute_facts
        num_entities, num_values = len(graph.entities), len(values)
        # Predecessors: from a node, by what leads to it, to the labels it leads by.
        self.rp = _rows(tails, heads, labels, num_entities)
        self.rap = _rows(stated.sources, stated.targets, stated.labels, num_entities)
        self.ap = _rows(stated.targets, stated.sources, stated.labels, num_values)
        edges = graph.comparisons
        if self.computed or edges is None:
            edges = Triples.from_arrays(*(np.zeros(0, dtype=np.int32) for _ in range(3)))
        self.np = _rows(edges.targets, edges.sources, edges.labels, num_values)

    def draw(self, program: Program, seed: int, first: int, count: int) -> DrawnQueries:
        """The queries that some numbered attempts reach; the same attempt always reaches the same query."""
        if not len(self.entities) + len(self.values):
            return DrawnQueries(
                np.zeros((0, program.width), dtype=np.int32), np.zeros((0, program.width), dtype=np.int8)
            )
        return DrawnQueries(
            *walk(
                np.uint64(seed),
                first,
                count,
                program.steps,
                program.parents,
                program.kinds,
                program.places,
                program.sizes,
                program.turns,
                program.apart,
                program.swaps,
                program.unlike,
                program.width,
                self.entities,
                self.values,
                self.computed,
                self.numbers,
                self.row_units,
                self.unit_offsets,
                self.rp,
                self.rap,
                self.ap,
                self.np,
            )
        )


def _rows(nodes: np.ndarray, predecessors: np.ndarray, labels: np.ndarray, num_nodes: int) -> CompressedRows:
    adjacency = Adjacency.from_triples(Triples.from_arrays(nodes, predecessors, labels), num_nodes, 0)
    return adjacency.offsets, adjacency.labels, adjacency.starts, adjacency.targets


class Seen:
    """The queries met so far."""

    def __init__(self, width: int) -> None:
        self._rows = np.empty((1024, 2 * width), dtype=np.int32)
        self._table = np.full(4096, -1, dtype=np.int64)
        self._count = 0

    def new(self, draws: DrawnQueries) -> DrawnQueries:
        """Those of some queries that were not met before, each once; from now on they were."""
        self._make_room(self._count + len(draws))
        new = add_new_rows(self._table, self._rows, self._count, draws.ids, draws.kinds)
        self._count += int(new.sum())
        return draws[new]

    def _make_room(self, needed: int) -> None:
        if needed <= len(self._rows):
            return
        size = 1 << int(needed * 3 // 2).bit_length()
        width = self._rows.shape[1] // 2
        kept = self._rows[: self._count]
        self._rows = np.empty((size, 2 * width), dtype=np.int32)
        self._table = np.full(4 * size, -1, dtype=np.int64)
        ids, kinds = np.ascontiguousarray(kept[:, :width]), np.ascontiguousarray(kept[:, width:]).astype(np.int8)
        add_new_rows(self._table, self._rows, 0, ids, kinds)


def one_hop_queries(
    graph: KnowledgeGraph, mode: ComparisonMode, rng: np.random.Generator, count: int | None = None
) -> Iterator[tuple[Shape, np.ndarray]]:
    """Distinct queries of the general type 1p that have an answer on `graph`, by specific shape: label, anchor.

    All of them, or `count` random ones, which are drawn by their numbers: the others are not made.
    """
    kinds = _one_hop_kinds(graph, mode, rng)
    ends = np.cumsum([size for size, _ in kinds.values()])
    total = int(ends[-1])
    chosen = None
    if count is not None and count < total:
        chosen = np.sort(rng.choice(total, count, replace=False, shuffle=False))
    for (shape, (size, columns)), end in zip(kinds.items(), ends.tolist(), strict=True):
        own = np.arange(size)
        if chosen is not None:
            own = chosen[slice(*np.searchsorted(chosen, [end - size, end]))] - (end - size)
        yield Shape.parse(shape), np.stack(columns(own), axis=1).astype(np.int32)


_Columns = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _one_hop_kinds(
    graph: KnowledgeGraph, mode: ComparisonMode, rng: np.random.Generator
) -> dict[str, tuple[int, _Columns]]:
    """How many one-hop queries there are of each specific shape, and labels and anchors of some of them."""

    def groups(adjacency: Adjacency, label_first: bool = True) -> tuple[int, _Columns]:
        def columns(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            labels, sources = adjacency.labels[chosen], adjacency.sources_of(chosen)
            return (labels, sources) if label_first else (sources, labels)

        return len(adjacency.labels), columns

    if mode.is_computed:
        rows, comparisons = _few_comparisons(graph, rng)
        compared = len(rows), lambda chosen: (comparisons[chosen], rows[chosen])
    else:
        assert graph.compared is not None
        compared = groups(graph.compared)
    return {
        "(rp,(e))": groups(graph.follows),
        "(rap,(nv))": groups(graph.having, label_first=False),
        "(ap,(e))": groups(graph.values_of),
        "(np,(nv))": compared,
    }


def _few_comparisons(graph: KnowledgeGraph, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random values for each of the seven comparisons, of which those stay that some value stands in it to."""
    values, present = graph.values, np.flatnonzero(values_in(graph))
    rows, comparisons = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for comparison, columns in enumerate(zip(*comparison_table(tuple(SEVEN.values())), strict=True)):
        drawn = rng.permutation(present)[:COMPUTED_ONE_HOP_COMPARISONS]
        for unit in values.units:
            table = values.rows_of(unit)
            own = drawn[(drawn >= table.start) & (drawn < table.stop)]
            lows, highs = ranges_of(values.numbers[own], values.numbers[table], *columns)
            rows.append(own[lows < highs])
            comparisons.append(np.full(len(rows[-1]), comparison))
    row, comparison_of = np.concatenate(rows), np.concatenate(comparisons)
    order = np.lexsort((comparison_of, row))
    return row[order], comparison_of[order]

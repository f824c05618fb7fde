"""Sampling: random queries of a general type on a graph, without repeats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgreckon.benchmark.splits import entities_in, values_in
from kgreckon.benchmark.walking import Program, add_new_rows, walk
from kgreckon.exact import ComparisonMode
from kgreckon.graph import Adjacency, KnowledgeGraph, Triples
from kgreckon.query import Shape

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


def all_one_hop_queries(graph: KnowledgeGraph, mode: ComparisonMode) -> dict[Shape, np.ndarray]:
    """Every distinct query of the general type 1p that has an answer on `graph`, by specific shape: label, anchor."""
    follows, values_of, having = graph.follows, graph.values_of, graph.having
    queries = {
        "(rp,(e))": (follows.labels, follows.group_sources),
        "(rap,(nv))": (having.group_sources, having.labels),
        "(ap,(e))": (values_of.labels, values_of.group_sources),
        "(np,(nv))": _all_comparisons(graph, mode),
    }
    return {Shape.parse(text): np.stack(columns, axis=1).astype(np.int32) for text, columns in queries.items()}


def _all_comparisons(graph: KnowledgeGraph, mode: ComparisonMode) -> tuple[np.ndarray, np.ndarray]:
    if not mode.is_computed:
        compared = graph.compared
        assert compared is not None
        return compared.labels, compared.group_sources
    rows = np.flatnonzero(values_in(graph))
    return np.tile(np.arange(7), len(rows)), np.repeat(rows, 7)  # those without an answer are left out on answering

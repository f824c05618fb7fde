"""The paper's numerical edges: pairs of values drawn at random among those that satisfy a relation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kgreckon.benchmark.splits import Split, SplitGraph, values_in
from kgreckon.exact.arithmetic import comparison_table, ranges_of
from kgreckon.graph import Triples, ValueTable
from kgreckon.query import SEVEN

EDGES_PER_RELATION = 4000


def with_numerical_edges(
    graphs: SplitGraph, rng: np.random.Generator, edges_per_relation: int = EDGES_PER_RELATION
) -> SplitGraph:
    """The same graphs with numerical edges on each.

    Every relation gets at most `edges_per_relation` edges, shared evenly among the units. The training graph draws its
    share among the pairs of its own values; the validation graph keeps those and draws more where there were too few,
    and so does the testing graph: the graphs stay nested, and an edge never tells of a value that its graph lacks.
    """
    values = graphs.graph.values
    quota = edges_per_relation // max(1, len(values.units))
    present = [values_in(graphs.at(split)) for split in Split]
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for unit in values.units:
        for comparison in range(len(SEVEN)):
            taken = np.zeros(0, dtype=np.int64)  # y and x packed into one number
            for split in Split:
                rows = _present_rows(values, unit, present[split])
                drawn = _draw(values, rows, comparison, quota - len(taken), taken, rng)
                taken = np.concatenate([taken, drawn])
                y, x = drawn >> 32, drawn & 0xFFFFFFFF
                columns.append((y, np.full(len(y), comparison), x, np.full(len(y), split, dtype=np.int8)))
    y, label, x, split_of = (np.concatenate(column) for column in zip(*columns, strict=True)) if columns else [
        np.zeros(0, dtype=np.int64)] * 4  # fmt: skip
    order = np.lexsort((x, label, y))
    edges = Triples(*(column[order].astype(np.int32) for column in (y, label, x)))
    graph = replace(graphs.graph, comparisons=edges)
    return replace(graphs, graph=graph, comparison_splits=split_of[order].astype(np.int8))


def _present_rows(values: ValueTable, unit: str, present: np.ndarray) -> np.ndarray:
    rows = values.rows_of(unit)
    return rows.start + np.flatnonzero(present[rows])


def _draw(
    values: ValueTable,
    rows: np.ndarray,
    comparison: int,
    wanted: int,
    taken: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Up to `wanted` pairs (y, x) of present rows that satisfy the comparison and are not among `taken`."""
    if wanted <= 0 or not len(rows):
        return np.zeros(0, dtype=np.int64)
    numbers = values.numbers[rows]
    lows, highs = ranges_of(numbers, numbers, *(column[comparison] for column in _TABLE))
    ends = np.cumsum(highs - lows)  # all pairs in a row, those of the first y first
    total = int(ends[-1])

    def pairs(places: np.ndarray) -> np.ndarray:
        y = np.searchsorted(ends, places, side="right")
        x = highs[y] - (ends[y] - places)
        return (rows[y].astype(np.int64) << 32) | rows[x]

    if total <= 4 * (wanted + len(taken)):  # few: shuffle them all
        candidates = pairs(rng.permutation(total))
        return candidates[~np.isin(candidates, taken)][:wanted]
    found = np.zeros(0, dtype=np.int64)
    while len(found) < wanted:
        drawn = pairs(rng.integers(total, size=2 * wanted))
        found = np.concatenate([found, drawn])
        _, first = np.unique(found, return_index=True)
        found = found[np.sort(first)]
        found = found[~np.isin(found, taken)]
    return found[:wanted]


_TABLE = comparison_table(tuple(SEVEN.values()))

"""The paper's numerical edges: pairs of values that satisfy a relation, drawn at random or the first that are met."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgreckon.benchmark.splits import Split, SplitGraph
from kgreckon.exact import ComparisonMode
from kgreckon.exact.arithmetic import comparison_table, ranges_of
from kgreckon.graph import Triples, ValueTable
from kgreckon.query import SEVEN

EDGES_PER_RELATION = 4000


def with_numerical_edges(
    graphs: SplitGraph,
    rng: np.random.Generator,
    mode: ComparisonMode = ComparisonMode.SAMPLED,
    edges_per_relation: int = EDGES_PER_RELATION,
) -> SplitGraph:
    """The same graphs with numerical edges on each.

    Every relation gets at most `edges_per_relation` edges, shared evenly among the units. The graphs stay nested, and
    an edge never reveals a value that its graph lacks.
    """
    columns = (_released if mode is ComparisonMode.RELEASED else _sampled)(graphs, rng, edges_per_relation)
    y, label, x, split_of = (np.concatenate(column) for column in zip(*columns, strict=True)) if columns else [
        np.zeros(0, dtype=np.int64)] * 4  # fmt: skip
    order = np.lexsort((x, label, y))
    edges = Triples(*(column[order].astype(np.int32) for column in (y, label, x)))
    graph = replace(graphs.graph, comparisons=edges)
    return replace(graphs, graph=graph, comparison_splits=split_of[order].astype(np.int8))


_Edges = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # y, relation, x, and the split at which they enter


def _sampled(graphs: SplitGraph, rng: np.random.Generator, edges_per_relation: int) -> list[_Edges]:
    """Random pairs, as in the paper.

    The training graph draws its share among the pairs of its own values; the validation graph keeps those and draws
    more where there were too few, and so does the testing graph.
    """
    values, entered = graphs.graph.values, _entered(graphs)
    quota = edges_per_relation // max(1, len(values.units))
    edges: list[_Edges] = []
    for unit in values.units:
        for comparison in range(len(SEVEN)):
            taken = np.zeros(0, dtype=np.int64)  # y and x packed into one number
            for split in Split:
                pairs = _Pairs.of(values, unit, comparison, entered <= split)
                drawn = pairs.draw(quota - len(taken), taken, rng)
                taken = np.concatenate([taken, drawn])
                y, x = drawn >> 32, drawn & 0xFFFFFFFF
                edges.append((y, np.full(len(y), comparison), x, np.full(len(y), split)))
    return edges


def _released(graphs: SplitGraph, rng: np.random.Generator, edges_per_relation: int) -> list[_Edges]:
    """The first pairs of the testing graph, as in the paper's released code.

    It meets the values as it goes through the shuffled attribute facts, and goes through all partners of a value before
    the next: so its edges start from few values that have many partners each. It does so on each graph anew; that these
    stay nested, an edge of the testing graph is also in those before it that hold both its values.
    """
    values, entered = graphs.graph.values, _entered(graphs)
    quota = edges_per_relation // max(1, len(values.units))
    met = _meetings(graphs, rng)
    edges: list[_Edges] = []
    for unit in values.units:
        for comparison in range(len(SEVEN)):
            y, x = _Pairs.of(values, unit, comparison, entered <= Split.TEST).first(quota, met)
            edges.append((y, np.full(len(y), comparison), x, np.maximum(entered[y], entered[x])))
    return edges


def _entered(graphs: SplitGraph) -> np.ndarray:  # (values,) int64
    """The split at which each value enters: the first of those whose graph has an entity with it."""
    entered = np.full(len(graphs.graph.values), len(Split))
    np.minimum.at(entered, graphs.graph.attribute_facts.targets, graphs.attribute_fact_splits)
    return entered


def _meetings(graphs: SplitGraph, rng: np.random.Generator) -> np.ndarray:  # (values,) int64
    """When each value is first met in the shuffled attribute facts, of which the training graph holds the first."""
    splits, rows = graphs.attribute_fact_splits, graphs.graph.attribute_facts.targets
    order = rng.permutation(len(rows))
    order = order[np.argsort(splits[order], kind="stable")]
    met = np.full(len(graphs.graph.values), len(rows))
    np.minimum.at(met, rows[order], np.arange(len(rows)))
    return met


@dataclass(frozen=True)
class _Pairs:
    """All pairs of a value y and a value x of one unit in some relation: for each y, the x are a range of rows."""

    rows: np.ndarray  # (values,) rising rows of the value table
    lows: np.ndarray  # (values,) where, among these rows, the x of each y begin
    highs: np.ndarray  # (values,) and where they end

    @staticmethod
    def of(values: ValueTable, unit: str, comparison: int, present: np.ndarray) -> _Pairs:
        """The pairs among the values of a unit that are present."""
        table = values.rows_of(unit)
        rows = table.start + np.flatnonzero(present[table])
        numbers = values.numbers[rows]
        return _Pairs(rows, *ranges_of(numbers, numbers, *(column[comparison] for column in _TABLE)))

    def draw(self, wanted: int, taken: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Up to `wanted` random pairs, y and x packed into one number, that are not among `taken`."""
        if wanted <= 0 or not len(self.rows):
            return np.zeros(0, dtype=np.int64)
        ends = np.cumsum(self.highs - self.lows)  # all pairs in a row, those of the first y first
        total = int(ends[-1])

        def pairs(places: np.ndarray) -> np.ndarray:
            y = np.searchsorted(ends, places, side="right")
            x = self.highs[y] - (ends[y] - places)
            return (self.rows[y] << 32) | self.rows[x]

        if total <= 4 * (wanted + len(taken)):  # few: shuffle them all
            candidates = pairs(rng.permutation(total))
            return candidates[~np.isin(candidates, taken)][:wanted]
        pairs_found = np.zeros(0, dtype=np.int64)
        while len(pairs_found) < wanted:
            drawn = pairs(rng.integers(total, size=2 * wanted))
            pairs_found = np.concatenate([pairs_found, drawn])
            _, first = np.unique(pairs_found, return_index=True)
            pairs_found = pairs_found[np.sort(first)]
            pairs_found = pairs_found[~np.isin(pairs_found, taken)]
        return pairs_found[:wanted]

    def first(self, wanted: int, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first `wanted` pairs (y, x) by when their y is met, then by when their x is."""
        order = np.argsort(met[self.rows])
        counts = (self.highs - self.lows)[order]
        enough = int(np.searchsorted(np.cumsum(counts), wanted)) + 1
        order, counts = order[:enough], counts[:enough]
        x = np.arange(counts.sum()) + np.repeat(self.highs[order] - np.cumsum(counts), counts)
        y, x = self.rows[np.repeat(order, counts)], self.rows[x]
        first = np.lexsort((met[x], met[y]))[:wanted]
        return y[first], x[first]


_TABLE = comparison_table(tuple(SEVEN.values()))

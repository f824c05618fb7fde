"""Queries of a benchmark by name, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgreckon.benchmark.format import Benchmark
from kgreckon.benchmark.splits import Split
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import Number, Query, general_type, sentence, specific_type
from kgreckon.query.paper import write


@dataclass(frozen=True)
class Example:
    """A query, in words and in the paper's notation, with its answers by name."""

    query: Query
    words: str
    notation: str
    easy: list[str]
    hard: list[str]

    def as_json(self, limit: int) -> dict[str, Any]:
        """The same as plain data, with the first answers of each kind."""
        return {
            "query": self.notation,
            "words": self.words,
            "general_type": general_type(self.query),
            "specific_type": specific_type(self.query),
            "easy_count": len(self.easy),
            "hard_count": len(self.hard),
            "easy": self.easy[:limit],
            "hard": self.hard[:limit],
        }


def example_queries(benchmark: Benchmark, split: Split, name: str, count: int, seed: int) -> list[Example]:
    """Some random queries of a split and type."""
    sets = list(benchmark.query_sets(split, name))
    ends = np.cumsum([0] + [len(queries) for queries in sets])
    rng = np.random.default_rng(seed)
    picked = np.sort(rng.permutation(int(ends[-1]))[:count])
    graph = benchmark.graph
    examples = []
    for index in picked:
        which = int(np.searchsorted(ends, index, side="right")) - 1
        queries, row = sets[which], int(index - ends[which])
        query = queries.batch.query(row, graph.values)
        easy, hard = (_names(graph, part[row], queries.shape.denotes_numbers) for part in (queries.easy, queries.hard))
        examples.append(Example(query, sentence(query, graph.vocabulary), write(query, graph.vocabulary), easy, hard))
    return examples


def _names(graph: KnowledgeGraph, items: np.ndarray, of_numbers: bool) -> list[str]:
    if not of_numbers:
        return [graph.entities.label(entity) for entity in items.tolist()]
    values = [Number(*graph.values.number_at(row)) for row in items.tolist()]
    return [f"{graph.vocabulary.write_number(value)} {value.unit}" for value in values]

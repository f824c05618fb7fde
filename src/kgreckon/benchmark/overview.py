"""What is in a benchmark: its graphs and queries, beside the paper's where it is one of the paper's three."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgreckon.benchmark.datasets import PAPER_DATASETS
from kgreckon.benchmark.format import Benchmark
from kgreckon.benchmark.hardness import Hardness, ProofSearch
from kgreckon.benchmark.splits import Split, entities_in, values_in
from kgreckon.graph import KnowledgeGraph

_QUANTILES = (0.5, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class GraphCounts:
    """The size of a split's graph as the paper counts it: each relation edge once per direction."""

    split: str
    nodes: int
    relations: int
    attributes: int
    relation_edges: int
    attribute_edges: int
    numerical_edges: int
    edges: int
    paper: dict[str, int] | None


@dataclass(frozen=True)
class ValueType:
    """What of a graph's numbers is measured in one unit, as in the paper's figure of value types."""

    unit: str
    attribute_facts: int
    share: float  # of all attribute facts
    values: int  # distinct ones


@dataclass(frozen=True)
class QueryCounts:
    """The queries of a split and general type."""

    split: str
    type: str
    found: int
    wanted: int | None  # None where all there are were enumerated
    paper: int | None
    entity_targets: int
    number_targets: int
    touching_numbers: int
    specific: dict[str, int]
    hard_answers: dict[str, float]  # mean and quantiles of how many hard answers a query has
    easy_answers: dict[str, float]
    missing: dict[int, float]  # shares of hard answers by how many facts and values their cheapest proofs lack
    missing_of_queries: dict[int, float]  # shares of queries by that number, of the hard answer that lacks the fewest


@dataclass(frozen=True)
class BenchmarkStatistics:
    """A benchmark in numbers."""

    dataset: str | None
    mode: str
    seed: int
    balance: str | None  # by what the validation and testing queries are in equal shares
    graphs: tuple[GraphCounts, ...]
    value_types: tuple[ValueType, ...]  # of the testing graph, the commonest first
    queries: tuple[QueryCounts, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def benchmark_statistics(benchmark: Benchmark) -> BenchmarkStatistics:
    """Count what is in `benchmark`; types that are not built yet are left out."""
    dataset = PAPER_DATASETS.get(benchmark.header.get("preset") or "")
    graphs = tuple(
        graph_counts(benchmark.graphs.at(split), split, dataset.graphs[split] if dataset else None) for split in Split
    )
    queries = []
    for split in Split:
        proofs = None if split is Split.TRAIN else ProofSearch(benchmark.graphs, split, benchmark.mode)
        for name in benchmark.types:
            if benchmark.is_complete(split, name):
                paper = dataset.queries[split].get(name) if dataset else None
                queries.append(_query_counts(benchmark, split, name, paper, proofs))
    header = benchmark.header
    return BenchmarkStatistics(
        header.get("preset"),
        header["numbers"],
        int(header["seed"]),
        header.get("balance"),
        graphs,
        value_types(benchmark.graph),
        tuple(queries),
    )


def value_types(graph: KnowledgeGraph) -> tuple[ValueType, ...]:
    """How many of a graph's numbers are measured in each unit, the commonest first."""
    values, targets = graph.values, graph.attribute_facts.targets
    counts = np.bincount(values.unit_ids[targets], minlength=len(values.units)).tolist()
    rows = [
        ValueType(unit, count, count / len(targets), distinct)
        for unit, count, distinct in zip(values.units, counts, np.diff(values.unit_starts).tolist(), strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.attribute_facts))


def graph_counts(graph: KnowledgeGraph, split: Split, paper: dict[str, int] | None) -> GraphCounts:
    """The size of a graph as the paper counts it."""
    relation_edges, attribute_edges = 2 * len(graph.facts), len(graph.attribute_facts)
    numerical_edges = 0 if graph.comparisons is None else len(graph.comparisons)
    return GraphCounts(
        split=split.label,
        nodes=int(entities_in(graph).sum() + values_in(graph).sum()),
        relations=len(np.unique(graph.facts.labels)),
        attributes=len(np.unique(graph.attribute_facts.labels)),
        relation_edges=relation_edges,
        attribute_edges=attribute_edges,
        numerical_edges=numerical_edges,
        edges=relation_edges + 2 * attribute_edges + numerical_edges,
        paper=paper,
    )


def _query_counts(
    benchmark: Benchmark, split: Split, name: str, paper: int | None, proofs: ProofSearch | None
) -> QueryCounts:
    summary = benchmark.summary(split, name)
    specific: dict[str, int] = {}
    number_targets = touching = 0
    hardness: list[Hardness] = []
    easiest = [np.zeros(0, dtype=np.int8)]
    easy, hard = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for queries in benchmark.query_sets(split, name):
        specific[queries.shape.text] = len(queries)
        number_targets += len(queries) * queries.shape.denotes_numbers
        touching += len(queries) * queries.shape.touches_numbers
        easy.append(queries.easy.counts)
        hard.append(queries.hard.counts)
        if proofs is not None:
            hardness.append(proofs.hardness(queries.batch, queries.hard, os.cpu_count() or 1))
            if len(queries):
                easiest.append(np.minimum.reduceat(hardness[-1].missing, queries.hard.offsets[:-1]))
    total = sum(specific.values())
    return QueryCounts(
        split=split.label,
        type=name,
        found=total,
        wanted=summary.get("wanted"),
        paper=paper,
        entity_targets=total - number_targets,
        number_targets=number_targets,
        touching_numbers=touching,
        specific=specific,
        hard_answers=_distribution(np.concatenate(hard)),
        easy_answers=_distribution(np.concatenate(easy)),
        missing=_shares(Hardness.concatenate(hardness).missing),
        missing_of_queries=_shares(np.concatenate(easiest)),
    )


def _shares(counts: np.ndarray) -> dict[int, float]:
    """The share of each number among some."""
    numbers, frequencies = np.unique(counts, return_counts=True)
    return dict(zip(numbers.tolist(), (frequencies / max(1, len(counts))).tolist(), strict=True))


def _distribution(counts: np.ndarray) -> dict[str, float]:
    if not len(counts):
        return {}
    quantiles = np.quantile(counts, _QUANTILES)
    return {"mean": float(counts.mean())} | {
        f"{share:.0%}": float(value) for share, value in zip(_QUANTILES, quantiles, strict=True)
    }

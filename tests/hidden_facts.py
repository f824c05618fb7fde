"""Benchmarks that differ in what is hidden: the same training graph and queries, other hidden facts or values."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.format import HEADER, fingerprint, write_graphs
from kgreckon.benchmark.splits import values_in
from kgreckon.files import read_json, write_json
from kgreckon.graph import KnowledgeGraph, Triples, ValueTable

Kept = tuple[np.ndarray, np.ndarray]  # masks of the facts and of the attribute facts


def some_hidden_facts(benchmark: Benchmark) -> Kept:
    """All training facts and a few of the others."""
    rng = np.random.default_rng(0)
    graphs = benchmark.graphs
    kept = [splits == Split.TRAIN for splits in (graphs.fact_splits, graphs.attribute_fact_splits)]
    return kept[0] | (rng.random(len(kept[0])) < 0.3), kept[1] | (rng.random(len(kept[1])) < 0.3)


def facts_with_values_of_their_own(benchmark: Benchmark) -> Kept:
    """All facts but those with a value that the training graph lacks: no fact uses it then."""
    graphs = benchmark.graphs
    known = values_in(graphs.at(Split.TRAIN))
    return np.ones(len(graphs.fact_splits), dtype=bool), known[graphs.graph.attribute_facts.targets]


def without_hidden_facts(benchmark: Benchmark, folder: Path, keep: np.ndarray, keep_own: np.ndarray) -> Path:
    """A copy of a benchmark with some of its hidden facts only; all values stay in the table, and all queries."""
    assert not keep_own.all()
    shutil.copytree(benchmark.folder, folder)
    graphs = benchmark.graphs
    fewer = replace(
        graphs,
        graph=graphs.graph.restricted(keep, keep_own),
        fact_splits=graphs.fact_splits[keep],
        attribute_fact_splits=graphs.attribute_fact_splits[keep_own],
    )
    write_graphs(folder, fewer)
    header = folder / HEADER
    write_json(header, read_json(header) | {"graph": fingerprint(fewer.graph)})
    return folder


def without_unused_values(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The same facts with a value table of the values that they use."""
    rows = np.flatnonzero(values_in(graph))
    values, _ = ValueTable.from_numbers(graph.values.numbers[rows], graph.values.unit_ids[rows], graph.values.units)
    facts = graph.attribute_facts
    own = Triples(facts.sources, facts.labels, np.searchsorted(rows, facts.targets).astype(np.int32))
    return replace(graph, values=values, attribute_facts=own, comparisons=None)

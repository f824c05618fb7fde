"""Exact answers: queries a second of the batched engine against plain dicts and sets, by general type, in one run.

    python bench/exact_answers.py GRAPH... [--queries 2000] [--comparisons computed|sampled]

GRAPH is a graph folder, an MMKG folder or `world`. Both answer the same random queries, and the answers are compared.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.progress import track

from kgreckon.cli.console import print_table
from kgreckon.exact import ComparisonMode, answer
from kgreckon.graph import KnowledgeGraph, open_graph
from kgreckon.query import GENERAL_TYPES, Batch, Query, shape_of
from reference import Reference

TOP_ATTRIBUTES = {"FB15K": 15, "DB15K": 30, "YAGO15K": 7}


def draw(reference: Reference, name: str, count: int, rng: random.Random) -> list[Query]:
    """Random queries of a general type."""
    queries: list[Query] = []
    while len(queries) < count:
        query = reference.sample(GENERAL_TYPES[name], rng)
        if query is not None:
            queries.append(query)
    return queries


def batches_of(queries: list[Query], graph: KnowledgeGraph) -> list[tuple[Batch[np.ndarray], list[int]]]:
    """The queries by shape, each batch with the places of its queries."""
    places: dict[object, list[int]] = defaultdict(list)
    for place, query in enumerate(queries):
        places[shape_of(query)].append(place)
    return [(Batch.of([queries[place] for place in group], graph.values), group) for group in places.values()]


def measure(graph: KnowledgeGraph, mode: ComparisonMode, count: int, out: Console, title: str) -> None:
    """Time both on every general type, and print a row for each."""
    reference = Reference(graph, mode)
    rng = random.Random(0)
    rows: list[tuple[str, int, float | None, int, int, str]] = []
    slow_total = fast_total = 0.0
    single = 0.0
    for name in track(GENERAL_TYPES, description=title, console=Console(stderr=True)):
        queries = draw(reference, name, count, rng)
        batches = batches_of(queries, graph)
        for batch, _ in batches:
            answer(graph, batch[:1], mode)  # compiled before the clock starts
        start = perf_counter()
        expected = [reference.answers(query) for query in queries]
        slow = perf_counter() - start
        fast = float("inf")
        for _ in range(3):
            start = perf_counter()
            found = [(answer(graph, batch, mode), group) for batch, group in batches]
            fast = min(fast, perf_counter() - start)
        for answers, group in found:
            for place, items in zip(group, answers, strict=True):
                assert set(items.tolist()) == expected[place], f"different answers to {queries[place]}"
        start = perf_counter()
        for batch, _ in batches:
            answer(graph, batch[:1], mode)
        single = max(single, (perf_counter() - start) / len(batches))
        slow_total, fast_total = slow_total + slow, fast_total + fast
        mean = sum(map(len, expected)) / count
        rows.append((name, count, mean, round(count / slow), round(count / fast), f"{slow / fast:.0f}"))
    total = count * len(GENERAL_TYPES)
    rows.append(
        ("all", total, None, round(total / slow_total), round(total / fast_total), f"{slow_total / fast_total:.0f}")
    )
    columns = ("type", "queries", "mean answers", "reference, queries/s", "batched, queries/s", "ratio")
    print_table(out, f"{title}, {mode.value} comparisons, one thread", columns, rows)
    out.print(f"one query at a time: {single * 1000:.2f} ms (mean over shapes, slowest general type)")


def main() -> None:
    """Measure every graph named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument(
        "--comparisons", choices=[mode.value for mode in ComparisonMode], default=ComparisonMode.COMPUTED.value
    )
    arguments = parser.parse_args()
    out = Console(width=140, highlight=False)
    for place in arguments.graphs:
        name = Path(place).name
        is_folder = (Path(place) / "graph.json").exists() or place == "world"
        graph = open_graph(place, None if is_folder else TOP_ATTRIBUTES.get(name))
        measure(graph, ComparisonMode(arguments.comparisons), arguments.queries, out, name)


if __name__ == "__main__":
    main()

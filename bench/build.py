"""Building benchmarks: queries a second against the plain Python reference, whole builds, and growth with the graph.

    python bench/build.py types GRAPH... [--seconds 5]      sampling and answering by type, against the reference
    python bench/build.py whole GRAPH...                    the whole build: seconds, queries/s, peak memory
    python bench/build.py growth [--facts 1000000 10000000] synthetic graphs of the same average degree

GRAPH is an MMKG folder (FB15K, DB15K, YAGO15K, built with the paper's counts) or `world`.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from kgreckon.benchmark import PAPER_DATASETS, BuildProgress, BuildSettings, Split, build
from kgreckon.benchmark.building import TypeBuilder, begin
from kgreckon.benchmark.sampling import Walker
from kgreckon.cli.console import print_table
from kgreckon.graph import GraphBuilder, KnowledgeGraph, open_graph
from kgreckon.query import GENERAL_TYPES
from reference import Reference

OUT = Console(width=140, highlight=False)


def opened(place: str) -> tuple[KnowledgeGraph, str | None]:
    """A graph and its dataset."""
    dataset = PAPER_DATASETS.get(Path(place).name.lower())
    return open_graph(place, dataset.top_attributes if dataset else None), dataset.name if dataset else None


# ---------------------------------------------------------------------------------------------------------- types


def measure_types(place: str, seconds: float) -> None:
    """Distinct training queries a second, sampled and answered on the training graph, one thread each."""
    graph, dataset = opened(place)
    settings = BuildSettings.choose(graph, dataset=dataset)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        benchmark = begin(graph, Path(folder) / "b", settings)
        training = benchmark.graphs.at(Split.TRAIN)
        reference = Reference(training, settings.mode)
        rows = []
        slow_time = fast_time = 0.0
        mix = settings.counts[Split.TRAIN]
        walker = Walker(training, settings.mode)
        for name in GENERAL_TYPES:
            slow = _reference_rate(reference, name, seconds)
            builder = TypeBuilder(benchmark, Split.TRAIN, name, settings, (walker,), pool, 1)
            builder.wanted = 2000
            sum(len(part) for part in builder.draw())  # compiled before the clock starts
            # A build enumerates one-hop training queries; drawing the last of them takes any sampler long.
            builder.wanted = min(mix[name], 20_000) if name == "1p" else mix[name]
            start = perf_counter()
            found = sum(len(part) for part in builder.draw())
            fast = found / (perf_counter() - start)
            slow_time += mix[name] / slow
            fast_time += mix[name] / fast
            rows.append((name, mix[name], round(slow), round(fast), f"{fast / slow:.0f}"))
        total = sum(mix.values())
        rows.append(
            ("the mix", total, round(total / slow_time), round(total / fast_time), f"{slow_time / fast_time:.0f}")
        )
    columns = ("type", "queries", "reference, queries/s", "compiled, queries/s", "ratio")
    print_table(OUT, f"{Path(place).name}: training queries sampled and answered, one thread", columns, rows)


def _reference_rate(reference: Reference, name: str, seconds: float) -> float:
    rng = random.Random(0)
    found: set[object] = set()
    start = perf_counter()
    while perf_counter() - start < seconds:
        query = reference.sample(GENERAL_TYPES[name], rng)
        if query is not None and query not in found:
            reference.answers(query)
            found.add(query)
    return len(found) / (perf_counter() - start)


# ---------------------------------------------------------------------------------------------------------- whole


class _Clock(BuildProgress):
    """How long each split took and how many queries it has."""

    def __init__(self) -> None:
        self.queries = dict.fromkeys(Split, 0)
        self.seconds = dict.fromkeys(Split, 0.0)

    def start(self, split: Split, name: str, wanted: int | None) -> None:
        self.began = perf_counter()

    def finish(self, split: Split, name: str, found: int, wanted: int | None) -> None:
        self.queries[split] += found
        self.seconds[split] += perf_counter() - self.began


def measure_whole(place: str, workers: int) -> None:
    """One whole build, in a process of its own so that its memory can be told."""
    graph, dataset = opened(place)
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        made = build(graph, Path(folder) / "b", BuildSettings.choose(graph, dataset=dataset), workers, clock)
        seconds = perf_counter() - start
        size = sum(path.stat().st_size for path in made.folder.rglob("*") if path.is_file())
    rows = [(split.label, clock.queries[split], round(clock.seconds[split], 1), _rate(clock, split)) for split in Split]
    total = sum(clock.queries.values())
    rows.append(("all, graphs included", total, round(seconds, 1), round(total / seconds)))
    print_table(
        OUT,
        f"{Path(place).name}: the whole build, {workers} threads",
        ("graph", "queries", "seconds", "queries/s"),
        rows,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    OUT.print(f"peak memory {peak:.2f} GiB, on disk {size / 2**30:.2f} GiB")


def _rate(clock: _Clock, split: Split) -> int:
    return round(clock.queries[split] / clock.seconds[split])


# --------------------------------------------------------------------------------------------------------- growth


def synthetic_graph(facts: int, seed: int = 0) -> KnowledgeGraph:
    """A random graph with 20 facts and 2 values to an entity, whatever its size: 100 relations, 10 attributes."""
    rng = np.random.default_rng(seed)
    entities = facts // 20
    builder = GraphBuilder()
    # The builder takes names; ids are made at once here, because ten million names would measure Python and not us.
    sizes = ((builder._entities, "e", entities), (builder._relations, "r", 100), (builder._attributes, "a", 10))
    for symbols, letter, size in sizes:
        for index in range(size):
            symbols.add(f"{letter}{index}")
    builder._units.add("metres")
    builder._facts = tuple(rng.integers(size, size=facts, dtype=np.int32) for size in (entities, 100, entities))  # type: ignore[assignment]
    values = 2 * entities
    builder._value_facts = (  # type: ignore[assignment]
        rng.integers(entities, size=values, dtype=np.int32),
        rng.integers(10, size=values, dtype=np.int32),
        np.zeros(values, dtype=np.int32),
    )
    builder._numbers = np.round(rng.lognormal(3, 2, size=values), 2)  # type: ignore[assignment]
    return builder.build()


def measure_growth(sizes: list[int], workers: int) -> None:
    """The same number of queries on larger graphs: cost goes with queries and answers."""
    rows = []
    for facts in sizes:
        graph = synthetic_graph(facts)
        settings = BuildSettings.choose(graph, queries=200_000)
        settings.types.pop("1p")  # enumerated on the training graph: it grows with the graph by definition
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
            start = perf_counter()
            benchmark = begin(graph, Path(folder) / "b", settings)
            walker = Walker(benchmark.graphs.at(Split.TRAIN), settings.mode)
            begun = perf_counter() - start
            queries = answers = 0
            seconds = 0.0
            for name in settings.types:
                builder = TypeBuilder(benchmark, Split.TRAIN, name, settings, (walker,), pool, workers)
                next(iter(builder.draw()))  # compiled, and the graph's rows made, before the clock starts
                start = perf_counter()
                for part in builder.draw():
                    queries += len(part)
                    answers += len(part.hard.items)
                seconds += perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append((facts, len(graph.entities), round(begun, 1), queries, answers, round(seconds, 1),
                     f"{1e6 * seconds / queries:.1f}", round(peak, 2)))  # fmt: skip
    columns = ("facts", "entities", "splits and edges, s", "queries", "answers", "seconds", "µs/query", "peak GiB")
    print_table(OUT, f"Synthetic graphs of one average degree: training queries, {workers} threads", columns, rows)


def main() -> None:
    """Run one of the three measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["types", "whole", "growth"])
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long the reference runs on each type")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--facts", type=int, nargs="*", default=[1_000_000, 10_000_000])
    arguments = parser.parse_args()
    if arguments.what == "growth":
        measure_growth(arguments.facts, arguments.workers)
    elif arguments.what == "types":
        for place in arguments.graphs:
            measure_types(place, arguments.seconds)
    elif len(arguments.graphs) == 1:
        measure_whole(arguments.graphs[0], arguments.workers)
    else:
        for place in arguments.graphs:
            subprocess.run([sys.executable, __file__, "whole", place, "--workers", str(arguments.workers)], check=True)


if __name__ == "__main__":
    main()

"""Benchmarks: their tables beside the paper's, examples, and the progress of a build."""

from __future__ import annotations

from collections.abc import Sequence

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from kgreckon.benchmark import BuildProgress, Split
from kgreckon.benchmark.examples import Example
from kgreckon.benchmark.importing import ImportProgress
from kgreckon.benchmark.overview import BenchmarkStatistics, QueryCounts
from kgreckon.cli.bars import Bars
from kgreckon.cli.console import print_table
from kgreckon.cli.graph_tables import print_question
from kgreckon.graph import KnowledgeGraph


def print_benchmark_statistics(statistics: BenchmarkStatistics, name: str, out: Console) -> None:
    """The paper's two tables for a benchmark, beside the paper's own numbers, and what its queries are like."""
    has_numbers = any(graph.attribute_edges for graph in statistics.graphs)
    kind = f"{statistics.mode} numerical relations, seed {statistics.seed}" if has_numbers else "no numbers"
    balanced = f", balanced by {statistics.balance} facts" if statistics.balance else ""
    out.print(Text(f"{name}: {kind}{balanced}"), soft_wrap=True)
    columns = ("nodes", "relations", "attributes", "relation_edges", "attribute_edges", "numerical_edges", "edges")
    rows: list[Sequence[object]] = []
    for graph in statistics.graphs:
        rows.append((graph.split, *(getattr(graph, column) for column in columns)))
        if graph.paper is not None:
            rows.append(("  paper", *(graph.paper[column] for column in columns)))
            rows.append(("  difference", *(_difference(getattr(graph, c), graph.paper[c]) for c in columns)))
    print_table(out, "Graphs", ("graph", *(column.replace("_", " ") for column in columns)), rows)
    types = [
        (value_type.unit, value_type.attribute_facts, f"{value_type.share:.1%}", value_type.values)
        for value_type in statistics.value_types
    ]
    print_table(out, "Value types of the test graph", ("unit", "attribute facts", "share", "distinct values"), types)
    _print_query_counts(statistics, out)
    _print_answer_counts(statistics, out)
    _print_missing(statistics, out)
    _print_specific_types(statistics, out)


def _print_missing(statistics: BenchmarkStatistics, out: Console) -> None:
    """How hard the hard answers are."""
    numbers = sorted({number for counts in statistics.queries for number in counts.missing})
    rows = [
        (f"{counts.split} {counts.type}", kind, *(f"{shares.get(number, 0):.1%}" for number in numbers))
        for counts in statistics.queries
        for kind, shares in (("hard answers", counts.missing), ("queries", counts.missing_of_queries))
        if shares
    ]
    if rows:
        title = (
            "Hard answers by how many facts and values their cheapest proofs lack in the training graph, and queries "
            "by their easiest hard answer"
        )
        print_table(out, title, ("graph", "share of", *map(str, numbers)), rows)


def _print_query_counts(statistics: BenchmarkStatistics, out: Console) -> None:
    types = list(dict.fromkeys(counts.type for counts in statistics.queries))
    rows: list[Sequence[object]] = []
    for split in Split:
        counts = {each.type: each for each in statistics.queries if each.split == split.label}
        if not counts:
            continue
        rows.append((split.label, *(counts[t].found if t in counts else None for t in types), _total(counts, "found")))
        if any(each.paper is not None for each in counts.values()):
            papers = [counts[t].paper if t in counts else None for t in types]
            rows.append(("  paper", *papers, sum(paper or 0 for paper in papers)))
        short = [
            f"{each.wanted - each.found:,} fewer" if each.wanted and each.found < each.wanted else ""
            for each in counts.values()
        ]
        if any(short):
            rows.append(("  found too few", *short, ""))
        for label, column in (("  entity targets", "entity_targets"), ("  number targets", "number_targets"),
                              ("  touching a number", "touching_numbers")):  # fmt: skip
            cells = [getattr(counts[t], column) if t in counts else None for t in types]
            rows.append((label, *cells, _total(counts, column)))
    print_table(out, "Queries", ("graph", *types, "all"), rows)


def _total(counts: dict[str, QueryCounts], column: str) -> int:
    return sum(getattr(count, column) for count in counts.values())


def _print_answer_counts(statistics: BenchmarkStatistics, out: Console) -> None:
    rows = []
    for counts in statistics.queries:
        for kind, distribution in (("hard", counts.hard_answers), ("easy", counts.easy_answers)):
            if distribution and distribution["100%"]:
                rows.append((f"{counts.split} {counts.type}", kind, *(round(x, 1) for x in distribution.values())))
    columns = ("graph", "answers", "mean", "half have at most", "90 %", "99 %", "all")
    print_table(out, "Answers per query", columns, rows)


def _print_specific_types(statistics: BenchmarkStatistics, out: Console) -> None:
    shapes: dict[str, dict[str, int]] = {}
    totals: dict[str, int] = {}
    for query_counts in statistics.queries:
        totals[f"{query_counts.split} {query_counts.type}"] = query_counts.found
        for text, count in query_counts.specific.items():
            shapes.setdefault(text, {})[f"{query_counts.split} {query_counts.type}"] = count
    rows = []
    for text, counts in shapes.items():
        of_type = next(iter(counts)).split()[1]
        places = [f"{split.label} {of_type}" for split in Split]
        shares = [f"{counts[p] / totals[p]:.1%}" if counts.get(p) else "-" for p in places]
        rows.append((text, *(counts.get(place, 0) for place in places), *shares))
    columns = ("specific type", "train", "valid", "test", "share of train", "of valid", "of test")
    print_table(out, f"Specific types: {len(shapes)}", columns, rows)


def _difference(ours: int, theirs: int) -> str:
    return f"{(ours - theirs) / theirs:+.1%}" if theirs else "-"


def print_example(example: Example, graph: KnowledgeGraph, limit: int, out: Console) -> None:
    """A query of a benchmark with some of its answers."""
    print_question(example.query, graph, out)
    for kind, answers in (("hard", example.hard), ("easy", example.easy)):
        more = f" and {len(answers) - limit:,} more" if len(answers) > limit else ""
        out.print(Text(f"  {kind}: {'; '.join(answers[:limit]) or '-'}{more}"), soft_wrap=True)
    out.print()


class BuildBar(Bars, BuildProgress):
    """Bars on stderr, one for each split and type: number of queries, rate, remaining time."""

    def __init__(self) -> None:
        super().__init__(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[rate]}"),
            bars.TimeRemainingColumn(),
        )
        self._task = bars.TaskID(0)

    def start(self, split: Split, name: str, wanted: int | None) -> None:
        """A new bar."""
        self._task = self._add(f"{split.label} {name}", wanted, rate="")

    def advance(self, found: int) -> None:
        """The bar moves."""
        task = next(task for task in self._bars.tasks if task.id == self._task)
        rate = f"{found / task.elapsed:,.0f}/s" if task.elapsed else ""
        self._bars.update(self._task, completed=found, rate=rate)

    def finish(self, split: Split, name: str, found: int, wanted: int | None) -> None:
        """The bar ends; what the graph could not yield is said once more in words."""
        self.advance(found)
        self._bars.update(self._task, total=found, completed=found)
        if wanted is not None and found < wanted:
            message = f"{split.label} {name}: the graph yields only {found:,} of the {wanted:,} queries asked for"
            self._bars.console.print(message, style="yellow")


class ImportBar(BuildBar, ImportProgress):
    """Bars on stderr, one for each file that is long to read, and one for the queries of each split and type."""

    def reading(self, name: str, done: int, total: int) -> None:
        """The bar of a file appears, or moves."""
        shown = [task.id for task in self._bars.tasks if task.description == name]
        self._bars.update(shown[0] if shown else self._add(name, total, rate=""), completed=done, rate="bytes")

"""Tables for the terminal. Results go to stdout, everything else to stderr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType

import numpy as np
from rich import progress as bars
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgreckon.benchmark import Progress, Split
from kgreckon.benchmark.examples import Example
from kgreckon.benchmark.statistics import BenchmarkStatistics, QueryCounts
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import is_calendar, write_date
from kgreckon.graph.statistics import GraphStatistics
from kgreckon.query import NumberSort, Query, general_type, sentence, sort_of, specific_type
from kgreckon.query.paper import write

_ANY_WIDTH = 100_000
_LEFT = ("relation", "attribute", "unit", "answer", "name", "value", "graph", "answers", "specific type")


def console() -> Console:
    """The console for results; a pipe gets tables of any width, unbroken."""
    out = Console(highlight=False, emoji=False)  # `:100:` is a line number or part of a name, not a picture
    return out if out.is_terminal else Console(highlight=False, emoji=False, width=_ANY_WIDTH)


def notes() -> Console:
    """The console for progress and remarks."""
    return Console(stderr=True, highlight=False, emoji=False)


def print_table(out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under its title."""
    out.print(Text(title), style="bold", soft_wrap=True)
    out.print(table(columns, rows))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table; numbers stand to the right with thousands set off, and text as it is, whatever it looks like."""
    result = Table(header_style="bold")
    for column in columns:
        result.add_column(column, justify="left" if column in _LEFT else "right", overflow="fold")
    for row in rows:
        result.add_row(*(Text(cell if isinstance(cell, str) else _figure(cell)) for cell in row))
    return result


def _figure(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return measured(cell, "")
    return str(cell)


def measured(number: float, unit: str) -> str:
    """A number for people: dates as dates, large numbers with their thousands set off."""
    if is_calendar(unit):
        return write_date(number)
    if unit == "years":
        return f"{number:g}" if number.is_integer() else f"{number:.2f}"
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.6g}" if abs(number) < 1e6 else f"{number:,.1f}"


def print_statistics(statistics: GraphStatistics, name: str, rows: int, out: Console) -> None:
    """Counts, units, relations and attributes of a graph."""
    counts = [
        ("entities", statistics.entities),
        ("relations", statistics.relations),
        ("facts", statistics.facts),
        ("attributes", statistics.attributes),
        ("attribute values", statistics.attribute_facts),
        ("distinct values", statistics.values),
    ]
    if statistics.comparisons is not None:
        counts.append(("numerical edges", statistics.comparisons))
    print_table(out, name, ("graph", "count"), counts)
    units = [(u.unit, u.values, measured(u.smallest, u.unit), measured(u.largest, u.unit)) for u in statistics.units]
    print_table(out, "Units", ("unit", "values", "smallest", "largest"), units)
    relations = statistics.most_frequent_relations[:rows]
    title = _title("Relations", len(relations), statistics.relations)
    stated = [(r.name, r.facts, r.heads, r.tails) for r in relations]
    print_table(out, title, ("relation", "facts", "heads", "tails"), stated)
    attributes = statistics.most_frequent_attributes[:rows]
    title = _title("Attributes", len(attributes), statistics.attributes)
    ranges = [
        (a.name, a.unit, a.entities, *(measured(number, a.unit) for number in (a.smallest, a.median, a.largest)))
        for a in attributes
    ]
    print_table(out, title, ("attribute", "unit", "entities", "smallest", "median", "largest"), ranges)


def _title(what: str, shown: int, all_of_them: int) -> str:
    return what if shown == all_of_them else f"{what}: the {shown} most frequent of {all_of_them:,}"


def print_question(query: Query, graph: KnowledgeGraph, out: Console) -> None:
    """A query in words, in the paper's notation, and its type."""
    out.print(Text(sentence(query, graph.vocabulary)), style="bold", soft_wrap=True)
    out.print(Text(write(query, graph.vocabulary)), style="cyan", soft_wrap=True)
    out.print(f"type {general_type(query)}, {specific_type(query)}", style="dim", soft_wrap=True)


def print_answers(query: Query, answers: np.ndarray, graph: KnowledgeGraph, limit: int, out: Console) -> None:
    """The first answers to a query as a table."""
    shown = answers[:limit].tolist()
    title = f"{len(answers):,} answer{'s' * (len(answers) != 1)}"
    if len(shown) < len(answers):
        title += f", the first {len(shown)}"
    if isinstance(sort_of(query, graph.vocabulary), NumberSort):
        numbers = [graph.values.number_at(row) for row in shown]
        print_table(out, title, ("value", "unit"), [(measured(*number), number[1]) for number in numbers])
        return
    labels = [graph.entities.label(entity) for entity in shown]
    names = [graph.entities.name(entity) for entity in shown]
    if labels == names:
        print_table(out, title, ("answer",), [(label,) for label in labels])
    else:
        print_table(out, title, ("answer", "name"), zip(labels, names, strict=True))


# ------------------------------------------------------------------------------------------------------ benchmarks


def print_benchmark_statistics(statistics: BenchmarkStatistics, name: str, out: Console) -> None:
    """The paper's two tables for a benchmark, beside the paper's own numbers, and what its queries are like."""
    out.print(Text(f"{name}: {statistics.numbers} numerical relations, seed {statistics.seed}"), soft_wrap=True)
    columns = ("nodes", "relations", "attributes", "relation_edges", "attribute_edges", "numerical_edges", "edges")
    rows: list[Sequence[object]] = []
    for graph in statistics.graphs:
        rows.append((graph.split, *(getattr(graph, column) for column in columns)))
        if graph.paper is not None:
            rows.append(("  paper", *(graph.paper[column] for column in columns)))
            rows.append(("  difference", *(_difference(getattr(graph, c), graph.paper[c]) for c in columns)))
    print_table(out, "Graphs", ("graph", *(column.replace("_", " ") for column in columns)), rows)
    _print_query_counts(statistics, out)
    _print_answer_counts(statistics, out)
    _print_specific_types(statistics, out)


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
    return sum(getattr(each, column) for each in counts.values())


def _print_answer_counts(statistics: BenchmarkStatistics, out: Console) -> None:
    rows = []
    for each in statistics.queries:
        for kind, distribution in (("hard", each.hard_answers), ("easy", each.easy_answers)):
            if distribution and distribution["100%"]:
                rows.append((f"{each.split} {each.type}", kind, *(round(x, 1) for x in distribution.values())))
    columns = ("graph", "answers", "mean", "half have at most", "90 %", "99 %", "all")
    print_table(out, "Answers per query", columns, rows)


def _print_specific_types(statistics: BenchmarkStatistics, out: Console) -> None:
    shapes: dict[str, dict[str, int]] = {}
    totals: dict[str, int] = {}
    for each in statistics.queries:
        totals[f"{each.split} {each.type}"] = each.found
        for text, found in each.specific.items():
            shapes.setdefault(text, {})[f"{each.split} {each.type}"] = found
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


class BuildProgress(Progress):
    """Bars on stderr, one for each split and type: how many queries, how fast, how long still."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        self._bars = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[rate]}"),
            bars.TimeRemainingColumn(),
            console=notes(),
        )
        self._task = bars.TaskID(0)

    def __enter__(self) -> BuildProgress:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def start(self, split: Split, name: str, wanted: int | None) -> None:
        """A new bar."""
        self._task = self._bars.add_task(f"{split.label} {name}", total=wanted, rate="")

    def advance(self, found: int) -> None:
        """The bar moves."""
        task = next(task for task in self._bars.tasks if task.id == self._task)
        rate = f"{found / task.elapsed:,.0f}/s" if task.elapsed else ""
        self._bars.update(self._task, completed=found, rate=rate)

    def finish(self, split: Split, name: str, found: int, wanted: int | None) -> None:
        """The bar ends; what the graph could not yield is said once more in words."""
        self.found[f"{split.label} {name}"] = found
        self.advance(found)
        self._bars.update(self._task, total=found, completed=found)
        if wanted is not None and found < wanted:
            message = f"{split.label} {name}: the graph yields only {found:,} of the {wanted:,} queries asked for"
            self._bars.console.print(message, style="yellow")

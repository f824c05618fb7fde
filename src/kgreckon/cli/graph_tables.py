"""Graphs, questions and exact answers."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from kgreckon.cli.console import print_numbers, print_table
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import exactly, measured
from kgreckon.graph.statistics import GraphStatistics
from kgreckon.query import NumberSort, Query, general_type, sentence, sort_of, specific_type
from kgreckon.query.paper import write


def print_statistics(statistics: GraphStatistics, name: str, rows: int, out: Console, changes: int = 0) -> None:
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
    if changes:
        counts.append(("changes in the log", changes))
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
        print_numbers(out, title, [], [(exactly(*number), number[1]) for number in numbers])
        return
    labels = [graph.entities.label(entity) for entity in shown]
    names = [graph.entities.name(entity) for entity in shown]
    if labels == names:
        print_table(out, title, ("answer",), [(label,) for label in labels])
    else:
        print_table(out, title, ("answer", "name"), zip(labels, names, strict=True))

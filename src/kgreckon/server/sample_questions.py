"""Examples: questions that a graph can answer, to begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import SEVEN, And, Compare, Entity, Follow, HavingValue, Number, Query, ValueOf
from kgreckon.query.paper import parse
from kgreckon.server.catalogue import Catalogue, runs

_COUNT = 6
# Of the embedded World graph.
_KNOWN = (
    "(i,(rp,(^is_a),(e,(City))),(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(rp,(^in_country),(e,(Japan)))))))",
    "(i,(rp,(^is_a),(e,(Country))),(rap,(population),(np,(TwiceGreaterThan),(ap,(population),(e,(France))))))",
    "(i,(rp,(^is_a),(e,(Airport))),"
    "(rap,(elevation),(n,(np,(x <= y),(ap,(elevation),(rp,(^in_country),(e,(Switzerland))))))))",
    "(rp,(^capital_of),(rp,(^borders),(e,(France))))",
    "(ap,(population),(rp,(^capital_of),(rp,(^on_continent),(e,(South America)))))",
    "(i,(rp,(^official_language),(e,(French))),(rap,(life_expectancy),(np,(SmallerThan),(nv,(60)))))",
)


def examples(catalogue: Catalogue, check: Callable[[Query], None]) -> tuple[Query, ...]:
    """Some questions with answers: well-known ones where the graph holds their names, else made of what is frequent.

    Questions for which `check` raises a UserError are left out: the model cannot answer them.
    """
    graph = catalogue.graph
    known = [query for query in (_read(text, graph) for text in _KNOWN) if query is not None]
    questions: list[Query] = []
    for query in [*known, *([] if known else _made(catalogue))]:
        if query not in questions and _passes(check, query) and len(ask(graph, query)):
            questions.append(query)
    return tuple(questions[:_COUNT])


def _passes(check: Callable[[Query], None], query: Query) -> bool:
    try:
        check(query)
    except UserError:
        return False
    return True


def _read(text: str, graph: KnowledgeGraph) -> Query | None:
    try:
        return parse(text, graph.vocabulary)
    except UserError:
        return None


def _made(catalogue: Catalogue) -> Iterator[Query]:
    """Questions around the entities that the most frequent relations lead to most often."""
    graph = catalogue.graph
    for relation in np.argsort(-catalogue.relation_facts, kind="stable")[:_COUNT].tolist():
        hub = Entity(_hub(graph, relation))
        around = Follow(2 * relation + 1, hub)
        members = ask(graph, around)
        attribute = _frequent_attribute(graph, members)
        if attribute is None:
            yield around
            continue
        unit = graph.vocabulary.attribute_unit(attribute)
        rows = ask(graph, ValueOf(attribute, around))
        middle = Number(float(graph.values.numbers[rows[len(rows) // 2]]), unit)
        yield And((around, HavingValue(attribute, Compare(SEVEN["GreaterThan"], middle))))
        yield ValueOf(attribute, around)


def _frequent_attribute(graph: KnowledgeGraph, entities: np.ndarray) -> int | None:
    offsets, labels, starts, _ = graph.values_of.touched(entities)
    groups = runs(offsets[entities], offsets[entities + 1])
    counts = np.bincount(labels[groups], weights=starts[groups + 1] - starts[groups], minlength=len(graph.attributes))
    return int(counts.argmax()) if counts.any() else None


def _hub(graph: KnowledgeGraph, relation: int) -> int:
    """The entity that a relation leads to most often."""
    follows = graph.follows
    groups = np.flatnonzero(follows.labels == 2 * relation + 1)
    largest = groups[np.argmax(follows.starts[groups + 1] - follows.starts[groups])]
    return int(np.searchsorted(follows.offsets, largest, side="right")) - 1

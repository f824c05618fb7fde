"""What is in a graph: counts, units, ranges, and the most frequent relations and attributes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgreckon.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class RelationStatistics:
    """How often a relation is stated, and between how many things."""

    name: str
    facts: int
    heads: int
    tails: int


@dataclass(frozen=True)
class AttributeStatistics:
    """How often an attribute is stated, and the range of its values."""

    name: str
    unit: str
    facts: int
    entities: int
    values: int
    smallest: float
    median: float
    largest: float


@dataclass(frozen=True)
class UnitStatistics:
    """How many values are measured in a unit, and their range."""

    unit: str
    values: int
    smallest: float
    largest: float


@dataclass(frozen=True)
class GraphStatistics:
    """A graph in numbers; relations and attributes from the most frequent on."""

    entities: int
    relations: int
    attributes: int
    values: int
    facts: int
    attribute_facts: int
    comparisons: int | None
    units: tuple[UnitStatistics, ...]
    most_frequent_relations: tuple[RelationStatistics, ...]
    most_frequent_attributes: tuple[AttributeStatistics, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def relation_counts(graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # (relations,) int64 each
    """The facts, heads and tails of each relation: a group of compressed rows is a run of facts with one source."""
    follows, size = graph.follows, 2 * len(graph.relations)
    groups = np.bincount(follows.labels, minlength=size)
    facts = np.bincount(follows.labels, weights=np.diff(follows.starts), minlength=size).astype(np.int64)
    return facts[::2], groups[::2], groups[1::2]


def graph_statistics(graph: KnowledgeGraph) -> GraphStatistics:
    """Count what is in `graph`."""
    values = graph.values
    frequency, heads, tails = relation_counts(graph)
    relations = [
        RelationStatistics(
            graph.relations.name(attribute), int(frequency[attribute]), int(heads[attribute]), int(tails[attribute])
        )
        for attribute in np.argsort(-frequency, kind="stable").tolist()
    ]
    units = []
    for unit in values.units:
        numbers = values.numbers[values.rows_of(unit)]
        units.append(UnitStatistics(unit, len(numbers), float(numbers[0]), float(numbers[-1])))
    having = graph.having
    frequency = np.diff(having.starts[having.offsets])
    entities = np.bincount(graph.values_of.labels, minlength=len(graph.attributes))
    # A part of a graph keeps the names of all of it: an attribute that no fact states has no range.
    attributes = [
        _attribute(graph, attribute, int(entities[attribute]))
        for attribute in np.argsort(-frequency, kind="stable").tolist()
        if frequency[attribute]
    ]
    return GraphStatistics(
        entities=len(graph.entities),
        relations=len(graph.relations),
        attributes=len(graph.attributes),
        values=len(values),
        facts=len(graph.facts),
        attribute_facts=len(graph.attribute_facts),
        comparisons=None if graph.comparisons is None else len(graph.comparisons),
        units=tuple(units),
        most_frequent_relations=tuple(relations),
        most_frequent_attributes=tuple(attributes),
    )


def _attribute(graph: KnowledgeGraph, attribute: int, entities: int) -> AttributeStatistics:
    """Of an attribute, whose values stand sorted in the compressed rows."""
    having = graph.having
    first, beyond = int(having.offsets[attribute]), int(having.offsets[attribute + 1])
    low, high = int(having.starts[first]), int(having.starts[beyond])

    def number_of(fact: int) -> float:
        group = int(np.searchsorted(having.starts[first : beyond + 1], fact, side="right")) - 1
        return float(graph.values.numbers[having.labels[first + group]])

    middle = [number_of(low + (high - low - 1) // 2) / 2, number_of(low + (high - low) // 2) / 2]
    return AttributeStatistics(
        name=graph.attributes.name(attribute),
        unit=graph.values.units[graph.attribute_units[attribute]],
        facts=high - low,
        entities=entities,
        values=beyond - first,
        smallest=number_of(low),
        median=2 * float(np.mean(middle)),  # the sum of two of the largest numbers would overflow
        largest=number_of(high - 1),
    )

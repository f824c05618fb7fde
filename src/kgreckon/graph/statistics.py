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


def graph_statistics(graph: KnowledgeGraph) -> GraphStatistics:
    """Count what is in `graph`."""
    facts, attribute_facts, values = graph.facts, graph.attribute_facts, graph.values
    frequency = np.bincount(facts.labels, minlength=len(graph.relations))
    heads = _distinct_per_label(facts.labels, facts.sources, len(graph.relations))
    tails = _distinct_per_label(facts.labels, facts.targets, len(graph.relations))
    relations = [
        RelationStatistics(graph.relations.name(place), int(frequency[place]), int(heads[place]), int(tails[place]))
        for place in np.argsort(-frequency, kind="stable").tolist()
    ]
    units = []
    for unit in values.units:
        numbers = values.numbers[values.rows_of(unit)]
        units.append(UnitStatistics(unit, len(numbers), float(numbers[0]), float(numbers[-1])))
    frequency = np.bincount(attribute_facts.labels, minlength=len(graph.attributes))
    # A part of a graph keeps the names of all of it: an attribute that no fact states has no range.
    attributes = [
        _attribute(graph, place) for place in np.argsort(-frequency, kind="stable").tolist() if frequency[place]
    ]
    return GraphStatistics(
        entities=len(graph.entities),
        relations=len(graph.relations),
        attributes=len(graph.attributes),
        values=len(values),
        facts=len(facts),
        attribute_facts=len(attribute_facts),
        comparisons=None if graph.comparisons is None else len(graph.comparisons),
        units=tuple(units),
        most_frequent_relations=tuple(relations),
        most_frequent_attributes=tuple(attributes),
    )


def _attribute(graph: KnowledgeGraph, place: int) -> AttributeStatistics:
    stated = graph.attribute_facts[graph.attribute_facts.labels == place]
    numbers = graph.values.numbers[stated.targets]
    return AttributeStatistics(
        name=graph.attributes.name(place),
        unit=graph.values.units[graph.attribute_units[place]],
        facts=len(stated),
        entities=len(np.unique(stated.sources)),
        values=len(np.unique(stated.targets)),
        smallest=float(numbers.min()),
        median=2 * float(np.median(numbers / 2)),  # the sum of two of the largest numbers would overflow
        largest=float(numbers.max()),
    )


def _distinct_per_label(labels: np.ndarray, ends: np.ndarray, num_labels: int) -> np.ndarray:
    pairs = np.unique(labels.astype(np.int64) << 32 | ends)
    return np.bincount(pairs >> 32, minlength=num_labels)

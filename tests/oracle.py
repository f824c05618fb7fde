"""The meaning of the algebra by brute force: scan all facts, compare all pairs. Slow, short, and plainly right."""

from typing import assert_never

from kgreckon.graph import KnowledgeGraph
from kgreckon.query import And, Compare, Entity, Follow, HavingValue, Not, Number, Or, Query, ValueOf, sort_of
from kgreckon.query.algebra import EntitySort


class Oracle:
    """Entities as ids, numbers as pairs of value and unit."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        facts, attribute_facts = graph.facts, graph.attribute_facts
        self.facts = list(zip(facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True))
        self.values = [graph.values.number_at(row) for row in range(len(graph.values))]
        self.attribute_facts = [
            (entity, attribute, self.values[row])
            for entity, attribute, row in zip(
                attribute_facts.sources.tolist(),
                attribute_facts.labels.tolist(),
                attribute_facts.targets.tolist(),
                strict=True,
            )
        ]

    def answers(self, query: Query) -> set:
        """The answers that are in the graph, as `kgreckon.exact.ask` gives them: ids or rows."""
        found = self.denotation(query)
        if isinstance(sort_of(query, self.graph.vocabulary), EntitySort):
            return found
        return {row for row, value in enumerate(self.values) if value in found}

    def stated(self, attribute: int) -> list:
        return [(entity, value) for entity, label, value in self.attribute_facts if label == attribute]

    def denotation(self, query: Query) -> set:
        match query:
            case Entity(entity):
                return {entity}
            case Number(value, unit):
                return {(value, unit)}
            case Follow(relation, of):
                start = self.denotation(of)
                if relation % 2:
                    return {head for head, label, tail in self.facts if label == relation // 2 and tail in start}
                return {tail for head, label, tail in self.facts if label == relation // 2 and head in start}
            case ValueOf(attribute, of):
                start = self.denotation(of)
                return {value for entity, value in self.stated(attribute) if entity in start}
            case HavingValue(attribute, of):
                start = self.denotation(of)
                return {entity for entity, value in self.stated(attribute) if value in start}
            case Compare(comparison, of):
                start = self.denotation(of)
                return {
                    (x, unit)
                    for x, unit in self.values
                    if any(unit == other and comparison.holds(x, y) for y, other in start)
                }
            case And(parts):
                return set.intersection(*(self.denotation(part) for part in parts))
            case Or(parts):
                return set.union(*(self.denotation(part) for part in parts))
            case Not(of):
                sort = sort_of(of, self.graph.vocabulary)
                if isinstance(sort, EntitySort):
                    return set(range(len(self.graph.entities))) - self.denotation(of)
                return {value for value in self.values if value[1] in sort.units} - self.denotation(of)
        assert_never(query)

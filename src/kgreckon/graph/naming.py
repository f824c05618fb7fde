"""The names, ids and units of a graph as notations see them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgreckon.errors import UnknownNameError, UserError
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.literals import is_calendar, read_with_unit, write_date
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.values import ValueTable
from kgreckon.query import Number
from kgreckon.query.algebra import plain_number


class GraphVocabulary:
    """The vocabulary of one graph (kgreckon.query.Vocabulary)."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    def __repr__(self) -> str:
        return f"the names of {self.graph!r}"

    @property
    def values(self) -> ValueTable:
        """The value table."""
        return self.graph.values

    def entity_id(self, text: str) -> int:
        """The entity called `text`, by name or by label."""
        return self.graph.entities.find(text)

    def entities_called(self, text: str) -> Sequence[int]:
        """All entities called `text`: the one of that name, else those of that label, whatever the case."""
        return self.graph.entities.meant(text)

    def entities_like(self, text: str, count: int) -> Sequence[str]:
        """The names and labels that look most like `text`."""
        return self.graph.entities.like(text, count)

    def entities_starting(self, text: str, count: int) -> Sequence[str]:
        """Labels that begin with `text`, whatever the case."""
        return self.graph.entities.starting(text, count)

    def frequent_ends(self, relation: int, count: int) -> Sequence[int]:
        """The entities that most facts of a relation, as stated, lead to."""
        facts = self.graph.facts
        tails, counts = np.unique(facts.targets[facts.labels == relation >> 1], return_counts=True)
        return tails[np.argsort(-counts, kind="stable")][:count].tolist()

    def units(self) -> Sequence[str]:
        """All units."""
        return self.values.units

    def leads(self, relation: int, entity: int) -> bool:
        """Whether a fact leads from an entity along a relation or an inverse."""
        return len(self.graph.follows.row(entity, relation)) > 0

    def ends(self, relation: int, entity: int, count: int) -> Sequence[int]:
        """The first entities that a relation or an inverse leads to."""
        return self.graph.follows.row(entity, relation)[:count].tolist()

    def has_value(self, attribute: int, entity: int) -> bool:
        """Whether an attribute of an entity is stated."""
        return len(self.graph.values_of.row(entity, attribute)) > 0

    def count_values(self, attribute: int, entity: int) -> int:
        """How many values of an attribute are stated of an entity."""
        return len(self.graph.values_of.row(entity, attribute))

    def stated_attributes(self, entities: Sequence[int]) -> frozenset[int]:
        """The attributes that are stated of any of some entities."""
        attributes = range(len(self.graph.attributes))
        return frozenset(one for one in attributes if any(self.has_value(one, entity) for entity in entities))

    def expect_labels(self, entities: Sequence[int]) -> None:
        """The labels of some entities will be asked for: names that are elsewhere are fetched at once."""

    def entity_name(self, entity: int) -> str:
        """The unique name of an entity."""
        return self.graph.entities.name(entity)

    def entity_label(self, entity: int) -> str:
        """The readable name of an entity."""
        return self.graph.entities.label(entity)

    def relation_id(self, text: str) -> int:
        """The relation called `text`; `^name` is the inverse of `name`."""
        if self.graph.relations.has(text):  # a relation's own name may begin with ^
            return 2 * self.graph.relations.find(text)
        inverse = text.startswith("^")
        try:
            return 2 * self.graph.relations.find(text[inverse:]) + inverse
        except UnknownNameError:
            if not _finds(self.graph.attributes, text[inverse:]):
                raise
        raise UserError(f"{text[inverse:]!r} is an attribute, which leads to numbers, not a relation")

    def relation_name(self, relation: int) -> str:
        """The unique name of a relation, with `^` where it is an inverse."""
        return "^" * (relation & 1) + self.graph.relations.name(relation >> 1)

    def relation_label(self, relation: int) -> str:
        """The readable name of a relation, the direction left out."""
        return self.graph.relations.label(relation >> 1)

    def relation_phrase(self, relation: int) -> str | None:
        """The verb phrase that reads between head and tail ('is in'), where the graph has one."""
        return self.graph.relation_phrases[relation >> 1]

    def attribute_id(self, text: str) -> int:
        """The attribute called `text`."""
        try:
            return self.graph.attributes.find(text)
        except UnknownNameError:
            if not _finds(self.graph.relations, text.removeprefix("^")):
                raise
        raise UserError(f"{text.removeprefix('^')!r} is a relation, which leads to entities, not an attribute")

    def attribute_name(self, attribute: int) -> str:
        """The unique name of an attribute."""
        return self.graph.attributes.name(attribute)

    def attribute_label(self, attribute: int) -> str:
        """The readable name of an attribute."""
        return self.graph.attributes.label(attribute)

    def attribute_unit(self, attribute: int) -> str:
        """The unit that the values of `attribute` are measured in."""
        return self.values.units[self.graph.attribute_units[attribute]]

    def knows(self, kind: str, number: int) -> bool:
        """Whether `number` is the id of an entity, relation, attribute or value (the kind)."""
        graph = self.graph
        match kind:
            case "entity":
                size = len(graph.entities)
            case "relation":
                size = 2 * len(graph.relations)
            case "attribute":
                size = len(graph.attributes)
            case _:
                size = len(graph.values)
        return 0 <= number < size

    def read_number(self, text: str, unit: str | None) -> Number:
        """The number that `text` writes, in its own unit if it names one, else in `unit`."""
        return Number(*read_with_unit(text, unit, self.values.units))

    def write_number(self, number: Number) -> str:
        """The number without its unit, such that `read_number` gives it back."""
        return write_date(number.value) if is_calendar(number.unit) else plain_number(number.value)


def _finds(symbols: Symbols, text: str) -> bool:
    try:
        symbols.find(text)
    except UserError:
        return False
    return True

"""The catalogue: names to pick from while a question is typed or built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.server.schemas import AttributeName, EntityName, Kind, Names, RelationName

_FACTS_SHOWN = 2


class NameIndex:
    """Texts in the order in which they are to be proposed, found by what they begin with or contain.

    All texts stand in one string, each after a line break, so that a search is one of the C library's.
    """

    def __init__(self, texts: Sequence[tuple[str, ...]]) -> None:
        starts, places, pieces, at = [], [], [], 0
        for place, names in enumerate(texts):
            for name in dict.fromkeys(_folded(name) for name in names):
                starts.append(at)
                places.append(place)
                pieces.append(f"\n{name}")
                at += len(pieces[-1])
        self._text, self._starts, self._places = "".join(pieces), starts, places
        self._size = len(texts)

    def find(self, text: str, limit: int) -> list[int]:
        """The places of the first matches, those that begin with the text before those that contain it."""
        wanted = _folded(text)
        if not wanted:
            return list(range(min(limit, self._size)))
        found: dict[int, None] = {}
        for needle in (f"\n{wanted}", wanted):
            at = self._text.find(needle)
            while at >= 0 and len(found) < limit:
                entry = bisect_right(self._starts, at) - 1
                found.setdefault(self._places[entry])
                after = self._starts[entry + 1] if entry + 1 < len(self._starts) else len(self._text)
                at = self._text.find(needle, after)
        return list(found)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


class Catalogue:
    """The entities, relations and attributes of a graph, most used first."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    def search(self, kind: Kind, text: str, limit: int) -> Names:
        """The names of one kind that match a text."""
        match kind:
            case "entity":
                order, index = self._entities
                return Names(names=[self.entity(int(order[place])) for place in index.find(text, limit)])
            case "relation":
                order, index = self._relations
                return Names(names=[self.relation(int(order[place])) for place in index.find(text, limit)])
            case "attribute":
                order, index = self._attributes
                return Names(names=[self.attribute(int(order[place])) for place in index.find(text, limit)])

    def entity(self, entity: int) -> EntityName:
        """An entity's names, and some facts that distinguish it from others."""
        names, detail = self.graph.vocabulary, ", ".join(self._facts_of(entity))
        return EntityName(name=names.entity_name(entity), label=names.entity_label(entity), detail=detail)

    def relation(self, relation: int, count: int | None = None) -> RelationName:
        """A relation's names in one direction; without a count, how often it is stated."""
        names, facts = self.graph.vocabulary, int(self.relation_facts[relation >> 1])
        return RelationName(
            name=names.relation_name(relation & ~1),
            label=names.relation_label(relation),
            phrase=names.relation_phrase(relation),
            inverse=bool(relation & 1),
            count=count,
            detail=f"{facts:,} fact{'s' * (facts != 1)}" if count is None else None,
        )

    def attribute(self, attribute: int, count: int | None = None) -> AttributeName:
        """An attribute's names and unit; without a count, the range of its values."""
        names, unit, detail = self.graph.vocabulary, self.graph.vocabulary.attribute_unit(attribute), None
        if count is None:
            numbers = self.values_of(attribute)
            span = f", {_rounded(numbers.min())} to {_rounded(numbers.max())}" if len(numbers) else ""
            detail = f"{unit}{span}"
        name, label = names.attribute_name(attribute), names.attribute_label(attribute)
        return AttributeName(name=name, label=label, units=[unit], count=count, detail=detail)

    def values_of(self, attribute: int) -> np.ndarray:
        """All values that an attribute takes, one for each fact."""
        facts, starts = self._attribute_facts
        return self.graph.values.numbers[facts[starts[attribute] : starts[attribute + 1]]]

    @cached_property
    def relation_facts(self) -> np.ndarray:  # (relations,)
        """How often each relation is stated."""
        return np.bincount(self.graph.facts.labels, minlength=len(self.graph.relations))

    @cached_property
    def attribute_counts(self) -> np.ndarray:  # (attributes,)
        """How often each attribute is stated."""
        return np.bincount(self.graph.attribute_facts.labels, minlength=len(self.graph.attributes))

    @cached_property
    def degrees(self) -> np.ndarray:  # (entities,)
        """How many facts and values each entity has."""
        graph, size = self.graph, len(self.graph.entities)
        ends = (graph.facts.sources, graph.facts.targets, graph.attribute_facts.sources)
        return sum((np.bincount(end, minlength=size) for end in ends), np.zeros(size, dtype=np.int64))

    @cached_property
    def _attribute_facts(self) -> tuple[np.ndarray, np.ndarray]:
        """The value rows of all facts, attribute by attribute, and where each attribute's begin."""
        facts = self.graph.attribute_facts
        order = np.argsort(facts.labels, kind="stable")
        return facts.targets[order], np.append(0, np.cumsum(self.attribute_counts))

    @cached_property
    def _entities(self) -> tuple[np.ndarray, NameIndex]:
        symbols = self.graph.entities
        order = np.argsort(-self.degrees, kind="stable")
        return order, NameIndex([(symbols.label(place), symbols.name(place)) for place in order.tolist()])

    @cached_property
    def _relations(self) -> tuple[np.ndarray, NameIndex]:
        names, by_facts = self.graph.vocabulary, np.argsort(-self.relation_facts, kind="stable")
        order = np.stack([2 * by_facts + 1, 2 * by_facts], axis=1).ravel()  # `x in_country Japan` is asked more often
        texts = [
            (names.relation_label(relation), names.relation_phrase(relation) or "", names.relation_name(relation & ~1))
            for relation in order.tolist()
        ]
        return order, NameIndex([tuple(filter(None, each)) for each in texts])

    @cached_property
    def _attributes(self) -> tuple[np.ndarray, NameIndex]:
        names, order = self.graph.vocabulary, np.argsort(-self.attribute_counts, kind="stable")
        texts = [(names.attribute_label(place), names.attribute_name(place)) for place in order.tolist()]
        return order, NameIndex(texts)

    def _facts_of(self, entity: int) -> list[str]:
        """The first facts that an entity is the head of, those with a single tail before others."""
        follows, names = self.graph.follows, self.graph.vocabulary
        groups = range(int(follows.offsets[entity]), int(follows.offsets[entity + 1]))
        own = [group for group in groups if not follows.labels[group] & 1]
        own.sort(key=lambda group: (follows.starts[group + 1] - follows.starts[group] > 1, self._kindness(group)))
        found = []
        for group in own[:_FACTS_SHOWN]:
            relation, tail = int(follows.labels[group]), int(follows.targets[follows.starts[group]])
            words = names.relation_phrase(relation) or names.relation_label(relation)
            found.append(f"{words} {names.entity_label(tail)}")
        return found

    def _kindness(self, group: int) -> float:
        """A relation with many facts and few distinct tails names kinds: `is_a` comes before `in_country`."""
        relation = int(self.graph.follows.labels[group]) >> 1
        return -float(self.relation_facts[relation] / self._tails[relation])

    @cached_property
    def _tails(self) -> np.ndarray:  # (relations,)
        facts = self.graph.facts
        pairs = np.unique(facts.labels.astype(np.int64) << 32 | facts.targets)
        return np.bincount(pairs >> 32, minlength=len(self.graph.relations))


def _rounded(value: float) -> str:
    """A number of about four digits, for a glance."""
    return f"{value:.4g}" if abs(value) < 10_000 or abs(value) >= 1e15 else f"{float(f'{value:.4g}'):,.0f}"

"""The catalogue: names to pick from while a question is typed or built."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.graph import Adjacency, KnowledgeGraph
from kgreckon.graph.statistics import relation_counts
from kgreckon.graph.symbols import Symbols, all_labels
from kgreckon.query import Number
from kgreckon.server.schemas import AttributeName, Distribution, EntityName, Kind, Names, RelationName, StatedValue

_FACTS_SHOWN = 2


class NameIndex:
    """Texts in the order in which they are to be proposed, found by what they begin with or contain.

    All texts stand in one run of bytes, each after a line break, so that a search is one of the C library's.
    """

    def __init__(self, texts: pa.Array, places: np.ndarray) -> None:
        """Of folded texts, and the place among what is proposed that each of them is of, rising."""
        empty, line_break = (pa.scalar(text, pa.large_string()) for text in ("", "\n"))
        lines = pc.binary_join_element_wise(empty, texts.cast(pa.large_string()), line_break)
        self._text, self._starts = b"", np.zeros(0, dtype=np.int64)
        if len(lines):
            _, offsets, data = lines.buffers()
            ends = np.frombuffer(offsets, dtype=np.int64)
            self._text, self._starts = data[: int(ends[len(lines)])].to_pybytes(), ends[: len(lines)]
        self._places, self._size = places, int(places[-1]) + 1 if len(places) else 0

    @staticmethod
    def of(texts: Sequence[tuple[str, ...]]) -> NameIndex:
        """Of some texts for each thing that is proposed."""
        folded = [(text, place) for place, own in enumerate(texts) for text in dict.fromkeys(map(_folded, own))]
        return NameIndex(
            pa.array([text for text, _ in folded], pa.large_string()), np.array([place for _, place in folded])
        )

    @staticmethod
    def of_symbols(symbols: Symbols, order: np.ndarray) -> NameIndex:
        """Of the label and the name of each thing, in that order."""
        labels, names = (_all_folded(texts.take(pa.array(order))) for texts in (all_labels(symbols), symbols.names))
        other = np.flatnonzero(pc.not_equal(names, labels).to_numpy(zero_copy_only=False))
        places = np.concatenate([np.arange(len(order)), other])
        sort = np.argsort(places, kind="stable")  # a label before the name of the same thing
        return NameIndex(pa.concat_arrays([labels, names.take(pa.array(other))]).take(pa.array(sort)), places[sort])

    def find(self, text: str, limit: int) -> list[int]:
        """The places of the first matches, those that begin with the text before those that contain it."""
        wanted = _folded(text).encode()
        if not wanted:
            return list(range(min(limit, self._size)))
        matches: dict[int, None] = {}
        for needle in (b"\n" + wanted, wanted):
            at = self._text.find(needle)
            while at >= 0 and len(matches) < limit:
                entry = int(np.searchsorted(self._starts, at, side="right")) - 1
                matches.setdefault(int(self._places[entry]))
                after = int(self._starts[entry + 1]) if entry + 1 < len(self._starts) else len(self._text)
                at = self._text.find(needle, after)
        return list(matches)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _all_folded(texts: pa.Array) -> pa.Array:
    """Each text as `_folded` has it; those of plain ASCII by Arrow, all at once."""
    texts = texts.cast(pa.large_string())
    plain = pc.ascii_trim(pc.replace_substring_regex(pc.ascii_lower(texts), "[\\t-\\r\\x1c-\\x20]+", " "), " ")
    ascii_only = pc.string_is_ascii(texts)
    others = [_folded(text) for text in texts.filter(pc.invert(ascii_only)).to_pylist()]
    return pc.replace_with_mask(plain, pc.invert(ascii_only), pa.array(others, pa.large_string()))


class Catalogue:
    """The entities, relations and attributes of a graph, most used first."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.distributions: dict[int | str, Distribution] = {}  # those of attributes and units that were shown
        self._indexing = threading.Lock()  # while the names of all entities are being put in order

    def search(self, kind: Kind, text: str, limit: int) -> Names:
        """The names of one kind that match a text; those of entities whole, while their index is being made."""
        match kind:
            case "entity":
                if not self._is_indexed():
                    return Names(names=[self.entity(id_) for id_ in self.graph.entities.called(text)[:limit]])
                order, index = self._entities
                return Names(names=[self.entity(int(order[id_])) for id_ in index.find(text, limit)])
            case "relation":
                order, index = self._relations
                return Names(names=[self.relation(int(order[id_])) for id_ in index.find(text, limit)])
            case "attribute":
                order, index = self._attributes
                return Names(names=[self.attribute(int(order[id_])) for id_ in index.find(text, limit)])

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
        """All values that an attribute takes, one for each fact, rising."""
        return self.graph.values.numbers[self.held(attribute)[1]]

    def held(self, attribute: int) -> tuple[np.ndarray, np.ndarray]:  # (facts,) each
        """The entities that have an attribute, and the rows of their values, rising."""
        offsets, rows, starts, entities = self.graph.having.touched(np.array([attribute]))
        low, high = int(offsets[attribute]), int(offsets[attribute + 1])
        return entities[starts[low] : starts[high]], np.repeat(rows[low:high], np.diff(starts[low : high + 1]))

    def stated(self, attribute: int, row: int) -> StatedValue:
        """A value that the graph states for an attribute."""
        names = self.graph.vocabulary
        value, unit = self.graph.values.number_at(row)
        name, label = names.attribute_name(attribute), names.attribute_label(attribute)
        return StatedValue(
            attribute=name, label=label, value=value, unit=unit, text=names.write_number(Number(value, unit))
        )

    def most_connected(self, entities: np.ndarray) -> np.ndarray:
        """Entities with the most facts and values first."""
        return entities[np.argsort(-self.degrees[entities], kind="stable")]

    @property
    def relation_facts(self) -> np.ndarray:  # (relations,)
        """How often each relation is stated."""
        return self._relation_counts[0]

    @cached_property
    def attribute_counts(self) -> np.ndarray:  # (attributes,)
        """How often each attribute is stated."""
        having = self.graph.having
        return np.diff(having.starts[having.offsets])

    @cached_property
    def degrees(self) -> np.ndarray:  # (entities,)
        """How many facts and values each entity has."""
        both = (self.graph.follows, self.graph.values_of)
        return sum((np.diff(rows.starts[rows.offsets]) for rows in both), np.zeros(len(self.graph.entities), np.int64))

    @cached_property
    def _relation_counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return relation_counts(self.graph)

    def _is_indexed(self) -> bool:
        """Whether all names of entities are in order, which the first who asks for them sees to."""
        if "_entities" in vars(self):
            return True
        if not self._indexing.acquire(blocking=False):
            return False
        try:
            self._entities  # noqa: B018
        finally:
            self._indexing.release()
        return True

    @cached_property
    def _entities(self) -> tuple[np.ndarray, NameIndex]:
        order = np.argsort(-self.degrees, kind="stable")
        return order, NameIndex.of_symbols(self.graph.entities, order)

    @cached_property
    def _relations(self) -> tuple[np.ndarray, NameIndex]:
        names, by_facts = self.graph.vocabulary, np.argsort(-self.relation_facts, kind="stable")
        order = np.stack([2 * by_facts + 1, 2 * by_facts], axis=1).ravel()  # `x in_country Japan` is asked more often
        texts = [
            (names.relation_label(relation), names.relation_phrase(relation) or "", names.relation_name(relation & ~1))
            for relation in order.tolist()
        ]
        return order, NameIndex.of([tuple(filter(None, text)) for text in texts])

    @cached_property
    def _attributes(self) -> tuple[np.ndarray, NameIndex]:
        names, order = self.graph.vocabulary, np.argsort(-self.attribute_counts, kind="stable")
        texts = [(names.attribute_label(attribute), names.attribute_name(attribute)) for attribute in order.tolist()]
        return order, NameIndex.of(texts)

    def _facts_of(self, entity: int) -> list[str]:
        """The first facts that an entity is the head of, those with a single tail before others."""
        follows, names = self.graph.follows, self.graph.vocabulary
        groups = range(int(follows.offsets[entity]), int(follows.offsets[entity + 1]))
        forward = [group for group in groups if not follows.labels[group] & 1]
        forward.sort(key=lambda group: (follows.starts[group + 1] - follows.starts[group] > 1, self._kindness(group)))
        facts = []
        for group in forward[:_FACTS_SHOWN]:
            relation, tail = int(follows.labels[group]), int(follows.targets[follows.starts[group]])
            words = names.relation_phrase(relation) or names.relation_label(relation)
            facts.append(f"{words} {names.entity_label(tail)}")
        return facts

    def _kindness(self, group: int) -> float:
        """A relation with many facts and few distinct tails names kinds: `is_a` comes before `in_country`."""
        relation = int(self.graph.follows.labels[group]) >> 1
        facts, _, tails = self._relation_counts
        return -float(facts[relation] / tails[relation])


def _rounded(value: float) -> str:
    """A number of about four digits, for a glance."""
    return f"{value:.4g}" if abs(value) < 10_000 or abs(value) >= 1e15 else f"{float(f'{value:.4g}'):,.0f}"


def runs(lows: np.ndarray, highs: np.ndarray) -> np.ndarray:  # (n,), (n,) -> (sum of highs - lows,) int64
    """All places from each low up to its high, one run after the other."""
    counts = highs - lows
    return np.arange(int(counts.sum())) + np.repeat(lows - (np.cumsum(counts) - counts), counts)


def most_frequent(counts: np.ndarray, count: int) -> list[int]:
    """The most frequent labels that occur at all."""
    order = np.argsort(-counts, kind="stable")[:count]
    return [int(label) for label in order if counts[label]]


def label_counts(links: Adjacency, members: np.ndarray | None, size: int) -> np.ndarray:  # (labels,)
    """How many of the members, or of all, have each label, in compressed rows."""
    if members is None:
        return np.bincount(links.labels, minlength=size)
    offsets, labels, _, _ = links.touched(members)
    return np.bincount(labels[runs(offsets[members], offsets[members + 1])], minlength=size)

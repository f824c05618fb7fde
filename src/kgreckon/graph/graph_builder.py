"""The graph builder: facts and values go in by name, a knowledge graph comes out."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kgreckon.errors import UserError
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.literals import same_family
from kgreckon.graph.name_table import NameTable
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable
from kgreckon.query.datatypes import PLAIN_UNIT


class _Names:
    """Names in the order in which they first appear, and the labels of some; a name's place is its id."""

    def __init__(self) -> None:
        self.table = NameTable()
        self.labels: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.table)

    def add(self, name: str) -> int:
        id_ = self.table.met(name)
        if id_ is None:
            check_name(name)
            id_ = self.table.add(name)
        return id_

    def all(self) -> list[str]:
        return list(self.table.texts(np.arange(len(self))).to_pylist())

    def ids_in(self, symbols: Symbols) -> np.ndarray:  # (names,) int64
        """The id that each name has among some symbols, -1 where it is not one of them."""
        ids = np.full(len(self), -1, dtype=np.int64)
        ids[self.table.find_all(symbols.names)] = np.arange(len(symbols))
        return ids

    def symbols(self, kind: str, kept: np.ndarray) -> Symbols:
        labels = pa.nulls(len(kept), pa.string())
        if self.labels:
            labels = pa.array([self.labels.get(id_) for id_ in kept.tolist()], pa.string())
        return Symbols(kind, self.table.texts(kept), labels)


def check_name(name: str) -> str:
    """The same name, which nothing is wrong with; names are checked once, when they first appear."""
    if not name:
        raise UserError("a name is empty")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UserError(f"{name.encode(errors='surrogateescape')!r} is not valid UTF-8") from None
    return name


class GraphBuilder:
    """Collects facts, values and labels by name."""

    takes_many = True  # False in one that looks at each fact and value as it comes

    def __init__(self) -> None:
        self._entities = _Names()
        self._relations = _Names()
        self._attributes = _Names()
        self._units = _Names()
        self._facts = (array("i"), array("i"), array("i"))
        self._value_facts = (array("i"), array("i"), array("i"))  # entity, attribute, unit
        self._numbers = array("d")
        self._attribute_unit: dict[int, str] = {}
        self._phrases: dict[int, str] = {}
        self._same: list[tuple[int, int]] = []
        self.merged = 0  # names that are not those of things of their own, once the graph is built
        self.left_out: Counter[tuple[str, str, str]] = Counter()  # values, by attribute, their unit and the one kept

    @property
    def num_facts_given(self) -> int:
        """Facts between entities so far, repeats included."""
        return len(self._facts[0])

    @property
    def num_values_given(self) -> int:
        """Attribute values so far, repeats included."""
        return len(self._numbers)

    def add_fact(self, head: str, relation: str, tail: str) -> None:
        """State that `relation` leads from `head` to `tail`."""
        ids = self._entities.add(head), self._relations.add(relation), self._entities.add(tail)
        heads, relations, tails = self._facts
        heads.append(ids[0])
        relations.append(ids[1])
        tails.append(ids[2])

    def add_value(
        self, entity: str, attribute: str, number: float, unit: str = PLAIN_UNIT, any_unit: bool = False
    ) -> None:
        """State that `attribute` of `entity` is `number`, measured in `unit`.

        An attribute has one unit. A value in another is an error, or, with `any_unit`, left out by `build` where more
        of the attribute's values are in another.
        """
        if not math.isfinite(number):
            raise UserError(f"{attribute!r} of {entity!r} is {number}, which is not a finite number")
        ids = self._entities.add(entity), self._attributes.add(attribute), self._units.add(unit)
        first = self._attribute_unit.setdefault(ids[1], unit)
        if not any_unit and not same_family(first, unit):
            raise UserError(f"{attribute!r} is measured in {first}, here in {unit}: an attribute has one unit")
        entities, attributes, units = self._value_facts
        entities.append(ids[0])
        attributes.append(ids[1])
        units.append(ids[2])
        self._numbers.append(number)

    def ids_of_things(self, content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # (n,) int32
        """The ids of things whose names, of valid UTF-8, stand at some places in a run of bytes."""
        return self._entities.table.add_all(content, starts, ends)

    def ids_of_relations(self, content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # (n,) int32
        """The same for relations."""
        return self._relations.table.add_all(content, starts, ends)

    def ids_of_attributes(self, content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # (n,) int32
        """The same for attributes."""
        return self._attributes.table.add_all(content, starts, ends)

    def relation_name(self, place: int) -> str:
        """The name of a relation by its id."""
        return self._relations.table.text(place)

    def may_be_plain(self, content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
        """Whether attributes of some names may have plain numbers: none has been measured in another unit before."""
        ids = np.unique(self._attributes.table.add_all(content, starts, ends, add=False)).tolist()
        return all(same_family(self._attribute_unit.get(place, PLAIN_UNIT), PLAIN_UNIT) for place in ids)

    def add_fact_ids(self, heads: np.ndarray, relations: np.ndarray, tails: np.ndarray) -> None:
        """State many facts by the ids of their names."""
        for column, ids in zip(self._facts, (heads, relations, tails), strict=True):
            column.frombytes(np.ascontiguousarray(ids, dtype=np.int32).tobytes())

    def add_value_ids(
        self, entities: np.ndarray, attributes: np.ndarray, numbers: np.ndarray, units: Sequence[str] = (PLAIN_UNIT,),
        unit_of: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """State many numbers by the ids of their names, each measured in one of some units, or all in the only one."""
        if len(numbers):
            own = np.zeros(len(numbers), dtype=np.int64) if unit_of is None else unit_of
            first = np.unique(own, return_index=True)[1]
            ids = {int(own[place]): self._units.add(units[own[place]]) for place in np.sort(first).tolist()}
            for place in np.unique(attributes, return_index=True)[1].tolist():
                self._attribute_unit.setdefault(int(attributes[place]), units[own[place]])
            unit_ids = np.array([ids.get(unit, -1) for unit in range(len(units))], dtype=np.int32)[own]
            for column, column_ids in zip(self._value_facts, (entities, attributes, unit_ids), strict=True):
                column.frombytes(np.ascontiguousarray(column_ids, dtype=np.int32).tobytes())
            self._numbers.frombytes(np.ascontiguousarray(numbers, dtype=np.float64).tobytes())

    def add_things(self, names: pa.Array) -> np.ndarray:  # (names,) int32
        """The ids of things by name, for `add_facts` and `add_values`; things without either are not in the graph."""
        if not len(names):
            return np.zeros(0, dtype=np.int32)
        _, offsets, content = names.buffers()
        places = np.frombuffer(offsets, dtype=np.int32)[names.offset : names.offset + len(names) + 1].astype(np.int64)
        return self.ids_of_things(np.frombuffer(content, dtype=np.uint8), places[:-1], places[1:])

    def name_of(self, thing: int) -> str:
        """The name of a thing by its id."""
        return self._entities.table.text(thing)

    def add_facts(self, heads: np.ndarray, relation: str, tails: np.ndarray) -> None:
        """State many facts of one relation, between things by their ids."""
        if len(heads):
            labels = np.full(len(heads), self._relations.add(relation), dtype=np.int32)
            for column, ids in zip(self._facts, (heads, labels, tails), strict=True):
                column.frombytes(np.ascontiguousarray(ids, dtype=np.int32).tobytes())

    def add_values(self, entities: np.ndarray, attribute: str, numbers: np.ndarray, unit: str = PLAIN_UNIT) -> None:
        """State many values of one attribute, of things by their ids; it has one unit, as in `add_value`."""
        if not np.all(np.isfinite(numbers)):
            raise UserError(f"a value of {attribute!r} is not a finite number")
        if len(numbers):
            attribute_id, unit_id = self._attributes.add(attribute), self._units.add(unit)
            first = self._attribute_unit.setdefault(attribute_id, unit)
            if not same_family(first, unit):
                raise UserError(f"{attribute!r} is measured in {first}, here in {unit}: an attribute has one unit")
            repeated = (np.full(len(numbers), one, dtype=np.int32) for one in (attribute_id, unit_id))
            for column, ids in zip(self._value_facts, (entities, *repeated), strict=True):
                column.frombytes(np.ascontiguousarray(ids, dtype=np.int32).tobytes())
            self._numbers.frombytes((np.asarray(numbers, dtype=np.float64) + 0.0).tobytes())

    def same(self, name: str, other: str) -> None:
        """State that two names are of one thing, which `build` calls by the one that more is stated of."""
        self._same.append((self._entities.add(name), self._entities.add(other)))

    def phrase_relation(self, relation: str, phrase: str) -> None:
        """Give a relation the verb phrase that reads between head and tail: 'is in', 'borders'."""
        check_name(phrase)
        self._phrases[self._relations.add(relation)] = phrase

    def label(self, name: str, label: str) -> bool:
        """Give the thing of that name a readable one, whatever it is; False where nothing has the name."""
        check_name(name)
        check_name(label)
        known = False
        for names in (self._entities, self._relations, self._attributes):
            place = names.table.find(name)
            if place is not None:
                names.labels[place] = label
                known = True
        return known

    def build(self, top_attributes: int | None = None) -> KnowledgeGraph:
        """The graph of all that was stated, repeats once; with `top_attributes`, of the most frequent ones only.

        Where the literals of one attribute differ in datatype (integer and double), all take the commonest; those that
        cannot (dates among numbers) are left out and counted.
        """
        one = self._one_of_each()
        heads, labels, tails = (np.frombuffer(column, dtype=np.int32) for column in self._facts)
        if self._same:
            heads, tails = one[heads], one[tails]
        facts = Triples.from_arrays(heads, labels, tails)
        entity, attribute, unit = (np.array(column, dtype=np.int32) for column in self._value_facts)
        entity, numbers = one[entity], np.array(self._numbers, dtype=np.float64)
        chosen, measured = self._one_unit_each(attribute, unit)
        entity, attribute, numbers = entity[measured], attribute[measured], numbers[measured]
        unit = chosen[attribute]
        values, rows = ValueTable.from_numbers(numbers, unit, tuple(self._units.all()))
        attribute_facts = Triples.from_arrays(entity, attribute, rows)
        if top_attributes is not None:
            kept = self._most_frequent(attribute_facts, top_attributes)
            attribute_facts = attribute_facts[np.isin(attribute_facts.labels, kept)]
        return self._assembled(facts, attribute_facts, values)

    def rows_in(self, graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray]:
        """The row in `graph`, which was built of all this, of each fact and of each value given; -1 of one left out."""
        entities, relations, attributes = (
            names.ids_in(symbols)
            for names, symbols in (
                (self._entities, graph.entities),
                (self._relations, graph.relations),
                (self._attributes, graph.attributes),
            )
        )
        heads, labels, tails = (np.array(column, dtype=np.int32) for column in self._facts)
        entities = entities[self._one_of_each()]
        facts = graph.facts.rows_of(entities[heads], relations[labels], entities[tails])
        entity, attribute, unit = (np.array(column, dtype=np.int32) for column in self._value_facts)
        chosen, measured = self._one_unit_each(attribute, unit)
        kept = np.flatnonzero(measured & (attributes[attribute] >= 0))
        entity, attribute, numbers = entity[kept], attribute[kept], np.array(self._numbers, dtype=np.float64)[kept]
        rows, units = np.zeros(len(kept), dtype=np.int64), np.array(self._units.all())[chosen[attribute]]
        for name in graph.values.units:
            own, place = units == name, graph.values.rows_of(name)
            rows[own] = place.start + np.searchsorted(graph.values.numbers[place], numbers[own])
        values = np.full(len(self._numbers), -1, dtype=np.int64)
        values[kept] = graph.attribute_facts.rows_of(entities[entity], attributes[attribute], rows)
        return facts, values

    def _one_of_each(self) -> np.ndarray:  # (names,) int32
        """The thing that each name is of: itself, or the one that most is stated of among those that are the same."""
        count = len(self._entities)
        one = np.arange(count, dtype=np.int32)
        if not self._same:
            return one
        names, others = np.array(self._same, dtype=np.int64).T
        links = coo_array((np.ones(len(names), dtype=np.int8), (names, others)), shape=(count, count))
        group = connected_components(links, directed=False)[1]
        stated = sum(np.bincount(np.array(column, dtype=np.int64), minlength=count)
                     for column in (self._facts[0], self._facts[2], self._value_facts[0]))  # fmt: skip
        order = np.lexsort((one, -np.asarray(stated), group))  # within a group by what is stated, then by place
        first = order[np.searchsorted(group[order], np.arange(group.max() + 1))]
        chosen = first[group].astype(np.int32)
        moved = np.flatnonzero(chosen != one)
        self.merged = len(moved)
        for place in moved.tolist():
            if place in self._entities.labels:
                self._entities.labels.setdefault(int(chosen[place]), self._entities.labels[place])
        return chosen

    def _one_unit_each(self, attribute: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The unit of each attribute, and which values are measured in it or in one of its family.

        It is the commonest unit of the family that most of the attribute's values are measured in.
        """
        names, attributes = self._units.all(), self._attributes.all()
        stride = max(1, len(names))
        pairs, pair, counts = np.unique(
            attribute.astype(np.int64) * stride + unit, return_inverse=True, return_counts=True
        )
        units_of: dict[int, dict[int, int]] = {}  # how many values of each attribute are measured in each unit
        for place, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            units_of.setdefault(place // stride, {})[place % stride] = count
        chosen, kept = np.zeros(len(attributes), dtype=np.int32), []
        self.left_out.clear()
        for attribute_id, of_attribute in units_of.items():
            families = {
                one: sum(count for other, count in of_attribute.items() if same_family(names[one], names[other]))
                for one in of_attribute
            }
            best = chosen[attribute_id] = max(of_attribute, key=lambda one: (families[one], of_attribute[one], -one))
            for other, count in of_attribute.items():
                kept.append(same_family(names[best], names[other]))
                if not kept[-1]:
                    self.left_out[attributes[attribute_id], names[other], names[best]] = count
        return chosen, np.array(kept, dtype=bool)[pair]

    def _most_frequent(self, attribute_facts: Triples, count: int) -> np.ndarray:
        frequency = np.bincount(attribute_facts.labels, minlength=len(self._attributes))
        names = self._attributes.all()
        order = sorted(range(len(names)), key=lambda place: (-frequency[place], names[place]))
        return np.array(order[:count], dtype=np.int64)

    def _assembled(self, facts: Triples, attribute_facts: Triples, values: ValueTable) -> KnowledgeGraph:
        """Renumber so that only what is used remains, in the order in which it first appeared."""
        entity_places = _used(len(self._entities), facts.sources, facts.targets, attribute_facts.sources)
        relation_places = _used(len(self._relations), facts.labels)
        attribute_places = _used(len(self._attributes), attribute_facts.labels)
        row_places = _used(len(values), attribute_facts.targets)

        facts = Triples(
            _renumber(facts.sources, entity_places),
            _renumber(facts.labels, relation_places),
            _renumber(facts.targets, entity_places),
        )
        if len(row_places) < len(values):
            values, _ = ValueTable.from_numbers(values.numbers[row_places], values.unit_ids[row_places], values.units)
        attribute_facts = Triples(
            _renumber(attribute_facts.sources, entity_places),
            _renumber(attribute_facts.labels, attribute_places),
            _renumber(attribute_facts.targets, row_places),
        )
        units = np.zeros(len(attribute_places), dtype=np.int32)
        units[attribute_facts.labels] = values.unit_ids[attribute_facts.targets]
        return KnowledgeGraph(
            entities=self._entities.symbols("entity", entity_places),
            relations=self._relations.symbols("relation", relation_places),
            relation_phrases=tuple(self._phrases.get(id_) for id_ in relation_places.tolist()),
            attributes=self._attributes.symbols("attribute", attribute_places),
            attribute_units=units,
            values=values,
            facts=facts,
            attribute_facts=attribute_facts,
        )


def _used(count: int, *columns: np.ndarray) -> np.ndarray:  # (used,) int64
    """The numbers below `count` that some columns hold, rising."""
    used = np.zeros(count, dtype=bool)
    for column in columns:
        used[column] = True
    return np.flatnonzero(used)


def _renumber(column: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The place of each number of a column among those that are kept."""
    if not len(kept) or len(kept) == kept[-1] + 1:  # none was left out
        return column
    places = np.empty(int(kept[-1]) + 1, dtype=np.int32)
    places[kept] = np.arange(len(kept), dtype=np.int32)
    return places[column]

"""The part of a graph at an endpoint that answers one question: its answers, and the numbers that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from kgreckon.engine.endpoint.endpoint_names import EndpointNames
from kgreckon.engine.endpoint.set_writing import SetWriter, select
from kgreckon.engine.rdf_terms import Row, Term
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import NotANumberError, UnknownDateError, read_literal, same_family
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable
from kgreckon.query import EntitySort, Query, ValueOf, sort_of


@dataclass(frozen=True, repr=False)
class PartOfGraph(KnowledgeGraph):
    """Some numbers of a graph that is elsewhere, under the names of one question to it."""

    names: EndpointNames = field(kw_only=True)

    def __repr__(self) -> str:
        return f"PartOfGraph: what was asked of {self.names.lookups.client!r}"

    @cached_property
    def vocabulary(self) -> EndpointNames:
        """The names at the endpoint."""
        return self.names


@dataclass
class _Found:
    """What was fetched: the members of sets, and numbers of things."""

    things: dict[Query, list[int]] = field(default_factory=dict)
    numbers: dict[Query, list[tuple[float, str]]] = field(default_factory=dict)
    stated: list[tuple[int, int, float]] = field(default_factory=list)  # thing, attribute, number


class Fetcher:
    """Has an endpoint answer queries, and keeps what it says."""

    def __init__(self, names: EndpointNames) -> None:
        self.names, self._found = names, _Found()
        self._asked: set[tuple[Query, int]] = set()

    def fetch(self, query: Query, attributes: Iterable[int] = ()) -> None:
        """Fetch the answers to a query and, where they are things, the numbers of some attributes of each."""
        if isinstance(sort_of(query, self.names), EntitySort):
            if query not in self._found.things:
                self._found.things[query] = self._things(query)
            for attribute in attributes:
                if self._found.things[query]:
                    self._values(query, attribute)
        elif query not in self._found.numbers:
            self._found.numbers[query] = self._numbers(query)

    def count(self, query: Query) -> int:
        """How many answers a query has."""
        sort = sort_of(query, self.names)
        if isinstance(sort, EntitySort):
            sets = [SetWriter(self.names).entities(query)]
        else:
            units = sorted(sort.units & set(self.names.units()))
            sets = [SetWriter(self.names).answers(query, unit) for unit in units]
        rows = [row for lines in sets for row in self._rows("(COUNT(DISTINCT ?x) AS ?n)", lines)]
        return sum(int(self.names.lookups.client.number(row[0])) for row in rows if row[0] is not None)

    def _rows(self, variables: str, lines: list[str]) -> list[Row]:
        return self.names.lookups.client.rows("\n".join(select(variables, lines)), self.names.pause)

    def _things(self, query: Query) -> list[int]:
        rows = self._rows("?x", SetWriter(self.names).entities(query))
        iris = sorted({_iri(one) for (one,) in rows if one is not None and one.datatype is None})
        return sorted(map(self.names.thing, iris))

    def _values(self, query: Query, attribute: int) -> None:
        """The numbers of an attribute of all members of a set, read as an import reads them."""
        if (query, attribute) in self._asked:
            return
        self._asked.add((query, attribute))
        members = ["{", *(f"  {line}" for line in select("?x", SetWriter(self.names).entities(query))), "}"]
        predicate = self.names.lookups.schema.attributes[attribute].iri
        rows = self._rows("?x ?n", [*members, f"?x <{predicate}> ?n .", "FILTER(isLiteral(?n))"])
        unit = self.names.attribute_unit(attribute)
        for thing, number in rows:
            value = _number(number, unit)
            if thing is not None and value is not None:
                self._found.stated.append((self.names.thing(_iri(thing)), attribute, value))

    def _numbers(self, query: Query) -> list[tuple[float, str]]:
        sort = sort_of(query, self.names)
        assert not isinstance(sort, EntitySort)
        match query:
            case ValueOf(attribute, of):  # the things are named beside such numbers
                self.fetch(of, [attribute])
                members = set(self._found.things[of])
                unit = self.names.attribute_unit(attribute)
                stated = {value for thing, own, value in self._found.stated if own == attribute and thing in members}
                return [(value, unit) for value in sorted(stated)]
        found: set[tuple[float, str]] = set()
        for unit in sorted(sort.units & set(self.names.units())):
            rows = self._rows("?x", SetWriter(self.names).answers(query, unit))
            found |= {(self.names.lookups.client.number(one) + 0.0, unit) for (one,) in rows if one is not None}
        return sorted(found)

    def part(self) -> tuple[PartOfGraph, dict[Query, np.ndarray]]:
        """What was fetched as a graph, and the ids of the answers to each query, rising."""
        schema, found = self.names.graph, self._found
        units = schema.values.units
        numbers = [(units.index(unit), value) for known in found.numbers.values() for value, unit in known]
        numbers += [(int(schema.attribute_units[attribute]), value) for _, attribute, value in found.stated]
        table, rows = _table(numbers, units)
        row_of = dict(zip(numbers, rows.tolist(), strict=True))
        sources, labels = (np.array([one[place] for one in found.stated], dtype=np.int32) for place in (0, 1))
        targets = rows[len(rows) - len(found.stated) :].astype(np.int32)
        proved = {query: np.array(ids, dtype=np.int64) for query, ids in found.things.items()}
        for query, known in found.numbers.items():
            own = sorted(row_of[units.index(unit), value] for value, unit in known)
            proved[query] = np.array(own, dtype=np.int64)
        names = [self.names.entity_name(place) for place in range(len(self.names))]
        graph = PartOfGraph(
            Symbols("entity", pa.array(names, pa.string()), pa.nulls(len(names), pa.string())),
            schema.relations,
            schema.relation_phrases,
            schema.attributes,
            schema.attribute_units,
            table,
            schema.facts,
            Triples.from_arrays(sources, labels, targets),
            names=self.names,
        )
        return graph, proved


def _table(numbers: Sequence[tuple[int, float]], units: tuple[str, ...]) -> tuple[ValueTable, np.ndarray]:
    """The table of numbers, each with the place of its unit, and the row of each; all units stay, used or not."""
    keys = np.array(numbers, dtype=[("unit", np.int64), ("number", np.float64)])
    distinct, rows = np.unique(keys, return_inverse=True)
    starts = np.searchsorted(distinct["unit"], np.arange(len(units) + 1))
    return ValueTable(units, starts.astype(np.int64), np.ascontiguousarray(distinct["number"])), rows


def _iri(term: Term) -> str:
    return f"_:{term.text}" if term.blank else term.text


def _number(term: Term | None, unit: str) -> float | None:
    """The number that a literal denotes, if it is measured in a unit of the same family."""
    if term is None or term.datatype is None:
        return None
    try:
        value, own = read_literal(term.text, term.datatype)
    except (NotANumberError, UnknownDateError):
        return None
    return value if same_family(own, unit) else None

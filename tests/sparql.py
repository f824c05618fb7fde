"""Queries as SPARQL, and graphs as RDF, so that an independent engine can answer them: computed comparisons."""

from itertools import count
from typing import assert_never

import pyoxigraph as ox

from kgreckon.graph import KnowledgeGraph
from kgreckon.query import And, Compare, Entity, Follow, HavingValue, Not, Number, Or, Order, Query, ValueOf, sort_of
from kgreckon.query.algebra import EntitySort, NumberSort

_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


class Sparql:
    """One graph in a pyoxigraph store. An entity is <e:id>, a relation <r:id>, an attribute <a:id>."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.store = ox.Store()
        facts, values = graph.facts, graph.attribute_facts
        quads = [
            ox.Quad(ox.NamedNode(f"e:{head}"), ox.NamedNode(f"r:{relation}"), ox.NamedNode(f"e:{tail}"))
            for head, relation, tail in zip(facts.sources, facts.labels, facts.targets, strict=True)
        ]
        quads += [
            ox.Quad(ox.NamedNode(f"e:{entity}"), ox.NamedNode(f"a:{attribute}"), self.literal(row))
            for entity, attribute, row in zip(values.sources, values.labels, values.targets, strict=True)
        ]
        self.store.bulk_extend(quads)

    def literal(self, row: int) -> ox.Literal:
        return ox.Literal(repr(float(self.graph.values.numbers[row])), datatype=ox.NamedNode(_DOUBLE))

    def answers(self, query: Query) -> list[int]:
        """Entities, or rows of the value table, in rising order."""
        sort = sort_of(query, self.graph.vocabulary)
        solutions = self.store.query(self.text(query))
        assert isinstance(solutions, ox.QuerySolutions)
        found = {solution["x"].value for solution in solutions}
        if isinstance(sort, EntitySort):
            return sorted(int(iri.removeprefix("e:")) for iri in found)
        (unit,) = sort.units
        return sorted(self.row(float(text), unit) for text in found)

    def row(self, number: float, unit: str) -> int:
        row = self.graph.values.row_of(number, unit)
        assert row is not None
        return row

    def text(self, query: Query) -> str:
        fresh = (f"v{index}" for index in count())
        return f"SELECT DISTINCT ?x WHERE {{ {self.pattern(query, 'x', fresh)} }}"

    def pattern(self, query: Query, x: str, fresh) -> str:
        """A group whose solutions bind ?x to the members of the set."""
        match query:
            case Entity(entity):
                return f"VALUES ?{x} {{ <e:{entity}> }}"
            case Number(value, _):
                return f'VALUES ?{x} {{ "{value!r}"^^<{_DOUBLE}> }}'
            case Follow(relation, of):
                y = next(fresh)
                ends = (y, x) if relation % 2 == 0 else (x, y)
                return f"{self.distinct(of, y, fresh)} ?{ends[0]} <r:{relation // 2}> ?{ends[1]} ."
            case ValueOf(attribute, of):
                y = next(fresh)
                return f"{self.distinct(of, y, fresh)} ?{y} <a:{attribute}> ?{x} ."
            case HavingValue(attribute, of):
                y = next(fresh)
                return f"{self.distinct(of, y, fresh)} ?{x} <a:{attribute}> ?{y} ."
            case Compare(comparison, of):
                y = next(fresh)
                sort = sort_of(of, self.graph.vocabulary)
                assert isinstance(sort, NumberSort)
                (unit,) = sort.units
                z = f"({comparison.factor!r}e0 * ?{y} + {comparison.offset!r}e0)"
                if comparison.order is Order.EQUAL:
                    share = f"{comparison.tolerance!r}e0"
                    condition = f"ABS(?{x} - {z}) < {share} * ABS(?{x}) && ABS(?{x} - {z}) < {share} * ABS({z})"
                else:
                    condition = f"?{x} {comparison.order.value} {z}"
                return f"{self.distinct(of, y, fresh)} {self.values_of(unit, x)} FILTER({condition})"
            case And(parts):
                return " ".join(self.distinct(part, x, fresh) for part in parts)
            case Or(parts):
                return " UNION ".join(f"{{ {self.pattern(part, x, fresh)} }}" for part in parts)
            case Not(of):
                raise ValueError(f"{of}: negation is not translated here")
        assert_never(query)

    def distinct(self, query: Query, x: str, fresh) -> str:
        return f"{{ SELECT DISTINCT ?{x} WHERE {{ {self.pattern(query, x, fresh)} }} }}"

    def values_of(self, unit: str, x: str) -> str:
        """A subquery that binds ?x to every value measured in `unit`."""
        units = self.graph.vocabulary.attribute_unit
        predicates = [f"<a:{attribute}>" for attribute in range(len(self.graph.attributes)) if units(attribute) == unit]
        path = "|".join(predicates)
        return f"{{ SELECT DISTINCT ?{x} WHERE {{ ?any_{x} {path} ?{x} }} }}"

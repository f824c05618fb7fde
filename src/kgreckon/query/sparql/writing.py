"""The algebra as SPARQL 1.1, for any engine that holds the graph as RDF.

An entity, relation or attribute is the IRI of its name; a value is a literal of type xsd:double (`number_literal`), as
`kgreckon.graph.ntriples` writes them. RDF's numbers have no unit, so a set of numbers is split by unit first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import assert_never

from kgreckon.errors import UserError
from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    EntitySort,
    Follow,
    HavingValue,
    Not,
    Number,
    NumberSort,
    Or,
    Order,
    Query,
    ValueOf,
    plain_number,
    sort_of,
)
from kgreckon.query.sparql.meaning import attributes_in
from kgreckon.query.sparql.names import NAMESPACE, term
from kgreckon.query.vocabulary import Vocabulary

_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"
# Integers this small multiply and add without rounding, whether an engine takes them for integers or for doubles.
_SMALL = 10_000_000


def write(query: Query, vocabulary: Vocabulary, limit: int | None = None) -> str:
    """The SELECT whose solutions are the answers to `query`; `parse` reads it back."""
    sort = sort_of(query, vocabulary)
    writer = _Writer(vocabulary)
    if isinstance(sort, EntitySort):
        lines = writer.pattern(_by_unit(query, vocabulary), "x", None, bound=False)
    else:
        branches = [writer.answers(in_one_unit(query, unit, vocabulary), unit) for unit in sorted(sort.units)]
        lines = branches[0] if len(branches) == 1 else union(branches)
    body = "\n".join(f"  {line}" for line in lines)
    prefix = f"PREFIX : <{NAMESPACE}>\n" if writer.prefixed else ""
    ending = "" if limit is None else f"\nLIMIT {limit}"
    return f"{prefix}SELECT DISTINCT ?x WHERE {{\n{body}\n}}{ending}"


def number_literal(value: float) -> str:
    """A value as RDF writes it, in N-Triples and in SPARQL."""
    return f'"{float(value)!r}"^^<{_DOUBLE}>'


class _Writer:
    """Writes patterns, with variables that are new wherever one is needed."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.fresh: Iterator[str] = (f"v{index}" for index in count(1))
        self.prefixed = False

    def answers(self, query: Query, unit: str) -> list[str]:
        """A set of numbers, of which only those in the graph are answers."""
        if is_stated(query):
            return self.pattern(query, "x", unit, bound=False)
        return [*self.everything("x", unit), *self.pattern(query, "x", unit, bound=isinstance(query, Number))]

    def pattern(self, query: Query, x: str, unit: str | None, bound: bool) -> list[str]:
        """Lines that bind ?x to the members of a set or, where the lines around bind it, narrow it to them."""
        match query:
            case Entity(entity):
                name = self.term(self.vocabulary.entity_name(entity))
                return [f"FILTER(?{x} = {name})" if bound else f"VALUES ?{x} {{ {name} }}"]
            case Number(value):
                return [
                    f"FILTER(?{x} = {number_text(value)})" if bound else f"VALUES ?{x} {{ {number_literal(value)} }}"
                ]
            case Follow(relation, of):
                return self.follow(relation, of, x)
            case ValueOf(attribute, of):
                subject, lines = self.end(of, None)
                name = self.vocabulary.attribute_name(attribute)
                return [f"{subject} {self.term(name)} ?{x} .", *self.sort_of_object(name, x, True), *lines]
            case HavingValue(attribute, of):
                y = next(self.fresh)
                name = self.vocabulary.attribute_name(attribute)
                lines = self.pattern(of, y, self.vocabulary.attribute_unit(attribute), bound=True)
                return [f"?{x} {self.term(name)} ?{y} .", *self.sort_of_object(name, y, True), *lines]
            case Compare(comparison, of):
                return [*([] if bound else self.everything(x, unit)), *self.compare(comparison, of, x, unit)]
            case And(parts):
                return self.intersection(parts, x, unit, bound)
            case Or(parts):
                return union([self.pattern(part, x, unit, bound=False) for part in parts])
            case Not(of):
                inner = self.pattern(of, x, unit, bound=True)
                return [
                    *([] if bound else self.everything(x, unit)),
                    "FILTER NOT EXISTS {",
                    *(f"  {line}" for line in inner),
                    "}",
                ]
        assert_never(query)

    def follow(self, relation: int, of: Query, x: str) -> list[str]:
        end, lines = self.end(of, None)
        name = self.vocabulary.relation_name(relation & ~1)
        if relation & 1:
            marks = self.sort_of_object(name, end[1:], False) if end.startswith("?") else []
            return [f"?{x} {self.term(name)} {end} .", *marks, *lines]
        return [f"{end} {self.term(name)} ?{x} .", *self.sort_of_object(name, x, False), *lines]

    def end(self, of: Query, unit: str | None) -> tuple[str, list[str]]:
        """The term at the other end of a triple, and the lines that say what it is."""
        if isinstance(of, Entity):
            return self.term(self.vocabulary.entity_name(of.entity)), []
        y = next(self.fresh)
        return f"?{y}", self.pattern(of, y, unit, bound=False)

    def compare(self, comparison: Comparison, of: Query, x: str, unit: str | None) -> list[str]:
        if isinstance(of, Number):
            return [f"FILTER({condition(comparison, f'?{x}', number_text(of.value))})"]
        y = next(self.fresh)
        lines = self.pattern(of, y, unit, bound=False)
        return [*lines, f"FILTER({condition(comparison, f'?{x}', f'?{y}')})"]

    def intersection(self, parts: tuple[Query, ...], x: str, unit: str | None, bound: bool) -> list[str]:
        if bound or any(_binds(part) and (unit is None or is_stated(part)) for part in parts):
            return [line for part in parts for line in self.pattern(part, x, unit, bound or not _binds(part))]
        if unit is None:  # an entity binds; a negation does not
            if not any(isinstance(part, Entity) for part in parts):
                return [*self.everything(x, unit), *self.intersection(parts, x, unit, bound=True)]
            return [line for part in parts for line in self.pattern(part, x, unit, bound=not isinstance(part, Entity))]
        if any(is_stated(part) for part in parts):
            return [*self.everything(x, unit), *self.intersection(parts, x, unit, bound=True)]
        return [line for part in parts for line in self.pattern(part, x, unit, bound=False)]

    def everything(self, x: str, unit: str | None) -> list[str]:
        """All entities, or all values of a unit."""
        if unit is None:
            p, o, s, q = (next(self.fresh) for _ in range(4))
            return [f"{{ ?{x} ?{p} ?{o} . }} UNION {{ ?{s} ?{q} ?{x} . FILTER(!isLiteral(?{x})) }}"]
        names = [self.vocabulary.attribute_name(attribute) for attribute in attributes_in(self.vocabulary, unit)]
        if not names:
            raise UserError(f"the graph has no attribute measured in {unit}")
        path = "|".join(self.term(name) for name in names)
        marks = [mark for name in names for mark in self.sort_of_object(name, x, True)]
        return [f"?{next(self.fresh)} {path} ?{x} .", *marks[:1]]

    def sort_of_object(self, name: str, x: str, number: bool) -> list[str]:
        """What distinguishes numbers from entities at the end of a predicate that is a relation and an attribute."""
        both = self._names("relation", name) and self._names("attribute", name)
        return [f"FILTER({'isNumeric' if number else '!isLiteral'}(?{x}))"] if both else []

    def _names(self, kind: str, name: str) -> bool:
        vocabulary = self.vocabulary
        try:
            if kind == "relation":
                return vocabulary.relation_name(vocabulary.relation_id(name)) == name
            return vocabulary.attribute_name(vocabulary.attribute_id(name)) == name
        except UserError:
            return False

    def term(self, name: str) -> str:
        written = term(name)
        self.prefixed = self.prefixed or written.startswith(":")
        return written


def union(branches: list[list[str]]) -> list[str]:
    """The lines of a union."""
    lines: list[str] = []
    for branch in branches:
        lines += ["} UNION {" if lines else "{", *(f"  {line}" for line in branch)]
    return [*lines, "}"]


def number_text(value: float) -> str:
    """A number in an expression: exact; a double unless it is a small integer."""
    text = plain_number(value) if abs(value) < _SMALL else repr(float(value))
    return text if "e" in text or "." not in text else f"{text}e0"


def linear(comparison: Comparison, y: str) -> str:
    """What a comparison compares with, as an expression."""
    z = y if comparison.factor == 1 else f"{number_text(comparison.factor)} * {y}"
    if comparison.offset:
        z += f" {'-' if comparison.offset < 0 else '+'} {number_text(abs(comparison.offset))}"
    return z


def condition(comparison: Comparison, x: str, y: str) -> str:
    """The comparison as an expression, in the very steps that `Comparison.holds` takes."""
    z = linear(comparison, y)
    if comparison.order not in (Order.EQUAL, Order.UNEQUAL) or comparison.tolerance == 0:
        return f"{x} {comparison.order.value} {z}"
    share, inner = number_text(comparison.tolerance), f"({z})" if " " in z else z
    equal = f"ABS({x} - {inner}) < {share} * ABS({x}) && ABS({x} - {inner}) < {share} * ABS({z})"
    return equal if comparison.order is Order.EQUAL else f"!({equal})"


def _binds(query: Query) -> bool:
    """Whether the lines of a set bind its variable by triples or a union, without the pattern of everything."""
    match query:
        case Follow() | ValueOf() | HavingValue() | Or():
            return True
        case And(parts):
            return any(map(_binds, parts))
    return False


def is_stated(query: Query) -> bool:
    """Whether a set of numbers can hold only values of the graph, unlike a number that stands for itself."""
    match query:
        case Number():
            return False
        case And(parts):
            return any(map(is_stated, parts))
        case Or(parts):
            return all(map(is_stated, parts))
    return True


def _by_unit(query: Query, vocabulary: Vocabulary) -> Query:
    """A set of entities in which every set of numbers keeps only the unit of the attribute it is put on."""
    match query:
        case Entity():
            return query
        case Follow(relation, of):
            return Follow(relation, _by_unit(of, vocabulary))
        case HavingValue(attribute, of):
            return HavingValue(attribute, in_one_unit(of, vocabulary.attribute_unit(attribute), vocabulary))
        case And(parts) | Or(parts):
            return type(query)(tuple(_by_unit(part, vocabulary) for part in parts))
        case Not(of):
            return Not(_by_unit(of, vocabulary))
        case _:
            raise AssertionError(f"{query} denotes numbers")


def in_one_unit(query: Query, unit: str, vocabulary: Vocabulary) -> Query:
    """The part of a set of numbers that is measured in `unit`, one of its units."""
    match query:
        case Number():
            return query
        case ValueOf(attribute, of):
            return ValueOf(attribute, _by_unit(of, vocabulary))
        case Compare(comparison, of):
            return Compare(comparison, in_one_unit(of, unit, vocabulary))
        case And(parts):
            return And(tuple(in_one_unit(part, unit, vocabulary) for part in parts))
        case Or(parts):
            kept = tuple(in_one_unit(part, unit, vocabulary) for part in parts if _measured_in(part, unit, vocabulary))
            return kept[0] if len(kept) == 1 else Or(kept)
        case Not(of):
            return Not(in_one_unit(of, unit, vocabulary))
        case _:
            raise AssertionError(f"{query} denotes entities")


def _measured_in(query: Query, unit: str, vocabulary: Vocabulary) -> bool:
    sort = sort_of(query, vocabulary)
    return isinstance(sort, NumberSort) and unit in sort.units

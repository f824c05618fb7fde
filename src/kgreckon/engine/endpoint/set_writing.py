"""The algebra as SPARQL 1.1 for RDF as it is found: numbers of any datatype, dates, predicates that lead to both.

Where `kgreckon.query.sparql.write` writes for people, and for graphs that we wrote, this writes for engines. Each set
is a pattern that can be evaluated by itself, so nothing depends on how an engine binds variables from outside; whatever
a literal looks like, it is compared as the double that an import reads of it, and joined as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Protocol, assert_never

from kgreckon.engine.rdf_terms import XSD
from kgreckon.errors import UserError
from kgreckon.graph.literals import is_calendar
from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    ValueOf,
)
from kgreckon.query.sparql.meaning import attributes_in
from kgreckon.query.sparql.writing import condition, in_one_unit, is_stated, linear, number_text, union
from kgreckon.query.vocabulary import Vocabulary

_LARGEST = "1.7976931348623157e308"
_NO_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\\x7f]|[\ud800-\udfff]")
_DATES = ", ".join(f"<{XSD}{kind}>" for kind in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
_LEAP = "FLOOR({y} / 4e0) * 4 = {y} && (FLOOR({y} / 100e0) * 100 != {y} || FLOOR({y} / 400e0) * 400 = {y})"
_YEAR = f"COALESCE(YEAR({{raw}}), <{XSD}integer>(STR({{raw}})))"  # not all engines take it of a gYear
_ZONE = (
    "COALESCE(IF(SUBSTR(TZ({raw}), 1, 1) = '-', -60, 60) * "
    f"(60 * <{XSD}integer>(SUBSTR(TZ({{raw}}), 2, 2)) + <{XSD}integer>(SUBSTR(TZ({{raw}}), 5, 2))), 0)"
)
_SECONDS = f"COALESCE(60 * (60 * HOURS({{raw}}) + MINUTES({{raw}})) + SECONDS({{raw}}) - {_ZONE}, 0)"


class Iris(Vocabulary, Protocol):
    """A vocabulary whose names are IRIs elsewhere."""

    def entity_iri(self, entity: int) -> str:
        """The IRI of an entity."""
        ...

    def relation_iri(self, relation: int) -> str:
        """The IRI of a relation, the direction left out."""
        ...

    def attribute_iri(self, attribute: int) -> str:
        """The IRI of an attribute."""
        ...

    def own_datatype(self, unit: str) -> str | None:
        """The datatype that gives a unit its name, where it is none of XML Schema."""
        ...

    def own_datatypes(self) -> list[str]:
        """All such datatypes."""
        ...


def reference(iri: str) -> str:
    """An IRI as SPARQL writes it."""
    if not can_be_written(iri):
        raise UserError(f"{iri!r} cannot be written in SPARQL: it is not an IRI")
    return f"<{iri}>"


def can_be_written(iri: str) -> bool:
    """Whether a text is an IRI as SPARQL writes it."""
    return bool(iri) and _NO_IRI.search(iri) is None


def says_something(o: str, own_datatypes: list[str]) -> str:
    """The condition that a triple with an object is a fact or states a number; other literals are labels and texts."""
    own = ", ".join(map(reference, own_datatypes))
    number = f"(isNumeric({o}) || DATATYPE({o}) IN ({own})) && ABS(<{XSD}double>(STR({o}))) <= {_LARGEST}"
    return f"!isLiteral({o}) || {number} || DATATYPE({o}) IN ({_DATES}) && {_YEAR.format(raw=o)} < 1e9"


def text_literal(text: str, language: str | None = None) -> str:
    """A text as SPARQL writes it."""
    escaped = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
    written = "".join(escaped.get(one, "\ufffd" if one == "\0" or "\ud800" <= one <= "\udfff" else one) for one in text)
    return f'"{written}"' + (f"@{language}" if language else "")


def select(variables: str, lines: list[str]) -> list[str]:
    """The lines of a SELECT of some variables."""
    return [f"SELECT DISTINCT {variables} WHERE {{", *(f"  {line}" for line in lines), "}"]


class SetWriter:
    """Writes sets as lines that bind a variable to their members."""

    def __init__(self, names: Iris) -> None:
        self.names = names
        self._fresh: Iterator[str] = (f"?v{index}" for index in count(1))

    # ---------------------------------------------------------------------------------------------------- entities

    def entities(self, query: Query, x: str = "?x") -> list[str]:
        """Lines whose solutions bind `x` to the members of a set of entities."""
        match query:
            case Entity(entity):
                return [f"VALUES {x} {{ {reference(self.names.entity_iri(entity))} }}"]
            case Follow(relation, of):
                start, lines = self._end(of)
                ends = (x, start) if relation & 1 else (start, x)
                things = [] if relation & 1 else [f"FILTER(!isLiteral({x}))"]
                return [*lines, f"{ends[0]} {reference(self.names.relation_iri(relation))} {ends[1]} .", *things]
            case HavingValue(attribute, of):
                unit = self.names.attribute_unit(attribute)
                return self._holders(attribute, in_one_unit(of, unit, self.names), x, unit)
            case And(parts):
                positive = [part for part in parts if not isinstance(part, Not) and not _is_everything(part)]
                negative = [part for part in parts if isinstance(part, Not)]
                lines = [line for part in positive for line in self._alone(self.entities(part, x), part)]
                lines = lines or self._all_entities(x)
                return lines + [line for part in negative for line in self._minus(part, x)]
            case Or(parts):
                if _is_everything(query):
                    return self._all_entities(x)
                return union([self.entities(part, x) for part in parts])
            case Not():
                return [*self._all_entities(x), *self._minus(query, x)]
        raise AssertionError(f"{query} denotes numbers")

    def _holders(self, attribute: int, of: Query, x: str, unit: str) -> list[str]:
        """Lines that bind `x` to whatever has a number of a set, of which the graph holds each."""
        if isinstance(of, Or) and _simple(of, "") is None:
            return union([self._holders(attribute, part, x, unit) for part in of.parts])
        y = next(self._fresh)
        return [*self.values(attribute, x, y), *self._narrowed(of, y, unit)]

    def _end(self, of: Query) -> tuple[str, list[str]]:
        """The term at the other end of a triple, and the lines that bind it."""
        if isinstance(of, Entity):
            return reference(self.names.entity_iri(of.entity)), []
        start = next(self._fresh)
        return start, self.entities(of, start)

    @staticmethod
    def _alone(lines: list[str], query: Query) -> list[str]:
        """The lines of a part of an intersection, in a group of their own where others would meddle with them."""
        return _group(lines) if isinstance(query, And | Or) else lines

    def _minus(self, query: Not, x: str) -> list[str]:
        return ["MINUS {", *(f"  {line}" for line in self.entities(query.of, x)), "}"]

    def _all_entities(self, x: str) -> list[str]:
        """Whatever a fact or a number is stated of, and whatever a fact leads to."""
        p, o, s, q = (next(self._fresh) for _ in range(4))
        stated = [f"{x} {p} {o} .", f"FILTER({says_something(o, self.names.own_datatypes())})"]
        return union([stated, [f"{s} {q} {x} .", f"FILTER(!isLiteral({x}))"]])

    # ----------------------------------------------------------------------------------------------------- numbers

    def answers(self, query: Query, unit: str, x: str = "?x") -> list[str]:
        """Lines that bind `x` to those members of a set of numbers in a unit that are values of the graph."""
        query = in_one_unit(query, unit, self.names)
        if is_stated(query):
            return self._numbers(query, x, unit)
        return [*self._all_values(x, unit), *self._narrowed(query, x, unit)]

    def values(self, attribute: int, subject: str, x: str) -> list[str]:
        """Lines that bind `x` to the numbers that an attribute takes on a subject."""
        raw, unit = next(self._fresh), self.names.attribute_unit(attribute)
        lines = [f"{subject} {reference(self.names.attribute_iri(attribute))} {raw} .", *self._read(raw, x, unit)]
        # Outside of a group, a literal that cannot be read would leave `x` to be bound to anything.
        may_fail = is_calendar(unit) or self.names.own_datatype(unit) is not None
        return _group(lines) if may_fail else lines

    def _read(self, raw: str, x: str, unit: str) -> list[str]:
        """Lines that bind `x` to the double that a literal denotes, and leave out other literals.

        Adding zero writes equal numbers alike, also those that the engine keeps as they were written.
        """
        if not is_calendar(unit):
            own = self.names.own_datatype(unit)
            guard = f"isNumeric({raw})" if own is None else f"DATATYPE({raw}) = {reference(own)}"
            read = [f"FILTER({guard})", f"BIND(<{XSD}double>(STR({raw})) + 0e0 AS {x})"]
        else:
            y, m, d, leap = (next(self._fresh) for _ in range(4))
            passed = f"FLOOR(275 * {m} / 9e0) - (2 - {leap}) * FLOOR(({m} + 9) / 12e0) + {d} - 31"
            seconds = f"<{XSD}double>({_SECONDS.format(raw=raw)})"
            read = [
                f"FILTER(DATATYPE({raw}) IN ({_DATES}))",
                f"BIND({_YEAR.format(raw=raw)} AS {y})",
                f"BIND(COALESCE(MONTH({raw}), 1) AS {m})",
                f"BIND(COALESCE(DAY({raw}), 1) AS {d})",
                f"BIND(IF({_LEAP.format(y=y)}, 1, 0) AS {leap})",
                f"BIND({y} + ({passed} + {seconds} / 86400e0) / (365e0 + {leap}) AS {x})",
            ]
        return [*read, f"FILTER(ABS({x}) <= {_LARGEST})"]  # neither infinite, nor without a value

    def _all_values(self, x: str, unit: str) -> list[str]:
        """All values of a unit."""
        attributes = list(attributes_in(self.names, unit))
        if not attributes:
            raise UserError(f"the graph has no attribute measured in {unit}")
        raw = next(self._fresh)
        path = "|".join(reference(self.names.attribute_iri(attribute)) for attribute in attributes)
        lines = [f"{next(self._fresh)} {path} {raw} .", *self._read(raw, x, unit)]
        return _group(select(x, lines))

    def _numbers(self, query: Query, x: str, unit: str) -> list[str]:
        """Lines that bind `x` to the members of a set of numbers in one unit."""
        match query:
            case Number(value):
                return [
                    f"BIND({value!r}e0 + 0e0 AS {x})" if "e" not in repr(value) else f"BIND({value!r} + 0e0 AS {x})"
                ]
            case ValueOf(attribute, of):
                start, lines = self._end(of)
                return [*lines, *self.values(attribute, start, x)]
            case And(parts):
                if not is_stated(query):  # then what one of them holds need not be a value of the graph
                    return [line for part in parts for line in _group(select(x, self._numbers(part, x, unit)))]
                first = next((part for part in parts if isinstance(part, ValueOf)), None)
                lines = self._all_values(x, unit) if first is None else self._numbers(first, x, unit)
                return lines + [line for part in parts if part is not first for line in self._narrowed(part, x, unit)]
            case Or(parts):
                return union([self._numbers(part, x, unit) for part in parts])
            case Compare() | Not():
                return [*self._all_values(x, unit), *self._narrowed(query, x, unit)]
        raise AssertionError(f"{query} denotes entities")

    def _narrowed(self, query: Query, x: str, unit: str) -> list[str]:
        """Lines that keep those of the numbers that `x` is bound to that are members of a set."""
        simple = _simple(query, x)
        if simple is not None:
            return [f"FILTER({simple})"]
        match query:
            case Compare(comparison, of):
                return self._compared(comparison, of, x, unit)
            case And(parts):
                return [line for part in parts for line in self._narrowed(part, x, unit)]
            case Not(of):
                return ["MINUS {", *(f"  {line}" for line in self._numbers(of, x, unit)), "}"]
        return _group(select(x, self._numbers(query, x, unit)))

    def _compared(self, comparison: Comparison, of: Query, x: str, unit: str) -> list[str]:
        """Of an inequality only the least or the largest number counts, so that no pairs need to be looked at."""
        y = next(self._fresh)
        lines = self._numbers(of, y, unit)
        if comparison.order in (Order.EQUAL, Order.UNEQUAL):
            return [*_group(select(y, lines)), f"FILTER({condition(comparison, x, y)})"]
        bound = next(self._fresh)
        best = "MAX" if comparison.order in (Order.LESS, Order.AT_MOST) else "MIN"
        extreme = select(f"({best}({linear(comparison, y)}) AS {bound})", lines)
        return [*_group(extreme), f"FILTER({x} {comparison.order.value} {bound})"]


def _group(lines: list[str]) -> list[str]:
    """Lines in a group of their own."""
    return ["{", *(f"  {line}" for line in lines), "}"]


def _is_everything(query: Query) -> bool:
    """Whether a union is that of a set and of all that is not in it."""
    return isinstance(query, Or) and any(Not(part) in query.parts for part in query.parts)


def _simple(query: Query, x: str) -> str | None:
    """The expression that says whether a number is a member of a set that the query itself gives."""
    match query:
        case Number():
            return f"{x} = {number_text(query.value)}"
        case Compare(comparison, Number(value)):
            return condition(comparison, x, number_text(value))
        case And(parts) | Or(parts):
            said = [_simple(part, x) for part in parts]
            known = [text for text in said if text is not None]
            joint = " && " if isinstance(query, And) else " || "
            return joint.join(f"({text})" for text in known) if len(known) == len(said) else None
        case Not(of):
            inner = _simple(of, x)
            return None if inner is None else f"!({inner})"
        case Entity() | Follow() | ValueOf() | HavingValue() | Compare():
            return None
    assert_never(query)

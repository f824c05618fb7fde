"""The Python builder: queries that read like the sentence.

    which, the = Builder(graph.vocabulary).words()
    which("latitude", greater_than(the("latitude", of=which("in_country", "Japan"))))

`which(relation, x)` are the things that the relation leads from to x; `which(attribute, condition)` the things whose
value meets the condition; `the(name, of=x)` what a relation or an attribute leads to. `&`, `|` and `~` combine them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from kgreckon.errors import UserError
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
    sort_of,
)
from kgreckon.query.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison with a number or a set of numbers; a bare number takes the unit of the attribute it is put on."""

    comparison: Comparison
    operand: Query | float | int | str

    def __and__(self, other: Condition) -> Conditions:
        return Conditions(And, (self, other))

    def __or__(self, other: Condition) -> Conditions:
        return Conditions(Or, (self, other))

    def __invert__(self) -> Conditions:
        return Conditions(Not, (self,))


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions joined by and, or and not: `greater_than(1900) & less_than(1927)`."""

    join: type[And] | type[Or] | type[Not]
    parts: tuple[Condition | Conditions, ...]

    __and__ = Condition.__and__
    __or__ = Condition.__or__
    __invert__ = Condition.__invert__


Operand = Query | float | int | str


def greater_than(operand: Operand, times: float = 1.0, plus: float = 0.0) -> Condition:
    """More than `times` the operand, `plus` an offset."""
    return _condition(Order.GREATER, operand, times, plus)


def less_than(operand: Operand, times: float = 1.0, plus: float = 0.0) -> Condition:
    """Less than `times` the operand, `plus` an offset."""
    return _condition(Order.LESS, operand, times, plus)


def at_least(operand: Operand, times: float = 1.0, plus: float = 0.0) -> Condition:
    """No less than `times` the operand, `plus` an offset."""
    return _condition(Order.AT_LEAST, operand, times, plus)


def at_most(operand: Operand, times: float = 1.0, plus: float = 0.0) -> Condition:
    """No more than `times` the operand, `plus` an offset."""
    return _condition(Order.AT_MOST, operand, times, plus)


def equal_to(operand: Operand, times: float = 1.0, plus: float = 0.0, within: float = 0.01) -> Condition:
    """Equal to `times` the operand, `plus` an offset, within a share of both sides (0: exactly)."""
    return _condition(Order.EQUAL, operand, times, plus, within)


def _condition(order: Order, operand: Operand, times: float, plus: float, within: float = 0.01) -> Condition:
    comparison = Comparison(order, _finite("times", times), _finite("plus", plus), _finite("within", within))
    if within < 0:
        raise UserError(f"within must be at least 0, not {within}")
    return Condition(comparison, operand)


def _finite(name: str, number: Real | float) -> float:
    try:
        value = float(number)
    except (OverflowError, TypeError, ValueError):
        value = math.inf
    if not math.isfinite(value):
        raise UserError(f"{name} must be a finite number")
    return value


class Builder:
    """Builds queries over the names of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def words(self) -> tuple[Callable[..., Query], Callable[..., Query]]:
        """The two words `which` and `the`."""
        return self.which, self.the

    def entity(self, name: str) -> Entity:
        """The entity of that name."""
        return Entity(self.vocabulary.entity_id(name))

    def number(self, value: float, unit: str) -> Number:
        """A number with its unit."""
        return Number(_finite("a number", value), unit)

    def which(self, name: str, target: Query | Condition | Conditions | str | float | int) -> Query:
        """The things whose relation `name` leads to `target`, or whose attribute `name` meets it."""
        relation, attribute = self._named(name)
        query: Query
        if relation is not None:
            query = Follow(relation ^ 1, self._entities(target, f"the relation {name!r} leads to"))
        else:
            assert attribute is not None
            query = HavingValue(attribute, self._numbers(target, self.vocabulary.attribute_unit(attribute)))
        sort_of(query, self.vocabulary)
        return query

    def the(self, name: str, of: Query | str) -> Query:
        """What the relation or attribute `name` leads to from `of`."""
        relation, attribute = self._named(name)
        query: Query
        if relation is not None:
            query = Follow(relation, self._entities(of, f"{name!r} is asked of"))
        else:
            assert attribute is not None
            query = ValueOf(attribute, self._entities(of, f"{name!r} is asked of"))
        sort_of(query, self.vocabulary)
        return query

    def _named(self, name: str) -> tuple[int | None, int | None]:
        """The relation or the attribute called `name`."""
        try:
            return self.vocabulary.relation_id(name), None
        except UserError as no_relation:
            try:
                return None, self.vocabulary.attribute_id(name)
            except UserError as no_attribute:
                raise UserError(f"{no_relation}; {no_attribute}") from None

    def _entities(self, target: object, where: str) -> Query:
        if isinstance(target, str):
            return self.entity(target)
        if isinstance(target, Query):
            return target
        raise UserError(f"{where} entities: give a name or a query, not {target!r}")

    def _numbers(self, target: object, unit: str) -> Query:
        match target:
            case Condition(comparison, operand):
                return Compare(comparison, self._numbers(operand, unit))
            case Conditions(join, parts):
                below = tuple(self._numbers(part, unit) for part in parts)
                return Not(below[0]) if issubclass(join, Not) else join(below)
            case str():
                return self.vocabulary.read_number(target, unit)
            case Real():
                return Number(_finite("a number", target), unit)
            case _ if isinstance(target, Query):
                return target
        raise UserError(f"expected a number, a condition or a query, not {target!r}")

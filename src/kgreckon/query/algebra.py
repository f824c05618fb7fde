"""The query algebra: nine frozen nodes, each a set of entities or a set of numbers.

The paper writes them e, nv, rp, ap, rap, np, i and u; negation is ours. Every notation reads into these nodes or writes
them, and every meaning (exact sets, neural models, fuzzy sets) interprets them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from numbers import Integral
from typing import Protocol, TypeAlias, assert_never, cast

from kgreckon.errors import UserError

# ---------------------------------------------------------------------------------------------------- comparisons


class Order(Enum):
    """How `x` stands to `a·y + b` in a comparison."""

    EQUAL = "="
    LESS = "<"
    GREATER = ">"
    AT_MOST = "<="
    AT_LEAST = ">="
    UNEQUAL = "!="


@dataclass(frozen=True, slots=True)
class Comparison:
    """The numerical relation `x ⋈ factor·y + offset`, where `x` is the result and `y` the value it is compared with.

    Equality holds within `tolerance` of both sides, as in the paper, and so never at zero; with a tolerance of 0 it is
    equality of numbers.
    """

    order: Order
    factor: float = 1.0
    offset: float = 0.0
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        """An inequality has no tolerance: two that mean the same are the same."""
        if self.order not in (Order.EQUAL, Order.UNEQUAL):
            object.__setattr__(self, "tolerance", 0.01)
        if self.tolerance > 2:  # then numbers of both signs are equal, but not those between
            raise UserError(f"an equality holds within a share of 2 at most, not {plain_number(self.tolerance)}")

    def holds(self, x: float, y: float) -> bool:
        """Whether `x` stands in this relation to `y`; the compiled kernels agree with this to the last bit."""
        z = self.factor * y + self.offset
        match self.order:
            case Order.LESS:
                return x < z
            case Order.GREATER:
                return x > z
            case Order.AT_MOST:
                return x <= z
            case Order.AT_LEAST:
                return x >= z
            case Order.EQUAL:
                return self._equal(x, z)
            case Order.UNEQUAL:
                return not self._equal(x, z)
        assert_never(self.order)

    def _equal(self, x: float, z: float) -> bool:
        if self.tolerance == 0.0:
            return x == z
        return abs(x - z) < self.tolerance * abs(x) and abs(x - z) < self.tolerance * abs(z)

    def __str__(self) -> str:
        """Its name in the paper, or `x ⋈ a·y + b` with a tolerance where it is not the usual one."""
        name = _NAME_OF.get(self)
        if name is not None:
            return name
        factor = "" if self.factor == 1 else "-" if self.factor == -1 else plain_number(self.factor)
        offset = "" if self.offset == 0 else f" {'-' if self.offset < 0 else '+'} {plain_number(abs(self.offset))}"
        equality = self.order in (Order.EQUAL, Order.UNEQUAL)
        within = f" within {plain_number(self.tolerance)}" if equality and self.tolerance != 0.01 else ""
        return f"x {self.order.value} {factor}y{offset}{within}"

    @staticmethod
    def parse(text: str) -> Comparison:
        """Read what `str` writes: a name of the paper, or `x > 2y + 3`."""
        named = SEVEN.get(text.strip())
        if named is not None:
            return named
        match = _LINEAR.fullmatch(text.strip())
        if match is None:
            names = ", ".join(SEVEN)
            raise UserError(
                f"unknown comparison {text!r}: expected one of {names}, or a linear one such as 'x > 2y + 3'"
            )
        order, factor, sign, offset, within = match.groups()
        a = 1.0 if not factor else -1.0 if factor == "-" else float(factor)
        b = 0.0 if offset is None else float(offset) * (-1.0 if sign == "-" else 1.0)
        tolerance = 0.01 if within is None else float(within)
        if not all(map(math.isfinite, (a, b, tolerance))):
            raise UserError(f"a number in the comparison {text!r} is too large")
        return Comparison(Order(order), a, b, tolerance)


_FLOAT = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_LINEAR = re.compile(  # blanks go with the sign before them: two ways to match a run of them would take cubic time
    rf"x\s*(<=|>=|!=|<|>|=)\s*(?:(-?{_FLOAT}|-)\s*)?(?:[*·]\s*)?y"
    rf"(?:\s*([-+])\s*({_FLOAT}))?(?:\s+within\s+({_FLOAT}))?"
)

# The seven relations of the paper, in its order; a comparison's number in a benchmark is its place here.
SEVEN: dict[str, Comparison] = {
    "EqualTo": Comparison(Order.EQUAL),
    "SmallerThan": Comparison(Order.LESS),
    "GreaterThan": Comparison(Order.GREATER),
    "TwiceEqualTo": Comparison(Order.EQUAL, factor=2.0),
    "ThreeTimesEqualTo": Comparison(Order.EQUAL, factor=3.0),
    "TwiceGreaterThan": Comparison(Order.GREATER, factor=2.0),
    "ThreeTimesGreaterThan": Comparison(Order.GREATER, factor=3.0),
}
_NAME_OF = {comparison: name for name, comparison in SEVEN.items()}


def plain_number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


# ---------------------------------------------------------------------------------------------------------- nodes


class Node:
    """What all nodes share: `a & b`, `a | b` and `~a` build And, Or and Not."""

    __slots__ = ()

    def __and__(self, other: Query) -> And:
        return And((*_parts(And, self), *_parts(And, other)))

    def __or__(self, other: Query) -> Or:
        return Or((*_parts(Or, self), *_parts(Or, other)))

    def __invert__(self) -> Not:
        return Not(cast(Query, self))


@dataclass(frozen=True, slots=True)
class Entity(Node):
    """The set of one entity (the paper's e)."""

    entity: int


@dataclass(frozen=True, slots=True)
class Number(Node):
    """The set of one number with its unit (the paper's nv)."""

    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Follow(Node):
    """The entities that `relation` leads to from an entity of `of` (rp); an odd relation number is an inverse."""

    relation: int
    of: Query


@dataclass(frozen=True, slots=True)
class ValueOf(Node):
    """The values that `attribute` takes on the entities of `of` (ap)."""

    attribute: int
    of: Query


@dataclass(frozen=True, slots=True)
class HavingValue(Node):
    """The entities whose `attribute` takes a value in `of` (rap)."""

    attribute: int
    of: Query


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """The values that stand in the relation `comparison` to some value of `of` (np)."""

    comparison: Comparison
    of: Query


@dataclass(frozen=True, slots=True)
class And(Node):
    """What all of the parts share (i)."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    """What any of the parts holds (u)."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """Everything of the same sort that `of` does not hold (n)."""

    of: Query


Query: TypeAlias = Entity | Number | Follow | ValueOf | HavingValue | Compare | And | Or | Not


def _parts(kind: type[And] | type[Or], query: Node) -> tuple[Query, ...]:
    return query.parts if isinstance(query, kind) else (cast(Query, query),)


def children(query: Query) -> tuple[Query, ...]:
    """The nodes directly below `query`."""
    match query:
        case Entity() | Number():
            return ()
        case Follow(of=of) | ValueOf(of=of) | HavingValue(of=of) | Compare(of=of) | Not(of=of):
            return (of,)
        case And(parts) | Or(parts):
            return parts
    assert_never(query)


def nodes(query: Query) -> Iterator[Query]:
    """All nodes of `query`, each before what is below it."""
    yield query
    for child in children(query):
        yield from nodes(child)


# ---------------------------------------------------------------------------------------------------------- sorts


@dataclass(frozen=True, slots=True)
class EntitySort:
    """The sort of a query that denotes entities."""


@dataclass(frozen=True, slots=True)
class NumberSort:
    """The sort of a query that denotes numbers. A union may hold numbers of several units; nothing compares across."""

    units: frozenset[str]

    def __str__(self) -> str:
        return " or ".join(sorted(self.units))


Sort: TypeAlias = EntitySort | NumberSort


class Units(Protocol):
    """What the sort of a query depends on: the name and the unit of each attribute, and which ids there are."""

    def knows(self, kind: str, number: int) -> bool:
        """Whether `number` is the id of an entity, relation, attribute or value (the kind)."""
        ...

    def attribute_name(self, attribute: int) -> str:
        """The name of `attribute`, for messages."""
        ...

    def attribute_unit(self, attribute: int) -> str:
        """The unit that the values of `attribute` are measured in."""
        ...


def sort_of(query: Query, units: Units) -> Sort:
    """The sort of `query`; raises a UserError where it cannot be meant."""
    if not isinstance(query, Node):
        raise UserError(f"not a query: {query!r}")
    match query:
        case Entity(entity):
            _expect_known("entity", entity, units)
            return EntitySort()
        case Number(unit=unit):
            return NumberSort(frozenset([unit]))
        case Follow(relation, of):
            _expect_known("relation", relation, units)
            _expect_entities(of, units, "a relation is followed from entities")
            return EntitySort()
        case ValueOf(attribute, of):
            _expect_known("attribute", attribute, units)
            _expect_entities(of, units, f"the attribute {units.attribute_name(attribute)} is read from entities")
            return NumberSort(frozenset([units.attribute_unit(attribute)]))
        case HavingValue(attribute, of):
            _expect_known("attribute", attribute, units)
            measured = _expect_numbers(of, units, f"the values of {units.attribute_name(attribute)} are numbers")
            unit = units.attribute_unit(attribute)
            if unit not in measured.units:
                raise _mismatch(units.attribute_name(attribute), unit, describe(of, units), measured)
            return EntitySort()
        case Compare(of=of):
            return _expect_numbers(of, units, "only numbers are compared")
        case And(parts) | Or(parts):
            if not parts:
                raise UserError("an intersection or union needs at least one part")
            return reduce(lambda sort, part: _join(query, sort, part, units), parts[1:], sort_of(parts[0], units))
        case Not(of):
            return sort_of(of, units)
    assert_never(query)


def _join(query: And | Or, sort: Sort, part: Query, units: Units) -> Sort:
    """The sort of an intersection or union with one more part."""
    other = sort_of(part, units)
    if isinstance(sort, EntitySort) and isinstance(other, EntitySort):
        return sort
    if isinstance(sort, EntitySort) or isinstance(other, EntitySort):
        raise UserError("the parts of an intersection or union must be all entities or all numbers")
    if isinstance(query, Or):
        return NumberSort(sort.units | other.units)
    if not sort.units & other.units:
        raise _mismatch(describe(query.parts[0], units), sort, describe(part, units), other)
    return NumberSort(sort.units & other.units)


def describe(query: Query, units: Units) -> str:
    """A word for what a set of numbers measures: the attribute it comes from, or the number itself."""
    for node in nodes(query):
        if isinstance(node, ValueOf):
            return units.attribute_name(node.attribute)
        if isinstance(node, Number):
            return plain_number(node.value)
    return "this set"


def _mismatch(one: str, unit: object, other: str, other_unit: object) -> UserError:
    return UserError(f"{one} is measured in {unit}, {other} in {other_unit}: they cannot be compared")


def _expect_known(kind: str, number: object, units: Units) -> None:
    if not isinstance(number, Integral) or not units.knows(kind, int(number)):
        raise UserError(f"the graph has no {kind} #{number}")


def _expect_entities(query: Query, units: Units, reason: str) -> None:
    if not isinstance(sort_of(query, units), EntitySort):
        raise UserError(f"{reason}, not from the numbers of {describe(query, units)}")


def _expect_numbers(query: Query, units: Units, reason: str) -> NumberSort:
    sort = sort_of(query, units)
    if not isinstance(sort, NumberSort):
        raise UserError(f"{reason}, but a set of entities was given")
    return sort

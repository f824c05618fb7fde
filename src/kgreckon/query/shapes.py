"""Shapes: what queries of one type have in common.

A shape is a tree of operators without ids, written as the paper writes a type: `(rap,(np,(nv)))`. A query is its shape
and a row of ids, one for each operator that takes one, in the order in which the operators are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product
from typing import assert_never

from kgreckon.errors import UserError
from kgreckon.query.algebra import (
    And,
    Compare,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Query,
    ValueOf,
    children,
)
from kgreckon.query.s_expressions import MAX_DEPTH, MAX_NODES, Arity, Expression, Grammar, read


def check_size(query: Query, deepest: int = MAX_DEPTH, most: int = MAX_NODES) -> None:
    """Refuse what is too deep or too large; level by level, so that no depth is too much for the check itself."""
    depth, count, level = 0, 1, [query]
    while depth <= deepest and count <= most and level:
        level = [child for node in level for child in children(node)]
        depth, count = depth + bool(level), count + len(level)
    if depth > deepest or count > most:
        raise UserError(f"a query may be at most {deepest} levels deep and have at most {most} nodes")


class Operator(Enum):
    """What a node of a shape does; the value is how the paper writes it."""

    ENTITY = "e"
    NUMBER = "nv"
    FOLLOW = "rp"
    VALUE_OF = "ap"
    HAVING_VALUE = "rap"
    COMPARE = "np"
    PROJECT = "p"  # any of rp, ap, rap and np: only in general types, where `e` stands for any anchor
    AND = "i"
    OR = "u"
    NOT = "n"


_ANCHORS = (Operator.ENTITY, Operator.NUMBER)
_LOGIC = (Operator.AND, Operator.OR, Operator.NOT)
PROJECTIONS = (Operator.FOLLOW, Operator.VALUE_OF, Operator.HAVING_VALUE, Operator.COMPARE)


def _parts_of(operator: Operator) -> tuple[int, int | None]:
    """How few and how many parts an operator may have."""
    if operator in _ANCHORS:
        return 0, 0
    return (1, None) if operator in (Operator.AND, Operator.OR) else (1, 1)


_TYPES = Grammar("type", {operator.value: Arity(False, *_parts_of(operator)) for operator in Operator})
# Queries have a symbol wherever a type has none: for each operator that takes an id.
QUERIES = Grammar(
    "query",
    {
        operator.value: Arity(operator not in _LOGIC, *_parts_of(operator))
        for operator in Operator
        if operator is not Operator.PROJECT
    },
)


@dataclass(frozen=True)
class Shape:
    """A tree of operators: a query without its ids."""

    operator: Operator
    parts: tuple[Shape, ...] = ()

    @cached_property
    def text(self) -> str:
        """The shape as the paper writes it."""
        return f"({','.join([self.operator.value, *(part.text for part in self.parts)])})"

    def __str__(self) -> str:
        return self.text

    @cached_property
    def width(self) -> int:
        """How many ids a query of this shape holds."""
        return (self.operator not in _LOGIC) + sum(part.width for part in self.parts)

    @cached_property
    def columns(self) -> tuple[Operator, ...]:
        """The operator that each column of a batch of this shape belongs to."""
        first = () if self.operator in _LOGIC else (self.operator,)
        return first + tuple(operator for part in self.parts for operator in part.columns)

    def check(self) -> None:
        """Raise a UserError where no query of this shape can be meant, because sorts do not fit."""
        _ = self.denotes_numbers

    @cached_property
    def denotes_numbers(self) -> bool:
        """Whether queries of this shape denote numbers; raises a UserError where sorts do not fit."""
        below = [part.denotes_numbers for part in self.parts]
        match self.operator:
            case Operator.ENTITY:
                return False
            case Operator.NUMBER:
                return True
            case Operator.FOLLOW | Operator.VALUE_OF:
                if below[0]:
                    raise UserError(f"{self.operator.value} starts from entities, but {self.parts[0]} denotes numbers")
                return self.operator is Operator.VALUE_OF
            case Operator.HAVING_VALUE | Operator.COMPARE:
                if not below[0]:
                    raise UserError(f"{self.operator.value} starts from numbers, but {self.parts[0]} denotes entities")
                return self.operator is Operator.COMPARE
            case Operator.AND | Operator.OR | Operator.NOT:
                if len(set(below)) > 1:
                    raise UserError(f"the parts of {self} must be all entities or all numbers")
                return below[0]
            case Operator.PROJECT:
                raise UserError(f"{self} is a general type: it has a sort only once p is rp, ap, rap or np")
        assert_never(self.operator)

    @cached_property
    def touches_numbers(self) -> bool:
        """Whether a number stands anywhere in a query of this shape."""
        return any(operator not in (Operator.ENTITY, Operator.FOLLOW) for operator in self.columns)

    @cached_property
    def has_negation(self) -> bool:
        """Whether a complement stands anywhere in a query of this shape."""
        return self.operator is Operator.NOT or any(part.has_negation for part in self.parts)

    @cached_property
    def canonical(self) -> Shape:
        """The same shape with the parts of each intersection and union in a fixed order, short ones first."""
        parts = tuple(part.canonical for part in self.parts)
        if self.operator in (Operator.AND, Operator.OR):
            parts = tuple(sorted(parts, key=_order))
        return Shape(self.operator, parts)

    @cached_property
    def generalised(self) -> Shape:
        """The general type: every projection is `p`, every anchor `e`."""
        operator = self.operator
        if operator in PROJECTIONS:
            operator = Operator.PROJECT
        elif operator in _ANCHORS:
            operator = Operator.ENTITY
        return Shape(operator, tuple(part.generalised for part in self.parts))

    @staticmethod
    def parse(text: str) -> Shape:
        """Read a shape from its text, such as `(i,(p,(e)),(p,(e)))`."""
        return _from_expression(read(text, _TYPES))


def _order(shape: Shape) -> tuple[int, str]:
    return shape.text.count("("), shape.text


def _from_expression(expression: Expression) -> Shape:
    return Shape(Operator(expression.operator), tuple(map(_from_expression, expression.parts)))


# General types with a name, in the literature's order: the fourteen of BetaE (Ren and Leskovec, 2020), 4p and 4i.
NAMED_TYPES: dict[str, Shape] = {
    name: Shape.parse(text)
    for name, text in {
        "1p": "(p,(e))",
        "2p": "(p,(p,(e)))",
        "3p": "(p,(p,(p,(e))))",
        "4p": "(p,(p,(p,(p,(e)))))",
        "2i": "(i,(p,(e)),(p,(e)))",
        "3i": "(i,(p,(e)),(p,(e)),(p,(e)))",
        "4i": "(i,(p,(e)),(p,(e)),(p,(e)),(p,(e)))",
        "pi": "(i,(p,(e)),(p,(p,(e))))",
        "ip": "(p,(i,(p,(e)),(p,(e))))",
        "2u": "(u,(p,(e)),(p,(e)))",
        "up": "(p,(u,(p,(e)),(p,(e))))",
        "2in": "(i,(p,(e)),(n,(p,(e))))",
        "3in": "(i,(p,(e)),(p,(e)),(n,(p,(e))))",
        "inp": "(p,(i,(p,(e)),(n,(p,(e)))))",
        "pin": "(i,(p,(p,(e))),(n,(p,(e))))",
        "pni": "(i,(p,(e)),(n,(p,(p,(e)))))",
    }.items()
}
_NAME_OF = {shape.canonical: name for name, shape in NAMED_TYPES.items()}

# The eight general types of the paper, in the order of its tables.
GENERAL_TYPES = {name: NAMED_TYPES[name] for name in ("1p", "2p", "2i", "3i", "pi", "ip", "2u", "up")}


def general_type(query: Query | Shape) -> str:
    """The name of the query's general type (`pi`), or the type written out where it has none."""
    general = (query if isinstance(query, Shape) else shape_of(query)).generalised.canonical
    return _NAME_OF.get(general, general.text)


def specific_type(query: Query | Shape) -> str:
    """The query's specific type in a fixed order of parts, such as `(i,(ap,(e)),(np,(nv)))`."""
    return (query if isinstance(query, Shape) else shape_of(query)).canonical.text


def specific_shapes(general: Shape) -> tuple[Shape, ...]:
    """All specific shapes of a general one, each once, those that denote entities first."""
    shapes = {shape.canonical: None for numbers in (False, True) for shape in _instances(general, numbers)}
    return tuple(shapes)


def _instances(general: Shape, of_numbers: bool) -> Iterator[Shape]:
    """The shapes that `general` can become with a target of the wanted sort."""
    match general.operator:
        case Operator.ENTITY | Operator.NUMBER:
            yield Shape(Operator.NUMBER if of_numbers else Operator.ENTITY)
        case Operator.PROJECT:
            from_entity, from_number = (
                (Operator.VALUE_OF, Operator.COMPARE) if of_numbers else (Operator.FOLLOW, Operator.HAVING_VALUE)
            )
            for part in _instances(general.parts[0], False):
                yield Shape(from_entity, (part,))
            for part in _instances(general.parts[0], True):
                yield Shape(from_number, (part,))
        case Operator.FOLLOW | Operator.VALUE_OF | Operator.HAVING_VALUE | Operator.COMPARE:
            if of_numbers == (general.operator in (Operator.VALUE_OF, Operator.COMPARE)):
                for part in _instances(general.parts[0], general.operator in (Operator.HAVING_VALUE, Operator.COMPARE)):
                    yield Shape(general.operator, (part,))
        case Operator.AND | Operator.OR | Operator.NOT:
            for parts in product(*(tuple(_instances(part, of_numbers)) for part in general.parts)):
                yield Shape(general.operator, parts)
        case _:
            assert_never(general.operator)


def shape_of(query: Query) -> Shape:
    """The shape of `query`, its parts in the order in which they stand."""
    match query:
        case Entity():
            return Shape(Operator.ENTITY)
        case Number():
            return Shape(Operator.NUMBER)
        case Follow(of=of):
            return Shape(Operator.FOLLOW, (shape_of(of),))
        case ValueOf(of=of):
            return Shape(Operator.VALUE_OF, (shape_of(of),))
        case HavingValue(of=of):
            return Shape(Operator.HAVING_VALUE, (shape_of(of),))
        case Compare(of=of):
            return Shape(Operator.COMPARE, (shape_of(of),))
        case And(parts):
            return Shape(Operator.AND, tuple(shape_of(part) for part in parts))
        case Or(parts):
            return Shape(Operator.OR, tuple(shape_of(part) for part in parts))
        case Not(of):
            return Shape(Operator.NOT, (shape_of(of),))
    assert_never(query)

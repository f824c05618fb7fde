"""What a group pattern of SPARQL holds, once its syntax is read: triples, conditions, values and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kgreckon.query.algebra import Order


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, or a blank node, which is one without a name of its own."""

    name: str

    def __str__(self) -> str:
        return "a blank node" if self.name.startswith("_:") else f"?{self.name}"


@dataclass(frozen=True, slots=True)
class Iri:
    """A name."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal: the text of a number or a date, or the label of an entity."""

    text: str
    numeric: bool


Term: TypeAlias = Variable | Iri | Literal


@dataclass(frozen=True, slots=True)
class PathStep:
    """A path of one predicate."""

    iri: str


@dataclass(frozen=True, slots=True)
class Inverse:
    """A path walked backwards (`^p`)."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """One path after another (`p/q`)."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Any of several paths (`p|q`)."""

    parts: tuple[Path, ...]


Path: TypeAlias = PathStep | Inverse | Sequence | Alternative


@dataclass(frozen=True, slots=True)
class Linear:
    """The expression `factor·leaf + offset`; the leaf is a variable or, in an expression without one, a literal."""

    factor: float
    leaf: Variable | Literal
    offset: float


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple pattern; only the pattern of everything has a variable in its middle."""

    subject: Term
    path: Path | Variable
    object: Term


@dataclass(frozen=True, slots=True)
class NumberCondition:
    """A comparison of two expressions; a tolerance is a share of both sides, as in the algebra."""

    order: Order
    left: Linear
    right: Linear
    tolerance: float


@dataclass(frozen=True, slots=True)
class Span:
    """A comparison of the distance between two expressions, `ABS(left - right)`, with a bound."""

    order: Order
    left: Linear
    right: Linear
    bound: float


@dataclass(frozen=True, slots=True)
class Same:
    """That a variable is, or is not, an entity."""

    variable: Variable
    entity: Iri
    equal: bool


@dataclass(frozen=True, slots=True)
class ValuesClause:
    """The terms that a variable may be."""

    variable: Variable
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """That a variable is a number (isNumeric) or an entity (!isLiteral)."""

    variable: Variable
    number: bool


@dataclass(frozen=True, slots=True)
class Everything:
    """That a variable is any entity."""

    variable: Variable


class BlockKind(Enum):
    """What a block does to the solutions of the group it stands in."""

    JOIN = "a group or UNION"
    EXISTS = "FILTER EXISTS"
    NOT_EXISTS = "FILTER NOT EXISTS"
    MINUS = "MINUS"


@dataclass(frozen=True, slots=True)
class Block:
    """Groups inside a group, any of which may hold, and the variables that can be seen from outside."""

    kind: BlockKind
    groups: tuple[Group, ...]
    variables: frozenset[Variable]


Element: TypeAlias = Triple | NumberCondition | Span | Same | ValuesClause | Mark | Everything | Block


@dataclass(frozen=True, slots=True)
class Group:
    """The elements between a pair of braces."""

    elements: tuple[Element, ...]

    @property
    def variables(self) -> frozenset[Variable]:
        """All variables that its elements show."""
        return frozenset(variable for element in self.elements for variable in variables_of(element))


def variables_of(element: Element) -> tuple[Variable, ...]:
    """The variables of an element, the first named first; one that stands twice comes twice."""
    match element:
        case Triple(subject, path, end):
            terms: tuple[object, ...] = (subject, path, end)
        case NumberCondition(_, left, right) | Span(_, left, right):
            terms = (left.leaf, right.leaf)
        case Block(_, _, variables):
            return tuple(sorted(variables, key=lambda variable: variable.name))
        case _:
            terms = (element.variable,)
    return tuple(term for term in terms if isinstance(term, Variable))

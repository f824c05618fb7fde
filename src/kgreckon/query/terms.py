"""Terms: what is calculated from the numbers of one thing and of others: `revenue - budget`, `population / area`.

A calculation is asked of the answers of a question, as an order is: the algebra keeps its nodes. Units are derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from kgreckon.errors import UserError
from kgreckon.query.algebra import Number, Order, Units, plain_number
from kgreckon.query.datatypes import CALENDAR, PLAIN_UNIT


class Operation(Enum):
    """How two numbers become one."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "×"
    OVER = "/"


@dataclass(frozen=True, slots=True)
class Own:
    """The values of an attribute of the thing itself."""

    attribute: int


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The values of an attribute of another thing, which is named."""

    attribute: int
    entity: int


@dataclass(frozen=True, slots=True)
class Calculated:
    """A sum, difference, product or ratio."""

    operation: Operation
    left: Term
    right: Term


Term: TypeAlias = Own | Elsewhere | Number | Calculated


@dataclass(frozen=True, slots=True)
class TermComparison:
    """That one term stands to another as an order says, for some values where there are several."""

    left: Term
    order: Order
    right: Term


def terms_in(term: Term) -> Iterator[Term]:
    """The parts of a term that are not calculated."""
    if isinstance(term, Calculated):
        yield from terms_in(term.left)
        yield from terms_in(term.right)
    else:
        yield term


def own_attributes(*terms: Term) -> tuple[int, ...]:
    """The attributes of the thing itself that some terms use, each once."""
    found = (part.attribute for term in terms for part in terms_in(term) if isinstance(part, Own))
    return tuple(dict.fromkeys(found))


def of_thing(term: Term, entity: int) -> Term:
    """The same with the values of a thing that is named in the place of the thing's own."""
    match term:
        case Own(attribute):
            return Elsewhere(attribute, entity)
        case Calculated(operation, left, right):
            return Calculated(operation, of_thing(left, entity), of_thing(right, entity))
    return term


def own_of(term: Term, entity: int) -> Term:
    """The same as said of a thing: its own values where it was named."""
    match term:
        case Elsewhere(attribute, named) if named == entity:
            return Own(attribute)
        case Calculated(operation, left, right):
            return Calculated(operation, own_of(left, entity), own_of(right, entity))
    return term


@dataclass(frozen=True, slots=True)
class Dimension:
    """A derived unit: units that are multiplied, and units that they are divided by, each sorted."""

    above: tuple[str, ...]
    below: tuple[str, ...] = ()

    @staticmethod
    def of(unit: str) -> Dimension:
        """The dimension of a unit that is given: `persons per square kilometre` has two parts."""
        above, _, below = unit.partition(" per ")
        return Dimension(_parts(above), _parts(below))

    def __mul__(self, other: Dimension) -> Dimension:
        above, below = [*self.above, *other.above], [*self.below, *other.below]
        for unit in list(above):
            same = [other for other in below if one_of(other) == one_of(unit)]
            if same:
                above.remove(unit)
                below.remove(same[0])
        return Dimension(tuple(sorted(above)), tuple(sorted(below)))

    def inverse(self) -> Dimension:
        """One over it."""
        return Dimension(self.below, self.above)

    def __str__(self) -> str:
        above = " × ".join(self.above) or PLAIN_UNIT
        return above if not self.below else f"{above} per {' × '.join(map(one_of, self.below))}"


def _parts(units: str) -> tuple[str, ...]:
    return () if units in ("", PLAIN_UNIT) else tuple(sorted(units.split(" × ")))


def one_of(unit: str) -> str:
    """The name of one of a unit: `square kilometre`."""
    return unit[:-1] if unit.endswith("s") and not unit.endswith("ss") and len(unit) > 2 else unit


def unit_of(term: Term, units: Units) -> str:
    """The unit of a term; raises a UserError where it cannot be meant."""
    return str(dimension(term, units))


def dimension(term: Term, units: Units) -> Dimension:
    """The unit of a term, in its parts; raises a UserError where it cannot be meant."""
    match term:
        case Own(attribute) | Elsewhere(attribute, _):
            if not units.knows("attribute", attribute):
                raise UserError(f"the graph has no attribute #{attribute}")
            return Dimension.of(units.attribute_unit(attribute))
        case Number(_, unit):
            return Dimension.of(unit)
        case Calculated(operation, left, right):
            return _calculated(operation, dimension(left, units), dimension(right, units))
    assert_never(term)


def _calculated(operation: Operation, left: Dimension, right: Dimension) -> Dimension:
    dated = [str(one) in CALENDAR for one in (left, right)]
    match operation:
        case Operation.TIMES | Operation.OVER:
            if any(dated):
                raise UserError("a date is neither multiplied nor divided; the years between two dates are")
            return left * (right if operation is Operation.TIMES else right.inverse())
        case Operation.MINUS if all(dated):
            return Dimension(("years",))
        case Operation.PLUS | Operation.MINUS:
            if dated[0] and str(right) in ("years", PLAIN_UNIT):
                return left
            if str(left) != str(right):
                verb = "added" if operation is Operation.PLUS else "subtracted"
                raise UserError(f"{right} cannot be {verb} {'to' if verb == 'added' else 'from'} {left}")
            return left
    assert_never(operation)


def check_terms(comparison: TermComparison, units: Units) -> None:
    """Raise a UserError where two terms cannot be compared."""
    left, right = (dimension(term, units) for term in (comparison.left, comparison.right))
    if str(left) != str(right):
        raise UserError(
            f"{term_text(comparison.left, units)} is measured in {left}, "
            f"{term_text(comparison.right, units)} in {right}: they cannot be compared"
        )


def term_text(term: Term, units: Units) -> str:
    """A term for messages and headings: `revenue - budget`."""
    match term:
        case Own(attribute) | Elsewhere(attribute, _):
            return units.attribute_name(attribute)
        case Number(value, _):
            return plain_number(value)
        case Calculated(operation, left, right):
            shown = [f"({term_text(one, units)})" if isinstance(one, Calculated) else term_text(one, units) for one in
                     (left, right)]  # fmt: skip
            return f"{shown[0]} {operation.value} {shown[1]}"
    assert_never(term)

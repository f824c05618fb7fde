"""Calculations in words: `where revenue - budget > 50 million dollars`, `by population / area`; read and written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn, Protocol, assert_never

from kgreckon.errors import UserError
from kgreckon.query.algebra import Entity, Number, Order, Query
from kgreckon.query.datatypes import CALENDAR
from kgreckon.query.terms import (
    Calculated,
    Dimension,
    Elsewhere,
    Operation,
    Own,
    Term,
    TermComparison,
    dimension,
    one_of,
    own_attributes,
)
from kgreckon.query.words.comparatives import ComparativeReader
from kgreckon.query.words.cursor import ARTICLES, WordsError
from kgreckon.query.words.measures import ORDERS
from kgreckon.query.words.quantities import converted

_SUMS = {"+": Operation.PLUS, "plus": Operation.PLUS, "-": Operation.MINUS, "−": Operation.MINUS,
         "minus": Operation.MINUS}  # fmt: skip
_PRODUCTS = {"×": Operation.TIMES, "*": Operation.TIMES, "·": Operation.TIMES, "times": Operation.TIMES,
             "/": Operation.OVER, "÷": Operation.OVER, "divided by": Operation.OVER, "per": Operation.OVER}  # fmt: skip
_MULTIPLES = {"twice": 2.0, "double": 2.0, "half": 0.5, "three times": 3.0, "triple": 3.0}
_SIGNS = {Order.EQUAL: "=", Order.UNEQUAL: "≠", Order.LESS: "<", Order.GREATER: ">", Order.AT_MOST: "≤",
          Order.AT_LEAST: "≥"}  # fmt: skip
_OPEN = ""  # the unit of a number that has none yet
_DEEPEST = 20
_FIRST_YEAR = 500  # from which on a number is taken for a year, where it is subtracted from a date


class CalculationReader(ComparativeReader):
    """Reads terms, and their comparisons, which are asked of the answers alone."""

    where: tuple[TermComparison, ...] = ()
    _brackets_in_term = 0

    def calculation(self, depth: int) -> bool:
        """Read a comparison of what is calculated here, if one stands here."""
        start = self.at
        try:
            found = self._comparison()
        except WordsError:
            found = []
        if not found or self.low() == "of":  # of what is no single thing: `latitude > the latitude of a city in Japan`
            self.at = start
            return False
        if depth != self.asked.depth or self.is_bracketed(start):
            raise self.error("what is calculated is asked of the answers: begin it with a comma, at the end", start)
        try:
            self.asked.where += tuple(self._typed_comparison(each) for each in found)
        except UserError as error:
            raise self.error(str(error), start) from None
        return True

    def calculated(self) -> Calculated | None:
        """A sum, difference, product or ratio of the attributes of a thing here, if one stands here."""
        start = self.at
        try:
            term = self._sum()
        except WordsError:
            term = None
        if not isinstance(term, Calculated) or not own_attributes(term):
            self.at = start
            return None
        try:
            typed = self._typed(term, None)
            dimension(typed, self.vocabulary)
        except UserError as error:
            raise self.error(str(error), start) from None
        assert isinstance(typed, Calculated)
        return typed

    def _comparison(self) -> list[TermComparison]:
        left = self._sum()
        self.take("is", "are", "was", "were")
        if self.take("between"):
            low = self._sum()
            self.expect("and")
            found = [TermComparison(left, Order.AT_LEAST, low), TermComparison(left, Order.AT_MOST, self._sum())]
            return found if isinstance(left, Calculated) else []
        word = self.take(*ORDERS, "=")
        if word is None:
            return []
        order = Order.EQUAL if word == "=" else ORDERS[word]
        right = self._sum()
        if isinstance(left, Own) and _is_simple(right):
            return []
        if word in ("≈", "~", "about", "around", "approximately", "roughly", "≉"):
            raise self.error("what is calculated is compared by <, >, ≤, ≥, = or ≠")
        return [TermComparison(left, order, right)] if own_attributes(left, right) else []

    def _sum(self) -> Term:
        term = self._product()
        while word := self.take(*_SUMS):
            term = Calculated(_SUMS[word], term, self._product())
        return term

    def _product(self) -> Term:
        term = self._factor_of_term()
        while word := self.take(*_PRODUCTS):
            term = Calculated(_PRODUCTS[word], term, self._factor_of_term())
        return term

    def _factor_of_term(self) -> Term:
        if self.take("("):
            self._brackets_in_term += 1
            if self._brackets_in_term > _DEEPEST:
                self._no_term()
            term = self._sum()
            self.expect(")")
            self._brackets_in_term -= 1
            return term
        if word := self.take(*_MULTIPLES):
            return Calculated(Operation.TIMES, Number(_MULTIPLES[word], _OPEN), self._factor_of_term())
        if self.is_number() or (self.low() in ("-", "−", "$", "€", "£") and self.is_number(self.at + 1)):
            return self._number_of_term()
        named, end = self.entity_at(self.at)
        if named and len(named) == 1 and self.sees("'s", "’s", place=end):
            self.at = end + 1
            return Elsewhere(self._attribute_here(), named[0])
        self.take(*ARTICLES, "its", "their")
        attribute = self._attribute_here()
        if self.low() != "of":
            return Own(attribute)
        named, end = self.entity_at(self.at + 1)
        if len(named) != 1:
            return Own(attribute)  # average revenue - budget of films
        self.at = end
        return Elsewhere(attribute, named[0])

    def _attribute_here(self) -> int:
        nouns, end = self.noun_at(self.at)
        attributes = [noun.id for noun in nouns if noun.attribute]
        if len(attributes) != 1:
            self._no_term()
        self.at = end
        return attributes[0]

    def _number_of_term(self) -> Number:
        """A number with the unit that stands behind it, such as `500 persons per square kilometre`."""
        start, units = self.at, list(dict.fromkeys(self.lexicon.units.values()))
        for unit in units:
            self.at = start
            amount = self._amount(unit)
            if amount is None or amount.unit is None:
                continue
            if amount.unit != unit and converted(amount.unit, unit) is None:
                continue
            number = self._number(amount, unit, start)
            beyond = self.at
            if self.take("per", "/"):
                for below in units:
                    size = self._unit_below(below)
                    if size is not None:
                        joint = Dimension((number.unit,)) * Dimension((), (below,))
                        return Number(number.value / size, str(joint))
            self.at = beyond
            return number
        self.at = start
        amount = self._amount(None)
        if amount is None:
            self._no_term()
        if "-" in amount.text:  # a date
            return self._number(amount, "date", start)
        value = float(amount.text.replace(",", "")) * amount.magnitude * (-1 if amount.negative else 1)
        if not math.isfinite(value):
            raise self.error(f"{amount.text!r} is too large for a number", start)
        return Number(value, _OPEN)

    def _unit_below(self, unit: str) -> float | None:
        """How many of a unit the one is that stands here in the singular, moving past it."""
        for end in range(min(self.at + 4, len(self.tokens)), self.at, -1):
            text = self.span(self.at, end)
            size = 1.0 if text.casefold() in (unit.casefold(), one_of(unit).casefold()) else converted(text, unit)
            if size is not None:
                self.at = end
                return size
        return None

    def _no_term(self) -> NoReturn:
        raise self.error("expected an attribute or a number")

    # ------------------------------------------------------------------------------------------------------- units

    def _typed_comparison(self, each: TermComparison) -> TermComparison:
        known = self._known(each.left) or self._known(each.right)
        return TermComparison(self._typed(each.left, known), each.order, self._typed(each.right, known))

    def _known(self, term: Term) -> Dimension | None:
        """The unit of a term, if a part of it has one."""
        match term:
            case Number(_, unit):
                return None if unit == _OPEN else Dimension.of(unit)
            case Calculated(Operation.PLUS | Operation.MINUS, left, right):
                if self._known(left) is None and self._known(right) is None:
                    return None
        return dimension(self._typed(term, None), self.vocabulary)

    def _typed(self, term: Term, wanted: Dimension | None) -> Term:
        """The same with a unit for each number: that of what it is added to or compared with."""
        match term:
            case Number(value, unit) if unit == _OPEN:
                return Number(value, "number" if wanted is None else str(wanted))
            case Calculated(Operation.PLUS | Operation.MINUS as operation, left, right):
                known = self._known(left) or self._known(right) or wanted
                other = known
                if str(known) in CALENDAR and isinstance(right, Number):  # less 10 years, or the years since 1930
                    is_date = operation is Operation.MINUS and right.value >= _FIRST_YEAR
                    other = known if is_date else Dimension(("years",))
                return Calculated(operation, self._typed(left, known), self._typed(right, other))
            case Calculated(operation, left, right):
                return Calculated(operation, self._typed(left, None), self._typed(right, None))
        return term


def _is_simple(term: Term) -> bool:
    """Whether the algebra holds a term to compare with: a number, or a multiple of another thing's and an offset."""
    if isinstance(term, Calculated) and term.operation in (Operation.PLUS, Operation.MINUS):
        return isinstance(term.right, Number) and _is_simple(term.left)
    if isinstance(term, Calculated) and term.operation is Operation.TIMES:
        return isinstance(term.left, Number) and isinstance(term.right, Elsewhere)
    return isinstance(term, Number | Elsewhere)


class NamesParts(Protocol):
    """What writes the names of attributes and things, as writers of sentences do."""

    def attribute(self, attribute: int) -> str:
        """The name of an attribute."""
        ...

    def things(self, query: Query) -> str:
        """A set as a noun phrase."""
        ...


def term_words(term: Term, names: NamesParts, numbers: Callable[[Number], str], inner: bool = False) -> str:
    """A term that reads back as the same."""
    match term:
        case Own(attribute):
            return names.attribute(attribute)
        case Elsewhere(attribute, entity):
            return f"the {names.attribute(attribute)} of {names.things(Entity(entity))}"
        case Calculated(operation, left, right):
            parts = [term_words(part, names, numbers, True) for part in (left, right)]
            text = f"{parts[0]} {operation.value} {parts[1]}"
            return f"({text})" if inner else text
        case Number(value, unit):
            text = numbers(term)
            if unit in CALENDAR:
                return text
            if value.is_integer() and 1e4 <= abs(value) < 1e15:
                text = f"{int(value):,}"
            return text if unit == "number" or "×" in unit else f"{text} {unit}"  # it is derived again
    assert_never(term)


def comparison_words(comparison: TermComparison, names: NamesParts, numbers: Callable[[Number], str]) -> str:
    """`revenue - budget > 50000000 US dollars`."""
    left, right = (term_words(term, names, numbers) for term in (comparison.left, comparison.right))
    return f"{left} {_SIGNS[comparison.order]} {right}"

"""Conditions on numbers: `> 2 × the population of Belgium`, `between 1 and 5 million dollars`."""

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import pairwise

from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    ValueOf,
)
from kgreckon.query.words.amounts import Amount, AmountReader, plain_size
from kgreckon.query.words.cursor import is_numbers

ORDERS: dict[str, Order] = {
    ">=": Order.AT_LEAST, "≥": Order.AT_LEAST, "at least": Order.AT_LEAST, "no less than": Order.AT_LEAST,
    "not less than": Order.AT_LEAST, "no fewer than": Order.AT_LEAST, "since": Order.AT_LEAST,
    "<=": Order.AT_MOST, "≤": Order.AT_MOST, "at most": Order.AT_MOST, "no more than": Order.AT_MOST,
    "not more than": Order.AT_MOST, "up to": Order.AT_MOST, "until": Order.AT_MOST,
    ">": Order.GREATER, "above": Order.GREATER, "over": Order.GREATER, "more than": Order.GREATER,
    "greater than": Order.GREATER, "higher than": Order.GREATER, "larger than": Order.GREATER,
    "bigger than": Order.GREATER, "longer than": Order.GREATER, "taller than": Order.GREATER,
    "later than": Order.GREATER, "after": Order.GREATER,
    "<": Order.LESS, "below": Order.LESS, "under": Order.LESS, "less than": Order.LESS, "fewer than": Order.LESS,
    "smaller than": Order.LESS, "lower than": Order.LESS, "shorter than": Order.LESS, "earlier than": Order.LESS,
    "before": Order.LESS,
    "≈": Order.EQUAL, "~": Order.EQUAL, "about": Order.EQUAL, "around": Order.EQUAL, "approximately": Order.EQUAL,
    "roughly": Order.EQUAL, "==": Order.EQUAL,
    "!=": Order.UNEQUAL, "≠": Order.UNEQUAL, "other than": Order.UNEQUAL, "different from": Order.UNEQUAL,
    "≉": Order.UNEQUAL,
}  # fmt: skip
_EXACT = ("==", "!=", "≠", "other than", "different from")  # no tolerance
_EQUALS = ("=", "equal to", "exactly", "the same as", "same as", "of", "as")
_FACTORS = {"twice": 2.0, "double": 2.0, "half": 0.5, "three times": 3.0, "triple": 3.0, "four times": 4.0}
OPPOSITE = {
    Order.LESS: Order.AT_LEAST, Order.GREATER: Order.AT_MOST, Order.AT_MOST: Order.GREATER,
    Order.AT_LEAST: Order.LESS, Order.EQUAL: Order.UNEQUAL, Order.UNEQUAL: Order.EQUAL,
}  # fmt: skip
_MISSING = ("missing", "unknown", "not known", "not stated", "unstated", "not given")
_TO = ("to", "until", "-", "–", "—")
_KNOWN = ("known", "stated", "given")
_TIMES = ("×", "*", "times", "x", "·")


class ValueReader(AmountReader):
    """Reads sets of numbers."""

    @abstractmethod
    def part(self, depth: int) -> Query:
        """One set, of entities or of numbers."""

    # -------------------------------------------------------------------------------------------------- conditions

    def value_begins(self, place: int | None = None) -> bool:
        """Whether a condition on a number begins here."""
        place = self.at if place is None else place
        if self.sees("not", place=place):
            place += 1
        return self.sees(*ORDERS, "=", "between", "within", "equal to", "exactly", place=place) is not None

    def value(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        """A condition on the values of an attribute, as the set of numbers that meet it."""
        parts = [self._all_of(attribute, unit, depth)]
        while self.sees("or") and self._goes_on(self.at + 1):
            self.at += 1
            parts.append(self._all_of(attribute, unit, depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all_of(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        parts = [self._one(attribute, unit, depth)]
        while self.sees("and") and self._goes_on(self.at + 1):
            self.at += 1
            parts.append(self._one(attribute, unit, depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _goes_on(self, place: int) -> bool:
        """Whether what stands after an `and` or `or` is about the same number: in brackets anything is."""
        return self.value_begins(place) or (self._in_value and self.low(place) in ("(", "numbers"))

    _in_value = False

    def _one(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        negated = self.take("not") is not None
        found = self._condition(attribute, unit, depth)
        return Not(found) if negated else found

    def _condition(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        self.take("of a", "of an", "of")  # a population of at least 5 million
        if self.take("between", "from"):
            return self._between(attribute, unit, depth)
        if self.take("within"):
            return self._within(attribute, unit, depth)
        word = self.take(*ORDERS)
        if word is None:
            if self.take(*_EQUALS) is None:
                if self.sees("("):
                    return self.bracketed_value(attribute, unit)
                if self._range_ahead(unit):
                    return self._between(attribute, unit, depth)
            comparison, of = self.operand(attribute, unit, depth)
            if comparison is None:
                return of
            return Compare(Comparison(Order.EQUAL, comparison.factor, comparison.offset, 0.0), of)
        order, start = ORDERS[word], self.at
        every = self.take("every", "all", "each") is not None
        comparison, of = self.operand(attribute, unit, depth)
        every = every or self.is_of_every(start)
        if comparison is None:
            comparison = Comparison(order)
        if word in ("after", "before") and isinstance(of, Number) and self._is_bare_year(start, of):
            order, of = (Order.AT_LEAST, Number(of.value + 1, of.unit)) if word == "after" else (order, of)
        tolerance = 0.0 if word in _EXACT else 0.01
        if order in (Order.EQUAL, Order.UNEQUAL) and word not in _EXACT and self.take("within"):
            tolerance = self._share()
        if every:
            return Not(Compare(Comparison(OPPOSITE[order], comparison.factor, comparison.offset, tolerance), of))
        return Compare(Comparison(order, comparison.factor, comparison.offset, tolerance), of)

    def is_of_every(self, start: int) -> bool:
        """Whether what was read from a place on is of every thing of a kind: `the latitude of every city in Norway`."""
        words = [token.low for token in self.tokens[start : self.at]]
        return any(one == "of" and other in ("every", "all", "each") for one, other in pairwise(words))

    def bracketed_value(self, attribute: int | None, unit: str | None) -> Query:
        """A condition in brackets."""
        before, self._in_value = self._in_value, True
        self.expect("(")
        self._deeper()
        found = self.value(attribute, unit, 0)
        self.expect(")")
        self._in_value = before
        return found

    def _deeper(self) -> None:
        self.brackets = getattr(self, "brackets", 0) + 1
        if self.brackets > 200:
            raise self.error("too many brackets")

    def _is_bare_year(self, place: int, number: Number) -> bool:
        return number.unit in ("date", "dateTime", "gYear", "gYearMonth") and "-" not in self.low(place)

    def _share(self) -> float:
        percent = self.take("share") is None
        if not self.is_number():
            raise self.error("expected a share, such as 5 %")
        text = self.tokens[self.at].text.replace(",", "")
        self.at += 1
        if self.take("%", "percent"):
            return float(text) / 100
        if percent:
            raise self.error("expected '%'")
        return float(text)

    def _range_ahead(self, unit: str | None) -> bool:
        """Whether a range begins here: `9 to 11 million`, `9–11 million`."""
        start = self.at
        amount = self._amount(unit)
        found = amount is not None and self.take(*_TO) is not None and self.is_number()
        self.at = start
        return found

    def _and(self) -> None:
        """What stands between the two bounds of a range."""
        if self.take(*_TO) is None:
            self.expect("and", " between the two bounds")

    def _between(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        start = self.at
        amount = self._amount(unit)
        if amount is None:
            low = self._bound(attribute, unit, depth)
            self._and()
            return And((Compare(Comparison(Order.AT_LEAST), low), self._upper(attribute, unit, depth)))
        self._and()
        other = self._amount(unit)
        if other is not None:
            magnitude, own_unit = amount.magnitude, amount.unit
            if amount.unit is None:
                own_unit = other.unit
                if amount.magnitude == 1 and other.magnitude != 1 and plain_size(amount) < plain_size(other):
                    magnitude = other.magnitude
            amount = amount._replace(magnitude=magnitude, unit=own_unit)
            low = self._number(amount, unit, start)
            high = self._number(other, unit, start)
            upper = Compare(Comparison(Order.AT_MOST), high)
            if self._is_bare_year(other.place, high) and high.value.is_integer():  # all of that year
                upper = Compare(Comparison(Order.LESS), Number(high.value + 1, high.unit))
            return And((Compare(Comparison(Order.AT_LEAST), low), upper))
        low = self._number(amount, unit, start)
        return And((Compare(Comparison(Order.AT_LEAST), low), self._upper(attribute, unit, depth)))

    def _bound(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        return self.one_number(attribute, unit, depth)

    def _upper(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        return Compare(Comparison(Order.AT_MOST), self._bound(attribute, unit, depth))

    def _within(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        distance = self._amount(unit)
        if distance is None:
            raise self.error("expected a distance, such as 2 degrees")
        percent = distance.unit is None and self.take("%", "percent") is not None
        self.expect("of")
        start = self.at
        of = self.one_number(attribute, unit, depth)
        if percent:
            return Compare(Comparison(Order.EQUAL, tolerance=float(distance.text) / 100), of)
        return self.near_to(distance, of, start)

    def one_number(self, attribute: int | None, unit: str | None, depth: int) -> Query:
        """What is compared with where no factor or sum may stand."""
        comparison, of = self.operand(attribute, unit, depth)
        if comparison is not None:
            raise self.error("no factor or sum may stand here", self.at - 1)
        return of

    def near_to(self, distance: Amount, of: Query, place: int) -> Query:
        """The numbers no further than a distance from one number."""
        single = isinstance(of, Number) or (isinstance(of, ValueOf) and isinstance(of.of, Entity))
        if not single:
            raise self.error("'within … of' takes one number: the value of one thing, or a number", place)
        unit = of.unit if isinstance(of, Number) else self._unit_of(of)
        plus = self._number(distance, unit, distance.place).value
        return And(
            (
                Compare(Comparison(Order.AT_LEAST, offset=-plus), of),
                Compare(Comparison(Order.AT_MOST, offset=plus), of),
            )
        )

    def _unit_of(self, query: Query) -> str | None:
        return self.vocabulary.attribute_unit(query.attribute) if isinstance(query, ValueOf) else None

    # ---------------------------------------------------------------------------------------------------- operands

    def operand(self, attribute: int | None, unit: str | None, depth: int) -> tuple[Comparison | None, Query]:
        """What is compared with: `2 × the population of France + 5`, as a factor, an offset and a set of numbers."""
        factor, of = self._factor(), None
        self.take("as large as", "as high as", "as long as", "as many as", "as much as", "as big as")
        if self.sees("("):
            of = self.bracketed_value(attribute, unit) if self._number_in_brackets() else self.part(max(1, depth))
        else:
            amount = None if self._is_name() else self._amount(unit)
            if amount is not None:
                of = self._number(amount, unit, amount.place)
            elif self.take("that of", "those of"):
                of = self.part(depth)
            else:
                of = self.part(depth)
        if not is_numbers(of):
            if attribute is None:
                raise self.error("expected a number")
            of = ValueOf(attribute, of)
        offset = self._offset(unit or self._unit_of(of))
        if factor is None and offset is None:
            return None, of
        return Comparison(Order.EQUAL, 1.0 if factor is None else factor, offset or 0.0), of

    def _number_in_brackets(self) -> bool:
        """Whether the brackets that open here are about a number."""
        place = self.at
        while self.low(place) in ("(", "not"):
            place += 1
        return self.value_begins(place) or self.is_number(place) or self.low(place) in ("numbers", "-", "−")

    def _is_name(self) -> bool:
        """Whether a number here is but the beginning of a name."""
        _, end = self.entity_at(self.at)
        return end > self.at + 1 and not self.is_quoted()

    def _factor(self) -> float | None:
        word = self.take(*_FACTORS)
        if word is not None:
            self.take("of")
            return _FACTORS[word]
        sign = self.sees("-", "−") is not None
        place, share = self.at + sign, 1.0
        if not self.is_number(place):
            return None
        text = self.tokens[place].text.replace(",", "")
        if (percent := self.sees("% of", "percent of", "per cent of", place=place + 1)) is not None:
            self.at, share = place + 2 + percent.count(" "), 0.01
        elif self.sees(*_TIMES, place=place + 1) is not None:
            self.at = place + 2
        else:
            return None
        try:
            factor = float(text)
        except ValueError:
            raise self.error(f"{text!r} is not a factor", place) from None
        if not math.isfinite(factor):
            raise self.error(f"{text!r} is too large", place)
        factor = float(f"{factor * share:.15g}") if share != 1 else factor
        return -factor if sign else factor

    def _offset(self, unit: str | None) -> float | None:
        sign = self.sees("+", "-", "−", "plus", "minus")
        if sign is None or not self.is_number(self.at + 1):
            return None
        self.at += 1
        amount = self._amount(unit)
        assert amount is not None  # a number stands there
        plus = self._number(amount, unit or "number", amount.place).value
        return plus if sign in ("+", "plus") else -plus

    # ----------------------------------------------------------------------------------------- missing and known

    def whether_known(self, attribute: int) -> Query | None:
        """The things whose attribute is missing, or known, where the words here say so."""
        has_it = HavingValue(attribute, anything_in(self.vocabulary.attribute_unit(attribute)))
        if self.take(*_MISSING):
            return Not(has_it)
        return has_it if self.take(*_KNOWN) else None


def anything_in(unit: str) -> Query:
    """Every value of a unit: those up to zero, and those above."""
    zero = Number(0.0, unit)
    return Or((Compare(Comparison(Order.AT_MOST), zero), Compare(Comparison(Order.GREATER), zero)))


def is_anything(query: Query) -> bool:
    """Whether a set of numbers plainly holds all there are in a unit."""
    match query:
        case Or((Compare(comparison, Number(value, unit)), Compare())):
            return value == 0 and comparison == Comparison(Order.AT_MOST) and query == anything_in(unit)
    return False

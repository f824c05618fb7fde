"""Comparisons that do not name the attribute first: `more than 1 million people`, `a larger area than France`."""

from __future__ import annotations

from collections.abc import Sequence

from kgreckon.query.algebra import Compare, Comparison, HavingValue, Not, Order, Query
from kgreckon.query.words.cursor import WordsError
from kgreckon.query.words.measures import ORDERS
from kgreckon.query.words.quantities import converted
from kgreckon.query.words.verbs import VerbReader

_MORE = {"higher": True, "larger": True, "greater": True, "bigger": True, "longer": True, "later": True, "more": True,
         "lower": False, "smaller": False, "less": False, "shorter": False, "earlier": False,
         "fewer": False}  # fmt: skip
SIZES = {"larger than": True, "bigger than": True, "smaller than": False}


class ComparativeReader(VerbReader):
    """Reads comparisons by a unit, or by a word such as `larger`."""

    def comparative(self, depth: int) -> Query | None:
        """`higher than 4 km`, `larger than France`, `above 3 km`."""
        if word := self.take(*SIZES):
            return self._larger(SIZES[word], depth)
        if word := self.take(*self.lexicon.comparatives):
            return self._compared(word, depth)
        return self._of_quantity() if self.sees(*ORDERS) else None

    def _of_quantity(self) -> Query | None:
        """`more than 1 million people`, `at least 3 km high`: the attribute is known by its unit."""
        start, found = self.at, []
        for unit in dict.fromkeys(self.lexicon.units.values()):
            self.at = start
            self.take(*ORDERS)
            amount = self._amount(unit)
            if amount is not None and amount.unit is not None and converted(amount.unit, unit) is not None:
                found.append(unit)
        self.at = start
        attributes = self.lexicon.measured_in(found)
        if not attributes:
            return None
        if self.sees("above", "below"):
            attributes = [one for one in self.lexicon.measures["height"] if one in attributes] or attributes
        attributes = self._usual(attributes)
        if len(attributes) > 1:
            names = [self.vocabulary.attribute_name(one) for one in attributes]
            raise self.error(f"of which attribute? Write its name before the number: {', '.join(names)}", start)
        query = HavingValue(attributes[0], self.value(attributes[0], self.vocabulary.attribute_unit(attributes[0]), 1))
        self.take("high", "tall", "long", "deep", "old", "heavy")
        return query

    def _usual(self, attributes: Sequence[int]) -> list[int]:
        """Of some attributes those that the things spoken of have."""
        held = None if self.kind is None else self.lexicon.held_by(self.kind)
        return [one for one in attributes if held is None or one in held] or list(attributes)

    def _size(self, place: int) -> int:
        """The attribute that says how large the things spoken of are."""
        attributes = [] if self.kind is None else self._usual(self.lexicon.measures["size"])
        if len(attributes) == 1:
            return attributes[0]
        raise self.error(self.which_attribute(attributes), place)

    def _larger(self, more: bool, depth: int) -> Query:
        """`larger than France`, or `larger than France by area`."""
        start, before, self.asked.ranked = self.at, self.asked.ranked, False
        try:
            self.part(depth + 1)
            named = self._compared_by()
        except WordsError:
            named = None
        self.at, self.asked.ranked = start, before
        found = self._than(self._size(start - 2) if named is None else named, more, depth)
        if named is not None:
            self._compared_by()
        return found

    def _compared_by(self) -> int | None:
        """`by area`, `in area`: what things are compared by, moving past it."""
        attributes, end = self.noun_at(self.at + 1) if self.sees("by", "in") else ([], 0)
        attributes = [noun for noun in attributes if noun.attribute]
        if len(attributes) != 1:
            return None
        self.at = end
        return attributes[0].id

    def which_attribute(self, attributes: Sequence[int]) -> str:
        """What is said where it is not clear what things are compared by."""
        names = [f"'by {self.lexicon.attributes[one]}'" for one in attributes[:3]] or ["'by population'"]
        return f"by which attribute? Write for instance {' or '.join(names)}"

    def _more_of(self, depth: int) -> Query | None:
        """`a larger population than Germany`."""
        start = self.at
        word = self.take(*_MORE)
        nouns, end = self.noun_at(self.at) if word is not None else ([], self.at)
        attributes = [noun for noun in nouns if noun.attribute]
        if word is None or not attributes or self.low(end) != "than":
            self.at = start
            return None
        self.at = end + 1
        return self._than(self._one_noun(attributes, None, end - 1).id, _MORE[word], depth)

    def _compared(self, word: str, depth: int) -> Query:
        """`higher than 4 km`, `north of Oslo`."""
        return self._than(*self.lexicon.comparatives[word], depth)

    def _than(self, attribute: int, more: bool, depth: int) -> Query:
        """The things whose attribute is more, or less, than what stands here."""
        start, every = self.at, self.take("every", "all", "each") is not None
        found, of = self.operand(attribute, self.vocabulary.attribute_unit(attribute), depth)
        every = every or self.is_of_every(start)
        order = (Order.AT_MOST if every else Order.GREATER) if more else (Order.AT_LEAST if every else Order.LESS)
        found = Comparison(order) if found is None else Comparison(order, found.factor, found.offset)
        return HavingValue(attribute, Not(Compare(found, of)) if every else Compare(found, of))

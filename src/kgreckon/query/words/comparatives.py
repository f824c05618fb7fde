"""Comparisons that do not name the attribute first: `more than 1 million people`, `a larger area than France`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from kgreckon.query.algebra import Compare, Comparison, HavingValue, Not, Order, Query
from kgreckon.query.question import Question
from kgreckon.query.words.cursor import RESERVED, WordsError
from kgreckon.query.words.measures import ORDERS
from kgreckon.query.words.quantities import converted
from kgreckon.query.words.verbs import VerbReader

_MORE = {"higher": True, "larger": True, "greater": True, "bigger": True, "longer": True, "later": True, "more": True,
         "lower": False, "smaller": False, "less": False, "shorter": False, "earlier": False,
         "fewer": False}  # fmt: skip
SUPERLATIVES = {
    "largest": True, "biggest": True, "greatest": True, "highest": True, "longest": True, "latest": True,
    "newest": True, "smallest": False, "lowest": False, "shortest": False, "least": False, "earliest": False,
    "oldest": False,
}  # fmt: skip
_ORDINALS_IN_TEXT = "second third fourth fifth sixth seventh eighth ninth tenth"
ORDINALS = {word: number for number, word in enumerate(_ORDINALS_IN_TEXT.split(), start=2)}
SIZES = {"larger than": True, "bigger than": True, "smaller than": False}


class ComparativeReader(VerbReader):
    """Reads comparisons by a unit, or by a word such as `larger`."""

    def comparative(self, depth: int) -> Query | None:
        """`higher than 4 km`, `larger than France`, `above 3 km`."""
        if word := self.take(*SIZES):
            return self._larger(SIZES[word], depth)
        if word := self.take(*self.lexicon.comparatives):
            return self._compared(word, depth)
        if (word := self.sees(*_MORE)) and self.sees("in", "by", place=self.at + 1):
            attributes, end = self.measured_at(self.at + 2)
            if len(attributes) == 1 and self.low(end) == "than":  # larger in area than France
                self.at = end + 1
                return self._than(attributes[0], _MORE[word], depth)
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
        attribute = self.one_of_measured(self._usual(attributes), start)
        query = HavingValue(attribute, self.value(attribute, self.vocabulary.attribute_unit(attribute), 1))
        self.take("high", "tall", "long", "deep", "old", "heavy")
        return query

    def _usual(self, attributes: Sequence[int]) -> list[int]:
        """Of some attributes those that the things spoken of have."""
        held = self.held_here()
        return [one for one in attributes if held is None or one in held] or list(attributes)

    def measured_at(self, place: int) -> tuple[list[int], int]:
        """The attributes that a noun here names, or that are measured in the unit it names: `more people`."""
        nouns, end = self.noun_at(place)
        attributes = [noun.id for noun in nouns if noun.attribute]
        if attributes or not self.low(place).isalpha() or self.low(place) in RESERVED:
            return attributes, end
        units = [unit for unit in set(self.lexicon.units.values()) if converted(self.low(place), unit) is not None]
        return self._usual(self.lexicon.measured_in(units)), place + 1

    def one_of_measured(self, attributes: Sequence[int], place: int) -> int:
        """The one attribute of some that is meant."""
        if len(attributes) > 1:
            names = [self.vocabulary.attribute_name(one) for one in attributes]
            raise self.error(f"of which attribute? Write its name: {', '.join(names)}", place)
        return attributes[0]

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
        whole = f"{self.text.rstrip(' ?!.')} {names[0][1:-1]}"
        example = f": {whole}" if attributes and self.is_question(whole) else ""
        return f"by which attribute? Write for instance {' or '.join(names)}{example}"

    _is_suggestion = False

    def is_question(self, text: str) -> bool:
        """Whether a text can be asked, which a message is about to suggest."""
        if self._is_suggestion:
            return False
        reader = type(self)(text, self.lexicon)
        reader._is_suggestion = True
        try:
            reader.question()
        except WordsError:
            return False
        return True

    @abstractmethod
    def question(self) -> Question:
        """The question, to the end of the text."""

    def _more_of(self, depth: int) -> Query | None:
        """`a larger population than Germany`."""
        start = self.at
        word = self.take(*_MORE)
        attributes, end = self.measured_at(self.at) if word is not None else ([], self.at)
        if word is None or not attributes or self.low(end) != "than":
            self.at = start
            return None
        self.at = end + 1
        return self._than(self.one_of_measured(attributes, end - 1), _MORE[word], depth)

    def _compared(self, word: str, depth: int) -> Query:
        """`higher than 4 km`, `north of Oslo`."""
        attribute, more = self.lexicon.comparatives[word]
        return self._than(self.lexicon.as_held(attribute, self.held_here()), more, depth)

    def held_here(self) -> frozenset[int] | None:
        """The attributes that the things spoken of have, where they are of a kind."""
        return None if self.kind is None else self.lexicon.held_by(self.kind)

    def _than(self, attribute: int, more: bool, depth: int) -> Query:
        """The things whose attribute is more, or less, than what stands here."""
        start, every = self.at, self.take("every", "all", "each") is not None
        found, of = self.operand(attribute, self.vocabulary.attribute_unit(attribute), depth)
        every = every or self.is_of_every(start)
        order = (Order.AT_MOST if every else Order.GREATER) if more else (Order.AT_LEAST if every else Order.LESS)
        found = Comparison(order) if found is None else Comparison(order, found.factor, found.offset)
        return HavingValue(attribute, Not(Compare(found, of)) if every else Compare(found, of))

"""Numbers with their magnitudes and units, as they stand in a text: `1.5 million dollars`, `5 km`."""

from __future__ import annotations

import math
from typing import NamedTuple

from kgreckon.errors import UserError
from kgreckon.query.algebra import Number
from kgreckon.query.words.cursor import Cursor
from kgreckon.query.words.quantities import MAGNITUDES, converted


class Amount(NamedTuple):
    """A written number: as it stands, its magnitude (1 where none is written), and its unit, if one is written."""

    text: str
    negative: bool
    magnitude: float
    unit: str | None
    place: int


class AmountReader(Cursor):
    """Reads numbers."""

    def _amount(self, unit: str | None) -> Amount | None:
        """A number here with what follows it, or None."""
        place = self.at
        negative = self.sees("-", "−") is not None
        if self.low(place + negative) in ("$", "€", "£"):
            self.at += 1
        if not self.is_number(self.at + negative):
            self.at = place
            if place >= len(self.tokens):
                self.may_end("number")
            return None
        text = self.tokens[self.at + negative].text
        self.at += 1 + negative
        magnitude = 1.0
        while self.low() in MAGNITUDES and not self._is_unit(self.low(), unit):
            magnitude *= MAGNITUDES[self.low()]
            self.at += 1
        if self.at >= len(self.tokens):
            self.may_end("unit")
        return Amount(text, negative, magnitude, self._unit_here(unit), place)

    def _is_unit(self, word: str, wanted: str | None) -> bool:
        """Whether a short magnitude such as `m` is the name of a unit here."""
        if len(word) > 1:
            return False
        return word in self.lexicon.units or wanted is None or converted(word, wanted) is not None

    def _unit_here(self, wanted: str | None) -> str | None:
        """The longest unit that stands here: one of the graph, or one that can be turned into the wanted one."""
        if self.is_quoted():
            unit = self.unquoted(self.at)
            if unit.casefold() in self.lexicon.units:
                self.at += 1
                return unit
            return None
        for end in range(min(self.at + self.lexicon.longest + 8, len(self.tokens)), self.at, -1):
            text = self.span(self.at, end)
            if text.casefold() in self.lexicon.units:
                self.at = end
                return self.lexicon.units[text.casefold()]
            if wanted is not None and end <= self.at + 3 and converted(text, wanted) is not None:
                self.at = end
                return text
        return None

    def number(self, unit: str | None) -> Number | None:
        """A number with its unit, or None where none stands here."""
        amount = self._amount(unit)
        return None if amount is None else self._number(amount, unit, amount.place)

    def _number(self, amount: Amount, unit: str | None, place: int) -> Number:
        """The number that is meant, in the unit it is compared with."""
        known = self.lexicon.units
        own = amount.unit if amount.unit is not None else unit
        if own is None:
            if len(known) != 1:
                some = next(iter(known.values()), None)
                raise self.error(f"{amount.text!r} needs a unit" + (f", such as {some}" if some else ""), place)
            own = next(iter(known.values()))
        times = 1.0
        if unit is not None and own != unit and amount.unit is not None:
            found = converted(own, unit)
            if found is not None:
                own, times = unit, found
        text = ("-" if amount.negative else "") + amount.text.replace(",", "")
        try:
            if "-" in amount.text or (own in ("date", "dateTime", "dateTimeStamp") and amount.magnitude == 1):
                return self.vocabulary.read_number(text.replace(" ", "T"), own)
            value = float(text) * amount.magnitude * times + 0.0
            if times != 1 and math.isfinite(value):  # 3,000 feet are 914.4 metres, whatever binary fractions say
                value = float(f"{value:.14g}")
        except (UserError, ValueError) as error:
            raise self.error(str(error), place) from None
        if not math.isfinite(value):
            raise self.error(f"{amount.text!r} is too large for a number", place)
        return Number(value, own)


def plain_size(amount: Amount) -> float:
    """A written number without its magnitude."""
    return float(amount.text.replace(",", "")) if amount.text.replace(",", "").replace(".", "").isdigit() else math.inf

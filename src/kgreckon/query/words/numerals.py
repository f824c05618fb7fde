"""Writing conditions on numbers in words: `between 1,000,000 and 5,000,000 US dollars`, `within 2 degrees of …`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import assert_never

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
)
from kgreckon.query.datatypes import is_said
from kgreckon.query.question import Question
from kgreckon.query.words.lexicon import Lexicon
from kgreckon.query.words.strict import comparing, quoted


class NumberWriter(ABC):
    """Writes sets of numbers, and what is true of a number."""

    def __init__(self, lexicon: Lexicon, always_quoted: bool, inner: Sequence[Question] = ()) -> None:
        self.lexicon, self.vocabulary, self.always_quoted = lexicon, lexicon.vocabulary, always_quoted
        self.inner = inner  # the questions within the question

    @abstractmethod
    def things(self, query: Query, nested: bool = False) -> str:
        """A set as a noun phrase."""

    def attribute(self, attribute: int) -> str:
        """The name of an attribute."""
        name = self.lexicon.attributes[attribute]
        known = self.lexicon.nouns.get(name.casefold(), [])
        return name if len(known) == 1 else f"attribute {quoted(self.vocabulary.attribute_name(attribute))}"

    def numbers(self, query: Query, usual: str | None = None) -> str:
        """A set of numbers as a noun phrase, whose usual unit is that of an attribute."""
        match query:
            case Number():
                return self.number(query, usual)
            case ValueOf(attribute, of):
                return f"the {self.attribute(attribute)} of {self.things(of, True)}"
            case And((part,)) | Or((part,)):
                return f"{'all' if isinstance(query, And) else 'any'} of ({self.numbers(part)})"
        return f"numbers {self.value(query) if isinstance(query, Compare) else f'({self.value(query, True)})'}"

    def number(self, number: Number, usual: str | None = None) -> str:
        """A number and its unit, which a date does not need where the attribute has it."""
        text = self.vocabulary.write_number(number)
        if number.value.is_integer() and 1e4 <= abs(number.value) < 1e15 and text.lstrip("-").isdigit():
            text = f"{int(number.value):,}"
        if number.unit == usual and not is_said(usual):
            return text
        unit = number.unit if number.unit.replace(" ", "").isalpha() and not self.always_quoted else quoted(number.unit)
        return f"{text} {unit}"

    def value(self, query: Query, inside: bool = False, usual: str | None = None) -> str:
        """A condition on a number."""
        match query:
            case Compare(comparison, of):
                return comparing(comparison, self._operand(of, comparison.offset != 0, usual))
            case And((Compare(low, one), Compare(high, other))) if _bounds(low, high):
                if isinstance(one, Number) and isinstance(other, Number) and not low.offset and not high.offset:
                    return f"between {self.number(one, usual)} and {self.number(other, usual)}"
                if one == other and low.offset == -high.offset < 0:
                    unit = self._unit(one)
                    return f"within {self.number(Number(high.offset, unit))} of {self._operand(one, False, usual)}"
            case Not(of):
                inner = self.value(of, not isinstance(of, Compare), usual)
                return f"not {inner if isinstance(of, Compare) else f'({inner})'}"
        match query:
            case And(parts) | Or(parts) if len(parts) > 1:
                word = " and " if isinstance(query, And) else " or "
                simple = all(isinstance(part, Compare) for part in parts)
                text = word.join(
                    self.value(part, usual=usual) if isinstance(part, Compare) else f"({self.value(part, True, usual)})"
                    for part in parts
                )
                return text if simple or inside else f"({text})"
        return f"= {self._operand(query, False, usual)}"

    def _unit(self, query: Query) -> str:
        if isinstance(query, Number):
            return query.unit
        return self.vocabulary.attribute_unit(query.attribute) if isinstance(query, ValueOf) else "number"

    def _operand(self, query: Query, more_follows: bool, usual: str | None) -> str:
        text = self.numbers(query, usual)
        closed = isinstance(query, Number) or (isinstance(query, ValueOf) and not (more_follows and is_open(query)))
        return text if closed else f"({text})"


def _bounds(low: Comparison, high: Comparison) -> bool:
    return (low.order, high.order) == (Order.AT_LEAST, Order.AT_MOST) and low.factor == high.factor == 1


def is_open(query: Query) -> bool:
    """Whether what follows the words of a set might be taken for a part of it."""
    match query:
        case Entity() | Number():
            return False
        case Follow(of=of) | ValueOf(of=of):
            return not isinstance(of, Entity) if isinstance(query, ValueOf) else True
        case HavingValue() | Compare() | And() | Or() | Not():
            return True
    assert_never(query)

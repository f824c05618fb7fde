"""A way of writing in words that leaves nothing to chance: all names in quotes, all parts in brackets."""

from __future__ import annotations

import json
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
    plain_number,
)
from kgreckon.query.question import Question
from kgreckon.query.vocabulary import Vocabulary

_SIGNS = {
    Order.EQUAL: "≈",
    Order.UNEQUAL: "≉",
    Order.LESS: "<",
    Order.GREATER: ">",
    Order.AT_MOST: "≤",
    Order.AT_LEAST: "≥",
}
_EXACT_SIGNS = {Order.EQUAL: "==", Order.UNEQUAL: "≠"}


def quoted(name: str) -> str:
    """A name in quotes."""
    return json.dumps(name, ensure_ascii=False)


def comparing(comparison: Comparison, operand: str) -> str:
    """A comparison with what is written already: `> 2 × the population of Belgium + 3`."""
    equality = comparison.order in (Order.EQUAL, Order.UNEQUAL)
    exact = equality and comparison.tolerance == 0
    sign = (_EXACT_SIGNS if exact else _SIGNS)[comparison.order]
    times = "" if comparison.factor == 1 else f"{plain_number(comparison.factor)} × "
    offset = comparison.offset
    plus = "" if offset == 0 else f" {'-' if offset < 0 else '+'} {plain_number(abs(offset))}"
    percent = plain_number(round(comparison.tolerance * 100, 12))
    share = (
        f"{percent} %"
        if float(percent) / 100 == comparison.tolerance
        else f"share {plain_number(comparison.tolerance)}"
    )
    within = f" within {share}" if equality and not exact else ""
    return f"{sign} {times}{operand}{plus}{within if comparison.tolerance != 0.01 else ''}"


class StrictWriter:
    """Writes any query so that it is read as it is."""

    def __init__(self, vocabulary: Vocabulary, inner: Sequence[Question] = ()) -> None:
        self.vocabulary, self.inner = vocabulary, inner

    def attribute(self, attribute: int) -> str:
        """The name of an attribute."""
        return f"attribute {quoted(self.vocabulary.attribute_name(attribute))}"

    def _relation(self, relation: int) -> str:
        return f"relation {quoted(self.vocabulary.relation_name(relation & ~1))}"

    def things(self, query: Query) -> str:
        """A set in a form that stands anywhere."""
        match query:
            case Entity(entity) if entity < 0:
                from kgreckon.query.words.sentences import inner_question

                return inner_question(self.inner[-1 - entity], self)
            case Entity(entity):
                return quoted(self.vocabulary.entity_name(entity))
            case Follow(relation, of) if relation & 1:
                return f"things whose {self._relation(relation)} is ({self.things(of)})"
            case Follow(relation, of):
                return f"the {self._relation(relation)} of ({self.things(of)})"
            case ValueOf(attribute, of):
                return f"the {self.attribute(attribute)} of ({self.things(of)})"
            case HavingValue(attribute, of):
                return f"things whose {self.attribute(attribute)} is ({self.value(of)})"
            case And(parts):
                return f"all of ({'; '.join(map(self.things, parts))})"
            case Or(parts):
                return f"any of ({'; '.join(map(self.things, parts))})"
            case Not(of):
                return f"not ({self.things(of)})"
            case Number() | Compare():
                return f"numbers ({self.value(query)})"
        assert_never(query)

    def value(self, query: Query) -> str:
        """A set of numbers as a condition."""
        match query:
            case Number():
                return f"= {self.vocabulary.write_number(query)} {quoted(query.unit)}"
            case Compare(comparison, of):
                return comparing(comparison, f"({self.value(of)})")
            case Not(of):
                return f"not ({self.value(of)})"
        return self.things(query)

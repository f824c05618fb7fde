"""Short phrases for reasons, tables and menus: a fact, a value, a comparison."""

from __future__ import annotations

from kgreckon.query.algebra import Comparison, Number, Order, plain_number
from kgreckon.query.datatypes import with_unit
from kgreckon.query.vocabulary import Vocabulary

_ORDERS = {
    Order.EQUAL: "about",
    Order.UNEQUAL: "other than",
    Order.LESS: "less than",
    Order.GREATER: "greater than",
    Order.AT_MOST: "at most",
    Order.AT_LEAST: "at least",
}
_FACTORS = {2.0: " twice", 3.0: " three times"}


def compared_with(comparison: Comparison, other: str) -> str:
    """The comparison with something that is written already: `greater than twice 431.9 metres`."""
    return _compared(comparison, f" {other}")


def number_words(number: Number, vocabulary: Vocabulary) -> str:
    """A number and its unit, as programs read it."""
    return with_unit(vocabulary.write_number(number), number.unit)


def fact_words(source: str, relation: int, target: str, vocabulary: Vocabulary) -> str:
    """A step along a relation, in the direction in which facts are stated: `Sapporo — in country → Japan`."""
    head, tail = (source, target) if relation % 2 == 0 else (target, source)
    return f"{head} — {vocabulary.relation_label(relation)} → {tail}"


def value_words(attribute: int, entity: str, number: str, vocabulary: Vocabulary) -> str:
    """A value of an entity: `latitude of Naha: 26.213 degrees`."""
    return f"{vocabulary.attribute_label(attribute)} of {entity}: {number}"


def comparison_label(comparison: Comparison) -> str:
    """The comparison without what is compared with, whose place is marked where words follow: `at most … plus 3`."""
    return _compared(comparison, " …" if comparison.offset else "")


def _compared(comparison: Comparison, other: str) -> str:
    factor = comparison.factor
    times = "" if factor == 1 else _FACTORS.get(factor, f" {plain_number(factor)} times")
    offset = comparison.offset
    plus = "" if offset == 0 else f" {'minus' if offset < 0 else 'plus'} {plain_number(abs(offset))}"
    order = _ORDERS[comparison.order]
    if comparison.order is Order.EQUAL and comparison.tolerance == 0:
        order = "equal to"
    return f"{order}{times}{other}{plus}"

"""Queries in plain English: `whatever has a latitude greater than the latitude of something that is in Japan`."""

from __future__ import annotations

import re
from dataclasses import replace
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
from kgreckon.query.vocabulary import Vocabulary

_ORDERS = {
    Order.EQUAL: "about",
    Order.UNEQUAL: "other than",
    Order.LESS: "less than",
    Order.GREATER: "greater than",
    Order.AT_MOST: "at most",
    Order.AT_LEAST: "at least",
}
_SOMETHING, _COMMA = "something that", ", and "
_BRACKETS = re.compile(r"\[[^][]*\]")
_FACTORS = {2.0: " twice", 3.0: " three times"}


def sentence(query: Query, vocabulary: Vocabulary) -> str:
    """The query as a noun phrase a person would understand."""
    return _Writer(vocabulary).phrase(query, "whatever")


class _Writer:
    """Writes nodes as noun phrases, and the conditions they put on a thing as verb phrases."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def phrase(self, query: Query, subject: str) -> str:
        """A noun phrase; `subject` is the word that a described thing goes by."""
        match query:
            case Entity(entity):
                return self.vocabulary.entity_label(entity)
            case Number():
                return self.number(query)
            case Follow(relation, of) if not relation & 1:
                verb = self.vocabulary.relation_phrase(relation)
                if verb is None:
                    return f"the {self.vocabulary.relation_label(relation)} of {self.phrase(of, _SOMETHING)}"
                return f"what {self.phrase(of, _SOMETHING)} {verb}"
            case ValueOf(attribute, of):
                return f"the {self.vocabulary.attribute_label(attribute)} of {self.phrase(of, _SOMETHING)}"
            case Compare(comparison, of):
                return f"a number {self.comparison(comparison, of)}"
            case Or() if _is_everything(query):
                return "any number" if isinstance(query.parts[0], Compare) else "anything"
            case Or(parts) if not all(_is_condition(part) for part in parts):
                return " or ".join(self.phrase(part, subject) for part in parts)
        text = self.condition(query)
        return f"{subject} [{text}]" if subject == _SOMETHING and _COMMA in text else f"{subject} {text}"

    def condition(self, query: Query) -> str:
        """What is true of a member of the set, as a verb phrase."""
        match query:
            case Follow(relation, of) if relation & 1:
                verb = self.vocabulary.relation_phrase(relation)
                if verb is None:
                    return f"has {self.vocabulary.relation_label(relation)} {self.phrase(of, _SOMETHING)}"
                return _joined(verb, self.phrase(of, _SOMETHING))
            case HavingValue(attribute, of):
                named = _joined("has a", self.vocabulary.attribute_label(attribute))
                return named if _is_everything(of) else f"{named} {self.value(of)}"
            case And(parts):
                texts = [self.nested(part) for part in parts]
                return (_COMMA if any(map(_is_open, texts[:-1])) else " and ").join(texts)
            case Or() if _is_everything(query):
                return f"is {self.phrase(query, _SOMETHING)}"
            case Or(parts):
                return "either " + " or ".join(self.nested(part) for part in parts)
            case Not(of):
                return f"is not [{self.phrase(of, 'whatever')}]"
            case Entity() | Number() | Follow() | ValueOf() | Compare():
                return f"is {self.phrase(query, _SOMETHING)}"
        assert_never(query)

    def nested(self, query: Query) -> str:
        """A condition inside a list of conditions, in brackets where it is a list itself."""
        text = self.condition(query)
        return f"[{text}]" if isinstance(query, And | Or) else text

    def value(self, query: Query) -> str:
        """How a value is bound, after the name of an attribute."""
        match query:
            case Compare(comparison, of):
                return self.comparison(comparison, of)
            case And(parts):
                return " and ".join(f"[{self.value(part)}]" for part in parts)
            case Or(parts):
                return " or ".join(f"[{self.value(part)}]" for part in parts)
            case Not(of):
                return f"not [{self.value(of)}]"
        return f"of {self.phrase(query, _SOMETHING)}"

    def comparison(self, comparison: Comparison, of: Query) -> str:
        return _compared(comparison, f" {self.phrase(of, _SOMETHING)}")

    def number(self, number: Number) -> str:
        text = self.vocabulary.write_number(number)
        return text if number.unit in ("number", "date", "gYear") else f"{text} {number.unit}"


def _is_everything(query: Query) -> bool:
    """Whether a union plainly holds all there is: a set and its complement, or what is at most and above a number."""
    match query:
        case Or((one, Not(of))):
            return one == of
        case Or((Compare(Comparison(Order.AT_MOST) as up, to), Compare(Comparison(Order.GREATER) as above, beyond))):
            return to == beyond and replace(up, order=above.order) == above
    return False


def compared_with(comparison: Comparison, other: str) -> str:
    """The comparison with something that is written already: `greater than twice 431.9 metres`."""
    return _compared(comparison, f" {other}")


def number_words(number: Number, vocabulary: Vocabulary) -> str:
    """A number and its unit."""
    return f"{vocabulary.write_number(number)} {number.unit}".strip()


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


def _joined(words: str, noun: str) -> str:
    """The words and the noun after them, with `an` for `a` where it sounds so."""
    return f"{words}{'n' if words.endswith(' a') and noun[:1].lower() in 'aeio' else ''} {noun}"


def _is_open(text: str) -> bool:
    """Whether the words end inside a clause, which an `and` would seem to go on with."""
    while (outside := _BRACKETS.sub("", text)) != text:
        text = outside
    return _SOMETHING in text


def _is_condition(query: Query) -> bool:
    match query:
        case Follow(relation, _):
            return bool(relation & 1)
        case HavingValue() | Not():
            return True
        case And(parts) | Or(parts):
            return all(_is_condition(part) for part in parts)
    return False

"""The paper's notation: `(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(rp,(^in_country),(e,(Japan))))))`.

A symbol is a name, a label, or `#` and an id. A name that the notation could misread (unbalanced parentheses, a leading
`#` or `"`, blanks at its ends) stands in double quotes with JSON's escapes. A number may carry its unit after a blank:
`(nv,(1927 years))`; without one it takes the unit of the attribute it is compared with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import assert_never

from kgreckon.errors import UserError
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
    Query,
    ValueOf,
    sort_of,
)
from kgreckon.query.s_expressions import Expression, Symbol, read
from kgreckon.query.shapes import QUERIES
from kgreckon.query.vocabulary import Vocabulary

MAX_LENGTH = 65_536


def parse(text: str, vocabulary: Vocabulary) -> Query:
    """The query that `text` writes, its sorts and units checked."""
    if len(text) > MAX_LENGTH:
        raise UserError(f"a query may have at most {MAX_LENGTH:,} characters, not {len(text):,}")
    query = _query(read(text, QUERIES), None, vocabulary)
    sort_of(query, vocabulary)
    return query


def _query(expression: Expression, unit: str | None, vocabulary: Vocabulary) -> Query:
    """The query of an expression; `unit` is the one that a bare number takes."""
    symbol = expression.symbol
    if symbol is None:
        parts = tuple(_query(part, unit, vocabulary) for part in expression.parts)
        match expression.operator:
            case "i":
                return And(parts)
            case "u":
                return Or(parts)
        return Not(parts[0])
    match expression.operator:
        case "e":
            return Entity(_id(symbol, "entity", vocabulary.entity_id, vocabulary))
        case "nv":
            return _number(symbol, unit, vocabulary)
    (part,) = expression.parts
    match expression.operator:
        case "rp":
            relation = _id(symbol, "relation", vocabulary.relation_id, vocabulary)
            return Follow(relation, _query(part, None, vocabulary))
        case "np":
            return Compare(Comparison.parse(symbol.text), _query(part, unit, vocabulary))
    attribute = _id(symbol, "attribute", vocabulary.attribute_id, vocabulary)
    if expression.operator == "ap":
        return ValueOf(attribute, _query(part, None, vocabulary))
    return HavingValue(attribute, _query(part, vocabulary.attribute_unit(attribute), vocabulary))


def _id(symbol: Symbol, kind: str, by_name: Callable[[str], int], vocabulary: Vocabulary) -> int:
    """The id that a symbol names or, after a `#`, is."""
    if symbol.quoted or not symbol.text.startswith("#"):
        return by_name(symbol.text)
    digits = symbol.text[1:]
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19 and vocabulary.knows(kind, int(digits))):
        raise UserError(f"the graph has no {kind} {symbol.text}")
    return int(digits)


def _number(symbol: Symbol, unit: str | None, vocabulary: Vocabulary) -> Number:
    if symbol.quoted or not symbol.text.startswith("#"):
        return vocabulary.read_number(symbol.text, unit)
    return Number(*vocabulary.values.number_at(_id(symbol, "value", int, vocabulary)))


def write(query: Query, vocabulary: Vocabulary, ids: bool = False) -> str:
    """The query in the paper's notation, by name or, with `ids`, by number."""

    def entity(entity: int) -> str:
        return f"#{entity}" if ids else quote(vocabulary.entity_name(entity))

    def relation(relation: int) -> str:
        name = vocabulary.relation_name(relation)
        begins = name[relation & 1 :].startswith("^")  # its own name begins with the sign of an inverse
        misread = begins or (relation & 1 and vocabulary.relation_id(name) != relation)  # or another's does
        return f"#{relation}" if ids or misread else quote(name)

    def attribute(attribute: int) -> str:
        return f"#{attribute}" if ids else quote(vocabulary.attribute_name(attribute))

    def number(number: Number) -> str:
        row = vocabulary.values.row_of(number.value, number.unit) if ids else None
        return f"#{row}" if row is not None else quote(f"{vocabulary.write_number(number)} {number.unit}")

    def text(query: Query) -> str:
        match query:
            case Entity(id):
                return f"(e,({entity(id)}))"
            case Number():
                return f"(nv,({number(query)}))"
            case Follow(id, of):
                return f"(rp,({relation(id)}),{text(of)})"
            case ValueOf(id, of):
                return f"(ap,({attribute(id)}),{text(of)})"
            case HavingValue(id, of):
                return f"(rap,({attribute(id)}),{text(of)})"
            case Compare(comparison, of):
                return f"(np,({comparison}),{text(of)})"
            case And(parts):
                return f"(i,{','.join(text(part) for part in parts)})"
            case Or(parts):
                return f"(u,{','.join(text(part) for part in parts)})"
            case Not(of):
                return f"(n,{text(of)})"
        assert_never(query)

    return text(query)


def quote(name: str) -> str:
    """The name as the notation writes it: bare where it can be read back, else in quotes."""
    bare = name == name.strip() and name and name[0] not in '#"' and _balanced(name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def _balanced(name: str) -> bool:
    depth = 0
    for character in name:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0

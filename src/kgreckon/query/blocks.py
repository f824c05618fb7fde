"""Blocks: the algebra as nested plain data, for JSON and for whoever builds a query piece by piece.

`{"op": "follow", "relation": "in_country", "inverse": true, "of": {"op": "entity", "name": "Japan"}}`. Names are those
of the graph; what is written carries readable labels beside them, which are not read. A number without a unit takes the
one of the attribute it is compared with, as in the paper's notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

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
    plain_number,
    sort_of,
)
from kgreckon.query.s_expressions import MAX_DEPTH, MAX_NODES
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.phrases import comparison_label

# What each kind of block may hold, beside its readable label.
_FIELDS: dict[str, tuple[str, ...]] = {
    "entity": ("name",),
    "number": ("value", "unit"),
    "follow": ("relation", "inverse", "phrase", "of"),
    "value_of": ("attribute", "of"),
    "having_value": ("attribute", "of"),
    "compare": ("comparison", "of"),
    "and": ("parts",),
    "or": ("parts",),
    "not": ("of",),
}


def read(blocks: object, vocabulary: Vocabulary, depth: int = MAX_DEPTH, nodes: int = MAX_NODES) -> Query:
    """The query that some blocks build, its sorts and units checked; at most so many levels deep, of so many nodes."""
    query = _Reader(vocabulary, depth, nodes).query(blocks, None, 0)
    sort_of(query, vocabulary)
    return query


class _Reader:
    """Reads blocks from the outermost in."""

    def __init__(self, vocabulary: Vocabulary, depth: int, nodes: int) -> None:
        self.vocabulary, self.depth, self.nodes = vocabulary, depth, nodes
        self.count = 0

    def query(self, blocks: object, unit: str | None, depth: int) -> Query:
        """The query of a block; `unit` is the one a bare number takes."""
        self.count += 1
        if depth > self.depth or self.count > self.nodes:
            raise UserError(f"a query may be at most {self.depth} levels deep and have at most {self.nodes} nodes")
        if not isinstance(blocks, Mapping):
            raise UserError(f"a block is an object with an 'op', not {_shown(blocks)}")
        op = blocks.get("op")
        if not isinstance(op, str) or op not in _FIELDS:
            raise UserError(f"unknown op {_shown(op)}: use {', '.join(_FIELDS)}")
        for field in blocks:
            if field not in ("op", "label", *_FIELDS[op]):
                raise UserError(f"a block {op!r} has no field {_shown(field)}: it takes {', '.join(_FIELDS[op])}")
        return self.operation(op, blocks, unit, depth + 1)

    def operation(self, op: str, blocks: Mapping[str, object], unit: str | None, depth: int) -> Query:
        vocabulary = self.vocabulary
        match op:
            case "entity":
                return Entity(vocabulary.entity_id(_text(blocks, op, "name")))
            case "number":
                return self.number(blocks, unit)
            case "follow":
                inverse = blocks.get("inverse", False)
                if not isinstance(inverse, bool):
                    raise UserError(f"'inverse' is true or false, not {_shown(inverse)}")
                relation = vocabulary.relation_id(_text(blocks, op, "relation"))
                return Follow(relation ^ inverse, self.query(_below(blocks, op), None, depth))
            case "value_of":
                attribute = vocabulary.attribute_id(_text(blocks, op, "attribute"))
                return ValueOf(attribute, self.query(_below(blocks, op), None, depth))
            case "having_value":
                attribute = vocabulary.attribute_id(_text(blocks, op, "attribute"))
                own_unit = vocabulary.attribute_unit(attribute)
                return HavingValue(attribute, self.query(_below(blocks, op), own_unit, depth))
            case "compare":
                comparison = Comparison.parse(_text(blocks, op, "comparison"))
                return Compare(comparison, self.query(_below(blocks, op), unit, depth))
            case "not":
                return Not(self.query(_below(blocks, op), unit, depth))
        parts = blocks.get("parts")
        if not isinstance(parts, list | tuple) or not parts:
            raise UserError(f"a block {op!r} needs a list 'parts' of at least one block")
        read = tuple(self.query(part, unit, depth) for part in parts)
        return And(read) if op == "and" else Or(read)

    def number(self, blocks: Mapping[str, object], unit: str | None) -> Number:
        value, own = blocks.get("value"), blocks.get("unit")
        if own is not None and not isinstance(own, str):
            raise UserError(f"'unit' is a text, not {_shown(own)}")
        if isinstance(value, str):
            text = value.strip()
            if not text or " " in text:  # what stands behind a blank would be read as a unit
                raise UserError(f"{_shown(value)} is not a number")
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1.7976931348623157e308:
            text = plain_number(float(value))
        else:
            raise UserError(f"'value' is a finite number, not {_shown(value)}")
        return self.vocabulary.read_number(f"{text} {own}" if own else text, unit)


def _text(blocks: Mapping[str, object], op: str, field: str) -> str:
    text = blocks.get(field)
    if not isinstance(text, str) or not text:
        raise UserError(f"a block {op!r} needs a text {field!r}, not {_shown(text)}")
    return text


def _below(blocks: Mapping[str, object], op: str) -> object:
    if blocks.get("of") is None:
        raise UserError(f"a block {op!r} needs a block 'of'")
    return blocks["of"]


def _shown(value: object) -> str:
    """A wrong value for a message: short, and without looking into what may be nested deeply."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, Mapping | list | tuple):
        return "an object" if isinstance(value, Mapping) else "a list"
    if isinstance(value, int) and abs(value) > 10**18:
        return "a number that large"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def write(query: Query, vocabulary: Vocabulary) -> dict[str, Any]:
    """The query as blocks, with readable labels; `read` gives it back."""

    def below(of: Query) -> dict[str, Any]:
        return write(of, vocabulary)

    match query:
        case Entity(entity):
            return {"op": "entity", "name": vocabulary.entity_name(entity), "label": vocabulary.entity_label(entity)}
        case Number(value, unit):
            label = f"{vocabulary.write_number(query)} {unit}".strip()
            return {"op": "number", "value": value, "unit": unit, "label": label}
        case Follow(relation, of):
            return {
                "op": "follow",
                "relation": vocabulary.relation_name(relation & ~1),
                "inverse": bool(relation & 1),
                "label": vocabulary.relation_label(relation),
                "phrase": vocabulary.relation_phrase(relation),
                "of": below(of),
            }
        case ValueOf(attribute, of) | HavingValue(attribute, of):
            return {
                "op": "value_of" if isinstance(query, ValueOf) else "having_value",
                "attribute": vocabulary.attribute_name(attribute),
                "label": vocabulary.attribute_label(attribute),
                "of": below(of),
            }
        case Compare(comparison, of):
            label = comparison_label(comparison)
            return {"op": "compare", "comparison": str(comparison), "label": label, "of": below(of)}
        case And(parts) | Or(parts):
            return {"op": "and" if isinstance(query, And) else "or", "parts": [below(part) for part in parts]}
        case Not(of):
            return {"op": "not", "of": below(of)}
    assert_never(query)

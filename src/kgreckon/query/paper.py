"""The paper's notation: `(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(rp,(^in_country),(e,(Japan))))))`.

A symbol is a name, a label, or `#` and an id. A name that the notation could misread (unbalanced parentheses, a leading
`#` or `"`, blanks at its ends) stands in double quotes with JSON's escapes. A number may carry its unit after a blank:
`(nv,(1927 years))`; without one it takes the unit of the attribute it is compared with.
"""

from __future__ import annotations

import json
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
from kgreckon.query.shapes import MAX_DEPTH, MAX_NODES
from kgreckon.query.vocabulary import Vocabulary

MAX_LENGTH = 65_536


def parse(text: str, vocabulary: Vocabulary) -> Query:
    """The query that `text` writes, its sorts and units checked."""
    if len(text) > MAX_LENGTH:
        raise UserError(f"a query may have at most {MAX_LENGTH:,} characters, not {len(text):,}")
    reader = _Reader(text, vocabulary)
    query = reader.query(None, 0)
    reader.end()
    sort_of(query, vocabulary)
    return query


class _Reader:
    """Reads one query from left to right."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        self.at = 0
        self.nodes = 0
        self.vocabulary = vocabulary

    def query(self, unit: str | None, depth: int) -> Query:
        """The query that starts here; `unit` is the one a bare number takes."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise UserError(f"a query may be at most {MAX_DEPTH} levels deep and have at most {MAX_NODES} nodes")
        self.expect("(")
        operator = self.word()
        self.expect(",")
        query = self.operation(operator, unit, depth + 1)
        self.expect(")")
        return query

    def operation(self, operator: str, unit: str | None, depth: int) -> Query:
        vocabulary = self.vocabulary
        match operator:
            case "e":
                return Entity(self.symbol("entity"))
            case "nv":
                return self.number(unit)
            case "rp":
                relation = self.symbol("relation")
                return Follow(relation, self.operand(None, depth))
            case "ap":
                attribute = self.symbol("attribute")
                return ValueOf(attribute, self.operand(None, depth))
            case "rap":
                attribute = self.symbol("attribute")
                return HavingValue(attribute, self.operand(vocabulary.attribute_unit(attribute), depth))
            case "np":
                comparison = Comparison.parse(self.parenthesised()[0])
                return Compare(comparison, self.operand(unit, depth))
            case "i" | "u":
                parts = [self.query(unit, depth)]
                while self.peek() == ",":
                    parts.append(self.operand(unit, depth))
                return And(tuple(parts)) if operator == "i" else Or(tuple(parts))
            case "n":
                return Not(self.query(unit, depth))
        raise self.error(f"unknown operator {operator!r}: use e, nv, rp, ap, rap, np, i, u or n")

    def operand(self, unit: str | None, depth: int) -> Query:
        self.expect(",")
        return self.query(unit, depth)

    def symbol(self, kind: str) -> int:
        """The id of the entity, relation or attribute named here."""
        text, quoted = self.parenthesised()
        if not quoted and text.startswith("#"):
            return self.id(text, kind)
        match kind:
            case "entity":
                return self.vocabulary.entity_id(text)
            case "relation":
                return self.vocabulary.relation_id(text)
            case _:
                return self.vocabulary.attribute_id(text)

    def number(self, unit: str | None) -> Number:
        text, quoted = self.parenthesised()
        if not quoted and text.startswith("#"):
            return Number(*self.vocabulary.values.number_at(self.id(text, "value")))
        return self.vocabulary.read_number(text, unit)

    def id(self, text: str, kind: str) -> int:
        digits = text[1:]
        if not (
            digits.isascii() and digits.isdigit() and len(digits) < 19 and self.vocabulary.knows(kind, int(digits))
        ):
            raise UserError(f"the graph has no {kind} {text}")
        return int(digits)

    def parenthesised(self) -> tuple[str, bool]:
        """The text between the parentheses here, and whether it stood in quotes."""
        self.expect("(")
        if self.peek() == '"':
            try:
                text, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                raise self.error(f"a quoted name is not closed or holds a bad escape ({error.msg})") from None
            self.expect(")")
            return str(text), True
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "(":
                depth += 1
            elif character == ")":
                if depth == 0:
                    break
                depth -= 1
            self.at += 1
        text = self.text[start : self.at].strip()
        if not text:
            raise self.error("a name is missing")
        self.expect(")")
        return text, False

    def word(self) -> str:
        self.blanks()
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isalpha():
            self.at += 1
        return self.text[start : self.at]

    def peek(self) -> str:
        self.blanks()
        return self.text[self.at : self.at + 1]

    def expect(self, character: str) -> None:
        found = self.peek()
        if found != character:
            raise self.error(
                f"expected {character!r}, found {found!r}" if found else f"expected {character!r} at the end"
            )
        self.at += 1

    def end(self) -> None:
        if self.peek():
            raise self.error("the query goes on after its closing parenthesis")

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(self, message: str) -> UserError:
        shown = self.text[max(0, self.at - 20) : self.at + 20]
        return UserError(f"query, character {self.at + 1} (near {shown!r}): {message}")


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

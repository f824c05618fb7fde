"""The one reader of nested parentheses: queries in the paper's notation, types, and the released code's queries.

An expression is `(operator,(symbol),part,...)`. A grammar lists the operators of a notation: whether each takes a
symbol, and how many parts. A symbol may hold balanced parentheses, or stand in double quotes with JSON's escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kgreckon.errors import UserError

MAX_DEPTH = 32
MAX_NODES = 1024

_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"[^\W\d_]*")
_PARENTHESIS = re.compile(r"[()]")
_DECODER = json.JSONDecoder()


class Arity(NamedTuple):
    """What an operator takes: a symbol or none, then so many parts."""

    symbol: bool
    least: int
    most: int | None = None  # None: any number


@dataclass(frozen=True, slots=True)
class Grammar:
    """A notation: what it writes, for error messages, and its operators."""

    noun: str
    operators: Mapping[str, Arity]


@dataclass(frozen=True, slots=True)
class Symbol:
    """The text between two parentheses, and whether it stood in quotes."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """An operator with its symbol, if it takes one, and its parts."""

    operator: str
    symbol: Symbol | None
    parts: tuple[Expression, ...]


def read(text: str, grammar: Grammar) -> Expression:
    """The expression that `text` writes; raises a UserError that names the character where it does not fit."""
    reader = _Reader(text, grammar)
    expression = reader.expression(0)
    if reader.peek():
        raise reader.error(f"the {grammar.noun} goes on after its closing parenthesis")
    return expression


class _Reader:
    """Reads one expression from left to right."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        self.text, self.grammar = text, grammar
        self.at = 0
        self.nodes = 0

    def expression(self, depth: int) -> Expression:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise UserError(
                f"a {self.grammar.noun} may be at most {MAX_DEPTH} levels deep and have at most {MAX_NODES} nodes"
            )
        self.expect("(")
        operator, arity = self.operator()
        symbol = None
        if arity.symbol:
            self.expect(",")
            symbol = self.symbol()
        parts: list[Expression] = []
        while len(parts) < arity.least or (self.peek() == "," and (arity.most is None or len(parts) < arity.most)):
            self.expect(",")
            parts.append(self.expression(depth + 1))
        self.expect(")")
        return Expression(operator, symbol, tuple(parts))

    def operator(self) -> tuple[str, Arity]:
        self.peek()
        word = _WORD.match(self.text, self.at)
        assert word is not None  # it may be empty
        arity = self.grammar.operators.get(word.group())
        if arity is None:
            *others, last = self.grammar.operators
            raise self.error(f"unknown operator {word.group()!r}: use {', '.join(others)} or {last}")
        self.at = word.end()
        return word.group(), arity

    def symbol(self) -> Symbol:
        """The text between the parentheses here."""
        self.expect("(")
        if self.peek() == '"':
            try:
                text, self.at = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                raise self.error(f"a quoted name is not closed or holds a bad escape ({error.msg})") from None
            self.expect(")")
            return Symbol(str(text), quoted=True)
        start, open_ones = self.at, 1
        for parenthesis in _PARENTHESIS.finditer(self.text, self.at):
            open_ones += 1 if parenthesis.group() == "(" else -1
            if not open_ones:
                self.at = parenthesis.start()
                break
        else:
            self.at = len(self.text)
        text = self.text[start : self.at].strip()
        if not text:
            raise self.error("a name is missing")
        self.expect(")")
        return Symbol(text)

    def peek(self) -> str:
        """The next character that is not a blank."""
        blanks = _BLANKS.match(self.text, self.at)
        assert blanks is not None
        self.at = blanks.end()
        return self.text[self.at : self.at + 1]

    def expect(self, character: str) -> None:
        seen = self.peek()
        if seen != character:
            raise self.error(f"expected {character!r}, seen {seen!r}" if seen else f"expected {character!r} at the end")
        self.at += 1

    def error(self, message: str) -> UserError:
        shown = self.text[max(0, self.at - 20) : self.at + 20]
        return UserError(f"{self.grammar.noun}, character {self.at + 1} (near {shown!r}): {message}")

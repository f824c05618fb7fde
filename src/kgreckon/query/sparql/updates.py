"""SPARQL 1.1 UPDATE as text: each operation as the queries that say what it takes out and what it puts in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgreckon.errors import UserError
from kgreckon.query.sparql.text import OPAQUE, unescaped

_PROLOGUE = re.compile(r"\s*(?:(?:PREFIX\s+[^\s:]*:\s*_+|BASE\s*_+)\s*)*", re.IGNORECASE)
_OPERATION = re.compile(r"(INSERT\s+DATA|DELETE\s+DATA|DELETE\s+WHERE|INSERT|DELETE)\s*(?=\{)", re.IGNORECASE)
_INSERT, _WHERE = (re.compile(rf"\s*{word}\s*(?=\{{)", re.IGNORECASE) for word in ("INSERT", "WHERE"))
_VARIABLE = re.compile(r"[?$]\w")
_ONE_GRAPH = "there is one graph, the default one"
_UNSUPPORTED = {
    "WITH": _ONE_GRAPH,
    "USING": _ONE_GRAPH,
    "GRAPH": _ONE_GRAPH,
    "CREATE": _ONE_GRAPH,
    "COPY": _ONE_GRAPH,
    "MOVE": _ONE_GRAPH,
    "ADD": _ONE_GRAPH,
    "LOAD": "no file and no other server is read",
    "CLEAR": "delete what is to go, or import a new graph",
    "DROP": "delete what is to go, or import a new graph",
}


@dataclass(frozen=True)
class UpdateOperation:
    """A CONSTRUCT for what is taken out, and one for what is put in; None for nothing."""

    removed: str | None
    added: str | None
    by_pattern: bool  # whether a pattern is matched, and so depends on what the graph states


def operations(text: str) -> list[UpdateOperation]:
    """The operations of an update, in order."""
    text = unescaped(text)
    masked = OPAQUE.sub(_hidden, text)  # of the same length, without strings, IRIs and comments
    found: list[UpdateOperation] = []
    place, prologue = 0, ""
    while True:
        declared = _PROLOGUE.match(masked, place)
        assert declared is not None
        prologue += text[place : declared.end()]
        place = declared.end()
        if place == len(text):
            break
        operation, place = _operation(text, masked, place, prologue)
        if operation.by_pattern and found:
            raise UserError(
                "only the first operation of an update may have a WHERE, as it would not see what those before it "
                "change: send one after the other"
            )
        found.append(operation)
        rest = re.compile(r"\s*(;|$)").match(masked, place)
        if rest is None:
            raise _mistake(text, place, "expected ; or the end of the update")
        place = rest.end()
    if not found:
        raise UserError("the update is empty")
    return found


def is_update(text: str) -> bool:
    """Whether a text begins as an update does."""
    masked = OPAQUE.sub(_hidden, text)
    declared = _PROLOGUE.match(masked)
    return declared is not None and _OPERATION.match(masked, declared.end()) is not None


def _operation(text: str, masked: str, place: int, prologue: str) -> tuple[UpdateOperation, int]:
    word = re.compile(r"[A-Za-z]+").match(masked, place)
    if word is not None and (reason := _UNSUPPORTED.get(word[0].upper())):
        raise UserError(f"{word[0].upper()} is not supported: {reason}")
    begun = _OPERATION.match(masked, place)
    if begun is None:
        raise _mistake(text, place, "expected INSERT DATA, DELETE DATA, DELETE WHERE, or DELETE and INSERT with WHERE")
    kind = " ".join(begun[1].upper().split())
    first, place = _group(text, masked, begun.end())
    if kind.endswith("DATA"):
        if _VARIABLE.search(OPAQUE.sub(_hidden, first)):
            raise UserError(f"{kind} takes no variables: use {kind.split()[0]} with WHERE")
        query = _construct(prologue, first, "")
        removed, added = (query, None) if kind == "DELETE DATA" else (None, query)
        return UpdateOperation(removed, added, by_pattern=False), place
    if kind == "DELETE WHERE":
        return UpdateOperation(_construct(prologue, first, first), None, by_pattern=True), place
    removed, added = (first, None) if kind == "DELETE" else (None, first)
    if kind == "DELETE" and (more := _INSERT.match(masked, place)) is not None:
        added, place = _group(text, masked, more.end())
    where = _WHERE.match(masked, place)
    if where is None:
        raise _mistake(text, place, f"expected WHERE after {kind} {{ … }}; for plain triples write {kind} DATA")
    pattern, place = _group(text, masked, where.end())
    one, other = (None if part is None else _construct(prologue, part, pattern) for part in (removed, added))
    return UpdateOperation(one, other, by_pattern=True), place


def _construct(prologue: str, template: str, pattern: str) -> str:
    return f"{prologue}CONSTRUCT {{{template}}} WHERE {{{pattern}}}"


def _group(text: str, masked: str, place: int) -> tuple[str, int]:
    """What stands between the brace at a place and the one that closes it, and the place after it."""
    depth = 0
    for at in range(place, len(masked)):
        depth += (masked[at] == "{") - (masked[at] == "}")
        if not depth:
            return text[place + 1 : at], at + 1
    raise _mistake(text, place, "this brace is not closed")


def _hidden(part: re.Match[str]) -> str:
    return (" " if part[0].startswith("#") else "_") * len(part[0])


def _mistake(text: str, place: int, problem: str) -> UserError:
    line = text.count("\n", 0, place) + 1
    near = text[place : place + 30].strip() or "the end"
    return UserError(f"SPARQL update, line {line}, near {near!r}: {problem}")

"""SPARQL 1.1 UPDATE as text: each operation as the queries that say what it takes out and what it puts in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgreckon.errors import UserError
from kgreckon.query.sparql.text import OPAQUE, check_iris, unescaped

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
class UpdatePart:
    """A part of an update as a CONSTRUCT, and where the pieces of that stand in the update."""

    query: str
    pieces: tuple[tuple[int, int], ...]  # where they begin, here and there, in order
    update: str

    def mistake(self, place: int, problem: str) -> UserError:
        """A problem at a place of the query, told of the update."""
        here, there = [piece for piece in self.pieces if piece[0] <= place or piece is self.pieces[0]][-1]
        return _mistake(self.update, max(there, there + place - here), problem)


@dataclass(frozen=True)
class UpdateOperation:
    """What is taken out, and what is put in; None for nothing."""

    removed: UpdatePart | None
    added: UpdatePart | None
    by_pattern: bool  # whether a pattern is matched, and so depends on what the graph states


def operations(text: str) -> list[UpdateOperation]:
    """The operations of an update, in order."""
    text = unescaped(text)
    check_iris(text)
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
        if _VARIABLE.search(OPAQUE.sub(_hidden, text[first])):
            raise UserError(f"{kind} takes no variables: use {kind.split()[0]} with WHERE")
        part = _construct(text, prologue, first, slice(first.stop, first.stop))
        removed, added = (part, None) if kind == "DELETE DATA" else (None, part)
        return UpdateOperation(removed, added, by_pattern=False), place
    if kind == "DELETE WHERE":
        return UpdateOperation(_construct(text, prologue, first, first), None, by_pattern=True), place
    templates = [first, None] if kind == "DELETE" else [None, first]
    if kind == "DELETE" and (more := _INSERT.match(masked, place)) is not None:
        templates[1], place = _group(text, masked, more.end())
    where = _WHERE.match(masked, place)
    if where is None:
        raise _mistake(text, place, f"expected WHERE after {kind} {{ … }}; for plain triples write {kind} DATA")
    pattern, place = _group(text, masked, where.end())
    one, other = (None if part is None else _construct(text, prologue, part, pattern) for part in templates)
    return UpdateOperation(one, other, by_pattern=True), place


def _construct(text: str, prologue: str, template: slice, pattern: slice) -> UpdatePart:
    before = f"{prologue}CONSTRUCT {{"
    middle = f"{before}{text[template]}}} WHERE {{"
    pieces = (len(before), template.start), (len(middle), pattern.start)
    return UpdatePart(f"{middle}{text[pattern]}}}", pieces, text)


def _group(text: str, masked: str, place: int) -> tuple[slice, int]:
    """What stands between the brace at a place and the one that closes it, and the place after it."""
    depth = 0
    for at in range(place, len(masked)):
        depth += (masked[at] == "{") - (masked[at] == "}")
        if not depth:
            return slice(place + 1, at), at + 1
    raise _mistake(text, place, "this brace is not closed")


def _hidden(part: re.Match[str]) -> str:
    return (" " if part[0].startswith("#") else "_") * len(part[0])


def _mistake(text: str, place: int, problem: str) -> UserError:
    line = text.count("\n", 0, place) + 1
    near = text[place : place + 30].strip().partition("\n")[0] or "the end"
    return UserError(f"SPARQL update, line {line}, near {near!r}: {problem}")

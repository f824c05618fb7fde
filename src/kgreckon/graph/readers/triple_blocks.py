"""N-Triples in large blocks by compiled code: where the terms of each line stand, and what kind of line it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.compiling import compiled

# What a line is: a fact between IRIs; a literal by its end; nothing; or something for the parser of RDF.
FACT, PLAIN, TYPED, IN_LANGUAGE, NOTHING, OTHER = range(6)

_LESS, _GREATER, _QUOTE, _POINT, _AT, _CARET, _HASH, _ESCAPE = (np.uint8(ord(sign)) for sign in '<>".@^#\\')
_BLANK, _TAB, _LINE_BREAK, _RETURN, _MINUS = (np.uint8(ord(sign)) for sign in " \t\n\r-")
_ZERO, _NINE, _A, _Z = (np.uint8(ord(sign)) for sign in "09az")
_LOWER = np.uint8(0x20)
_F, _COLON, _SLASH, _PERCENT = (np.uint8(ord(sign)) for sign in "f:/%")


def _flags(signs: str) -> np.ndarray:  # (256,) bool
    return np.isin(np.arange(256), [ord(sign) for sign in signs])


_ALPHANUMERIC = "".join(chr(code) for code in range(128) if chr(code).isalnum())
_IN_SCHEMES, _IN_HOSTS, _IN_PATHS = (_flags(_ALPHANUMERIC + others) for others in ("+-.", "-.", "-._~!$&'()*+,;=:@/?"))
_AFTER_HOSTS, _IN_LANGUAGES, _HEX = _flags("/?#>"), _flags(_ALPHANUMERIC + "-"), _flags("0123456789abcdefABCDEF")


@dataclass(frozen=True)
class TripleLines:
    """The lines of a block."""

    kinds: np.ndarray  # (lines,) int8
    lines: np.ndarray  # (lines + 1,) int64: where each begins
    starts: np.ndarray  # (lines, 4) int64: subject, predicate, object or literal, and its datatype or language
    ends: np.ndarray


def triple_lines(content: bytes) -> TripleLines:
    """The lines of some N-Triples."""
    count = content.count(b"\n") + (not content.endswith(b"\n"))
    found = TripleLines(
        np.empty(count, dtype=np.int8),
        np.empty(count + 1, dtype=np.int64),
        np.zeros((count, 4), dtype=np.int64),
        np.zeros((count, 4), dtype=np.int64),
    )
    _read(np.frombuffer(content, dtype=np.uint8), found.kinds, found.lines, found.starts, found.ends)
    return found


@compiled
def _after_blanks(content: np.ndarray, at: int, end: int) -> int:
    while at < end and (content[at] == _BLANK or content[at] == _TAB):
        at += 1
    return at


@compiled
def _end_of_iri(content: np.ndarray, at: int, end: int) -> int:
    """The place of the `>` of an IRI that is surely valid, or -1: scheme, host, and what RFC 3986 allows after it."""
    if at + 1 >= end or content[at] != _LESS or not _A <= content[at + 1] | _LOWER <= _Z:
        return -1
    at += 1
    while at < end and _IN_SCHEMES[content[at]]:
        at += 1
    if at + 3 >= end or content[at] != _COLON or content[at + 1] != _SLASH or content[at + 2] != _SLASH:
        return -1
    at += 3
    host = at
    while at < end and _IN_HOSTS[content[at]]:
        at += 1
    if at in (host, end) or not _AFTER_HOSTS[content[at]]:
        return -1
    in_fragment = False
    while at < end and content[at] != _GREATER:
        byte = content[at]
        if byte == _HASH:
            if in_fragment:
                return -1
            in_fragment = True
        elif byte == _PERCENT:
            if at + 2 >= end or not _HEX[content[at + 1]] or not _HEX[content[at + 2]]:
                return -1
        elif not _IN_PATHS[byte]:
            return -1
        at += 1
    return at if at < end else -1


@compiled
def _kind_of(content: np.ndarray, at: int, end: int, starts: np.ndarray, ends: np.ndarray) -> int:
    """What a line is; where its terms stand goes into two rows of places."""
    at = _after_blanks(content, at, end)
    if at == end or content[at] == _HASH:
        return NOTHING
    for term in range(2):
        close = _end_of_iri(content, at, end)
        if close < 0:
            return OTHER
        starts[term], ends[term] = at + 1, close
        at = _after_blanks(content, close + 1, end)
    kind = FACT
    if at < end and content[at] == _LESS:
        close = _end_of_iri(content, at, end)
        if close < 0:
            return OTHER
        starts[2], ends[2] = at + 1, close
        at = close + 1
    elif at < end and content[at] == _QUOTE:
        at += 1
        starts[2] = at
        while at < end and content[at] != _QUOTE:
            if content[at] == _ESCAPE or content[at] == _RETURN:
                return OTHER
            at += 1
        ends[2] = at
        at += 1
        kind = PLAIN
        if at + 1 < end and content[at] == _CARET and content[at + 1] == _CARET:
            close = _end_of_iri(content, at + 2, end)
            if close < 0:
                return OTHER
            starts[3], ends[3] = at + 3, close
            at, kind = close + 1, TYPED
        elif at < end and content[at] == _AT:
            at += 1
            starts[3] = at
            while at < end and _IN_LANGUAGES[content[at]]:
                at += 1
            ends[3] = at
            kind = IN_LANGUAGE
    else:
        return OTHER
    at = _after_blanks(content, at, end)
    if at >= end or content[at] != _POINT:
        return OTHER
    return kind if _after_blanks(content, at + 1, end) == end else OTHER


@compiled
def _read(content: np.ndarray, kinds: np.ndarray, lines: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
    at, size = 0, len(content)
    for line in range(len(kinds)):
        end = at
        while end < size and content[end] != _LINE_BREAK:
            end += 1
        lines[line] = at
        beyond = end + 1
        if end > at and content[end - 1] == _RETURN:
            end -= 1
        kinds[line] = _kind_of(content, at, end, starts[line], ends[line])
        at = beyond
    lines[len(kinds)] = size

"""Tables read in large blocks by compiled code: the fields of every line, and which of them are numbers.

A block that has anything unusual in it is left to the reader of single lines, which knows what to say of it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.compiling import compiled
from kgreckon.graph.readers.tables import bounded_lines
from kgreckon.graph.unpacking import MOST_LINE

_SIZE = 1 << 22  # bytes in a block
_MOST = 4 * MOST_LINE + 4  # bytes without a line break, which are a line that is too long
NO_NUMBER, NUMBER, UNSURE = 0, 1, 2
_TAB, _LINE_BREAK, _RETURN, _BLANK = (np.uint8(ord(sign)) for sign in "\t\n\r ")
_PLUS, _MINUS, _POINT, _QUOTE, _ZERO, _NINE = (np.uint8(ord(sign)) for sign in '+-."09')
_DELETE, _TWO_BYTES = np.uint8(0x7F), np.uint8(0xC3)
_SPACED = (np.uint8(0xE1), np.uint8(0xE2), np.uint8(0xE3))  # the first bytes of blanks beyond Latin
_MOST_DIGITS = 300  # of a number that is surely finite


@dataclass(frozen=True)
class LineBlock:
    """Some whole lines of a file."""

    content: bytes
    line: int  # of the first one
    fields: tuple[np.ndarray, np.ndarray] | None  # (lines, columns) int64: where each begins and ends; None if unusual

    def text(self, row: int, column: int) -> str:
        """A field."""
        assert self.fields is not None
        return self.content[self.fields[0][row, column] : self.fields[1][row, column]].decode()

    def lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """The lines of a file with their numbers, as the reader of single lines has them."""
        text = TextIOWrapper(BytesIO(self.content), encoding="utf-8", errors="surrogateescape", newline="")
        return enumerate(bounded_lines(text, path, self.line - 1), self.line)

    @property
    def bytes_of(self) -> np.ndarray:
        """The content as numbers."""
        return np.frombuffer(self.content, dtype=np.uint8)

    def kinds(self, column: int) -> np.ndarray:  # (lines,) int8
        """Whether the fields of a column are numbers."""
        assert self.fields is not None
        return kinds_of(self.bytes_of, *(each[:, column] for each in self.fields))

    def numbers(self, column: int, rows: np.ndarray) -> np.ndarray:  # (rows,) float64
        """The numbers in some rows of a column, whose kind is NUMBER."""
        assert self.fields is not None
        return numbers_in(self.bytes_of, *(each[rows, column] for each in self.fields))


def kinds_of(content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # (n,) int8
    """Whether the texts that stand at some places are numbers."""
    return _kinds(content, np.ascontiguousarray(starts), np.ascontiguousarray(ends))


def numbers_in(content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:  # (n,) float64
    """The numbers that stand at some places, whose kind is NUMBER."""
    places = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(ends - starts)])
    gathered = _gathered(content, np.ascontiguousarray(starts), places)
    texts = pa.Array.from_buffers(pa.large_string(), len(starts), [None, pa.py_buffer(places), pa.py_buffer(gathered)])
    return np.array(pc.cast(texts, pa.float64())) + 0.0  # -0.0 and 0.0 are one value


def whole_lines(content: IO[bytes]) -> Iterator[bytes]:
    """A file in large pieces that end where lines do."""
    rest = b""
    while read := content.read(_SIZE):
        rest += read
        end = rest.rfind(b"\n") + 1 or (len(rest) if len(rest) > _MOST else 0)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def blocks(content: IO[bytes], path: Path, columns: int, skipped: int = 0) -> Iterator[LineBlock]:
    """The lines of a file after the first `skipped` ones."""
    line, first = 1, True
    for lines in whole_lines(content):
        if first:
            lines, first = lines.removeprefix(codecs.BOM_UTF8), False
        while skipped >= line and lines:
            lines, line = lines[lines.find(b"\n") + 1 or len(lines) :], line + 1
        if lines:
            block = _block(lines, line, columns)
            yield block
            line += len(block.fields[0]) if block.fields is not None else sum(1 for _ in block.lines(path))


def _block(content: bytes, line: int, columns: int) -> LineBlock:
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    starts, ends = (np.empty((lines, columns), dtype=np.int64) for _ in range(2))
    regular = len(content) <= MOST_LINE and _split(np.frombuffer(content, dtype=np.uint8), starts, ends)
    if regular:
        try:
            content.decode()
        except UnicodeDecodeError:
            regular = False
    return LineBlock(content, line, (starts, ends) if regular else None)


@compiled
def _split(content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    """Where the fields of each line begin and end; False where a line is not of that many, or has an empty one."""
    columns = starts.shape[1]
    at, size = 0, len(content)
    for line in range(starts.shape[0]):
        column, start, visible = 0, at, False
        while True:
            byte = content[at] if at < size else _LINE_BREAK
            if byte in (_TAB, _LINE_BREAK):
                end = at
                if byte == _LINE_BREAK and end > start and content[end - 1] == _RETURN:
                    end -= 1
                if end == start or column == columns:
                    return False
                starts[line, column] = start
                ends[line, column] = end
                column += 1
                start = at + 1
                if byte == _LINE_BREAK:
                    break
            elif byte == _RETURN:
                if at + 1 < size and content[at + 1] != _LINE_BREAK:
                    return False
            elif _BLANK < byte < _DELETE or (byte >= _TWO_BYTES and byte not in _SPACED):
                visible = True
            at += 1
        at += 1
        if column != columns or not visible:
            return False
    return at >= size


@compiled
def _kinds(content: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """NUMBER for plain decimals, NO_NUMBER for what begins as none does, UNSURE for the rest."""
    kinds = np.empty(len(starts), dtype=np.int8)
    for field in range(len(starts)):
        at, end = starts[field], ends[field]
        if at == end:
            kinds[field] = UNSURE
            continue
        first = content[at]
        digit = _ZERO <= first <= _NINE
        if not (digit or first == _MINUS):
            sign = first in (_PLUS, _POINT, _QUOTE)
            kinds[field] = UNSURE if sign or first <= _BLANK or first >= _DELETE else NO_NUMBER
            continue
        kinds[field] = UNSURE
        if first == _MINUS:
            at += 1
        if end - at > _MOST_DIGITS:
            continue
        digits = at
        while at < end and _ZERO <= content[at] <= _NINE:
            at += 1
        if at == digits:
            continue
        if at < end and content[at] == _POINT:
            at += 1
            digits = at
            while at < end and _ZERO <= content[at] <= _NINE:
                at += 1
            if at == digits:
                continue
        if at == end:
            kinds[field] = NUMBER
    return kinds


@compiled
def _gathered(content: np.ndarray, starts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Some runs of bytes end to end."""
    found = np.empty(places[-1], dtype=np.uint8)
    for run in range(len(starts)):
        for at in range(places[run + 1] - places[run]):
            found[places[run] + at] = content[starts[run] + at]
    return found

"""A wide table: one row per thing, one column per property; and how columns of any library become plain ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.errors import UserError

# Cells that say that there is nothing; those of numbers may also be told by a word.
_EMPTY = ("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "<na>", "-", "--", "—", "–", "?", "\\n")
_EMPTY_NUMBERS = (*_EMPTY, "unknown", "missing", "not available", ".", "..", "...", "tbd", "nil")
_MINUS = "\u2212"
_CODES = r"^[A-Z]{2}$"


@dataclass(frozen=True)
class WideTable:
    """Named columns of plain types: text, whole numbers, decimals, truth values, times, durations, lists of text."""

    name: str  # what a mapping calls it
    source: str  # the file that it is from, for messages
    columns: dict[str, pa.Array]
    first_line: int | None = None  # of the first row, where rows are lines of a file
    row_word: str = "row"
    primary_key: tuple[str, ...] = ()
    references: dict[str, tuple[str, str]] = field(default_factory=dict)  # column to table and column, as declared
    remarks: tuple[str, ...] = ()  # how the file was read, where that was guessed
    decimal: str = "."  # the likelier mark before decimals

    @cached_property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def place(self, row: int) -> str:
        """Where a row stands, for messages: file and line, or file and row."""
        if self.first_line is not None:
            return f"{self.source}:{self.first_line + row}"
        return f"{self.source}: {self.row_word} {row + 1}"

    def renamed(self, name: str) -> WideTable:
        """The same by another name."""
        return replace(self, name=name)

    def from_source(self, source: str) -> WideTable:
        """The same from what messages call otherwise."""
        return replace(self, source=source)

    def rows(self) -> Iterator[list[str]]:
        """The rows as text, as a table of triples is read."""
        texts = [as_text(column).fill_null("").to_pylist() for column in self.columns.values()]
        return map(list, zip(*texts, strict=True))


def wide_table(name: str, source: str, table: pa.Table, **more: Any) -> WideTable:
    """The wide table of an Arrow table, whatever its types; records become columns `a.b`."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    names = [str(column) for column in table.column_names]
    check_names(names, source)
    columns = {column: plain(table.column(place)) for place, column in enumerate(names)}
    return WideTable(name, source, columns, **more)


def check_names(names: list[str], source: str) -> None:
    """Raise a UserError where two columns have one name, or one has none among others."""
    for place, name in enumerate(names):
        if name in names[:place]:
            first = names.index(name) + 1
            raise UserError(f"{source}: columns {first} and {place + 1} are both called {name!r}: rename one of them")


def plain(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column of one of the plain types."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if isinstance(column, pa.ExtensionArray):
        return plain(column.storage)
    if pa.types.is_boolean(kind) or pa.types.is_duration(kind):
        return column
    if pa.types.is_integer(kind):
        return column if pa.types.is_uint64(kind) else column.cast(pa.int64())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_finite(numbers), numbers, None)  # NaN is how frames write that there is none
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            column = column.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit))
        return column
    if pa.types.is_time(kind):
        return column.cast(pa.string())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if pa.types.is_nested(kind.value_type) or pa.types.is_binary(kind.value_type):
            return _as_json(column)
        return column.cast(pa.list_(pa.string()))
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string()) if not pa.types.is_string(kind) else column
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.nulls(len(column), pa.string())  # pictures and the like
    return _as_json(column)


def _as_json(column: pa.Array) -> pa.Array:
    texts = [
        None if value is None else json.dumps(value, default=str, ensure_ascii=False) for value in column.to_pylist()
    ]
    return pa.array(texts, pa.string())


def from_values(values: Iterable[Any]) -> pa.Array:
    """A plain column of Python values, text where they are of several types."""
    values = list(values)
    try:
        return plain(pa.array(values))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([_text(value) for value in values], pa.string())


def joined(pieces: Sequence[pa.Array]) -> pa.Array:
    """A column of pieces that were made `from_values`, as if of all values at once."""
    kinds = {piece.type for piece in pieces if piece.null_count < len(piece)}
    if len(kinds) > 1:
        return from_values(value for piece in pieces for value in piece.to_pylist())
    kind = next(iter(kinds), pa.string())
    alike = [piece if piece.type == kind else pa.nulls(len(piece), kind) for piece in pieces]
    return pa.concat_arrays(alike) if alike else pa.nulls(0, kind)


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))  # a whole number among text, as frames and sheets keep it
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def as_text(column: pa.Array) -> pa.Array:
    """A column's cells as text, trimmed; a whole number without a point."""
    if pa.types.is_list(column.type):
        return pa.array(
            [None if value is None else "; ".join(map(str, value)) for value in column.to_pylist()], pa.string()
        )
    if pa.types.is_floating(column.type) and pc.all(pc.equal(column, pc.round(column)), min_count=0).as_py():
        column = column.cast(pa.int64(), safe=False) if not _is_huge(column) else column
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _is_huge(column: pa.Array) -> bool:
    largest = pc.max(pc.abs(column)).as_py()
    return largest is not None and largest >= 2**53


def cells(column: pa.Array, numeric: bool = False) -> pa.Array:
    """The text of a column without cells that say that there is nothing.

    `NA` is a cell like any other where most cells are codes of two letters: it is Namibia.
    """
    texts = as_text(column)
    if not numeric and pc.any(pc.equal(texts, "-"), min_count=0).as_py() and pc.any(pc.equal(texts, "+")).as_py():
        texts = pc.if_else(pc.equal(texts, "-"), _MINUS, texts)  # beside a plus it is one of two signs
    empty = pc.is_in(pc.utf8_lower(texts), pa.array(_EMPTY_NUMBERS if numeric else _EMPTY))
    if not numeric and pc.any(pc.equal(texts, "NA"), min_count=0).as_py():
        others = texts.filter(pc.invert(empty))
        if (pc.sum(pc.match_substring_regex(others, _CODES)).as_py() or 0) * 2 > len(others):
            empty = pc.and_(empty, pc.not_equal(texts, "NA"))
    return pc.if_else(empty, pa.scalar(None, pa.string()), texts)


@dataclass(frozen=True)
class Distinct:
    """The different cells of a column, how often each occurs, and which of them each row has (-1 for none)."""

    values: pa.Array
    counts: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def texts(self) -> list[str]:
        """The different cells as strings of Python."""
        return list(self.values.to_pylist())

    def some(self, least: int = 0, most: int | None = None, step: int = 1) -> list[str]:
        """Some of them, without making strings of all."""
        return list(self.values.take(pa.array(range(len(self))[least:most:step], pa.int64())).to_pylist())

    def shared(self, other: Distinct) -> int:
        """How many of them another column has too."""
        return int(pc.sum(pc.is_in(self.values, value_set=other.values)).as_py() or 0)

    @property
    def total(self) -> int:
        """How many rows have a cell."""
        return int(self.counts.sum())

    @property
    def repeated(self) -> int:
        """How many rows have a cell that another row has too."""
        return int(self.counts[self.counts > 1].sum())


def distinct(texts: pa.Array) -> Distinct:
    """The different cells of a column of text."""
    encoded = texts.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    counts = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))
    return Distinct(encoded.dictionary, counts, codes)

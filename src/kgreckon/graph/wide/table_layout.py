"""Whether a text file is a wide table, one row per thing, or one of facts, values or names, one row per statement."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from kgreckon.graph.readers.tables import header_kind, is_header
from kgreckon.graph.unpacking import content_of
from kgreckon.graph.wide.calendars import BadDateError, read_day
from kgreckon.graph.wide.delimited import encoding_of, head_of, is_binary, separator_of
from kgreckon.graph.wide.forms import MOST
from kgreckon.graph.wide.written import read_quantity

_STATEMENT = 4  # columns at most
_HEAD = 1 << 20  # bytes that are looked at
_ROWS = 10  # from which on a column without repeats means something
_HALF = 0.5  # of the cells of a column that are numbers, where its header may be one
_EMPTY = ("", "na", "n/a", "nan", "null", "none", "-", "?")


class Layout(Enum):
    """What the rows of a table are."""

    THINGS = "things"  # below a header
    STATEMENTS = "statements"
    UNCLEAR = "unclear"  # read as statements, though the first row may well be a header of things


def layout_of_file(path: Path, likely: str) -> Layout:
    """The layout of a delimited file, of which `likely` is the usual separator."""
    content = content_of(path, most=_HEAD)
    if is_binary(content):
        return Layout.STATEMENTS
    if len(content) == _HEAD:  # no character may be cut in two
        content = content[: content.rfind(b"\n") + 1]
    encoding = encoding_of(content)
    lines = [
        line
        for line in head_of(content if encoding == "utf-8-sig" else content.decode(encoding, errors="replace").encode())
        if line.strip()
    ]
    if not lines:
        return Layout.STATEMENTS
    separator = separator_of(lines, likely)
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if any(row)]
    except csv.Error:
        return Layout.STATEMENTS
    header = [cell.lstrip("\ufeff") for cell in rows[0]]
    if separator != likely and header_kind(header) is not None:
        return Layout.THINGS  # statements, which the reader of wide tables parts as they are
    return Layout.STATEMENTS if is_header(header) else layout_of(rows)


def layout_of(rows: Sequence[Sequence[str]]) -> Layout:
    """What rows are: of five columns and more, a header and things; of fewer the header must stand out."""
    header, body = [cell.strip() for cell in rows[0]], [row for row in rows[1:] if len(row) == len(rows[0])]
    if len(header) > _STATEMENT:
        return _either(not any(map(_is_value, header)))
    if len(header) < 2 or len(body) < 2 or not all(header) or any(map(_is_value, header)):
        return Layout.STATEMENTS
    columns = [
        [cell.strip() for cell in column if cell.strip().lower() not in _EMPTY] for column in zip(*body, strict=True)
    ]
    if len(header) >= 3 and header[1] in columns[1]:
        return Layout.STATEMENTS  # a predicate that other rows have too
    names = columns[0]
    unique = len(names) == len(body) == len(set(names) - {header[0]})
    # Where each row is of another thing, a few cells may be no numbers, as in the columns of things.
    measured = [_share_of_values(column) for column in columns]
    whole = [share >= (MOST if unique else 1) for share in measured]
    if len(set(header)) < len(header):
        return _either(sum(whole) > 1)  # two columns of one name, which the reader of wide tables objects to
    if any(whole[1:]) or (whole[0] and len(header) > 2):
        return Layout.THINGS
    if len(header) >= 3 and len(body) >= _ROWS and unique and len(set(columns[1])) > len(body) / 2:
        return Layout.THINGS
    return Layout.UNCLEAR if unique and max(measured[1:]) >= _HALF else Layout.STATEMENTS


def _either(things: bool) -> Layout:
    return Layout.THINGS if things else Layout.STATEMENTS


def _share_of_values(column: Sequence[str]) -> float:
    """The share of the cells that are numbers or dates; none where there are too few to say."""
    return sum(map(_is_value, column)) / len(column) if len(column) >= 2 else 0.0


def _is_value(text: str) -> bool:
    text = text.strip()
    try:
        return read_quantity(text) is not None or read_quantity(text, ",") is not None or read_day(text) is not None
    except BadDateError:
        return True

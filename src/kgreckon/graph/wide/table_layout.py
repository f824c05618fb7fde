"""Whether a text file is a wide table, one row per thing, or one of facts, values or names, one row per statement."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from kgreckon.graph.readers.tables import header_kind, is_header
from kgreckon.graph.unpacking import content_of
from kgreckon.graph.wide.calendars import BadDateError, read_day
from kgreckon.graph.wide.delimited import encoding_of, head_of, is_binary, separator_of
from kgreckon.graph.wide.written import read_quantity

_STATEMENT = 4  # columns at most
_HEAD = 1 << 20  # bytes that are looked at
_ROWS = 10  # from which on a column without repeats means something
_EMPTY = ("", "na", "n/a", "nan", "null", "none", "-", "?")


def is_wide_file(path: Path, likely: str) -> bool:
    """Whether a delimited file, of which `likely` is the usual separator, is a wide table."""
    content = content_of(path, most=_HEAD)
    if is_binary(content):
        return False
    if len(content) == _HEAD:  # no character may be cut in two
        content = content[: content.rfind(b"\n") + 1]
    encoding = encoding_of(content)
    lines = [
        line
        for line in head_of(content if encoding == "utf-8-sig" else content.decode(encoding, errors="replace").encode())
        if line.strip()
    ]
    if not lines:
        return False
    separator = separator_of(lines, likely)
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if any(row)]
    except csv.Error:
        return False
    header = [cell.lstrip("\ufeff") for cell in rows[0]]
    if separator != likely and header_kind(header) is not None:
        return True  # statements, which the reader of wide tables parts as they are
    return not is_header(header) and is_wide(rows)


def is_wide(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are a header and things: of five columns and more they are; of fewer the header must stand out."""
    header, body = [cell.strip() for cell in rows[0]], [row for row in rows[1:] if len(row) == len(rows[0])]
    if len(header) > _STATEMENT:
        return not any(map(_is_value, header))
    if len(header) < 2 or len(body) < 2 or not all(header) or any(map(_is_value, header)):
        return False
    columns = [
        [cell.strip() for cell in column if cell.strip().lower() not in _EMPTY] for column in zip(*body, strict=True)
    ]
    if len(header) >= 3 and header[1] in columns[1]:
        return False  # a predicate that other rows have too
    measured = [len(column) >= 2 and all(map(_is_value, column)) for column in columns]
    if len(set(header)) < len(header):
        return sum(measured) > 1  # two columns of one name, which the reader of wide tables objects to
    if any(measured[1:]) or (measured[0] and len(header) > 2):
        return True
    several = len(header) >= 3 and len(body) >= _ROWS
    return several and len(set(columns[0])) == len(body) and len(set(columns[1])) > len(body) / 2


def _is_value(text: str) -> bool:
    text = text.strip()
    try:
        return read_quantity(text) is not None or read_quantity(text, ",") is not None or read_day(text) is not None
    except BadDateError:
        return True

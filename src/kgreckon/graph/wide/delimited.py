"""Delimited text: which separator and encoding a file has, and its columns, which pyarrow reads."""

from __future__ import annotations

import codecs
import csv
import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from kgreckon.errors import UserError
from kgreckon.graph.unpacking import content_of
from kgreckon.graph.wide.wide_table import WideTable, check_names

SEPARATORS = (",", "\t", ";", "|")
_LOOKED_AT = 200  # lines
_MOST = 0.8  # of the lines that have as many cells as the first
_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "vertical bar", " ": "blank"}


def head_of(content: bytes) -> list[str]:
    """The first lines of some text in UTF-8."""
    return content[: 1 << 20].decode(errors="replace").splitlines()[:_LOOKED_AT]


def separator_of(lines: list[str], likely: str) -> str:
    """The separator that parts the lines into the most columns, the same number in most of them."""

    def score(separator: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if any(row)]
        if not widths or widths[0] < 2:
            return 0.0, 0
        return sum(width in (widths[0], widths[0] + 1) for width in widths) / len(widths), widths[0]

    try:
        if score(likely)[0] > _MOST:
            return likely
        best = max((likely, *SEPARATORS), key=score)
    except csv.Error:
        return likely
    return best if score(best)[0] > _MOST else likely


def encoding_of(content: bytes) -> str:
    """UTF-8 or UTF-16 where a mark or the bytes say so, else the encoding of old Windows files."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def is_binary(content: bytes) -> bool:
    """Whether bytes are no text."""
    return b"\x00" in content[:4096] and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def read_delimited(path: Path, name: str, likely: str, separator: str = "", encoding: str = "") -> WideTable:
    """The columns of a file as text, its first row being their names."""
    content = content_of(path, b"\r\n")
    if is_binary(content):
        raise UserError(f"{path} is not text: what is it? A Parquet file ends in .parquet, an Excel file in .xlsx")
    remarks = []
    found = encoding or encoding_of(content)
    if found == "cp1252" and not encoding:
        remarks.append('read as Windows-1252, for it is not UTF-8; encoding = "..." in a mapping says otherwise')
    if found == "utf-8-sig":
        content = content.removeprefix(codecs.BOM_UTF8)
    else:
        try:
            content = content.decode(found).encode()
        except (UnicodeDecodeError, LookupError) as error:
            raise UserError(f"{path} is not in the encoding {found}: {error}") from None
    lines = head_of(content)
    skipped = next((place for place, line in enumerate(lines) if line.strip()), None)
    if skipped is None:
        raise UserError(f"{path} is empty")
    separator = separator or separator_of(lines[skipped:], likely)
    if separator != likely:
        remarks.append(f"its separator is a {_NAMES.get(separator, separator)}")
    rows = csv.reader(lines[skipped:], delimiter=separator, skipinitialspace=True)
    header, below = next(rows), next(rows, [])
    if len(below) == len(header) + 1:  # as R writes row names
        header = ["", *header]
    names = [" ".join(column.split()) or f"column {place}" for place, column in enumerate(header, 1)]
    check_names(names, str(path))
    read = _columns_by_row if _blanks_before_quotes(lines[skipped:], separator) else _columns
    columns, shorter = read(content, path, names, separator, skipped)
    if shorter:
        which = "1 row has" if shorter == 1 else f"{shorter:,} rows have"
        remarks.append(f"{which} fewer cells than the header: the last ones are taken as empty")
    rows_of_lines = content.count(b"\n") + (not content.endswith(b"\n")) - skipped - 1
    return WideTable(
        name,
        str(path),
        columns,
        first_line=skipped + 2 if rows_of_lines == len(next(iter(columns.values()))) else None,
        remarks=tuple(remarks),
        decimal="," if separator == ";" else ".",
    )


def _blanks_before_quotes(lines: list[str], separator: str) -> bool:
    """Whether cells are quoted behind a blank, as in `1, "a, b"`: pyarrow takes such quotes for a part of the cell."""
    if not any(re.search(rf'{re.escape(separator)} +"', line) for line in lines):
        return False
    with_blanks, without = (
        [len(row) for row in csv.reader(lines, delimiter=separator, skipinitialspace=skip)] for skip in (False, True)
    )
    quoted = any(
        cell.startswith(' "') and cell.endswith('"') for row in csv.reader(lines, delimiter=separator) for cell in row
    )
    return quoted or with_blanks != without


def _columns_by_row(
    content: bytes, path: Path, names: list[str], separator: str, skipped: int
) -> tuple[dict[str, pa.Array], int]:
    """The columns as the csv module reads them, and how many rows lack cells at their end."""
    reader = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator, skipinitialspace=True)
    rows, shorter = [], 0
    try:
        for place, row in enumerate(reader):
            if place <= skipped or not row:
                continue
            if len(row) > len(names):
                raise UserError(
                    f"{path}:{reader.line_num}: the header has {len(names)} columns, this row has {len(row)}"
                )
            shorter += len(row) < len(names)
            rows.append(_filled(row, names))
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: {error}") from None
    return _as_columns(rows, names), shorter


def _filled(row: list[str], names: list[str]) -> list[str]:
    """A row with the cells at its end that editors and spreadsheets leave away where they are empty."""
    return row + [""] * (len(names) - len(row))


def _as_columns(rows: list[list[str]], names: list[str]) -> dict[str, pa.Array]:
    return {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)}


def _columns(
    content: bytes, path: Path, names: list[str], separator: str, skipped: int
) -> tuple[dict[str, pa.Array], int]:
    """The columns as pyarrow reads them, and how many rows lack cells at their end."""
    kinds = {name: pa.string() for name in names}
    shorter: dict[int, str] = {}  # by their place among all rows

    def take_shorter(row: pyarrow.csv.InvalidRow) -> str:
        if row.actual_columns > row.expected_columns:
            return "error"
        shorter[row.number - skipped - 2] = row.text
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=skipped + 1, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=take_shorter
            ),
            convert_options=pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise UserError(_problem(str(error), path, skipped, separator)) from None
    if shorter:
        rows = [_filled(next(csv.reader(io.StringIO(text, newline=""), delimiter=separator)), names)
                for text in shorter.values()]  # fmt: skip
        table = pa.concat_tables([table, pa.table(_as_columns(rows, names))])
        whole = np.setdiff1d(np.arange(table.num_rows), list(shorter), assume_unique=True)
        table = table.take(np.argsort(np.concatenate([whole, list(shorter)])))
    return {name: table.column(name).combine_chunks() for name in names}, len(shorter)


def _problem(message: str, path: Path, skipped: int, separator: str) -> str:
    """What pyarrow complains of, with file and line."""
    if found := re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)(?:: (.*))?", message, re.DOTALL):
        row, expected, got = found[1], found[2], found[3]
        if row is None:
            named = _NAMES.get(separator, separator)
            return f"{path}: the header has {expected} columns, some row has {got}: is a {named} missing?"
        shown = (found[4] or "").strip()
        return f"{path}:{int(row) + skipped}: the header has {expected} columns, this row has {got}: {shown:.60}"
    if "Empty CSV" in message or "no rows" in message.lower():
        return f"{path} has a header, but no rows"
    return f"{path} cannot be read: {message.partition(chr(10))[0]}"

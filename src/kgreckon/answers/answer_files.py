"""Answers as files for other programs: CSV, JSON and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO, StringIO
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import to_json

from kgreckon.answers.answer_table import Answers

_ROWS = 1000  # in a piece of a file


def headers_and_rows(answers: Answers) -> tuple[list[str], Iterable[list[object]]]:
    """The answers with all digits of their numbers; a total is one row."""
    total = answers.total
    if total is None:
        return answers.headers(), answers.rows()
    names = ["kind", "attribute", "value", "unit", "counted", "without"]
    cells: list[object] = [total.kind, total.attribute, total.value, total.unit, total.counted, total.without]
    if total.expected is not None:
        names += ["expected", "low", "high"]
        cells += [total.expected.value, total.expected.low, total.expected.high]
    return names, [cells]


def csv_pieces(answers: Answers) -> Iterator[str]:
    """Comma-separated values below their headers."""
    headers, rows = headers_and_rows(answers)
    for some in _batches(chain([headers], rows)):
        out = StringIO()
        csv.writer(out, lineterminator="\n").writerows(some)
        yield out.getvalue()


def _json_pieces(answers: Answers) -> Iterator[bytes]:
    """A list of objects."""
    headers, rows = headers_and_rows(answers)
    before = b"["
    for some in _batches(rows):
        yield before + to_json([dict(zip(headers, row, strict=True)) for row in some])[1:-1]
        before = b","
    yield b"[]" if before == b"[" else b"]"


def _parquet(answers: Answers) -> Iterator[bytes]:
    headers, rows = headers_and_rows(answers)
    columns = list(zip(*rows, strict=True)) or [()] * len(headers)
    out = BytesIO()
    pq.write_table(pa.table([pa.array(column) for column in columns], names=headers), out)
    yield out.getvalue()


def _batches(rows: Iterable[list[Any]]) -> Iterator[list[list[Any]]]:
    rows = iter(rows)
    while some := list(islice(rows, _ROWS)):
        yield some


FILES: dict[str, tuple[str, Callable[[Answers], Iterator[bytes]]]] = {  # the media type, and the file in pieces
    "csv": ("text/csv; charset=utf-8", lambda answers: map(str.encode, csv_pieces(answers))),
    "json": ("application/json", _json_pieces),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}

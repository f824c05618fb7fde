"""Answers as files for other programs: CSV, JSON and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import BytesIO, StringIO
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import to_json

from kgreckon.answers.answer_table import Answers


def headers_and_rows(answers: Answers) -> tuple[list[str], list[list[object]]]:
    """The answers with all digits of their numbers; a total is one row."""
    total = answers.total
    if total is None:
        return answers.headers(), answers.records()
    names = ["kind", "attribute", "value", "unit", "counted", "without"]
    cells: list[object] = [total.kind, total.attribute, total.value, total.unit, total.counted, total.without]
    if total.expected is not None:
        names += ["expected", "low", "high"]
        cells += [total.expected.value, total.expected.low, total.expected.high]
    return names, [cells]


def write_csv(answers: Answers, out: TextIO) -> None:
    """Comma-separated values below their headers."""
    headers, records = headers_and_rows(answers)
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(headers)
    rows.writerows(records)


def _csv(answers: Answers) -> bytes:
    out = StringIO()
    write_csv(answers, out)
    return out.getvalue().encode()


def _json(answers: Answers) -> bytes:
    """A list of objects."""
    headers, rows = headers_and_rows(answers)
    return to_json([dict(zip(headers, row, strict=True)) for row in rows])


def _parquet(answers: Answers) -> bytes:
    headers, rows = headers_and_rows(answers)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(headers)
    out = BytesIO()
    pq.write_table(pa.table([pa.array(column) for column in columns], names=headers), out)
    return out.getvalue()


FILES: dict[str, tuple[str, Callable[[Answers], bytes]]] = {  # the media type, and what writes it
    "csv": ("text/csv; charset=utf-8", _csv),
    "json": ("application/json", _json),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}

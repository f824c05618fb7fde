"""Tables of facts, values and names: TSV and CSV, plain or gzipped."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from enum import Enum
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import IO, AnyStr

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import (
    NotANumberError,
    OutOfRangeError,
    UnknownDateError,
    is_calendar,
    is_rounded,
    looks_like_a_date,
    read_cell,
)
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.unpacking import GZIP_ERRORS, MOST_LINE, open_bytes, suffix_of
from kgreckon.query.datatypes import PLAIN_UNIT

SUFFIXES = (".tsv", ".csv", ".txt")
_ROWS_LOOKED_AT = 50

_CSV_PROBLEMS = {
    "unexpected end of data": "a quote opens here and does not close where a field ends",
    "',' expected after '\"'": "a comma is expected after the quote that closes",
}

Row = tuple[int, list[str]]  # line number and fields


class TableKind(Enum):
    """What a table holds."""

    FACTS = "facts"  # head, relation, tail
    VALUES = "values"  # entity, attribute, value, and the unit if there is a fourth
    NAMES = "names"  # name, label
    TRIPLES = "triples"  # facts, and values of the attributes among the relations
    WIDE = "wide"  # one row per thing, see kgreckon.graph.wide


_FIELDS = {TableKind.FACTS: (3,), TableKind.VALUES: (3, 4), TableKind.NAMES: (2,), TableKind.TRIPLES: (3,)}
_NUMBERS_BEGIN_WITH = frozenset('+-.0123456789"')
# The words that a header may have above each column, by what the table holds.
_HEADS, _LABELS, _TAILS = (
    {"head", "subject", "source", "from"},
    {"relation", "predicate", "property"},
    {"tail", "target", "to"},
)
_NAMES, _QUANTITIES = {"entity", "subject", "id", "name"}, {"attribute", "property", "predicate"}
_HEADERS: tuple[tuple[TableKind, tuple[set[str], ...]], ...] = (
    (TableKind.FACTS, (_HEADS, _LABELS, _TAILS)),
    (TableKind.TRIPLES, (_HEADS, _LABELS, {"object"})),
    (TableKind.VALUES, (_NAMES, _QUANTITIES, {"value"})),
    (TableKind.VALUES, (_NAMES, _QUANTITIES, {"value"}, {"unit"})),
    (TableKind.NAMES, (_NAMES, {"label", "name"})),
)


def read_rows(path: Path, report: ImportReport) -> Generator[Row]:
    """The rows of a table with their line numbers, blank lines left out."""
    # Bytes that are not UTF-8 come through as surrogates; the builder finds them where they matter.
    with TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        try:
            if suffix_of(path) == ".csv":
                yield from _csv_rows(bounded_lines(text, path), path, report)
            else:
                for line, content in enumerate(bounded_lines(text, path), 1):
                    if content.strip():
                        yield line, split_line(content)
        except GZIP_ERRORS as error:
            raise UserError(f"{path} is not a whole gzip file: {error}") from None


def bounded_lines(content: IO[AnyStr], path: Path, place: int = 0) -> Iterator[AnyStr]:
    """The lines of a file, after the first so many; one that is too long to be meant is an error."""
    while line := content.readline(MOST_LINE + 1):
        place += 1
        if len(line) > MOST_LINE:
            raise UserError(f"{path}:{place}: the line is longer than {MOST_LINE:,} characters")
        yield line


def split_line(line: str) -> list[str]:
    """The fields of a line of a tab-separated table."""
    return line.rstrip("\r\n").split("\t")


class _Lines:
    """The lines of a file; those that a row took can be read again."""

    def __init__(self, text: Iterable[str]) -> None:
        self._rest = iter(text)
        self._again: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._rest)
        self.taken.append(line)
        return line

    def give_back(self) -> None:
        """Let all lines that were taken but the first come again."""
        self._again.extendleft(reversed(self.taken[1:]))


def _csv_rows(text: Iterable[str], path: Path, report: ImportReport) -> Iterator[Row]:
    lines, line = _Lines(text), 1  # a row may take several lines; it is called by its first
    reader = _csv_reader(lines)
    while True:
        lines.taken.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # A quote left open takes the lines after it along, which may be good.
            problem = "unexpected end of data" if len(lines.taken) > 1 else str(error)
            report.reject(path, line, _CSV_PROBLEMS.get(problem, problem))
            lines.give_back()
            reader, line = _csv_reader(lines), line + 1
            continue
        if any(field.strip() for field in fields):
            yield line, fields
        line += len(lines.taken)


def _csv_reader(lines: Iterable[str]) -> Iterator[list[str]]:
    return csv.reader(lines, strict=True, skipinitialspace=True)  # in "a, b" the second cell is b


def kind_of(path: Path) -> TableKind:
    """What a table holds, told by its header or its first rows."""
    first = list(islice(read_rows(path, ImportReport(skip_bad_lines=True)), _ROWS_LOOKED_AT))
    return (_header(first) or _guess(first)) if first else TableKind.FACTS


def read_table(path: Path, kind: TableKind, builder: GraphBuilder, report: ImportReport) -> None:
    """Add a table to the graph, its header left out."""
    rows = read_rows(path, report)
    first = list(islice(rows, 1))
    if not first:
        raise UserError(f"{path} is empty")
    _check_header(path, first[0])
    report.files.append(path.name)
    by_blocks = builder.takes_many and kind is not TableKind.NAMES and suffix_of(path) != ".csv"
    if by_blocks and len(first[0][1]) == 3:
        from kgreckon.graph.readers.fast_tables import read_fast

        rows.close()
        read_fast(path, kind, first[0][0] if _header(first) else 0, builder, report)
        return
    attributes = _attributes_in(path, report) if kind is TableKind.TRIPLES else frozenset[str]()
    add_rows(rows if _header(first) else chain(first, rows), path, kind, builder, report, attributes)


def _attributes_in(path: Path, report: ImportReport) -> frozenset[str]:
    """The relations of a table whose tails are all numbers or dates, unless its heads are mostly numbers: ids."""
    rows = read_rows(path, ImportReport(skip_bad_lines=True))
    first = list(islice(rows, 1))
    tails = Tails()
    for line, fields in rows if _header(first) else chain(first, rows):
        if len(fields) == 3:
            tails.look_at(line, *fields)
    return attributes_of(tails, path, report)


def attributes_of(tails: Tails, path: Path, report: ImportReport) -> frozenset[str]:
    """The relations that are attributes by their tails; the report tells of them, and of those that nearly are."""
    for relation, (line, tail) in tails.mostly_numbers().items():
        report.nearly_attributes[relation] = f"{path.name}:{line}: {tail!r}"
    attributes = tails.all_numbers()
    report.attributes += attributes
    return frozenset(attributes)


class Tails:
    """How many tails of each relation are numbers or dates."""

    def __init__(self) -> None:
        self.ids = 0  # heads that are numbers
        self.all, self.numbers = Counter[str](), Counter[str]()
        self.first_other: dict[str, tuple[int, str]] = {}

    def look_at(self, line: int, head: str, relation: str, tail: str) -> None:
        """Count one more row."""
        self.ids += is_number(head)
        self.all[relation] += 1
        if is_number(tail):
            self.numbers[relation] += 1
        else:
            self.first_other.setdefault(relation, (line, tail.strip()))

    def all_numbers(self) -> list[str]:
        """The relations that may be attributes; none where most heads are numbers too, which then are ids."""
        if self.ids * 2 > self.all.total():
            return []
        return [relation for relation, count in self.numbers.items() if count == self.all[relation]]

    def mostly_numbers(self) -> dict[str, tuple[int, str]]:
        """The relations that might be attributes, and the first line and tail of each that speaks against it."""
        if self.ids * 2 > self.all.total():
            return {}
        return {
            relation: self.first_other[relation]
            for relation, count in self.numbers.items()
            if self.all[relation] / 2 < count < self.all[relation]
        }


def is_header(words: Sequence[str]) -> bool:
    """Whether a first row is the header of a table of facts, values or names, or one misspelt."""
    row = (1, list(words))
    if _header([row]) is not None:
        return True
    try:
        _check_header(Path(), row)
    except UserError:
        return True
    return False


def header_kind(words: Sequence[str]) -> TableKind | None:
    """What a table with a known header holds."""
    return _header([(1, list(words))])


def _header(rows: list[Row]) -> TableKind | None:
    words = [field.strip().lower() for field in rows[0][1]]
    for kind, columns in _HEADERS:
        if len(words) == len(columns) and all(word in known for word, known in zip(words, columns, strict=True)):
            return kind
    return None


def _check_header(path: Path, row: Row) -> None:
    """Reject a first row that is plainly a header, but not one that is known."""
    words = [field.strip().lower() for field in row[1]]
    if _header([row]) is not None or len(words) < 3:
        return
    if _header([(row[0], row[1][:3])]) is not None:
        beyond = words[3:] if words[3] != "unit" else words[4:]
        raise UserError(f"{path}:{row[0]}: unknown column {', '.join(map(repr, beyond))}: leave it out")
    for _, columns in _HEADERS:
        fits = [word in column for word, column in zip(words, columns, strict=False)]
        if len(words) == len(columns) and sum(fits) == len(words) - 1:
            column = fits.index(False)
            names = " or ".join(sorted(columns[column]))
            raise UserError(
                f"{path}:{row[0]}: the columns {', '.join(words)} look like a header, but that of "
                f"{words[column]!r} is called {names}; or leave the line out; or, if each row is a thing: --wide {path}"
            )
    if all(any(word in column for _, columns in _HEADERS for column in columns) for word in words):
        known = "head, relation, tail; entity, attribute, value; entity, attribute, value, unit"
        raise UserError(
            f"{path}:{row[0]}: the columns {', '.join(words)} are in no order that is known: {known}; "
            f"or, if each row is a thing: --wide {path}"
        )


def _measures_time(unit: str) -> bool:
    return is_calendar(unit) or unit in ("year", "years")


def add_rows(
    rows: Iterable[Row],
    path: Path,
    kind: TableKind,
    builder: GraphBuilder,
    report: ImportReport,
    attributes: frozenset[str] = frozenset(),
    tails: Tails | None = None,
) -> None:
    """Add rows of a known kind to the graph; of triples, those of the attributes are values.

    With `tails` it is for the caller to report which relations lead to numbers.
    """
    separator = "comma" if suffix_of(path) == ".csv" else "tab"
    widths = _FIELDS[kind]
    expected = " or ".join(map(str, widths))
    own_tails = Tails()
    for line, fields in rows:
        if len(fields) not in widths:
            report.reject(path, line, f"expected {expected} {separator}-separated fields, found {len(fields)}")
            continue
        try:
            if kind is TableKind.FACTS or (kind is TableKind.TRIPLES and fields[1] not in attributes):
                builder.add_fact(*fields)
                if kind is TableKind.FACTS:  # triples have been looked at
                    (tails or own_tails).look_at(line, *fields)
            elif kind is not TableKind.NAMES:
                number, unit = read_cell(fields[2])
                report.rounded += is_rounded(fields[2], number)
                given = fields[3].strip() if len(fields) == 4 else ""
                if unit is not None and is_calendar(unit) and given and not _measures_time(given):
                    raise NotANumberError(f"{fields[2].strip()!r} is a date, not a number of {given}")
                # Where bad lines are skipped, the unit of most values stays, whichever comes first.
                builder.add_value(fields[0], fields[1], number, given or unit or PLAIN_UNIT, report.skip_bad_lines)
            elif builder.label(*fields):
                report.labels += 1
            else:
                report.labels_of_nothing += 1
        except UnknownDateError:
            report.unknown_dates += 1
        except (NotANumberError, UserError) as error:
            report.reject(path, line, str(error))
    report.numbers_as_things += own_tails.all_numbers()


def _guess(rows: list[Row]) -> TableKind:
    """What the rows look like: two fields name, four measure, three measure if most of them end in a number.

    Where the first fields are numbers too, they are ids, and the rows are facts. Else, where not all measure, some may.
    """
    widths = [len(fields) for _, fields in rows]
    width = max(widths, key=widths.count)  # the first row's among equals
    if width == 2:
        return TableKind.NAMES
    if width == 4:
        return TableKind.VALUES
    full = [fields for _, fields in rows if len(fields) == 3]
    ends = sum(is_number(fields[2]) for fields in full)
    starts = sum(is_number(fields[0]) for fields in full)
    relations = {fields[1] for fields in full} - {fields[1] for fields in full if is_number(fields[2])}
    if starts * 2 > len(full):
        return TableKind.FACTS
    return TableKind.VALUES if ends * 2 > len(full) and not relations else TableKind.TRIPLES


def is_number(text: str) -> bool:
    """Whether a cell holds a number or a date."""
    text = text.strip()
    if text[:1] not in _NUMBERS_BEGIN_WITH:
        return False
    if looks_like_a_date(text):
        return True
    try:
        read_cell(text)
    except (UnknownDateError, OutOfRangeError):
        return True
    except NotANumberError:
        return False
    return True

"""Tables of three tab-separated columns by the block; what is unusual goes to the reader of single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import is_rounded
from kgreckon.graph.name_table import NameTable
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.readers.table_blocks import NUMBER, UNSURE, LineBlock, blocks
from kgreckon.graph.readers.tables import (
    Row,
    TableKind,
    Tails,
    add_rows,
    attributes_of,
    is_number,
    split_line,
)
from kgreckon.graph.unpacking import GZIP_ERRORS, open_bytes

_EXACT = 2.0**53


def read_fast(path: Path, kind: TableKind, header: int, builder: GraphBuilder, report: ImportReport) -> None:
    """Add a table of facts, values or triples, whose rows begin after the line of the header."""
    attributes, tails = frozenset[str](), Tails()
    if kind is TableKind.TRIPLES:
        for block in _blocks(path, header, report):
            _look_at(block, path, tails)
        attributes, tails = attributes_of(tails, path, report), Tails()
    for block in _blocks(path, header, report):
        relations = _added(block, kind, attributes, builder, report)
        if relations is None:
            add_rows(_rows(block, path), path, kind, builder, report, attributes, tails)
        elif kind is TableKind.FACTS:
            _look_at(block, path, tails, relations, builder.relation_name)
    report.numbers_as_things += tails.all_numbers()


def _blocks(path: Path, header: int, report: ImportReport) -> Iterator[LineBlock]:
    with open_bytes(path) as content:
        try:
            for block in blocks(content, path, 3, header):
                yield block
                report.read(path, len(block.content))
        except GZIP_ERRORS as error:
            raise UserError(f"{path} is not a whole gzip file: {error}") from None


def _rows(block: LineBlock, path: Path) -> Iterator[Row]:
    return ((line, split_line(content)) for line, content in block.lines(path) if content.strip())


def _look_at(
    block: LineBlock,
    path: Path,
    tails: Tails,
    ids: np.ndarray | None = None,
    name_of: Callable[[int], str] | None = None,
) -> None:
    """Count which tails are numbers, as `Tails.look_at` does for each row; of known relations come the ids."""
    if block.fields is None:
        for line, fields in _rows(block, path):
            if len(fields) == 3:
                tails.look_at(line, *fields)
        return
    heads, numbers = _numbers(block, 0), _numbers(block, 2)
    rows = np.arange(len(heads))
    if ids is None or name_of is None:
        relations = NameTable()
        ids, name_of = relations.add_all(*_names(block, rows, 1)), relations.text
    size = int(ids.max()) + 1
    first = {}  # the first row of each relation with a number, and with another tail
    for holds in (True, False):
        first[holds] = np.full(size, len(ids))
        own = rows[numbers == holds][::-1]
        first[holds][ids[own]] = own
    counts, of_numbers = (np.bincount(ids[own], minlength=size) for own in (rows, numbers))
    tails.ids += int(heads.sum())
    order = np.argsort(first[True], kind="stable")
    for place in order[counts[order] > 0].tolist():
        name, row = name_of(place), int(first[False][place])
        tails.all[name] += int(counts[place])
        if of_numbers[place]:
            tails.numbers[name] += int(of_numbers[place])
        if row < len(ids):
            tails.first_other.setdefault(name, (block.line + row, block.text(row, 2).strip()))


def _names(block: LineBlock, rows: np.ndarray, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the names in some rows of a column stand."""
    assert block.fields is not None
    starts, ends = (each[rows, column] for each in block.fields)
    return block.bytes_of, starts, ends


def _numbers(block: LineBlock, column: int) -> np.ndarray:  # (lines,) bool
    """Which fields of a column are numbers or dates."""
    kinds = block.kinds(column)
    found = kinds == NUMBER
    for row in np.flatnonzero(kinds == UNSURE).tolist():
        found[row] = is_number(block.text(row, column))
    return found


def _added(
    block: LineBlock, kind: TableKind, attributes: frozenset[str], builder: GraphBuilder, report: ImportReport
) -> np.ndarray | None:
    """Add the rows of a block and return the relations of its facts.

    All or none are added: none, and None returned, where one is to be looked at by itself.
    """
    if block.fields is None:
        return None
    starts, ends = block.fields
    measures = np.full(len(starts), kind is TableKind.VALUES)
    if attributes:
        labels = NameTable()
        ids = labels.add_all(*_names(block, np.arange(len(starts)), 1))
        measures = np.array([labels.text(place) in attributes for place in range(len(labels))], dtype=bool)[ids]
    rows = np.flatnonzero(measures)
    numbers = np.zeros(0)
    if len(rows):
        if np.any(block.kinds(2)[rows] != NUMBER):
            return None
        numbers = block.numbers(2, rows)
        may_differ = report.skip_bad_lines
        if not np.isfinite(numbers).all() or not (may_differ or builder.may_be_plain(*_names(block, rows, 1))):
            return None
    # The names of things in the order in which they are met: the head of each row and, of a fact, its tail.
    things = np.stack([np.ones(len(starts), dtype=bool), ~measures], axis=1)
    ids = builder.ids_of_things(block.bytes_of, starts[:, ::2][things], ends[:, ::2][things])
    heads = np.cumsum(things.sum(axis=1)) - things.sum(axis=1)
    facts = np.flatnonzero(~measures)
    relations = builder.ids_of_relations(*_names(block, facts, 1))
    builder.add_fact_ids(ids[heads[facts]], relations, ids[heads[facts] + 1])
    builder.add_value_ids(ids[heads[rows]], builder.ids_of_attributes(*_names(block, rows, 1)), numbers)
    report.rounded += sum(
        is_rounded(block.text(int(rows[place]), 2), float(numbers[place]))
        for place in np.flatnonzero(np.abs(numbers) >= _EXACT).tolist()
    )
    return relations

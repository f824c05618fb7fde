"""Stating what wide tables say: names for their rows, then a fact or a value for each cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.wide.cell_values import ColumnNumbers, numbers_of
from kgreckon.graph.wide.forms import TRUTHS, split
from kgreckon.graph.wide.mapping import ROW, Becomes, ColumnMapping, TableGuess, TableMapping, parted
from kgreckon.graph.wide.wide_table import WideTable, cells, distinct
from kgreckon.query.datatypes import PLAIN_UNIT

TRUTH = "truth value"
_IS_A = "is_a"


class Things:
    """The names of things: what is called the same, but is of another class, has its class behind its name."""

    def __init__(self) -> None:
        self._owned: list[tuple[str, pa.Array]] = []  # classes and the names that they were the first to take

    def named(self, texts: Iterable[str] | pa.Array, things: str) -> pa.Array:
        """The names of things of one class: `Drama` the film, and `Drama (genre)`."""
        names = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.string())
        taken = pa.array(np.zeros(len(names), dtype=bool))
        for owner, owned in self._owned:
            if owner != things:
                shared = owned.filter(pc.is_in(owned, value_set=names))  # the fewer are looked up among the more
                taken = pc.or_(taken, pc.is_in(names, value_set=shared))
        self._owned.append((things, names.filter(pc.invert(taken))))
        return pc.if_else(taken, pc.binary_join_element_wise(names, f" ({things})", ""), names)


class Statements:
    """What some wide tables say, by a mapping; the rows of all of them have their names before the first is stated."""

    def __init__(self, tables: Sequence[WideTable], guesses: Sequence[TableGuess], report: ImportReport) -> None:
        self._tables = {table.name: table for table in tables}
        self._mappings = {guess.table: guess.mapping for guess in guesses if not guess.mapping.skip}
        self._report = report
        self._things = Things()
        # Classes come first: questions name them more often than things of the same name.
        self._things.named((mapping.type for mapping in self._mappings.values() if mapping.type), "class")
        self._rows: dict[str, pa.Array] = {}
        for name, mapping in self._mappings.items():
            if not mapping.references:
                self._rows[name] = self._row_names(self._tables[name], mapping)
        for name, mapping in self._mappings.items():
            if mapping.references:
                texts = cells(self._tables[name].columns[mapping.key[0]])
                self._rows[name] = self._referenced(texts, mapping.references)

    def state(self, name: str, builder: GraphBuilder) -> None:
        """Add what one table says to the graph."""
        if name not in self._mappings:
            return
        table, mapping, rows = self._tables[name], self._mappings[name], self._rows[name]
        named = pc.is_valid(rows).to_numpy(zero_copy_only=False)
        if missing := len(rows) - int(named.sum()):
            what = f"name no row of {mapping.references}" if mapping.references else f"have no {mapping.key[0]}"
            self._report.rows_left_out[f"rows of {name} left out: they {what}"] += missing
        ids = np.full(len(rows), -1, dtype=np.int32)
        ids[named] = builder.add_things(rows.filter(pa.array(named)))
        if mapping.type and named.any():
            tail = builder.add_things(self._things.named([mapping.type], "class"))
            builder.add_facts(ids[named], _IS_A, np.repeat(tail, int(named.sum())))
        for header, column in mapping.columns.items():
            self._state_column(table, header, column, mapping, ids, builder)

    def _state_column(
        self,
        table: WideTable,
        header: str,
        column: ColumnMapping,
        mapping: TableMapping,
        ids: np.ndarray,
        builder: GraphBuilder,
    ) -> None:
        if column.kind.is_value:
            units = next((one for one, other in mapping.columns.items() if other.of == header), "")
            numbers = numbers_of(table, header, column, units, self._report)
            self._state_values(numbers, column.name, ids, builder)
        elif column.kind is Becomes.BOOLEAN:
            self._state_truths(table, header, column, ids, builder)
        elif column.kind is Becomes.RELATION:
            rows, tails = self._tails(table, header, column)
            kept = ids[rows] >= 0
            builder.add_facts(ids[rows][kept], column.name, builder.add_things(tails.filter(pa.array(kept))))
        elif column.kind is Becomes.LABEL:
            texts = cells(table.columns[header]).to_pylist()
            names = self._rows[table.name].to_pylist()
            for name, text in zip(names, texts, strict=True):
                if name is not None and text is not None:
                    self._report.labels += builder.label(name, text)
        if column.phrase:
            builder.phrase_relation(column.name, column.phrase)

    @staticmethod
    def _state_values(numbers: ColumnNumbers, name: str, ids: np.ndarray, builder: GraphBuilder) -> None:
        kept = np.isfinite(numbers.numbers) & (ids >= 0)
        builder.add_values(ids[kept], name, numbers.numbers[kept], numbers.unit or PLAIN_UNIT)

    def _state_truths(
        self, table: WideTable, header: str, column: ColumnMapping, ids: np.ndarray, builder: GraphBuilder
    ) -> None:
        found = distinct(cells(table.columns[header]))
        yes_no = builder.add_things(self._things.named(("no", "yes"), TRUTH))
        tails = np.full(len(found) + 1, -1, dtype=np.int32)
        for place, text in enumerate(found.texts):
            if text.lower() in TRUTHS:
                tails[place] = yes_no[int(TRUTHS[text.lower()])]
            else:
                row = int(np.flatnonzero(found.codes == place)[0])
                self._report.reject_at(table.place(row), f"column {header!r}: {text!r} is neither yes nor no")
        own = tails[found.codes]
        kept = (own >= 0) & (ids >= 0)
        builder.add_facts(ids[kept], column.name, own[kept])

    def _tails(self, table: WideTable, header: str, column: ColumnMapping) -> tuple[np.ndarray, pa.Array]:
        """The rows that a relation leads from, and the names of the things that it leads to."""
        rows, texts = _items(table.columns[header], column.separator)
        if column.references:
            names = self._referenced(texts, column.references)
        else:
            names = self._names(texts, column.things or header)
        kept = pc.is_valid(names)
        if missing := len(names) - pc.sum(kept).as_py() if len(names) else 0:
            self._report.rows_left_out[
                f"cells of {header} in {table.name} left out: they name no row of {column.references}"
            ] += missing
        return rows[kept.to_numpy(zero_copy_only=False)], names.filter(kept)

    def _names(self, texts: pa.Array, things: str) -> pa.Array:
        """The names of the things of one class; a bare number is called by its class too: `cylinders 4`."""
        found = distinct(_called(texts, things))
        names = self._things.named(found.values, things)
        return names.take(pa.array(found.codes, mask=found.codes < 0))

    def _referenced(self, texts: pa.Array, reference: str) -> pa.Array:
        """The names of the rows that cells name by some column of their table."""
        table, column = parted(reference)
        if table not in self._rows:
            raise UserError(f"{reference}: the table {table!r} is skipped, so that no column can name its rows")
        among = cells(self._tables[table].columns[column])
        return self._rows[table].take(pc.index_in(texts, among))

    def _row_names(self, table: WideTable, mapping: TableMapping) -> pa.Array:
        """The name of each row; null where it has none."""
        things = mapping.things or table.name
        if mapping.key[0] == ROW:
            return self._things.named((f"{things} {row}" for row in range(1, table.num_rows + 1)), things)
        first = cells(table.columns[mapping.key[0]])
        if column := mapping.columns.get(mapping.key[0]):
            first = self._referenced(first, column.references) if column.references else first
        names = _called(first, things)
        for header in mapping.key[1:]:
            again = _repeated(names)
            if not again.any():
                break
            apart = (
                _numbered(names)
                if header == ROW
                else pc.binary_join_element_wise(" (", cells(table.columns[header]), ")", "")
            )
            both = pc.binary_join_element_wise(names, apart, "", null_handling="replace", null_replacement="")
            names = pc.if_else(pa.array(again), both, names)
        return self._names(names, things)


def _called(texts: pa.Array, things: str) -> pa.Array:
    """What things are called: bare numbers by their class too."""
    found = distinct(texts)
    if not len(found) or not pc.all(pc.utf8_is_decimal(pc.utf8_ltrim(found.values, "-"))).as_py():
        return texts
    return pc.binary_join_element_wise(things.replace("_", " "), texts, " ")


def _items(column: pa.Array, separator: str) -> tuple[np.ndarray, pa.Array]:
    """The rows and the texts of a column's cells, each thing of a list on its own."""
    if pa.types.is_list(column.type):
        rows, texts = pc.list_parent_indices(column).to_numpy(), cells(pc.list_flatten(column))
    elif separator:
        found = distinct(cells(column))
        parts = [list(dict.fromkeys(split(text, separator))) for text in found.texts]
        counts = np.array([*map(len, parts), 0], dtype=np.int64)
        codes = np.where(found.codes < 0, len(parts), found.codes)
        rows = np.repeat(np.arange(len(codes)), counts[codes])
        starts = np.cumsum(counts) - counts
        places = (
            np.arange(len(rows))
            - np.repeat(np.cumsum(counts[codes]) - counts[codes], counts[codes])
            + starts[codes[rows]]
        )
        flat = pa.array([part for own in parts for part in own], pa.string())
        texts = flat.take(pa.array(places))
    else:
        texts = cells(column)
        rows = np.arange(len(texts))
    valid = pc.is_valid(texts)
    return rows[valid.to_numpy(zero_copy_only=False)], texts.filter(valid)


def _repeated(names: pa.Array) -> np.ndarray:
    """Which rows have the name of another row."""
    found = distinct(names)
    return np.append(found.counts > 1, False)[found.codes]


def _numbered(names: pa.Array) -> pa.Array:
    """What tells the second and later rows of one name apart: ` #2`."""
    seen: dict[str | None, int] = {}
    result = []
    for name in names.to_pylist():
        seen[name] = seen.get(name, 0) + 1
        result.append(f" #{seen[name]}" if name is not None and seen[name] > 1 else "")
    return pa.array(result, pa.string())

"""The wide tables among the sources of an import: read and understood together, then stated one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.readers.tables import SUFFIXES, TableKind, add_rows, header_kind
from kgreckon.graph.unpacking import suffix_of
from kgreckon.graph.wide.guessing import guess
from kgreckon.graph.wide.loading import READERS, TEXT_ENDINGS, is_json_of_records, load, table_name
from kgreckon.graph.wide.mapping import TableGuess, TableMapping, checked, read_mapping
from kgreckon.graph.wide.stating import Statements
from kgreckon.graph.wide.table_layout import Layout, layout_of_file
from kgreckon.graph.wide.wide_table import WideTable

Shown = Callable[[list[TableGuess]], None]  # is given what was guessed before anything is taken


@dataclass(frozen=True)
class Reading:
    """How wide tables are to be read: the mapping, where it is from, and who is shown what was guessed."""

    mapping: Mapping[str, TableMapping]
    source: str = "the mapping"
    shown: Shown | None = None
    key: str = ""  # that of the only wide table: a column, or several with + between them


AS_GUESSED = Reading({})


def reading_of(mapping: Mapping[str, Any] | str | Path | None, key: str | None, shown: Shown | None = None) -> Reading:
    """How wide tables are to be read, by a mapping file or a dictionary."""
    if isinstance(mapping, str | Path):
        return Reading(read_mapping(Path(mapping)), str(mapping), shown, key or "")
    return Reading(checked(mapping or {}, "the mapping"), "the mapping", shown, key or "")


def is_wide_source(path: Path, reading: Reading, report: ImportReport) -> bool:
    """Whether a file is read as wide tables; the report tells where that is unclear."""
    ending = suffix_of(path)
    if not path.is_file() or ending not in READERS:
        return False
    if ending == ".json":
        return is_json_of_records(path)
    if ending not in TEXT_ENDINGS or table_name(path) in reading.mapping or ending not in SUFFIXES:
        return True
    layout = layout_of_file(path, TEXT_ENDINGS[ending])
    if layout is Layout.UNCLEAR:
        report.unclear.append(str(path))
    return layout is Layout.THINGS


class WideSources:
    """Wide tables by the place of their source in an import."""

    def __init__(
        self,
        sources: Mapping[int, Path | WideTable],
        reading: Reading,
        report: ImportReport,
        names: Mapping[Path, str],
    ) -> None:
        mapping = dict(reading.mapping)
        self._tables: dict[int, list[WideTable]] = {
            place: [source] if isinstance(source, WideTable) else _loaded(source, mapping, names)
            for place, source in sources.items()
        }
        # A table of statements in a format of wide ones, such as a Parquet file of head, relation and tail.
        self._statements = {
            place: tables for place, tables in self._tables.items()
            if len(tables) == 1 and tables[0].name not in mapping and header_kind(list(tables[0].columns)) is not None
        }  # fmt: skip
        wide = [table for place, tables in self._tables.items() if place not in self._statements for table in tables]
        wide = _named_apart(wide)
        if reading.key:
            if len(wide) != 1:
                raise UserError(f"--key is of one wide table, here are {len(wide)}: give each its key in a mapping")
            own = mapping.get(wide[0].name, TableMapping())
            mapping[wide[0].name] = own.model_copy(update={"key": _key(reading.key, wide[0])})
        if mapping and not wide:
            raise UserError(f"{reading.source}: there is no wide table to map among the sources")
        guesses = guess(wide, mapping, reading.source) if wide else []
        if guesses and reading.shown is not None:
            reading.shown(guesses)
        report.tables += guesses
        self._stated = Statements(wide, guesses, report)
        self._names = self._by_place(wide)

    def _by_place(self, wide: Sequence[WideTable]) -> dict[int, list[str]]:
        names, rest = {}, iter(wide)
        for place, tables in self._tables.items():
            if place not in self._statements:
                names[place] = [next(rest).name for _ in tables]
        return names

    def state(self, place: int, builder: GraphBuilder, report: ImportReport) -> None:
        """Add the facts and values of one source."""
        if place in self._statements:
            (table,) = self._statements[place]
            kind = header_kind(list(table.columns))
            assert kind is not None
            rows = ((row, fields) for row, fields in enumerate(table.rows(), 1))
            add_rows(rows, Path(table.source), kind, builder, report)
            return
        for name in self._names[place]:
            self._stated.state(name, builder)


def _loaded(path: Path, mapping: dict[str, TableMapping], names: Mapping[Path, str]) -> list[WideTable]:
    """The tables of a file, by the name that it was given by."""
    tables = load(path, mapping)
    return [table.from_source(names[path]) for table in tables] if path in names else tables


def _key(text: str, table: WideTable) -> tuple[str, ...]:
    return (text,) if text in table.columns else tuple(part.strip() for part in text.split("+"))


def _named_apart(tables: Sequence[WideTable]) -> list[WideTable]:
    """Two files of one name get numbers behind theirs."""
    counts = Counter[str]()
    result = []
    for table in tables:
        counts[table.name] += 1
        result.append(table if counts[table.name] == 1 else table.renamed(f"{table.name}_{counts[table.name]}"))
    return result


__all__ = ["AS_GUESSED", "Reading", "TableKind", "WideSources", "is_wide_source"]

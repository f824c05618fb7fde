"""The parts of a graph as its folder keeps them: read when they are asked for, and checked where they are read.

An attribute of a part stands for all of it. `touched` of an adjacency and `name` and `find` of symbols read less.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgreckon.errors import UserError
from kgreckon.files import column_of, read_table, require_columns
from kgreckon.graph.adjacency import Adjacency, Rows
from kgreckon.graph.folder_format import (
    ENTITY_INDEX,
    HEADER,
    INDEX,
    NULLABLE,
    ROWS,
    TABLES,
    fitting,
    require,
    require_rows,
)
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.stored_file import StoredArray, StoredFile
from kgreckon.graph.symbols import Symbols, readable, text_hash
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable

_ANY = np.iinfo(np.int32).max  # comparisons have no table
_COLUMNS = ("sources", "labels", "targets")


def _set(part: object, **attributes: object) -> None:
    """Set attributes of a frozen object, which will never be looked for again."""
    for name, value in attributes.items():
        object.__setattr__(part, name, value)


class StoredTriples(Triples):
    """Triples in a file."""

    def __init__(self, file: StoredFile, limits: tuple[int, int, int]) -> None:
        columns = zip(file.schema.names, limits, strict=True)
        _set(self, _file=file, _arrays=[file.kept(file.column(name, "int32"), limit) for name, limit in columns])

    def __len__(self) -> int:
        return int(self._file.rows)

    def __getattr__(self, name: str) -> Any:
        if name not in _COLUMNS:
            raise AttributeError(name)
        arrays: list[StoredArray] = self.__dict__["_arrays"]
        _set(self, **{column: array.all() for column, array in zip(_COLUMNS, arrays, strict=True)})
        return self.__dict__[name]


class StoredAdjacency(Adjacency):
    """Compressed rows in a file; a question reads those of the sources that it comes to."""

    def __init__(self, file: StoredFile, num_sources: int, num_labels: int, num_targets: int) -> None:
        offsets, labels, starts, targets = (
            file.list_column(name, "int64" if name in ("offsets", "starts") else "int32") for name in ROWS.names
        )
        if len(offsets) != num_sources + 1 or len(starts) != len(labels) + 1:
            raise UserError(f"{file.path} is damaged: it is not of the entities and values of its graph")
        file.kept(offsets, len(labels) + 1, rising=True)
        file.kept(labels, num_labels)
        file.kept(starts, len(targets) + 1, rising=True)
        file.kept(targets, num_targets)
        _set(self, num_targets=num_targets, _file=file, _arrays=(offsets, labels, starts, targets))

    def __getattr__(self, name: str) -> Any:
        if name not in ROWS.names:
            raise AttributeError(name)
        self.__dict__["_file"].check_all()
        arrays: tuple[StoredArray, ...] = self.__dict__["_arrays"]
        _set(self, **{column: array.raw for column, array in zip(ROWS.names, arrays, strict=True)})
        return self.__dict__[name]

    def touched(self, sources: np.ndarray) -> Rows:
        """The arrays, whole where they are of these sources."""
        file: StoredFile = self.__dict__["_file"]
        offsets, labels, starts, targets = self.__dict__["_arrays"]
        if not file.is_checked:
            offsets.check_many(sources, sources.astype(np.int64) + 2)
            lows, highs = offsets.raw[sources], offsets.raw[sources + 1]
            labels.check_many(lows, highs)
            starts.check_many(lows, highs + 1)
            targets.check_many(starts.raw[lows], starts.raw[highs])
        return offsets.raw, labels.raw, starts.raw, targets.raw


class StoredValues(ValueTable):
    """The value table in a file."""

    def __init__(self, file: StoredFile, units: tuple[str, ...], unit_starts: np.ndarray) -> None:
        _set(self, units=units, unit_starts=unit_starts, _numbers=file.column("number", "float64"))

    def __getattr__(self, name: str) -> Any:
        if name != "numbers":
            raise AttributeError(name)
        numbers: StoredArray = self.__dict__["_numbers"]
        _set(self, numbers=numbers.all())
        return self.__dict__[name]


class _Texts:
    """A column of texts in a file."""

    def __init__(self, file: StoredFile, name: str) -> None:
        self._file, self._name = file, name
        place = file.schema.get_field_index(name)
        if place < 0 or file.schema.field(place).type not in (pa.string(), pa.large_string()):
            raise UserError(f"{file.path} is damaged: it has no texts in a column {name!r}")
        wide = file.schema.field(place).type == pa.large_string()
        column = None if file.batch is None else file.batch.column(place)
        missing, offsets, data = (None, None, None) if column is None else column.buffers()
        start = 0 if column is None else column.offset
        self._offsets = file.array(offsets, "int64" if wide else "int32", start, file.rows + 1)
        self._data = file.array(data, "uint8", 0, 0 if data is None else data.size)
        self._present = None if missing is None else file.array(missing, "uint8", 0, missing.size)
        self._start = start

    def text(self, place: int) -> str | None:
        """The text in a row, or None where it has none."""
        if self._present is not None:
            bit = self._start + place
            if not int(self._present.between(bit >> 3, (bit >> 3) + 1)[0]) >> (bit & 7) & 1:
                return None
        low, high = self._offsets.between(place, place + 2).tolist()
        if not 0 <= low <= high <= len(self._data):
            raise UserError(f"{self._file.path} is damaged: a text has no end")
        try:
            return self._data.between(low, high).tobytes().decode()
        except UnicodeDecodeError:
            raise UserError(f"{self._file.path} is damaged: a text is not UTF-8") from None

    def all(self) -> pa.Array:
        """The whole column."""
        self._file.check_all()
        if self._file.batch is None:
            return pa.array([], self._file.schema.field(self._name).type)
        column = self._file.batch.column(self._name)
        try:
            column.validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise UserError(f"{self._file.path} is damaged: {str(error).partition(chr(10))[0]}") from None
        return column


_REMEMBERED = 4096  # texts that were looked up


class StoredSymbols(Symbols):
    """Names and labels in a file, found by an index in another one."""

    def __init__(self, kind: str, file: StoredFile, index: StoredFile) -> None:
        self.kind = kind
        self._file, self._of_names, self._of_labels = file, _Texts(file, "name"), _Texts(file, "label")
        self._hashes = index.column("hash", "uint64")
        self._places_of = index.kept(index.column("place", "int32"), file.rows)
        self._candidates = lru_cache(_REMEMBERED)(self._search)  # words look up each part of a question, and again

    def __len__(self) -> int:
        return self._file.rows

    @cached_property
    def names(self) -> pa.Array:
        """All names."""
        return self._of_names.all()

    @cached_property
    def labels(self) -> pa.Array:
        """All labels that the data gives."""
        return self._of_labels.all()

    def name(self, place: int) -> str:
        """The unique name."""
        found = self._of_names.text(place)
        if found is None:
            raise UserError(f"{self._file.path} is damaged: the column 'name' has missing entries")
        return found

    def given_label(self, place: int) -> str | None:
        """The label that the data gives, if any."""
        return self._of_labels.text(place)

    def _search(self, folded: str) -> tuple[int, ...]:
        """The places where the index has the hash of a folded text."""
        wanted = np.uint64(text_hash(folded))
        first = last = self._hashes.first_at_least(wanted)
        while last < len(self._hashes) and self._hashes.between(last, last + 1)[0] == wanted:
            last += 1
        return tuple(sorted(set(self._places_of.between(first, last).tolist())))

    def _place(self, name: str) -> int | None:
        return next((place for place in self._candidates(name.casefold()) if self.name(place) == name), None)

    def _labelled(self, folded: str) -> list[int]:
        found = []
        for place in self._candidates(folded):
            name, given = self.name(place), self.given_label(place)
            if folded in (name.casefold(), (readable(name) if given is None else given).casefold()):
                found.append(place)
        return found


def stored_graph(folder: Path, header: dict[str, Any]) -> KnowledgeGraph:
    """The graph that a header is of, of which nothing is read yet but what is small."""
    units, starts = tuple(header["units"]), _unit_starts(folder, header)
    sizes = {name: header.get(name) for name in TABLES}
    blocks, files = header["blocks"], header.get("files")
    require(isinstance(blocks, dict) and isinstance(files, dict), folder / HEADER, "it lists no checksums")

    def file(name: str, schema: pa.Schema) -> StoredFile:
        found = StoredFile(folder / f"{name}.arrow", blocks, files)
        require_columns(found.path, found.schema, fitting(schema, found.schema))
        if name in sizes:
            require_rows(found.rows, sizes[name], found.path)
        return found

    def small(name: str) -> pa.Table:
        path = folder / f"{name}.arrow"
        found = read_table(path, TABLES[name], NULLABLE, files, fitting)
        require_rows(len(found), sizes[name], path)
        return found

    relations, attributes = small("relations"), small("attributes")
    entities = StoredSymbols("entity", file("entities", TABLES["entities"]), file(ENTITY_INDEX, INDEX))
    attribute_units = column_of(attributes, "unit")
    outside = len(attribute_units) and not 0 <= attribute_units.min() <= attribute_units.max() < len(units)
    require(not outside, folder / "attributes.arrow", "a unit is out of range")
    num_entities, num_relations, num_attributes, num_values = len(entities), len(relations), len(attributes), starts[-1]
    limits = {
        "facts": (num_entities, num_relations, num_entities),
        "attribute_facts": (num_entities, num_attributes, num_values),
        "comparisons": (num_values, _ANY, num_values),
    }
    triples = {
        name: StoredTriples(file(name, TABLES[name]), own) for name, own in limits.items() if sizes[name] is not None
    }
    graph = KnowledgeGraph(
        entities=entities,
        relations=_symbols("relation", relations),
        relation_phrases=tuple(relations["phrase"].to_pylist()),
        attributes=_symbols("attribute", attributes),
        attribute_units=attribute_units,
        values=StoredValues(file("values", TABLES["values"]), units, starts),
        facts=triples["facts"],
        attribute_facts=triples["attribute_facts"],
        comparisons=triples.get("comparisons"),
    )
    rows = {
        "follows": (num_entities, 2 * num_relations, num_entities),
        "values_of": (num_entities, num_attributes, num_values),
        "having": (num_attributes, num_values, num_entities),
        "compared": (num_values, _ANY, num_values),
    }
    for name, own in rows.items():
        if name != "compared" or "comparisons" in triples:
            vars(graph)[name] = StoredAdjacency(file(name, ROWS), *own)  # in the place of what would be computed
    return graph


def _unit_starts(folder: Path, header: dict[str, Any]) -> np.ndarray:  # (units + 1,) int64
    """The first row of each unit, and the number of values."""
    units, starts = header["units"], header.get("unit_starts")
    known = isinstance(starts, list) and all(isinstance(start, int) for start in starts)
    found = np.array(starts if known else [], dtype=np.int64)
    fits = len(found) == len(units) + 1 and found[0] == 0 and found[-1] == header.get("values")
    fits = fits and list(units) == sorted(set(units)) and bool(np.all(np.diff(found) > 0))
    require(fits, folder / HEADER, "its units are not those of the values in alphabetical order")
    return found


def _symbols(kind: str, table: pa.Table) -> Symbols:
    return Symbols(kind, table["name"].combine_chunks(), table["label"].combine_chunks())

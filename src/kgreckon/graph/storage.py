"""Graph folders: Arrow tables and a JSON header, opened by memory map. docs/formats.md describes them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.errors import UserError
from kgreckon.graph.adjacency import Triples
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.values import ValueTable

HEADER = "graph.json"
FORMAT = "kgreckon-graph"
VERSION = 1
_MAY_BE_MISSING = ("label", "phrase")

_SYMBOLS = pa.schema([("name", pa.string()), ("label", pa.string())])
_SCHEMAS = {
    "entities": _SYMBOLS,
    "relations": pa.schema([("name", pa.string()), ("label", pa.string()), ("phrase", pa.string())]),
    "attributes": pa.schema([("name", pa.string()), ("label", pa.string()), ("unit", pa.int32())]),
    "values": pa.schema([("unit", pa.int32()), ("number", pa.float64())]),
    "facts": pa.schema([("head", pa.int32()), ("relation", pa.int32()), ("tail", pa.int32())]),
    "attribute_facts": pa.schema([("entity", pa.int32()), ("attribute", pa.int32()), ("value", pa.int32())]),
    "comparisons": pa.schema([("value", pa.int32()), ("comparison", pa.int32()), ("result", pa.int32())]),
}


def is_graph_folder(folder: Path) -> bool:
    """Whether `folder` says that it is a graph folder."""
    return (folder / HEADER).is_file()


def save_graph(graph: KnowledgeGraph, folder: Path, compress: bool = False, overwrite: bool = False) -> None:
    """Write `graph` to `folder`, all or nothing."""
    with new_folder(folder, HEADER if overwrite else None) as target:
        for name, columns in _tables(graph).items():
            write_table(target / f"{name}.arrow", pa.table(columns, schema=_SCHEMAS[name]), compress)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "units": list(graph.values.units),
            "entities": len(graph.entities),
            "relations": len(graph.relations),
            "attributes": len(graph.attributes),
            "values": len(graph.values),
            "facts": len(graph.facts),
            "attribute_facts": len(graph.attribute_facts),
            "comparisons": None if graph.comparisons is None else len(graph.comparisons),
        }
        (target / HEADER).write_text(json.dumps(header, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _tables(graph: KnowledgeGraph) -> dict[str, list[pa.Array | np.ndarray]]:
    tables: dict[str, list[pa.Array | np.ndarray]] = {
        "entities": [graph.entities.names, graph.entities.labels],
        "relations": [graph.relations.names, graph.relations.labels, pa.array(graph.relation_phrases, pa.string())],
        "attributes": [graph.attributes.names, graph.attributes.labels, graph.attribute_units],
        "values": [graph.values.unit_ids, graph.values.numbers],
        "facts": _columns(graph.facts),
        "attribute_facts": _columns(graph.attribute_facts),
    }
    if graph.comparisons is not None:
        tables["comparisons"] = _columns(graph.comparisons)
    return tables


def _columns(triples: Triples) -> list[pa.Array | np.ndarray]:
    return [triples.sources, triples.labels, triples.targets]


def open_graph_folder(folder: Path) -> KnowledgeGraph:
    """The graph in `folder`, its arrays mapped from the files."""
    header = _read_header(folder)
    tables = {name: read_table(folder / f"{name}.arrow", schema) for name, schema in _SCHEMAS.items()
              if name != "comparisons" or header.get("comparisons") is not None}  # fmt: skip
    for name, table in tables.items():
        count = header.get(name)
        _require(count == len(table), folder / f"{name}.arrow", f"it has {len(table)} rows, the header says {count}")
    for name in ("entities", "relations", "attributes"):
        column = tables[name]["name"].combine_chunks()
        _require(len(column.unique()) == len(column), folder / f"{name}.arrow", "a name stands there twice")
    units = tuple(header["units"])
    unit_ids, numbers = (column_of(tables["values"], name) for name in ("unit", "number"))
    _require(bool(np.all(np.diff(unit_ids) >= 0)), folder / "values.arrow", "rows are not sorted by unit")
    _require(_within(unit_ids, len(units)), folder / "values.arrow", "a unit is out of range")
    _require(bool(np.all(np.isfinite(numbers))), folder / "values.arrow", "a number is not finite")
    rising = (np.diff(numbers) > 0) | (np.diff(unit_ids) > 0)
    _require(bool(np.all(rising)), folder / "values.arrow", "numbers of one unit are not rising")
    starts = np.searchsorted(unit_ids, np.arange(len(units) + 1)).astype(np.int64)
    fits = list(units) == sorted(set(units)) and bool(np.all(np.diff(starts) > 0))
    _require(fits, folder / HEADER, "its units are not those of the values in alphabetical order")
    graph = KnowledgeGraph(
        entities=_symbols("entity", tables["entities"]),
        relations=_symbols("relation", tables["relations"]),
        relation_phrases=tuple(tables["relations"]["phrase"].to_pylist()),
        attributes=_symbols("attribute", tables["attributes"]),
        attribute_units=column_of(tables["attributes"], "unit"),
        values=ValueTable(units, starts, numbers.copy()),  # read-only arrays are another type to numba
        facts=_triples(tables["facts"]),
        attribute_facts=_triples(tables["attribute_facts"]),
        comparisons=_triples(tables["comparisons"]) if "comparisons" in tables else None,
    )
    _check_ids(graph, folder)
    return graph


def _read_header(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    path = folder / HEADER
    if not path.is_file():
        raise UserError(f"{folder} is not a graph folder: it has no {HEADER}")
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UserError(f"{path} is not the header of a graph folder")
    if header.get("version") != VERSION:
        raise UserError(f"{path} has version {header.get('version')}; this kgreckon reads version {VERSION}")
    units = header.get("units")
    if not isinstance(units, list) or not all(isinstance(unit, str) for unit in units):
        raise UserError(f"{path} does not list the units")
    return header


def _symbols(kind: str, table: pa.Table) -> Symbols:
    return Symbols(kind, table["name"].combine_chunks(), table["label"].combine_chunks())


def _triples(table: pa.Table) -> Triples:
    return Triples(*(column_of(table, name) for name in table.column_names))


def _check_ids(graph: KnowledgeGraph, folder: Path) -> None:
    entities, values = len(graph.entities), len(graph.values)
    limits = {
        "facts": (graph.facts, entities, len(graph.relations), entities),
        "attribute_facts": (graph.attribute_facts, entities, len(graph.attributes), values),
        "comparisons": (graph.comparisons, values, np.iinfo(np.int32).max, values),
    }
    for name, (triples, *sizes) in limits.items():
        if triples is None:
            continue
        columns = (triples.sources, triples.labels, triples.targets)
        fits = all(_within(column, size) for column, size in zip(columns, sizes, strict=True))
        _require(fits, folder / f"{name}.arrow", "an id is out of range")
        _require(_rising(*columns), folder / f"{name}.arrow", "rows are not sorted or stand there twice")
    _require(
        _within(graph.attribute_units, len(graph.values.units)), folder / "attributes.arrow", "a unit is out of range"
    )
    stated = graph.attribute_facts
    agree = np.array_equal(graph.values.unit_ids[stated.targets], graph.attribute_units[stated.labels])
    _require(agree, folder / "attribute_facts.arrow", "a value has another unit than its attribute")


def _rising(first: np.ndarray, *others: np.ndarray) -> bool:
    """Whether rows are sorted by their columns, each standing there once."""
    rising, equal = np.diff(first) > 0, np.diff(first) == 0
    for column in others:
        rising |= equal & (np.diff(column) > 0)
        equal &= np.diff(column) == 0
    return bool(np.all(rising))


def _within(column: np.ndarray, size: int) -> bool:
    return not len(column) or (int(column.min()) >= 0 and int(column.max()) < size)


def _require(holds: bool, path: Path, problem: str) -> None:
    if not holds:
        raise UserError(f"{path} is damaged: {problem}")


# ------------------------------------------------------------------------------------------------ files and folders


def write_table(path: Path, table: pa.Table, compress: bool = False) -> None:
    """Write an Arrow file; uncompressed ones can be mapped into memory."""
    options = pa.ipc.IpcWriteOptions(compression="zstd" if compress else None)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """The table in an Arrow file, mapped into memory; a UserError where its columns are not those of `schema`."""
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        if not table.schema.equals(schema):
            raise UserError(f"{path} has the columns {_spelled(table.schema)}; expected {_spelled(schema)}")
        table.validate(full=True)  # Arrow trusts offsets and text unless asked; a bad one can crash the process
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise UserError(f"{path} is not a readable Arrow file: {_first_line(error)}") from None
    for name in table.column_names:
        if name not in _MAY_BE_MISSING:
            _require(not table[name].null_count, path, f"the column {name!r} has missing entries")
    return table


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def column_of(table: pa.Table, name: str) -> np.ndarray:
    """A column without missing entries, as an array that shares its memory where it can."""
    return table[name].combine_chunks().to_numpy(zero_copy_only=False)


def _spelled(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def check_free(folder: Path, replaces: str | None = None) -> None:
    """Raise a UserError unless `folder` may be written: absent, empty, or with our header in a file `replaces`."""
    occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if occupied and not (replaces is not None and _is_ours(folder / replaces)):
        remedy = "; use --overwrite to replace it" if replaces is None and _is_ours(folder / HEADER) else ""
        if replaces is not None:
            remedy = " and is not what --overwrite may replace"
        raise UserError(f"{folder} already exists{remedy}")


def _is_ours(header: Path) -> bool:
    """Whether a file is a header that kgreckon wrote: many a folder holds a file called graph.json."""
    try:
        content = json.loads(header.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        return False
    return isinstance(content, dict) and str(content.get("format")).startswith("kgreckon-")


@contextmanager
def new_folder(folder: Path, replaces: str | None = None) -> Iterator[Path]:
    """A folder that appears under its name only when all of it is written.

    An existing empty folder is filled; one that holds a file called `replaces` is replaced; any other is an error.
    """
    folder = Path(folder).resolve()  # so that '.' has a name and a parent, and a link stays one
    check_free(folder, replaces)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        target = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield target
        target.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
            folder.replace(old / "old")
            try:
                target.replace(folder)
            except BaseException:
                (old / "old").replace(folder)
                old.rmdir()
                raise
            shutil.rmtree(old)
        else:
            target.replace(folder)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise

"""Graph folders: Arrow tables and a JSON header, opened by memory map. docs/formats.md describes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgreckon.errors import UserError
from kgreckon.files import as_json, column_of, listing, new_folder, read_header, read_table, write_table
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable

HEADER = "graph.json"
FORMAT = "kgreckon-graph"
VERSION = 2  # 1 has no checksums
_NULLABLE = ("label", "phrase")
_TRIES = 100

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
    with new_folder(folder, HEADER, overwrite) as target:
        write_graph(graph, target, compress)


def write_graph(graph: KnowledgeGraph, target: Path, compress: bool = False) -> None:
    """Write the files of a graph folder into a new one."""
    tables = _tables(graph)
    for name, columns in tables.items():
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
        "files": listing(target / f"{name}.arrow" for name in tables),
    }
    (target / HEADER).write_bytes(as_json(header))


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
    """The graph in `folder`, its arrays mapped from the files: of one graph, even while it is being replaced."""
    for _ in range(_TRIES):
        header = _read_header(folder)
        try:
            graph = _opened(folder, header)
        except UserError:
            if _read_header(folder) == header:
                raise
        else:
            if "files" in header or _read_header(folder) == header:
                return graph
    raise UserError(f"{folder} is replaced again and again: try later")


def _opened(folder: Path, header: dict[str, Any]) -> KnowledgeGraph:
    """The graph that a header is of."""
    tables = {
        name: read_table(folder / f"{name}.arrow", schema, _NULLABLE, header.get("files"))
        for name, schema in _SCHEMAS.items()
        if name != "comparisons" or header.get("comparisons") is not None
    }
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
    header = read_header(path, "graph", VERSION)
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

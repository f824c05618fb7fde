"""Graph folders that are read as a whole, and all that must hold of a graph's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgreckon.files import column_of, read_table
from kgreckon.graph.folder_format import HEADER, NULLABLE, TABLES, fitting, require, require_rows
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable


def whole_graph(folder: Path, header: dict[str, Any]) -> KnowledgeGraph:
    """The graph that a header is of, once all of it has been found to hold."""
    tables = {
        name: read_table(folder / f"{name}.arrow", schema, NULLABLE, header.get("files"), fitting)
        for name, schema in TABLES.items()
        if name != "comparisons" or header.get("comparisons") is not None
    }
    for name, table in tables.items():
        require_rows(len(table), header.get(name), folder / f"{name}.arrow")
    for name in ("entities", "relations", "attributes"):
        column = tables[name]["name"].combine_chunks()
        require(len(column.unique()) == len(column), folder / f"{name}.arrow", "a name stands there twice")
    units = tuple(header["units"])
    unit_ids, numbers = (column_of(tables["values"], name) for name in ("unit", "number"))
    require(bool(np.all(np.diff(unit_ids) >= 0)), folder / "values.arrow", "rows are not sorted by unit")
    require(_within(unit_ids, len(units)), folder / "values.arrow", "a unit is out of range")
    require(bool(np.all(np.isfinite(numbers))), folder / "values.arrow", "a number is not finite")
    rising = (np.diff(numbers) > 0) | (np.diff(unit_ids) > 0)
    require(bool(np.all(rising)), folder / "values.arrow", "numbers of one unit are not rising")
    starts = np.searchsorted(unit_ids, np.arange(len(units) + 1)).astype(np.int64)
    fits = list(units) == sorted(set(units)) and bool(np.all(np.diff(starts) > 0))
    require(fits, folder / HEADER, "its units are not those of the values in alphabetical order")
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
        require(fits, folder / f"{name}.arrow", "an id is out of range")
        require(_rising(*columns), folder / f"{name}.arrow", "rows are not sorted or stand there twice")
    require(
        _within(graph.attribute_units, len(graph.values.units)), folder / "attributes.arrow", "a unit is out of range"
    )
    stated = graph.attribute_facts
    agree = np.array_equal(graph.values.unit_ids[stated.targets], graph.attribute_units[stated.labels])
    require(agree, folder / "attribute_facts.arrow", "a value has another unit than its attribute")


def _rising(first: np.ndarray, *others: np.ndarray) -> bool:
    """Whether rows are sorted by their columns, each standing there once."""
    rising, equal = np.diff(first) > 0, np.diff(first) == 0
    for column in others:
        rising |= equal & (np.diff(column) > 0)
        equal &= np.diff(column) == 0
    return bool(np.all(rising))


def _within(column: np.ndarray, size: int) -> bool:
    return not len(column) or (int(column.min()) >= 0 and int(column.max()) < size)

"""Graph folders: Arrow tables and a JSON header, opened by memory map. docs/formats.md describes them.

Beside the tables stand what questions are answered from: facts as compressed rows, and an index of names. They are read
where a question touches them. A compressed folder, and one of an earlier version, has none: it is read as a whole.
Later changes stand in a log (`changes/`); here is what is written once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kgreckon.errors import UserError
from kgreckon.files import as_json, checksum, column_of, listing, new_folder, read_header, read_table, write_table
from kgreckon.graph.adjacency import Adjacency
from kgreckon.graph.changes.change_log import ChangeLog
from kgreckon.graph.folder_format import (
    ADJACENCIES,
    ENTITY_INDEX,
    FORMAT,
    INDEX,
    MAPPING,
    MOST_TEXT,
    ROWS,
    TABLES,
    VERSION,
    require,
)
from kgreckon.graph.folder_format import (
    HEADER as HEADER,
)
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.stored_file import block_checksums
from kgreckon.graph.stored_graph import stored_graph
from kgreckon.graph.triples import Triples
from kgreckon.graph.whole_graph import whole_graph

_TRIES = 100


def is_graph_folder(folder: Path) -> bool:
    """Whether `folder` says that it is a graph folder."""
    return (folder / HEADER).is_file()


def is_compressed(folder: Path) -> bool:
    """Whether the tables of a graph folder are compressed, or of an earlier version, and are read as a whole."""
    return "blocks" not in _read_header(folder)


def save_graph(graph: KnowledgeGraph, folder: Path, compress: bool = False, overwrite: bool = False) -> None:
    """Write `graph` to `folder`, all or nothing."""
    with new_graph_folder(folder, overwrite) as target:
        write_graph(graph, target, compress)


@contextmanager
def new_graph_folder(folder: Path, overwrite: bool = False) -> Iterator[Path]:
    """A folder for the files of a graph, that gets its name when the block ends; nobody changes the old one then."""
    with ExitStack() as until_replaced, new_folder(folder, HEADER, overwrite) as target:
        yield target
        if is_graph_folder(folder):
            until_replaced.enter_context(ChangeLog.still(folder, graph_identity))


def write_graph(graph: KnowledgeGraph, target: Path, compress: bool = False, mapping: bytes | None = None) -> None:
    """Write the files of a graph folder into a new one, beside the mapping of the tables that it came from."""
    tables = _tables(graph)
    for name, columns in tables.items():
        write_table(target / f"{name}.arrow", pa.table(columns, schema=_wide_enough(TABLES[name], columns)), compress)
    header: dict[str, Any] = {
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
    files = [target / f"{name}.arrow" for name in tables]
    if not compress:
        files += _write_indices(graph, target)
        header["unit_starts"] = graph.values.unit_starts.tolist()
        header["blocks"] = {path.name: block_checksums(path) for path in files}
    if mapping is not None:
        files.append(target / MAPPING)
        files[-1].write_bytes(mapping)
    header["files"] = listing(files)
    (target / HEADER).write_bytes(as_json(header))


def _write_indices(graph: KnowledgeGraph, target: Path) -> list[Path]:
    """Write what questions are answered from; returns the files."""
    from kgreckon.graph.name_index import name_index  # which imports numba

    files = []

    def write(name: str, columns: list[pa.Array | np.ndarray], schema: pa.Schema) -> None:
        files.append(target / f"{name}.arrow")
        write_table(files[-1], pa.table(columns, schema=schema))

    for name in ADJACENCIES:  # one after the other: they are larger than the graph
        adjacency: Adjacency | None = getattr(graph if name in vars(graph) else replace(graph), name)
        if adjacency is not None:
            arrays = adjacency.offsets, adjacency.labels, adjacency.starts, adjacency.targets
            write(name, [_one_list(array) for array in arrays], ROWS)
    write(ENTITY_INDEX, list(name_index(graph.entities)), INDEX)
    return files


def _one_list(array: np.ndarray) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array([0, len(array)], pa.int64()), pa.array(array))


def _wide_enough(schema: pa.Schema, columns: list[pa.Array | np.ndarray]) -> pa.Schema:
    """The schema, with wide texts where there are more of them than 32 bits count."""
    for place, column in enumerate(columns):
        field = schema.field(place)
        if field.type == pa.string() and column.nbytes > MOST_TEXT:
            schema = schema.set(place, field.with_type(pa.large_string()))
    return schema


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


def graph_identity(folder: Path) -> str:
    """What tells the tables of a graph folder from others: the checksum of the header, which lists theirs."""
    _require_header(folder)
    try:
        return checksum((folder / HEADER).read_bytes())
    except OSError as error:
        raise UserError(f"{folder / HEADER} cannot be read: {error.strerror}") from None


def open_tables(folder: Path) -> KnowledgeGraph:
    """The graph in `folder` without later changes: of one graph, even while it is being replaced.

    Its arrays are mapped from the files.
    """
    for _ in range(_TRIES):
        header = _read_header(folder)
        try:
            graph = (stored_graph if "blocks" in header else whole_graph)(folder, header)
        except UserError:
            if _read_header(folder) == header:
                raise
        else:
            whole = "files" in header and "blocks" not in header  # every byte was read, and is of this header
            if whole or _read_header(folder) == header:
                return graph
    raise UserError(f"{folder} is replaced again and again: try later")


def _require_header(folder: Path) -> Path:
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    path = folder / HEADER
    if not path.is_file():
        raise UserError(f"{folder} is not a graph folder: it has no {HEADER}")
    return path


def _read_header(folder: Path) -> dict[str, Any]:
    path = _require_header(folder)
    header = read_header(path, "graph", VERSION)
    units = header.get("units")
    if not isinstance(units, list) or not all(isinstance(unit, str) for unit in units):
        raise UserError(f"{path} does not list the units")
    return header


def check_graph_folder(folder: Path) -> KnowledgeGraph:
    """The graph of a folder's tables, of which everything was read and found to hold, or a UserError."""
    from kgreckon.graph.name_index import name_index

    header = _read_header(folder)
    graph = whole_graph(folder, header)
    if "blocks" in header:
        stored = open_tables(folder)
        for name in ADJACENCIES:
            one, other = getattr(graph, name), getattr(stored, name)
            if one is not None:
                same = all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ROWS.names)
                require(same, folder / f"{name}.arrow", "it is not of the facts and values of its graph")
        index = read_table(folder / f"{ENTITY_INDEX}.arrow", INDEX, files=header.get("files"))
        same = all(
            np.array_equal(column_of(index, name), column)
            for name, column in zip(INDEX.names, name_index(graph.entities), strict=True)
        )
        require(same, folder / f"{ENTITY_INDEX}.arrow", "it is not of the names of its graph")
    return graph

"""Benchmark folders: the three graphs once, the queries of each split and type as Arrow files (docs/formats.md)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.benchmark.splits import Split, SplitGraph
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, Ragged, check_ids
from kgreckon.files import (
    as_json,
    check_listed,
    column_of,
    listing,
    mapped,
    new_part,
    read_header,
    read_json,
    read_table,
    sync,
    write_json,
    write_table,
)
from kgreckon.graph import KnowledgeGraph, open_graph_folder
from kgreckon.graph.folder_format import HEADER as GRAPH_HEADER
from kgreckon.graph.storage import is_graph_folder, write_graph
from kgreckon.query import Batch, Operator, Shape

HEADER = "benchmark.json"
FORMAT = "kgreckon-benchmark"
# 1 has no checksums, and the anchors of an intersection's branches differed, not the nodes from which they step in.
VERSION = 2
GRAPHS = "graphs.json"
SUMMARY = "summary.json"
_SPLITS = ("fact_splits", "attribute_fact_splits", "comparison_splits")
_SPLIT_SCHEMA = pa.schema([("split", pa.int8())])
_TYPE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class QuerySet:
    """Queries of one shape with their answers: easy ones the graph before proves, hard ones only the split's own."""

    batch: Batch[np.ndarray]
    easy: Ragged
    hard: Ragged

    @property
    def shape(self) -> Shape:
        """The shape that all the queries share."""
        return self.batch.shape

    def __len__(self) -> int:
        return len(self.batch)

    def __repr__(self) -> str:
        return f"{len(self):,} queries of the shape {self.shape.text}, with their answers"

    def take(self, rows: np.ndarray) -> QuerySet:  # (n,) int
        """Some of the queries."""
        batch = self.batch[rows]
        return QuerySet(batch, self.easy.take(rows), self.hard.take(rows))


def is_benchmark_folder(folder: Path) -> bool:
    """Whether `folder` says that it is a benchmark folder."""
    return (folder / HEADER).is_file()


def check_type_name(name: str) -> None:
    """Raise a UserError unless `name` can be the name of a type: it becomes the name of a folder."""
    if not _TYPE_NAME.fullmatch(name):
        raise UserError(f"{name!r} cannot name a type: use up to 64 letters, digits, '-' and '_'")


# ------------------------------------------------------------------------------------------------------- writing


def write_graphs(folder: Path, graphs: SplitGraph) -> None:
    """Write the testing graph, for each of its facts the split at which it enters, and last what these files are."""
    with new_part(folder / "graph") as target:
        write_graph(graphs.graph, target)
    files = [folder / "graph" / GRAPH_HEADER]  # which lists the others
    for name in _SPLITS:
        splits = getattr(graphs, name)
        if splits is not None:
            files.append(folder / f"{name}.arrow")
            write_table(files[-1], pa.table([splits], schema=_SPLIT_SCHEMA))
            sync(files[-1])
    write_json(folder / GRAPHS, {"graph": fingerprint(graphs.graph), "files": listing(files)})


def fingerprint(graph: KnowledgeGraph) -> str:
    """A hash of all facts, values and names."""
    digest = hashlib.blake2b(digest_size=16)
    for triples in (graph.facts, graph.attribute_facts):
        for column in (triples.sources, triples.labels, triples.targets):
            digest.update(np.ascontiguousarray(column).tobytes())
    for column in (graph.values.numbers, graph.values.unit_starts, graph.attribute_units):
        digest.update(np.ascontiguousarray(column).tobytes())
    names = [symbols.names.to_pylist() for symbols in (graph.entities, graph.relations, graph.attributes)]
    digest.update(json.dumps([*names, graph.values.units]).encode())
    return digest.hexdigest()


def identity(graph: KnowledgeGraph | SplitGraph) -> dict[str, str | None]:
    """What a header says of the graph that a benchmark is made of, and of its splits where they are given."""
    if not isinstance(graph, SplitGraph):
        return {"graph": fingerprint(graph), "splits": None}
    splits = hashlib.blake2b(graph.fact_splits.tobytes() + graph.attribute_fact_splits.tobytes(), digest_size=16)
    return {"graph": fingerprint(graph.graph), "splits": splits.hexdigest()}


def query_schema(shape: Shape) -> pa.Schema:
    """The columns of a file of queries; the shape stands in its metadata."""
    answers = pa.large_list(pa.int32())
    fields = [("ids", pa.list_(pa.int32(), shape.width)), ("easy", answers), ("hard", answers)]
    return pa.schema(fields, metadata={"shape": shape.text})


def query_table(ids: np.ndarray, easy: Ragged, hard: Ragged, shape: Shape) -> pa.RecordBatch:
    """Queries and answers as Arrow columns that share their memory."""
    columns = [
        pa.FixedSizeListArray.from_arrays(pa.array(ids.reshape(-1), pa.int32()), shape.width),
        *(pa.LargeListArray.from_arrays(pa.array(a.offsets), pa.array(a.items, pa.int32())) for a in (easy, hard)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=query_schema(shape))


def file_name(shape: Shape) -> str:
    """A file's name for a shape: its operators in the order in which they are written, joints with their size."""
    words: list[str] = []

    def add(part: Shape) -> None:
        joint = part.operator in (Operator.AND, Operator.OR)
        words.append(f"{part.operator.value}{len(part.parts) if joint else ''}")
        for below in part.parts:
            add(below)

    add(shape)
    return "_".join(words) + ".arrow"


# ------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Benchmark:
    """A benchmark folder, opened."""

    folder: Path
    header: dict[str, Any]

    def __repr__(self) -> str:
        return f"Benchmark {self.folder}: queries of types {', '.join(self.types)}; {self.mode.value} comparisons"

    @staticmethod
    def open(folder: str | Path) -> Benchmark:
        """The benchmark in `folder`; its files are read when they are asked for."""
        folder = Path(folder)
        path = folder / HEADER
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder")
        if not path.is_file():
            made_of = f"; make one with: kgreckon build {folder} --out FOLDER" if is_graph_folder(folder) else ""
            raise UserError(f"{folder} is not a benchmark folder: it has no {HEADER}{made_of}")
        header = read_header(path, "benchmark", VERSION)
        types = header.get("types")
        if not isinstance(types, dict) or not all(isinstance(text, str) for text in types.values()):
            raise UserError(f"{path} does not list the types of its queries")
        for name in types:
            check_type_name(name)
        if header.get("numbers") not in [mode.value for mode in ComparisonMode]:
            raise UserError(f"{path} does not say where numerical relations come from")
        return Benchmark(folder, header)

    @property
    def types(self) -> dict[str, Shape]:
        """The general types by name."""
        return {name: Shape.parse(text) for name, text in self.header["types"].items()}

    @property
    def mode(self) -> ComparisonMode:
        """Where numerical relations come from."""
        return ComparisonMode(self.header["numbers"])

    @cached_property
    def graphs(self) -> SplitGraph:
        """The three nested graphs."""
        files = self._files_of_graphs()
        graph = open_graph_folder(self.folder / "graph")
        facts, attribute_facts, comparisons = _SPLITS
        return SplitGraph(
            graph,
            self._splits(facts, len(graph.facts), files),
            self._splits(attribute_facts, len(graph.attribute_facts), files),
            None if graph.comparisons is None else self._splits(comparisons, len(graph.comparisons), files),
        )

    def _files_of_graphs(self) -> Any:
        """The list of the files of the graphs, which are those that the header is of; None in an older folder."""
        path, header = self.folder / GRAPHS, self.folder / "graph" / GRAPH_HEADER
        if self.header["version"] == 1:
            return None
        if not path.is_file():
            raise UserError(f"{self.folder}: the graphs are not built yet")
        written = read_json(path)
        if written.get("graph") != self.header.get("graph"):
            raise UserError(f"{path} is of another graph than {HEADER}")
        check_listed(header, mapped(header), written.get("files"))
        return written.get("files")

    @property
    def graph(self) -> KnowledgeGraph:
        """The testing graph, which holds all names and values."""
        return self.graphs.graph

    def _splits(self, name: str, size: int, files: Any) -> np.ndarray:
        path = self.folder / f"{name}.arrow"
        splits = column_of(read_table(path, _SPLIT_SCHEMA, files=files), "split")
        if len(splits) != size or (size and (splits.min() < 0 or splits.max() > Split.TEST)):
            raise UserError(f"{path} is damaged: it does not give one split to each fact")
        return splits

    @property
    def has_graphs(self) -> bool:
        """Whether the graphs have been written."""
        return self.header["version"] == 1 or (self.folder / GRAPHS).is_file()

    def is_complete(self, split: Split, name: str) -> bool:
        """Whether the queries of a split and type have been written."""
        return (self.folder / split.label / name / SUMMARY).is_file()

    def check_complete(self, split: Split, name: str) -> None:
        """Raise a UserError where the queries of a split and type are not there."""
        if not self.is_complete(split, name):
            raise UserError(f"{self.folder}: the {split.label} queries of type {name} are not built yet")

    def summary(self, split: Split, name: str) -> dict[str, Any]:
        """How many queries of a split and type were wanted and found, by shape, and their files."""
        path = self.folder / split.label / name / SUMMARY
        summary = read_json(path)
        if not isinstance(summary.get("found"), int) or not isinstance(summary.get("shapes"), dict):
            raise UserError(f"{path} is damaged: it does not say how many queries of each shape were found")
        return summary

    def query_sets(self, split: Split, name: str) -> Iterator[QuerySet]:
        """The queries of a split and general type, by shape."""
        if name not in self.types:
            raise UserError(f"{self.folder} has no queries of type {name!r}; it has {', '.join(self.types)}")
        self.check_complete(split, name)
        summary = self.summary(split, name)
        for text in summary["shapes"]:
            shape = Shape.parse(text)
            path = self.folder / split.label / name / file_name(shape)
            yield self._query_set(path, shape, summary.get("files"))

    def _query_set(self, path: Path, shape: Shape, files: Any) -> QuerySet:
        table = read_table(path, query_schema(shape), files=files)
        ids = _flat(table, "ids").reshape(-1, shape.width)
        if not len(table):
            ids = np.zeros((0, shape.width), dtype=np.int32)
        self._check_ids(path, ids, shape)
        size = len(self.graph.values) if shape.denotes_numbers else len(self.graph.entities)
        easy, hard = (_answers(path, table, column, size) for column in ("easy", "hard"))
        return QuerySet(Batch(shape, ids), easy, hard)

    def _check_ids(self, path: Path, ids: np.ndarray, shape: Shape) -> None:
        try:
            check_ids(self.graph, Batch(shape, ids))
        except UserError as error:
            raise UserError(f"{path} is damaged: {error}") from None


def _flat(table: pa.Table, name: str) -> np.ndarray:
    """The items of a list column without its structure."""
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in table[name].chunks]
    return chunks[0] if len(chunks) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *chunks])


def _answers(path: Path, table: pa.Table, name: str, size: int) -> Ragged:
    parts = [Ragged(chunk.offsets.to_numpy() - chunk.offsets[0].as_py(), chunk.flatten().to_numpy(zero_copy_only=False))
             for chunk in table[name].chunks]  # fmt: skip
    answers = parts[0] if len(parts) == 1 else Ragged.concatenate(parts)
    if len(answers.items) and (answers.items.min() < 0 or answers.items.max() >= size):
        raise UserError(f"{path} is damaged: an answer in column {name!r} is out of range")
    return answers


def write_query_file(path: Path, shape: Shape, batches: Sequence[pa.RecordBatch]) -> None:
    """Write some queries of one shape, as a part of something new."""
    with pa.ipc.new_file(str(path), query_schema(shape)) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_queries(folder: Path, sets: Sequence[QuerySet]) -> None:
    """Write the queries of a split and type that come from elsewhere, one set for each shape, with their summary."""
    folder.mkdir(parents=True)
    for query_set in sets:
        table = query_table(query_set.batch.ids, query_set.easy, query_set.hard, query_set.shape)
        write_query_file(folder / file_name(query_set.shape), query_set.shape, [table])
    write_summary(folder, None, {query_set.shape.text: len(query_set) for query_set in sets})


def write_summary(folder: Path, wanted: int | None, shapes: dict[str, int]) -> None:
    """Write how many queries of a split and type were wanted and found, by shape, after their files."""
    files = listing(folder / file_name(Shape.parse(text)) for text in shapes)
    summary = {"wanted": wanted, "found": sum(shapes.values()), "shapes": dict(sorted(shapes.items())), "files": files}
    (folder / SUMMARY).write_bytes(as_json(summary))

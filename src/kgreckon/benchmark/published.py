"""What the files of a published benchmark hold: facts of three splits, and queries, some with answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from kgreckon.benchmark.splits import Split, SplitGraph
from kgreckon.errors import UserError
from kgreckon.exact import Ragged
from kgreckon.graph import KnowledgeGraph, Triples, ValueTable
from kgreckon.graph.readers import ImportReport
from kgreckon.graph.readers.tables import read_rows
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import first_of_run
from kgreckon.query import Operator, Shape

ReadProgress = Callable[[str, int, int], None]  # of a file by name, so many bytes of so many


@dataclass(frozen=True)
class StatedAnswers:
    """The answers that a file gives for some queries."""

    path: Path
    answers: Ragged


@dataclass(frozen=True)
class PublishedQueries:
    """The queries of one split and shape, distinct and sorted, as a file gives them."""

    path: Path
    shape: Shape
    ids: np.ndarray  # (queries, shape.width) int32
    written: Sequence[object]  # each query as the file writes it, for messages
    easy: StatedAnswers | None = None
    hard: StatedAnswers | None = None  # of training queries, all answers

    def __len__(self) -> int:
        return len(self.ids)


class PublishedBenchmark(ABC):
    """A folder with a benchmark in a form that others publish."""

    facts: FactFiles
    graphs: SplitGraph

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remarks: list[str] = []

    @abstractmethod
    def queries(self, split: Split, reading: ReadProgress) -> Iterator[PublishedQueries]:
        """The queries of a split; nothing where the folder has none of it."""


# --------------------------------------------------------------------------------------------------------- facts


@dataclass(frozen=True)
class FactFile:
    """The facts of a file in the order in which they stand there, and the line of each."""

    path: Path
    columns: np.ndarray  # (3, facts) int64: head, relation, tail
    lines: np.ndarray  # (facts,) int64


def read_facts(path: Path, ids: Sequence[Callable[[str], int]]) -> FactFile:
    """The facts of a table of three columns, which `ids` read; they raise a ValueError where a field is not an id."""
    numbers, lines = array("q"), array("q")
    for line, fields in read_rows(path, ImportReport()):
        if len(fields) != len(ids):
            raise UserError(f"{path}:{line}: expected 3 tab-separated fields, found {len(fields)}")
        try:
            numbers.extend(read(field) for read, field in zip(ids, fields, strict=True))
        except ValueError as error:
            raise UserError(f"{path}:{line}: {error}") from None
        lines.append(line)
    if not lines:
        raise UserError(f"{path} is empty")
    columns = np.array(numbers, dtype=np.int64).reshape(-1, len(ids)).T
    return FactFile(path, columns, np.array(lines, dtype=np.int64))


class FactFiles:
    """The facts of three files, each fact once, at the first split that states it."""

    def __init__(self, files: Sequence[FactFile]) -> None:
        self.files = files
        self.triples = Triples.from_arrays(*np.concatenate([file.columns for file in files], axis=1))
        self.splits = np.full(len(self.triples), Split.TEST, dtype=np.int8)
        for split in reversed(Split):
            self.splits[self.triples.rows_of(*files[split].columns)] = split

    def repeats(self) -> Iterator[str]:
        """A sentence for each file with facts of a split before it, and where the first of them stands."""
        for split, file in zip(Split, self.files, strict=True):
            before = self.splits[self.triples.rows_of(*file.columns)]
            wrong = np.flatnonzero(before < split)
            if len(wrong):
                first = self.files[before[wrong[0]]].path.name
                yield f"{file.path}:{file.lines[wrong[0]]}: this fact is in {first} too ({len(wrong):,} in all)"

    def graphs(self, entities: Sequence[str], relations: Sequence[str]) -> SplitGraph:
        """The three nested graphs; entities without a fact are candidates like all others."""
        nothing = np.zeros(0, dtype=np.int32)
        values, _ = ValueTable.from_numbers(np.zeros(0), nothing, ())
        graph = KnowledgeGraph(
            entities=_symbols("entity", entities),
            relations=_symbols("relation", relations),
            relation_phrases=(None,) * len(relations),
            attributes=_symbols("attribute", ()),
            attribute_units=nothing,
            values=values,
            facts=self.triples,
            attribute_facts=Triples(nothing, nothing, nothing),
        )
        return SplitGraph(graph, self.splits, np.zeros(0, dtype=np.int8))


def _symbols(kind: str, names: Sequence[str]) -> Symbols:
    return Symbols(kind, pa.array(names, pa.string()), pa.nulls(len(names), pa.string()))


# ------------------------------------------------------------------------------------------------------- queries


def distinct_queries(ids: np.ndarray) -> np.ndarray:  # (queries, width) -> (distinct,) int64
    """The places of the distinct rows, in rising order of the rows."""
    order = np.lexsort(ids.T[::-1])
    return order[first_of_run(*ids[order].T)] if len(ids) else order


def check_ids(queries: np.ndarray, shape: Shape, graph: KnowledgeGraph, relation_ids: int, path: Path,
              written: Sequence[object]) -> None:  # fmt: skip
    """Raise a UserError that names the first query with an id that the facts' files do not know."""
    limits: Mapping[Operator, tuple[str, int]] = {
        Operator.ENTITY: ("entity", len(graph.entities)),
        Operator.FOLLOW: ("relation", relation_ids),
    }
    for column, operator in enumerate(shape.columns):
        kind, limit = limits[operator]
        wrong = np.flatnonzero((queries[:, column] < 0) | (queries[:, column] >= limit))
        if len(wrong):
            raise UserError(
                f"{path}: the query {written[wrong[0]]} has the {kind} {queries[wrong[0], column]}, "
                f"but there are {limit:,}, counted from 0"
            )

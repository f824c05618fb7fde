"""Published queries in a packed form: facts by name in tables, queries as rows of ids for each type in one JSON file.

Entity `e17` has the id 17, and relation `r3` the ids 6 and, for its inverse, 7.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kgreckon.benchmark.published import (
    FactFiles,
    PublishedBenchmark,
    PublishedQueries,
    ReadProgress,
    check_ids,
    distinct_queries,
    read_facts,
)
from kgreckon.benchmark.splits import Split
from kgreckon.errors import UserError
from kgreckon.graph.unpacking import GZIP_ERRORS, open_bytes
from kgreckon.query import NAMED_TYPES, Operator, Shape, general_type

_QUERIES = {Split.TRAIN: "training_queries", Split.VALID: "validation_queries", Split.TEST: "testing_queries"}
_MOST_BYTES = 2**30


def is_packed_folder(folder: Path) -> bool:
    """Whether `folder` holds packed queries."""
    return any(_file(folder, name, ".json") is not None for name in _QUERIES.values())


def _file(folder: Path, name: str, ending: str) -> Path | None:
    paths = (folder / f"{name}{ending}{gz}" for gz in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


class PackedBenchmark(PublishedBenchmark):
    """A folder with tables of facts and packed queries."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        files = []
        for split in Split:
            path = _file(folder, split.label, ".tsv")
            if path is None:
                raise UserError(f"{folder / split.label}.tsv is missing")
            files.append(read_facts(path, (_entity, _relation, _entity)))
        self.facts = FactFiles(files)
        triples = self.facts.triples
        entities = _all_numbers("e", np.concatenate([triples.sources, triples.targets]), folder)
        self.graphs = self.facts.graphs(entities, _all_numbers("r", triples.labels, folder))

    def queries(self, split: Split, reading: ReadProgress) -> Iterator[PublishedQueries]:
        """The queries of each type."""
        path = _file(self.folder, _QUERIES[split], ".json")
        if path is None:
            return
        graph = self.graphs.graph
        for name, rows_of_type in _read(path).items():
            try:
                shape = Shape.parse(rows_of_type["shape"])
                ids = np.array(rows_of_type["ids"])
            except (KeyError, TypeError, ValueError, UserError) as error:
                raise UserError(f"{path}: the queries of type {name!r} cannot be used: {error}") from None
            if general_type(shape) != name if name in NAMED_TYPES else general_type(shape) in NAMED_TYPES:
                raise UserError(f"{path}: {shape} is not the shape of the type {name!r}")
            if set(shape.columns) - {Operator.ENTITY, Operator.FOLLOW}:
                raise UserError(f"{path}: the shape {shape} of {name!r} is not made of e, rp, i, u and n alone")
            if ids.dtype.kind != "i" or ids.ndim != 2 or ids.shape[1] != shape.width:
                raise UserError(f"{path}: a query of type {name!r} is not a row of {shape.width} ids")
            ids = ids[distinct_queries(ids)]
            check_ids(ids, shape, graph, 2 * len(graph.relations), path, ids.tolist())
            yield PublishedQueries(path, shape, ids.astype(np.int32), ids.tolist())


def _entity(text: str) -> int:
    return _number(text, "e", "an entity")


def _relation(text: str) -> int:
    return _number(text, "r", "a relation")


def _number(text: str, letter: str, kind: str) -> int:
    """The number in a name; a ValueError where it has none."""
    if text[:1] != letter or not text[1:].isdecimal() or len(text) > 10:
        raise ValueError(f"{text!r} is not {kind}: expected '{letter}' and a number")
    return int(text[1:])


def _all_numbers(letter: str, used: np.ndarray, folder: Path) -> list[str]:
    """The names by number, each of which some fact must use."""
    numbers = np.unique(used)
    gaps = np.flatnonzero(numbers != np.arange(len(numbers)))
    if len(gaps):
        raise UserError(f"{folder}: no fact names {letter}{gaps[0]}, but one names {letter}{numbers[-1]}")
    return [f"{letter}{number}" for number in numbers.tolist()]


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        with open_bytes(path) as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise UserError(f"{path} is larger than {_MOST_BYTES:,} bytes")
        data = json.loads(content)
    except (*GZIP_ERRORS, OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} does not hold a JSON object")
    return data

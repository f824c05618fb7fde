"""Benchmarks as BetaE (Ren and Leskovec, 2020) and its successors publish them: facts as ids, queries as pickles.

A query is a nested tuple that follows its structure: `(17, (4, 8))` is one of `('e', ('r', 'r'))`, a 2p query, and
`((17, (4,)), (9, (6, -2)))` one of `(('e', ('r',)), ('e', ('r', 'n')))`, a 2in query: -2 stands for `n`, -1 for `u`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kgreckon.benchmark.plain_pickle import read_plain_pickle
from kgreckon.benchmark.published import (
    FactFile,
    FactFiles,
    PublishedBenchmark,
    PublishedQueries,
    ReadProgress,
    StatedAnswers,
    check_ids,
    distinct_queries,
    read_facts,
)
from kgreckon.benchmark.splits import Split
from kgreckon.errors import UserError
from kgreckon.exact import Ragged
from kgreckon.graph import Triples
from kgreckon.query import Operator, Shape

_WORDS = {"u": -1, "n": -2}  # how a query writes operators
_ANSWERS = {
    Split.TRAIN: {"hard": "train-answers.pkl"},
    Split.VALID: {"easy": "valid-easy-answers.pkl", "hard": "valid-hard-answers.pkl"},
    Split.TEST: {"easy": "test-easy-answers.pkl", "hard": "test-hard-answers.pkl"},
}


def _queries_file(split: Split) -> str:
    return f"{split.label}-queries.pkl"


def is_betae_folder(folder: Path) -> bool:
    """Whether `folder` holds pickles of queries."""
    return any((folder / _queries_file(split)).is_file() for split in Split)


class BetaEBenchmark(PublishedBenchmark):
    """A folder such as FB15k-237-betae."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        entities, relations = _names(folder, "ent"), _names(folder, "rel")
        self.relation_ids = len(relations)
        ids = (_id("entity", len(entities)), _id("relation", len(relations)), _id("entity", len(entities)))
        files = [read_facts(folder / f"{split.label}.txt", ids) for split in Split]
        self.inverses = len(relations) % 2 == 0 and all(_states_inverses(file) for file in files)
        if self.inverses:
            files = [_as_stated(file) for file in files]
            relations = [_without_sign(*pair) for pair in zip(relations[::2], relations[1::2], strict=True)]
        else:
            self.remarks.append(
                f"{folder}: not every fact of a relation 2r is stated once more by its inverse 2r + 1: each relation "
                "is taken for one of its own"
            )
        self.facts = FactFiles(files)
        self.graphs = self.facts.graphs(entities, relations)

    def queries(self, split: Split, reading: ReadProgress) -> Iterator[PublishedQueries]:
        """The queries of each structure; those in De Morgan's form only repeat those in disjunctive form."""
        path = self.folder / _queries_file(split)
        if not path.is_file():
            return
        by_structure = self._read(path, reading)
        answers = {
            kind: self._read(self.folder / name, reading)
            for kind, name in _ANSWERS[split].items()
            if (self.folder / name).is_file()
        }
        for structure, queries in by_structure.items():
            if _is_de_morgan(structure):
                self.remarks.append(
                    f"{path.name}: {len(queries):,} queries of {structure} left out, which repeat those in "
                    "disjunctive form"
                )
                continue
            if not isinstance(queries, set | frozenset):
                raise UserError(f"{path}: {structure} does not lead to a set of queries")
            yield self._queries(split, path, structure, list(queries), answers)

    def _read(self, path: Path, reading: ReadProgress) -> dict[Any, Any]:
        content = read_plain_pickle(path, lambda done, total: reading(path.name, done, total))
        if not isinstance(content, dict):
            raise UserError(f"{path} does not hold a dictionary")
        return content

    def _queries(
        self, split: Split, path: Path, structure: Any, queries: list[Any], answers: Mapping[str, dict[Any, Any]]
    ) -> PublishedQueries:
        try:
            shape, columns = _shape_of(structure)
            ids = _matrix(structure, queries)[:, columns]
        except _StrangeError as error:
            raise UserError(f"{path}: {error}") from None
        order = distinct_queries(ids)
        queries, ids = [queries[index] for index in order], ids[order]
        check_ids(ids, shape, self.graphs.graph, self.relation_ids, path, queries)
        if not self.inverses:
            ids[:, [operator is Operator.FOLLOW for operator in shape.columns]] *= 2
        stated = {
            kind: StatedAnswers(self.folder / name, self._stated(self.folder / name, queries, answers[kind]))
            for kind, name in _ANSWERS[split].items()
            if kind in answers
        }
        return PublishedQueries(path, shape, ids.astype(np.int32), queries, **stated)

    def _stated(self, path: Path, queries: list[Any], answers: dict[Any, Any]) -> Ragged:
        """The answers that a file gives for some queries, none where it does not name the query."""
        sets = [answers.get(query, ()) for query in queries]
        if not all(isinstance(own, set | frozenset | list | tuple) for own in sets):
            raise UserError(f"{path}: a query does not lead to a set of answers")
        if set(map(type, chain.from_iterable(sets))) - {int}:
            raise UserError(f"{path}: an answer is not an integer")
        counts = np.fromiter(map(len, sets), dtype=np.int64, count=len(sets))
        items = np.fromiter(chain.from_iterable(sets), dtype=np.int64, count=int(counts.sum()))
        of_query = np.repeat(np.arange(len(sets)), counts)
        entities = len(self.graphs.graph.entities)
        wrong = np.flatnonzero((items < 0) | (items >= entities))
        if len(wrong):
            query = queries[of_query[wrong[0]]]
            raise UserError(f"{path}: the query {query} has the answer {items[wrong[0]]}, but there are {entities:,} "
                            "entities, counted from 0")  # fmt: skip
        keys = np.unique(of_query * entities + items)
        offsets = np.searchsorted(keys, np.arange(len(sets) + 1) * entities)
        return Ragged(offsets.astype(np.int64), (keys % entities).astype(np.int32))


# ------------------------------------------------------------------------------------------- entities and relations


def _names(folder: Path, kind: str) -> list[str]:
    """The names of the entities or relations, by id."""
    path, turned = folder / f"id2{kind}.pkl", folder / f"{kind}2id.pkl"
    if path.is_file():
        names = read_plain_pickle(path)
    elif turned.is_file():
        path, content = turned, read_plain_pickle(turned)
        names = {number: name for name, number in content.items()} if isinstance(content, dict) else content
    else:
        raise UserError(f"{path} is missing")
    if not isinstance(names, dict) or not names or set(names) != set(range(len(names))):
        raise UserError(f"{path} does not give a name to each number from 0 on")
    in_order = [names[number] for number in range(len(names))]
    if not all(isinstance(name, str) and name for name in in_order) or len(set(in_order)) < len(in_order):
        raise UserError(f"{path} does not give each number a name of its own")
    return in_order


def _id(kind: str, limit: int) -> Callable[[str], int]:
    """Reads an id below `limit`; a ValueError says what is wrong with another text."""

    def read(text: str) -> int:
        if not text.strip().isdecimal():
            raise ValueError(f"{text.strip()!r} is not the number of {'an' if kind == 'entity' else 'a'} {kind}")
        number = int(text)
        if number >= limit:
            raise ValueError(f"there is no {kind} {number}: there are {limit:,}, counted from 0")
        return number

    return read


def _states_inverses(file: FactFile) -> bool:
    """Whether the file states each fact of a relation 2r once more as one of 2r + 1, from tail to head."""
    heads, relations, tails = file.columns
    odd = relations % 2 == 1
    one_way = Triples.from_arrays(heads[~odd], relations[~odd] // 2, tails[~odd])
    turned = Triples.from_arrays(tails[odd], relations[odd] // 2, heads[odd])
    return len(one_way) == len(turned) and bool(
        (one_way.rows_of(turned.sources, turned.labels, turned.targets) >= 0).all()
    )


def _as_stated(file: FactFile) -> FactFile:
    """The facts of the relations 2r, by r."""
    even = file.columns[1] % 2 == 0
    heads, relations, tails = file.columns[:, even]
    return FactFile(file.path, np.stack([heads, relations // 2, tails]), file.lines[even])


def _without_sign(relation: str, inverse: str) -> str:
    """The name of a relation: `+/film/genre` and `-/film/genre` are one relation and its inverse."""
    signed = (relation[0], inverse[0]) == ("+", "-") and relation[1:] == inverse[1:] != ""
    return relation[1:] if signed else relation


# ------------------------------------------------------------------------------------------------------ structures


class _StrangeError(Exception):
    """A structure or query that cannot be read."""


def _is_path(part: Any) -> bool:
    """Whether a part of a structure is a path: relations, and `n` where what they lead to is negated."""
    return isinstance(part, tuple) and len(part) > 0 and set(part) <= {"r", "n"}


def _is_de_morgan(structure: Any) -> bool:
    """Whether a structure is a union written as what none of its negated parts holds."""
    while isinstance(structure, tuple) and len(structure) == 2 and _is_path(structure[1]):
        structure, path = structure
        if path[0] == "n" and structure != "e":
            return True
    return False


def _shape_of(structure: Any) -> tuple[Shape, list[int]]:
    """The shape of a structure, and for each of its columns the place of its id in a query read from left to right."""
    places = iter(range(2**30))

    def build(part: Any) -> tuple[Shape, list[int]]:
        if part == "e":
            return Shape(Operator.ENTITY), [next(places)]
        if not isinstance(part, tuple) or len(part) < 2:
            raise _StrangeError(f"{structure} is not the structure of a query")
        if _is_path(part[-1]) and len(part) == 2:
            shape, columns = build(part[0])
            for step in part[1]:
                index = next(places)
                if step == "r":
                    shape, columns = Shape(Operator.FOLLOW, (shape,)), [index, *columns]
                else:
                    shape = Shape(Operator.NOT, (shape,))
            return shape, columns
        union = part[-1] == ("u",)
        built = [build(branch) for branch in (part[:-1] if union else part)]
        if union:
            next(places)
        shape = Shape(Operator.OR if union else Operator.AND, tuple(shape for shape, _ in built))
        return shape, [column for _, columns in built for column in columns]

    if structure == "e":
        raise _StrangeError("'e' is not the structure of a query")
    return build(structure)


def _matrix(structure: Any, queries: list[Any]) -> np.ndarray:  # (queries, leaves of the structure) int64
    """What stands in some queries from left to right."""
    leaves = list(_leaves(structure))
    matrix = np.zeros((len(queries), len(leaves)), dtype=np.int64)
    for row, query in enumerate(queries):
        numbers: list[int] = []
        _read_query(structure, query, numbers, query)
        matrix[row] = numbers
    return matrix


def _leaves(structure: Any) -> Iterator[str]:
    if isinstance(structure, tuple):
        for part in structure:
            yield from _leaves(part)
    else:
        yield structure


def _read_query(structure: Any, part: Any, numbers: list[int], query: Any) -> None:
    """Append what stands in a part of a query, which must have the form of its structure."""
    if isinstance(structure, tuple):
        if not isinstance(part, tuple) or len(part) != len(structure):
            raise _StrangeError(f"the query {query} does not have the structure that it stands under")
        for below, item in zip(structure, part, strict=True):
            _read_query(below, item, numbers, query)
    elif type(part) is not int or part != _WORDS.get(structure, part):
        raise _StrangeError(f"the query {query} has {part!r} in place of {structure!r}")
    else:
        numbers.append(part)

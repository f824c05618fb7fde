"""The released code's JSON form: for each type, from a query in the paper's notation to its answers on each graph.

Symbols are numbers. An entity is `(e,(17))` and as an answer "17"; a value is `(nv,(2,1927.5))`, unit then number, and
as an answer [1927.5, 2]. A relation is 2r or 2r + 1 for its inverse, an attribute 2a in `ap` and 2a + 1 in `rap`, a
comparison its place in the paper's list of seven. `ids.json` beside the queries says what the numbers stand for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from kgreckon.benchmark import format as on_disk
from kgreckon.benchmark.format import Benchmark, QuerySet
from kgreckon.benchmark.splits import Split
from kgreckon.errors import UserError
from kgreckon.exact import Ragged
from kgreckon.files import new_folder, read_json, write_json
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import NAMED_TYPES, SEVEN, Batch, Operator, Shape
from kgreckon.query.s_expressions import Expression, read
from kgreckon.query.shapes import QUERIES

_ANSWERS = {Split.TRAIN: "train_answers", Split.VALID: "valid_answers", Split.TEST: "test_answers"}


def queries_file(split: Split) -> str:
    """The name of the file that holds a split's queries."""
    return f"{split.label}_queries.json"


# ----------------------------------------------------------------------------------------------------- exporting


def export_queries(benchmark: Benchmark, folder: Path) -> int:
    """Write all queries in the released form; returns how many there are.

    A validation query's answers on the validation graph, and a testing query's on the testing graph, are all of them;
    those of the graph before are the easy ones.
    """
    count = 0
    with new_folder(folder) as target:
        (target / "ids.json").write_text(
            json.dumps(_ids(benchmark.graph), ensure_ascii=False, indent=1), encoding="utf-8"
        )
        for split in Split:
            with (target / queries_file(split)).open("w", encoding="utf-8") as file:
                count += _export_split(benchmark, split, file)
    return count


def _ids(graph: KnowledgeGraph) -> dict[str, list[str]]:
    return {
        "entities": graph.entities.names.to_pylist(),
        "relations": graph.relations.names.to_pylist(),
        "attributes": graph.attributes.names.to_pylist(),
        "units": list(graph.values.units),
        "comparisons": list(SEVEN),
    }


def _export_split(benchmark: Benchmark, split: Split, file: TextIO) -> int:
    """Write one JSON object query by query, so that it need not fit into memory."""
    count = 0
    file.write("{")
    complete = [name for name in benchmark.types if benchmark.is_complete(split, name)]
    for index, name in enumerate(complete):
        file.write(f"{',' if index else ''}\n{json.dumps(benchmark.types[name].text)}: {{")
        first = True
        for queries in benchmark.query_sets(split, name):
            for text, answers in _exported(queries, split, benchmark.graph):
                file.write(f"{'' if first else ','}\n {json.dumps(text)}: {json.dumps(answers)}")
                first = False
                count += 1
        file.write("}")
    file.write("}\n")
    return count


def _exported(queries: QuerySet, split: Split, graph: KnowledgeGraph) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    values, of_numbers = graph.values, queries.shape.denotes_numbers

    def named(items: np.ndarray) -> list[Any]:
        if not of_numbers:
            return [str(item) for item in items.tolist()]
        return [[float(values.numbers[row]), int(values.unit_ids[row])] for row in items.tolist()]

    for index in range(len(queries)):
        row = iter(queries.batch.ids[index].tolist())
        hard, easy = named(queries.hard[index]), named(queries.easy[index])
        answers = {_ANSWERS[split]: easy + hard}
        if split is not Split.TRAIN:
            answers = {_ANSWERS[Split(split - 1)]: easy} | answers
        yield _text(queries.shape, row, graph), answers


def _text(shape: Shape, row: Iterator[int], graph: KnowledgeGraph) -> str:
    operator = shape.operator
    if operator in (Operator.AND, Operator.OR, Operator.NOT):
        return f"({operator.value},{','.join(_text(part, row, graph) for part in shape.parts)})"
    number = next(row)
    if operator is Operator.ENTITY:
        return f"(e,({number}))"
    if operator is Operator.NUMBER:
        return f"(nv,({graph.values.unit_ids[number]},{float(graph.values.numbers[number])!r}))"
    if operator is Operator.VALUE_OF:
        number = 2 * number
    elif operator is Operator.HAVING_VALUE:
        number = 2 * number + 1
    return f"({operator.value},({number}),{_text(shape.parts[0], row, graph)})"


# ----------------------------------------------------------------------------------------------------- importing


def import_queries(source: Path, graphs: Benchmark, folder: Path) -> Benchmark:
    """A benchmark with the graphs of `graphs` and the queries of a folder in the released form."""
    _check_ids(source, graphs.graph)
    by_split = {split: _read(source / queries_file(split)) for split in Split}
    types = _named(list(dict.fromkeys(shape for shapes in by_split.values() for shape in shapes)), graphs.types)
    header = graphs.header | {
        "types": {name: shape.text for name, shape in types.items()},
        "queries": {
            split.label: {name: len(by_split[split].get(shape, {})) for name, shape in types.items()} for split in Split
        },
        "imported": _digest(source),  # so that runs distinguish benchmarks with other queries
    }
    with new_folder(folder) as target:
        on_disk.write_graphs(target, graphs.graphs)
        for split in Split:
            for name, shape in types.items():
                _import_type(by_split[split].get(shape, {}), split, graphs.graph, target / split.label / name, source)
        write_json(target / on_disk.HEADER, header)
    return Benchmark.open(folder)


def _check_ids(source: Path, graph: KnowledgeGraph) -> None:
    """Where the numbers' meaning comes with the queries, it is that of the graph: numbers alone fit any graph."""
    path = source / "ids.json"
    if not path.is_file():
        return
    told = read_json(path)
    for sort, names in _ids(graph).items():
        theirs = told.get(sort)
        for number, (there, here) in enumerate(zip_longest(theirs if isinstance(theirs, list) else (), names)):
            if there != here:
                raise UserError(
                    f"{path}: number {number} of the {sort} is {there!r}, but {here!r} in the graph: the queries are "
                    "of another graph"
                )


def _read(path: Path) -> dict[Shape, dict[str, dict[str, list[Any]]]]:
    """The queries of a file by their general type, however the file writes the type."""
    if not path.is_file():
        raise UserError(f"{path} is missing")
    by_shape: dict[Shape, dict[str, dict[str, list[Any]]]] = {}
    for text, queries in read_json(path).items():
        if not isinstance(queries, dict) or not all(isinstance(answers, dict) for answers in queries.values()):
            raise UserError(f"{path}: the queries of type {text} do not map to their answers")
        by_shape.setdefault(Shape.parse(text).canonical, {}).update(queries)
    return by_shape


def _named(shapes: list[Shape], known: dict[str, Shape]) -> dict[str, Shape]:
    """A name for each type: that which the benchmark gives it, else the usual one, or one that is given to none."""
    usual = {shape.canonical: name for name, shape in NAMED_TYPES.items() if name not in known}
    names = usual | {shape.canonical: name for name, shape in known.items()}
    free = (name for name in map("type{}".format, range(len(shapes) + len(known))) if name not in known)
    return {names[shape] if shape in names else next(free): shape for shape in shapes}


def _digest(source: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for split in Split:
        digest.update((source / queries_file(split)).read_bytes())
    return digest.hexdigest()


def _import_type(
    queries: dict[str, dict[str, list[Any]]], split: Split, graph: KnowledgeGraph, folder: Path, source: Path
) -> None:
    by_shape: dict[Shape, list[tuple[list[int], list[int], list[int]]]] = {}
    for text, answers in queries.items():
        try:
            shape, ids = _parsed(text, graph)
            of_numbers = shape.denotes_numbers
            all_answers = {_answer_id(item, of_numbers, graph) for item in answers[_ANSWERS[split]]}
            before = answers.get(_ANSWERS[Split(split - 1)], []) if split is not Split.TRAIN else []
            easy = {_answer_id(item, of_numbers, graph) for item in before} & all_answers
            if not all_answers:
                raise UserError("it has no answer")
        except KeyError as error:
            raise UserError(f"{source / queries_file(split)}: {text!r} has no {error!s}") from None
        except (UserError, ValueError, TypeError) as error:
            raise UserError(f"{source / queries_file(split)}: {text!r} cannot be used: {error!s}") from None
        if easy == all_answers:  # nothing is left to be found
            continue
        by_shape.setdefault(shape, []).append((ids, sorted(easy), sorted(all_answers - easy)))
    sets = []
    for shape, rows in by_shape.items():
        batch = Batch(shape, np.array([ids for ids, _, _ in rows], dtype=np.int32))
        sets.append(QuerySet(batch, _ragged([easy for _, easy, _ in rows]), _ragged([hard for _, _, hard in rows])))
    on_disk.write_queries(folder, sets)


def _ragged(runs: list[list[int]]) -> Ragged:
    offsets = np.cumsum([0, *map(len, runs)]).astype(np.int64)
    return Ragged(offsets, np.array([item for run in runs for item in run], dtype=np.int32))


def _parsed(text: str, graph: KnowledgeGraph) -> tuple[Shape, list[int]]:
    """The shape and ids of a query in the released form."""
    ids: list[int] = []
    limits = {
        Operator.ENTITY: len(graph.entities),
        Operator.FOLLOW: 2 * len(graph.relations),
        Operator.VALUE_OF: 2 * len(graph.attributes),
        Operator.HAVING_VALUE: 2 * len(graph.attributes),
        Operator.COMPARE: len(SEVEN),
    }

    def number(operator: Operator, symbol: str) -> int:
        if operator is Operator.NUMBER:
            unit, value = symbol.split(",")
            return _row_of(value, unit, graph)
        found = int(symbol)
        if not 0 <= found < limits[operator]:
            raise UserError(f"{operator.value} {found} is out of range")
        return found // 2 if operator in (Operator.VALUE_OF, Operator.HAVING_VALUE) else found

    def shape_of(expression: Expression) -> Shape:
        operator = Operator(expression.operator)
        if expression.symbol is not None:
            ids.append(number(operator, expression.symbol.text))
        return Shape(operator, tuple(map(shape_of, expression.parts)))

    return shape_of(read(text, QUERIES)), ids


def _row_of(value: str | float, unit: str | int, graph: KnowledgeGraph) -> int:
    """The row of a value in the table of values, given its unit's number."""
    if not 0 <= int(unit) < len(graph.values.units):
        raise UserError(f"the graph has no unit {unit}")
    row = graph.values.row_of(float(value), graph.values.units[int(unit)])
    if row is None:
        raise UserError(f"the graph has no value {value} of unit {unit}")
    return row


def _answer_id(item: Any, of_numbers: bool, graph: KnowledgeGraph) -> int:
    if of_numbers:
        value, unit = item
        return _row_of(value, unit, graph)
    entity = int(item)
    if not 0 <= entity < len(graph.entities):
        raise UserError(f"the graph has no entity {entity}")
    return entity

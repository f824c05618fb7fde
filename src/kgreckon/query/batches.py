"""Batches: queries of one shape as an integer matrix, with a row for each query.

The ids of a query stand in the order in which its operators are written. One query is a batch of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar, assert_never

import numpy as np

from kgreckon.query.algebra import (
    SEVEN,
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Query,
    ValueOf,
)
from kgreckon.query.shapes import Operator, Shape, shape_of


class ValueRows(Protocol):
    """The value table as a batch sees it: numbers by row."""

    def row_of(self, value: float, unit: str) -> int | None:
        """The row of a number, or None where the table does not hold it."""
        ...

    def number_at(self, row: int) -> tuple[float, str]:
        """The number and the unit in a row."""
        ...

    def __len__(self) -> int: ...


class IdArray(Protocol):
    """What a batch needs of an array of ids: NumPy arrays and torch tensors both have it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each axis."""
        ...

    @property
    def T(self) -> Self:
        """The matrix with rows and columns exchanged."""
        ...

    def tolist(self) -> Any:
        """The ids as Python integers."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> Self: ...

    def __iter__(self) -> Iterator[Any]: ...  # of the rows


Ids = TypeVar("Ids", bound=IdArray)
OtherIds = TypeVar("OtherIds", bound=IdArray)


@dataclass(frozen=True)
class Batch(Generic[Ids]):
    """Queries of one shape: a matrix with a row for each query and a column for each id.

    The matrix is a NumPy array or, where a model computes, a tensor. A column of `np` holds positions in `comparisons`.
    A column of `nv` holds rows of the value table or, from the table's length on, positions in `literals`: the numbers
    that a question names and the graph does not hold.
    """

    shape: Shape
    ids: Ids  # (queries, shape.width) int32
    comparisons: tuple[Comparison, ...] = tuple(SEVEN.values())
    literals: tuple[Number, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.ids.shape) != 2 or self.ids.shape[1] != self.shape.width:
            raise ValueError(f"{self.shape} needs {self.shape.width} columns, not an array of shape {self.ids.shape}")

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | Ids) -> Batch[Ids]:
        """The batch of some of the queries."""
        return Batch(self.shape, self.ids[rows], self.comparisons, self.literals)

    def with_ids(self, ids: OtherIds) -> Batch[OtherIds]:
        """The batch of other ids, or of the same ids in another kind of array."""
        return Batch(self.shape, ids, self.comparisons, self.literals)

    @staticmethod
    def of(queries: Sequence[Query], values: ValueRows) -> Batch[np.ndarray]:
        """The batch of `queries`, which must share one shape."""
        shape = shape_of(queries[0])
        comparisons = {comparison: index for index, comparison in enumerate(SEVEN.values())}
        literals: dict[Number, int] = {}

        def ids(query: Query) -> Iterator[int]:
            match query:
                case Entity(entity):
                    yield entity
                case Number(value, unit):
                    row = values.row_of(value, unit)
                    yield len(values) + literals.setdefault(query, len(literals)) if row is None else row
                case Follow(relation, of):
                    yield relation
                    yield from ids(of)
                case ValueOf(attribute, of) | HavingValue(attribute, of):
                    yield attribute
                    yield from ids(of)
                case Compare(comparison, of):
                    yield comparisons.setdefault(comparison, len(comparisons))
                    yield from ids(of)
                case And(parts) | Or(parts):
                    for part in parts:
                        yield from ids(part)
                case Not(of):
                    yield from ids(of)
                case _:
                    assert_never(query)

        rows = []
        for query in queries:
            if shape_of(query) != shape:
                raise ValueError(f"a batch holds queries of one shape: {shape} and {shape_of(query)} differ")
            rows.append(list(ids(query)))
        return Batch(shape, np.array(rows, dtype=np.int32), tuple(comparisons), tuple(literals))

    def query(self, index: int, values: ValueRows) -> Query:
        """The query in row `index`."""
        row = iter(self.ids[index].tolist())

        def build(shape: Shape) -> Query:
            match shape.operator:
                case Operator.ENTITY:
                    return Entity(next(row))
                case Operator.NUMBER:
                    value_row = next(row)
                    if value_row >= len(values):
                        return self.literals[value_row - len(values)]
                    return Number(*values.number_at(value_row))
                case Operator.FOLLOW:
                    return Follow(next(row), build(shape.parts[0]))
                case Operator.VALUE_OF:
                    return ValueOf(next(row), build(shape.parts[0]))
                case Operator.HAVING_VALUE:
                    return HavingValue(next(row), build(shape.parts[0]))
                case Operator.COMPARE:
                    return Compare(self.comparisons[next(row)], build(shape.parts[0]))
                case Operator.AND:
                    return And(tuple(build(part) for part in shape.parts))
                case Operator.OR:
                    return Or(tuple(build(part) for part in shape.parts))
                case Operator.NOT:
                    return Not(build(shape.parts[0]))
                case Operator.PROJECT:
                    raise ValueError(f"{self.shape} is a general type and holds no ids")
            assert_never(shape.operator)

        return build(self.shape)

"""The one interpreter: it walks a shape and asks a semantics what each node means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, assert_never

import numpy as np

from kgreckon.query.shapes import Batch, Operator, Shape

Set = TypeVar("Set")


class Semantics(Protocol[Set]):
    """A meaning of the algebra: what a batch of sets is, and what each operator does to it.

    Ids come as one integer per query of the batch. The logical operators are told whether the sets hold numbers.
    """

    def entity(self, entities: np.ndarray) -> Set:
        """The sets of one entity each."""
        ...

    def number(self, rows: np.ndarray) -> Set:
        """The sets of one number each."""
        ...

    def follow(self, relations: np.ndarray, of: Set) -> Set:
        """The entities that the relation leads to."""
        ...

    def value_of(self, attributes: np.ndarray, of: Set) -> Set:
        """The values of the attribute."""
        ...

    def having_value(self, attributes: np.ndarray, of: Set) -> Set:
        """The entities whose attribute takes such a value."""
        ...

    def compare(self, comparisons: np.ndarray, of: Set) -> Set:
        """The values in that relation to one of these."""
        ...

    def intersect(self, parts: Sequence[Set], numbers: bool) -> Set:
        """What all parts share."""
        ...

    def unite(self, parts: Sequence[Set], numbers: bool) -> Set:
        """What any part holds."""
        ...

    def complement(self, of: Set, numbers: bool) -> Set:
        """What the set does not hold."""
        ...


def interpret(batch: Batch, semantics: Semantics[Set]) -> Set:
    """What the queries of `batch` denote under `semantics`."""
    columns = iter(batch.ids.T)

    def meaning(shape: Shape) -> Set:
        ids = None if shape.operator in (Operator.AND, Operator.OR, Operator.NOT) else next(columns)
        parts = [meaning(part) for part in shape.parts]
        match shape.operator:
            case Operator.AND:
                return semantics.intersect(parts, shape.denotes_numbers)
            case Operator.OR:
                return semantics.unite(parts, shape.denotes_numbers)
            case Operator.NOT:
                return semantics.complement(parts[0], shape.denotes_numbers)
        assert ids is not None
        match shape.operator:
            case Operator.ENTITY:
                return semantics.entity(ids)
            case Operator.NUMBER:
                return semantics.number(ids)
            case Operator.FOLLOW:
                return semantics.follow(ids, parts[0])
            case Operator.VALUE_OF:
                return semantics.value_of(ids, parts[0])
            case Operator.HAVING_VALUE:
                return semantics.having_value(ids, parts[0])
            case Operator.COMPARE:
                return semantics.compare(ids, parts[0])
            case Operator.PROJECT:
                raise ValueError(f"{shape} is a general type: only its specific types have a meaning")
        assert_never(shape.operator)

    return meaning(batch.shape)

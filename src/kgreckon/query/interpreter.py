"""The one interpreter: it walks a shape and asks a semantics what each node means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Protocol, TypeVar, assert_never

import numpy as np

from kgreckon.query.shapes import Batch, Operator, Shape

Set = TypeVar("Set")
Pause = Callable[[], None]  # called before each step of a long computation; it may raise, to end it


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


class StackingSemantics(Semantics[Set], Protocol[Set]):
    """A meaning that computes several batches at once for less than one after the other."""

    def stack(self, ids: Sequence[np.ndarray]) -> np.ndarray:
        """The ids of some batches, one batch after the other."""
        ...

    def unstack(self, of: Set, count: int) -> Sequence[Set]:
        """The sets of each of `count` batches that were stacked."""
        ...


def interpret(batch: Batch, semantics: Semantics[Set], pause: Pause | None = None) -> Set:
    """What the queries of `batch` denote under `semantics`.

    Neighbouring parts of one shape are computed together where the semantics can stack them. With a `pause` every node
    is computed by itself, so that no step is longer than one operation.
    """
    stacking: StackingSemantics[Set] | None = semantics if hasattr(semantics, "stack") else None  # type: ignore[assignment]
    if pause is not None:
        stacking = None

    def meanings(parts: tuple[Shape, ...], columns: Iterator[np.ndarray]) -> list[Set]:
        found: list[Set] = []
        for shape, run in groupby(parts):
            count = len(list(run))
            if count == 1 or stacking is None:
                found += [meaning(shape, columns) for _ in range(count)]
                continue
            blocks = [[next(columns) for _ in range(shape.width)] for _ in range(count)]
            stacked = [stacking.stack(same) for same in zip(*blocks, strict=True)]
            found += stacking.unstack(meaning(shape, iter(stacked)), count)
        return found

    def meaning(shape: Shape, columns: Iterator[np.ndarray]) -> Set:
        ids = None if shape.operator in (Operator.AND, Operator.OR, Operator.NOT) else next(columns)
        parts = meanings(shape.parts, columns)
        if pause is not None:
            pause()
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

    return meaning(batch.shape, iter(batch.ids.T))

"""The one interpreter: it walks a shape and asks a semantics what each node means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Protocol, TypeVar, assert_never

from kgreckon.query.batches import Batch, IdArray, Ids
from kgreckon.query.shapes import Operator, Shape

Set = TypeVar("Set")
IdsTaken = TypeVar("IdsTaken", bound=IdArray, contravariant=True)
Pause = Callable[[], None]  # called before each step of a long computation; it may raise, to end it


class Semantics(Protocol[Set, IdsTaken]):
    """A meaning of the algebra: what a batch of sets is, and what each operator does to it.

    Ids come as one integer per query of the batch. The logical operators get a flag: whether the sets hold numbers.
    """

    def entity(self, entities: IdsTaken) -> Set:
        """The sets of one entity each."""
        ...

    def number(self, rows: IdsTaken) -> Set:
        """The sets of one number each."""
        ...

    def follow(self, relations: IdsTaken, of: Set) -> Set:
        """The entities that the relation leads to."""
        ...

    def value_of(self, attributes: IdsTaken, of: Set) -> Set:
        """The values of the attribute."""
        ...

    def having_value(self, attributes: IdsTaken, of: Set) -> Set:
        """The entities whose attribute takes such a value."""
        ...

    def compare(self, comparisons: IdsTaken, of: Set) -> Set:
        """The values in that relation to one of these."""
        ...

    def intersect(self, parts: Sequence[Set], of_numbers: bool) -> Set:
        """What all parts share."""
        ...

    def unite(self, parts: Sequence[Set], of_numbers: bool) -> Set:
        """What any part holds."""
        ...

    def complement(self, of: Set, of_numbers: bool) -> Set:
        """What the set does not hold."""
        ...


class Stacking(Protocol[Set, Ids]):
    """Computes several batches as one long batch, where that costs less than one after the other."""

    def stack(self, ids: Sequence[Ids]) -> Ids:
        """The ids of some batches, one batch after the other."""
        ...

    def unstack(self, of: Set, count: int) -> Sequence[Set]:
        """The sets of each of `count` batches that were stacked."""
        ...


def interpret(
    batch: Batch[Ids],
    semantics: Semantics[Set, Ids],
    pause: Pause | None = None,
    stacking: Stacking[Set, Ids] | None = None,
) -> Set:
    """What the queries of `batch` denote under `semantics`.

    With `stacking`, neighbouring parts of one shape are computed together. With a `pause` every node is computed by
    itself, so that no step is longer than one operation.
    """
    if pause is not None:
        stacking = None

    def meanings(parts: tuple[Shape, ...], columns: Iterator[Ids]) -> list[Set]:
        sets: list[Set] = []
        for shape, run in groupby(parts):
            count = len(list(run))
            if count == 1 or stacking is None:
                sets += [meaning(shape, columns) for _ in range(count)]
                continue
            blocks = [[next(columns) for _ in range(shape.width)] for _ in range(count)]
            stacked = [stacking.stack(same) for same in zip(*blocks, strict=True)]
            sets += stacking.unstack(meaning(shape, iter(stacked)), count)
        return sets

    def meaning(shape: Shape, columns: Iterator[Ids]) -> Set:
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

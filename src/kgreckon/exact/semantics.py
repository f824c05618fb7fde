"""Exact sets on a graph: the first meaning of the algebra."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import reduce

import numpy as np

from kgreckon.errors import UserError
from kgreckon.exact import projections
from kgreckon.exact import sets as sets_of
from kgreckon.exact.arithmetic import compare_intervals, comparison_table
from kgreckon.exact.holders import count_holders, keep_holders
from kgreckon.exact.ragged import Ragged
from kgreckon.graph import Adjacency, KnowledgeGraph
from kgreckon.query import SEVEN, Batch, Comparison, Number, Operator, Pause, Query, interpret, sort_of

# Queries are answered this many at a time, which bounds what their intermediate sets may need.
CHUNK = 2048


class ComparisonMode(Enum):
    """Where numerical relations come from: arithmetic, or the numerical edges that a benchmark graph carries."""

    COMPUTED = "computed"
    SAMPLED = "sampled"  # edges, drawn at random
    RELEASED = "released"  # edges, the first that are met, as in the paper's released code

    @property
    def is_computed(self) -> bool:
        """Whether comparisons are arithmetic, and not edges."""
        return self is ComparisonMode.COMPUTED

    @staticmethod
    def of(mode: ComparisonMode | str) -> ComparisonMode:
        """The same, or the one of that name."""
        try:
            return ComparisonMode(mode)
        except ValueError:
            raise UserError(f"comparisons are computed, sampled or released, not {mode!r}") from None


@dataclass(frozen=True)
class EntitySets:
    """A set of entities for each query, or its complement: all queries of a batch share the flag."""

    offsets: np.ndarray
    items: np.ndarray
    negated: bool = False


@dataclass(frozen=True)
class NumberSets:
    """A set of value rows for each query, as intervals, and the units that its numbers may be measured in."""

    offsets: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    units: np.ndarray  # (queries, k) int32, -1 where there are fewer than k

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays that the kernels take."""
        return self.offsets, self.lows, self.highs


@dataclass(frozen=True)
class HolderSets:
    """The entities whose attribute takes a value in a set, or their complement, not gathered yet."""

    attributes: np.ndarray
    numbers: NumberSets
    negated: bool = False


GatheredSet = EntitySets | NumberSets
ExactSet = GatheredSet | HolderSets

_LOOKED_UP = 4  # entities cost as much to look up as this many holders cost to gather


class ExactSemantics:
    """The sets that a graph states, for a batch's comparisons and literals (kgreckon.query.Semantics)."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        mode: ComparisonMode | str = ComparisonMode.COMPUTED,
        comparisons: tuple[Comparison, ...] = tuple(SEVEN.values()),
        literals: tuple[Number, ...] = (),
    ) -> None:
        self.graph = graph
        self.mode = ComparisonMode.of(mode)
        if not self.mode.is_computed and graph.compared is None:
            raise UserError("this graph carries no numerical edges: use computed comparisons")
        self.num_entities = len(graph.entities)
        self.comparisons = comparisons
        self.comparison_columns = comparison_table(comparisons)
        units = [graph.values.unit_id(literal.unit) for literal in literals]
        self.literals = np.array([literal.value for literal in literals], dtype=np.float64)
        self.literal_units = np.array([-1 if unit is None else unit for unit in units], dtype=np.int64)

    def entity(self, entities: np.ndarray) -> EntitySets:
        return EntitySets(np.arange(len(entities) + 1), np.ascontiguousarray(entities, dtype=np.int32))

    def number(self, rows: np.ndarray) -> NumberSets:
        lows = np.ascontiguousarray(rows, dtype=np.int32)
        size = len(self.graph.values)
        units = np.searchsorted(self.graph.values.unit_starts, rows, side="right") - 1
        beyond = np.flatnonzero(rows >= size)
        units[beyond] = self.literal_units[rows[beyond] - size]
        return NumberSets(np.arange(len(rows) + 1), lows, lows + 1, units[:, None].astype(np.int32))

    def follow(self, relations: np.ndarray, of: ExactSet) -> EntitySets:
        return EntitySets(*self._project(self.graph.follows, relations, self._points(of)))

    def value_of(self, attributes: np.ndarray, of: ExactSet) -> NumberSets:
        rows = self._project(self.graph.values_of, attributes, self._points(of))
        return NumberSets(*sets_of.points_to_intervals(*rows), self.graph.attribute_units[attributes][:, None])

    def having_value(self, attributes: np.ndarray, of: ExactSet) -> HolderSets:
        return HolderSets(np.ascontiguousarray(attributes), _numbers(of))

    def gathered(self, sets: ExactSet) -> GatheredSet:
        """The same sets, none of them to be looked up later."""
        return sets if isinstance(sets, NumberSets) else self.entities(sets)

    def entities(self, sets: ExactSet) -> EntitySets:
        """Sets of entities, gathered."""
        if not isinstance(sets, HolderSets):
            assert isinstance(sets, EntitySets), "a shape's sorts are checked before it is interpreted"
            return sets
        having, attributes = self.graph.having, sets.attributes
        holders = projections.project_intervals(
            *having.touched(attributes), having.num_targets, attributes, *sets.numbers.parts
        )
        return EntitySets(*holders, sets.negated)

    def compare(self, comparisons: np.ndarray, of: ExactSet) -> NumberSets:
        numbers, table = _numbers(of), self.graph.values
        if not self.mode.is_computed:
            return self._along_edges(comparisons, numbers)
        result = compare_intervals(
            table.numbers,
            table.unit_starts,
            self.literals,
            self.literal_units,
            *self.comparison_columns,
            np.ascontiguousarray(comparisons),
            *numbers.parts,
        )
        return NumberSets(*result, numbers.units)

    def intersect(self, parts: Sequence[ExactSet], of_numbers: bool) -> ExactSet:
        if of_numbers:
            return reduce(_intersect_numbers, (_numbers(part) for part in parts))
        holders = [part for part in parts if isinstance(part, HolderSets)]
        gathered = [part for part in parts if not isinstance(part, HolderSets)]
        if not gathered:
            gathered.append(self.entities(holders.pop(0)))
        result = reduce(_intersect_entities, (self.entities(part) for part in gathered))
        for part in holders:
            result = self._intersect_holders(result, part)
        return result

    def _intersect_holders(self, sets: EntitySets, holders: HolderSets) -> EntitySets:
        """Few entities are looked up one by one; else all holders are gathered."""
        numbers, attributes = holders.numbers, holders.attributes
        if not sets.negated:
            offsets, labels, starts, _ = self.graph.having.touched(attributes)
            if _LOOKED_UP * len(sets.items) < count_holders(offsets, labels, starts, attributes, *numbers.parts):
                rows = self.graph.values_of.touched(sets.items)
                kept = keep_holders(*rows, sets.offsets, sets.items, attributes, *numbers.parts, not holders.negated)
                return EntitySets(*kept)
        return _intersect_entities(sets, self.entities(holders))

    def unite(self, parts: Sequence[ExactSet], of_numbers: bool) -> ExactSet:
        if of_numbers:
            return reduce(_unite_numbers, (_numbers(part) for part in parts))
        negated = [_negate(self.entities(part)) for part in parts]  # de Morgan: the flags do the rest
        return _negate(reduce(_intersect_entities, negated))

    def complement(self, of: ExactSet, of_numbers: bool) -> ExactSet:
        if isinstance(of, HolderSets):
            return HolderSets(of.attributes, of.numbers, not of.negated)
        if not of_numbers:
            return _negate(self.entities(of))
        sets = _numbers(of)
        return NumberSets(
            *sets_of.complement_intervals(*sets.parts, self.graph.values.unit_starts, sets.units), sets.units
        )

    def answers(self, sets: ExactSet) -> Ragged:
        """The entities, or the rows of the value table, that the sets hold."""
        if isinstance(sets, NumberSets):
            return Ragged(*sets_of.intervals_to_points(*sets.parts, len(self.graph.values)))
        return Ragged(*self._points(sets))

    def _points(self, sets: ExactSet) -> tuple[np.ndarray, np.ndarray]:
        entities = self.entities(sets)
        if entities.negated:
            return sets_of.complement_points(entities.offsets, entities.items, self.num_entities)
        return entities.offsets, entities.items

    def _along_edges(self, comparisons: np.ndarray, numbers: NumberSets) -> NumberSets:
        compared = self.graph.compared
        assert compared is not None
        if int(comparisons.max(initial=0)) >= len(SEVEN):
            raise UserError(f"numerical edges know only {', '.join(SEVEN)}")
        points = sets_of.intervals_to_points(*numbers.parts, len(self.graph.values))
        rows = self._project(compared, comparisons, points)
        return NumberSets(*sets_of.points_to_intervals(*rows), numbers.units)

    @staticmethod
    def _project(
        adjacency: Adjacency, labels: np.ndarray, points: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        return projections.project(
            *adjacency.touched(points[1]), adjacency.num_targets, np.ascontiguousarray(labels), *points
        )


def _numbers(sets: ExactSet) -> NumberSets:
    assert isinstance(sets, NumberSets), "a shape's sorts are checked before it is interpreted"
    return sets


def _negate(sets: EntitySets) -> EntitySets:
    return EntitySets(sets.offsets, sets.items, not sets.negated)


def _intersect_entities(one: EntitySets, other: EntitySets) -> EntitySets:
    # Which parts of two plain sets stay: A ∩ B is in both, A ∩ ¬B only left, ¬A ∩ B only right, ¬A ∩ ¬B = ¬(A ∪ B).
    negated = one.negated and other.negated
    keep = (negated or other.negated, negated or one.negated == other.negated, negated or one.negated)
    return EntitySets(*sets_of.combine_points(one.offsets, one.items, other.offsets, other.items, *keep), negated)


def _intersect_numbers(one: NumberSets, other: NumberSets) -> NumberSets:
    shared = (one.units[:, :, None] == other.units[:, None, :]).any(axis=2)
    units = np.where(shared, one.units, np.int32(-1))
    return NumberSets(*sets_of.intersect_intervals(*one.parts, *other.parts), units)


def _unite_numbers(one: NumberSets, other: NumberSets) -> NumberSets:
    units = np.concatenate([one.units, other.units], axis=1)
    return NumberSets(*sets_of.unite_intervals(*one.parts, *other.parts), units)


def check_ids(graph: KnowledgeGraph, batch: Batch[np.ndarray]) -> None:
    """Raise a UserError for an id that is not in the graph: compiled code would read past its arrays."""
    limits = {
        Operator.ENTITY: len(graph.entities),
        Operator.NUMBER: len(graph.values) + len(batch.literals),
        Operator.FOLLOW: 2 * len(graph.relations),
        Operator.VALUE_OF: len(graph.attributes),
        Operator.HAVING_VALUE: len(graph.attributes),
        Operator.COMPARE: len(batch.comparisons),
    }
    for column, operator in enumerate(batch.shape.columns):
        ids = batch.ids[:, column]
        if len(ids) and not 0 <= ids.min() <= ids.max() < limits[operator]:
            raise UserError(f"an id in column {column} ({operator.value}) is out of range")


def answer(
    graph: KnowledgeGraph,
    batch: Batch[np.ndarray],
    mode: ComparisonMode | str = ComparisonMode.COMPUTED,
    workers: int = 1,
    chunk: int = CHUNK,
    pause: Pause | None = None,
) -> Ragged:
    """The exact answers to each query of `batch`: entities, or rows of the value table, in rising order."""
    batch.shape.check()
    check_ids(graph, batch)
    return _answers(graph, batch, mode, workers, chunk, pause)


def _answers(
    graph: KnowledgeGraph,
    batch: Batch[np.ndarray],
    mode: ComparisonMode | str,
    workers: int,
    chunk: int,
    pause: Pause | None,
) -> Ragged:
    semantics = ExactSemantics(graph, mode, batch.comparisons, batch.literals)

    def answers(start: int) -> Ragged:
        return semantics.answers(interpret(batch[start : start + chunk], semantics, pause))

    starts = range(0, len(batch), chunk)
    if workers == 1 or len(starts) == 1:
        return Ragged.concatenate([answers(start) for start in starts])
    with ThreadPoolExecutor(workers) as pool:
        return Ragged.concatenate(list(pool.map(answers, starts)))


def ask(
    graph: KnowledgeGraph,
    query: Query,
    mode: ComparisonMode | str = ComparisonMode.COMPUTED,
    pause: Pause | None = None,
) -> np.ndarray:
    """The exact answers to one query: entities, or rows of the value table, in rising order."""
    sort_of(query, graph.vocabulary)  # and all ids in it are looked at
    return _answers(graph, Batch.of([query], graph.values), mode, 1, CHUNK, pause)[0]

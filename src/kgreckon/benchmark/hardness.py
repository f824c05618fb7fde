"""How hard answers are: how many facts and values their cheapest proofs lack in the training graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from kgreckon.benchmark.proof_search import (
    ANCHOR,
    AND,
    COMPARE,
    FOLLOW,
    HAVING_VALUE,
    NOT,
    OR,
    VALUE_OF,
    Rows,
    Sets,
    fewest_missing,
)
from kgreckon.benchmark.splits import Split, SplitGraph, values_in
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, ExactSemantics, Ragged
from kgreckon.exact.semantics import EntitySets, ExactSet, GatheredSet
from kgreckon.graph import Adjacency, KnowledgeGraph, Triples
from kgreckon.query import Batch, Operator, Shape, interpret

_AT_ONCE = 1024  # queries
_STEPS = {
    Operator.ENTITY: ANCHOR,
    Operator.NUMBER: ANCHOR,
    Operator.FOLLOW: FOLLOW,
    Operator.VALUE_OF: VALUE_OF,
    Operator.HAVING_VALUE: HAVING_VALUE,
    Operator.COMPARE: COMPARE,
    Operator.AND: AND,
    Operator.OR: OR,
    Operator.NOT: NOT,
}


@dataclass(frozen=True)
class Hardness:
    """What the cheapest proof of each of some answers lacks in the training graph."""

    facts: np.ndarray  # (answers,) int8
    values: np.ndarray  # (answers,) int8

    def __len__(self) -> int:
        return len(self.facts)

    @cached_property
    def missing(self) -> np.ndarray:  # (answers,) int8
        """How many facts and values together."""
        return self.facts + self.values

    @staticmethod
    def concatenate(parts: Sequence[Hardness]) -> Hardness:
        """The answers of all parts, one part after the other."""
        nothing = np.zeros(0, dtype=np.int8)
        return Hardness(
            np.concatenate([nothing, *(part.facts for part in parts)]),
            np.concatenate([nothing, *(part.values for part in parts)]),
        )


@dataclass(frozen=True)
class _TwoSets:
    """The set of a node on the training graph and on a split's."""

    known: GatheredSet
    own: GatheredSet


class _TwoGraphs:
    """The sets of all nodes on two graphs at once, kept in the order in which they are done (kgreckon.query.Semantics).

    A complement is that of the larger graph on both: what is not there needs no fact.
    """

    def __init__(self, known: ExactSemantics, own: ExactSemantics) -> None:
        self.known, self.own = known, own
        self.done: list[_TwoSets] = []

    def _both(self, known: ExactSet, own: ExactSet) -> _TwoSets:
        self.done.append(_TwoSets(self.known.gathered(known), self.own.gathered(own)))
        return self.done[-1]

    def entity(self, entities: np.ndarray) -> _TwoSets:
        sets = self.own.entity(entities)
        return self._both(sets, sets)

    def number(self, rows: np.ndarray) -> _TwoSets:
        sets = self.own.number(rows)
        return self._both(sets, sets)

    def follow(self, relations: np.ndarray, of: _TwoSets) -> _TwoSets:
        return self._both(self.known.follow(relations, of.known), self.own.follow(relations, of.own))

    def value_of(self, attributes: np.ndarray, of: _TwoSets) -> _TwoSets:
        return self._both(self.known.value_of(attributes, of.known), self.own.value_of(attributes, of.own))

    def having_value(self, attributes: np.ndarray, of: _TwoSets) -> _TwoSets:
        return self._both(self.known.having_value(attributes, of.known), self.own.having_value(attributes, of.own))

    def compare(self, comparisons: np.ndarray, of: _TwoSets) -> _TwoSets:
        return self._both(self.known.compare(comparisons, of.known), self.own.compare(comparisons, of.own))

    def intersect(self, parts: Sequence[_TwoSets], of_numbers: bool) -> _TwoSets:
        known, own = [part.known for part in parts], [part.own for part in parts]
        return self._both(self.known.intersect(known, of_numbers), self.own.intersect(own, of_numbers))

    def unite(self, parts: Sequence[_TwoSets], of_numbers: bool) -> _TwoSets:
        known, own = [part.known for part in parts], [part.own for part in parts]
        return self._both(self.known.unite(known, of_numbers), self.own.unite(own, of_numbers))

    def complement(self, of: _TwoSets, of_numbers: bool) -> _TwoSets:
        sets = self.own.complement(of.own, of_numbers)
        return self._both(sets, sets)


class ProofSearch:
    """Looks for the cheapest proofs of answers that the graph of a split has. Threads may share it."""

    def __init__(self, graphs: SplitGraph, split: Split, mode: ComparisonMode) -> None:
        training, complete = graphs.at(Split.TRAIN), graphs.at(split)
        self.mode, self.complete = mode, complete
        self.stated = values_in(training)
        edges = complete.comparisons
        if mode.is_computed or edges is None:
            edges = Triples.from_arrays(*(np.zeros(0, dtype=np.int32) for _ in range(3)))
        # A comparison lacks no fact: its edge is there as soon as what it leads to is stated.
        self.known = replace(training, comparisons=edges[self.stated[edges.targets]])
        turned = Triples.from_arrays(edges.targets, edges.labels, edges.sources)
        self._compared = _rows(Adjacency.from_triples(turned, len(complete.values), len(complete.values)))
        self._rows = _edges_of(complete), _edges_of(training)

    def hardness(self, batch: Batch[np.ndarray], answers: Ragged, workers: int = 1) -> Hardness:
        """What the cheapest proof of each answer to each query lacks; raises a UserError where there is no proof."""
        parts = list(_parts(batch, answers))
        if workers == 1 or len(parts) < 2:
            return Hardness.concatenate([self._hardness(*part) for part in parts])
        with ThreadPoolExecutor(workers) as pool:
            return Hardness.concatenate(list(pool.map(lambda part: self._hardness(*part), parts)))

    def _hardness(self, batch: Batch[np.ndarray], answers: Ragged) -> Hardness:
        table = self.complete.values
        semantics = [
            ExactSemantics(graph, self.mode, batch.comparisons, batch.literals) for graph in (self.known, self.complete)
        ]
        both = _TwoGraphs(*semantics)
        interpret(batch, both)
        program, order, most = _program(batch.shape)
        done = [both.done[index] for index in order]
        missing = fewest_missing(
            answers.offsets,
            np.array(answers.items, dtype=np.int32),
            self._repeats(batch),
            most,
            program,
            np.array(batch.ids, dtype=np.int64, order="C"),
            _flat([sets.own for sets in done]),
            _flat([sets.known for sets in done]),
            *self._rows,
            self._compared,
            self.mode.is_computed,
            np.append(table.numbers, semantics[1].literals),
            np.append(table.unit_ids, semantics[1].literal_units).astype(np.int32),
            semantics[1].comparison_columns,
            self.stated,
        )
        if len(missing[0]) and missing[0].min() < 0:
            raise UserError(f"a query of the shape {batch.shape} has an answer that its graph does not prove")
        return Hardness(*missing)

    def _repeats(self, batch: Batch[np.ndarray]) -> np.ndarray:  # (queries,) bool
        """In which queries two steps may need the same fact, or a step states what another compares."""
        operators, ids = batch.shape.columns, batch.ids
        may = np.full(len(batch), Operator.COMPARE in operators and not self.mode.is_computed)
        kinds = {Operator.FOLLOW: 0, Operator.VALUE_OF: 1, Operator.HAVING_VALUE: 1}
        columns = [(kinds[operator], column) for column, operator in enumerate(operators) if operator in kinds]
        for (kind, one), (other_kind, other) in combinations(columns, 2):
            if kind == other_kind:
                shift = 1 - kind  # a relation and its inverse are one fact
                may |= ids[:, one] >> shift == ids[:, other] >> shift
        return may


def most_missing(shape: Shape) -> int:
    """The most facts and values that the cheapest proof of an answer to a query of this shape can lack."""
    return _program(shape)[2]


def _parts(batch: Batch[np.ndarray], answers: Ragged) -> Iterator[tuple[Batch[np.ndarray], Ragged]]:
    """Some queries at a time, with their answers."""
    for start in range(0, len(batch), _AT_ONCE):
        offsets = answers.offsets[start : start + _AT_ONCE + 1]
        part = Ragged((offsets - offsets[0]).astype(np.int64), answers.items[offsets[0] : offsets[-1]])
        yield batch[start : start + _AT_ONCE], part


def _edges_of(graph: KnowledgeGraph) -> tuple[Rows, Rows, Rows]:
    return _rows(graph.follows), _rows(graph.having), _rows(graph.values_of)


def _rows(adjacency: Adjacency) -> Rows:
    return adjacency.offsets, adjacency.labels, adjacency.starts, adjacency.targets


def _program(shape: Shape) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], list[int], int]:
    """A shape as arrays in the order in which it is written: step, column, end of the subtree and parent of each node.

    Then the place of each node in the order in which the interpreter is done with them, and the most that a proof may
    lack.
    """
    steps: list[int] = []
    columns: list[int] = []
    ends: list[int] = []
    parents: list[int] = []
    order: list[int] = []
    done = width = 0

    def add(part: Shape, parent: int) -> int:
        nonlocal done, width
        node = len(steps)
        step = _STEPS[part.operator]
        steps.append(step)
        parents.append(parent)
        columns.append(-1 if step in (AND, OR, NOT) else width)
        width += step not in (AND, OR, NOT)
        ends.append(0)
        order.append(0)
        below = [add(child, node) for child in part.parts]
        ends[node] = len(steps)
        order[node] = done
        done += 1
        if step == NOT:
            return 0
        return (max(below) if step == OR else sum(below)) + (step in (FOLLOW, VALUE_OF, HAVING_VALUE, COMPARE))

    most = add(shape, -1)
    columns_of = [np.array(column, dtype=np.int64) for column in (steps, columns, ends, parents)]
    return (columns_of[0], columns_of[1], columns_of[2], columns_of[3]), order, most


def _flat(sets: Sequence[GatheredSet]) -> Sets:
    """The sets of all nodes as intervals, end to end."""
    offsets, lows, highs, negated = [], [], [], []
    count = 0
    for node_set in sets:
        if isinstance(node_set, EntitySets):
            bounds = node_set.items, node_set.items + 1
            negated.append(node_set.negated)
        else:
            bounds = node_set.lows, node_set.highs
            negated.append(False)
        offsets.append(node_set.offsets + count)
        lows.append(bounds[0])
        highs.append(bounds[1])
        count += len(bounds[0])
    return (
        np.stack(offsets).astype(np.int64),
        np.concatenate(lows).astype(np.int32),
        np.concatenate(highs).astype(np.int32),
        np.array(negated),
    )

"""What a graph states of an answer: the facts of a proof or, where it proves nothing, the steps that it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import How, Member, Proof, Step
from kgreckon.query import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Operator,
    Or,
    Order,
    Pause,
    Query,
    ValueOf,
)
from kgreckon.query.algebra import nodes

_WAYS = 8  # that are tried where a step leads on to several members that are not proved


class StatedFacts:
    """Walks a query back from an answer along stated facts, by the way that lacks the fewest."""

    def __init__(self, graph: KnowledgeGraph, pause: Pause | None = None) -> None:
        self.graph, self.pause = graph, pause
        self._answers: dict[Query, frozenset[int]] = {}

    def proved(self, query: Query) -> frozenset[int]:
        """The answers that the graph proves."""
        if query not in self._answers:
            self._answers[query] = frozenset(ask(self.graph, query, pause=self.pause).tolist())
        return self._answers[query]

    def proof(self, query: Query, member: Member) -> Proof:
        """Why a query holds for an entity, a row of the value table, or a number that the table does not hold.

        Missing steps are marked as such.
        """
        match query:
            case Entity(entity):
                return self._given(Operator.ENTITY, entity, member)
            case Number():
                row = self.graph.values.row_of(query.value, query.unit)
                return self._given(Operator.NUMBER, query if row is None else row, member)
            case And(parts):
                return Proof(Operator.AND, None, tuple(self.proof(part, member) for part in parts))
            case Or(parts):
                holding = [part for part in parts if self._holds(part, member)]
                if holding:
                    return Proof(Operator.OR, None, (self.proof(holding[0], member),))
                return Proof(Operator.OR, None, (_fewest(self.proof(part, member) for part in parts),))
            case Not():
                how = How.OBSERVED if self._holds(query, member) else How.MISSING
                return Proof(Operator.NOT, claim=query, how=how)
        assert isinstance(member, int), "a number that the table does not hold is only named, never reached"
        match query:
            case Follow(relation, of):
                sources = self.graph.follows.row(member, relation ^ 1)
                return self._through(Operator.FOLLOW, relation, sources, of, member)
            case ValueOf(attribute, of):
                holders = self.graph.having.row(attribute, member)
                return self._through(Operator.VALUE_OF, attribute, holders, of, member)
            case HavingValue(attribute, of):
                rows = self.graph.values_of.row(member, attribute)
                return self._through(Operator.HAVING_VALUE, attribute, rows, of, member)
            case Compare(comparison, of):
                return self._compared(comparison, of, member)

    def _given(self, operator: Operator, named: Member, member: Member) -> Proof:
        same = named == member
        source, target = self._member(operator, named), self._member(operator, member)
        step = Step(operator, source, 0, target, How.GIVEN if same else How.MISSING, 1.0 if same else None)
        return Proof(operator, step)

    def _through(self, operator: Operator, label: int, sources: np.ndarray, of: Query, target: int) -> Proof:
        """A stated step from one of some sources and what is known of it; or a step that is not stated."""
        from_numbers, to_numbers = operator is Operator.HAVING_VALUE, operator is Operator.VALUE_OF
        end: Member = self._number(target) if to_numbers else target

        def step(source: int | None, how: How) -> Step:
            start = self._number(source) if from_numbers and source is not None else source
            return Step(operator, start, label, end, how, 1.0 if how is How.OBSERVED else None)

        good = [source for source in sources.tolist() if source in self.proved(of)]
        if good:
            return Proof(operator, step(good[0], How.OBSERVED), (self.proof(of, good[0]),))
        if isinstance(of, Entity):
            return Proof(operator, step(of.entity, How.MISSING))
        if not len(sources):
            how = How.OBSERVED if self.proved(of) else How.MISSING
            return Proof(operator, step(None, How.MISSING), (Proof(operator, claim=of, how=how),))
        return _fewest(
            Proof(operator, step(source, How.OBSERVED), (self.proof(of, source),))
            for source in sources[:_WAYS].tolist()
        )

    def _compared(self, comparison: Comparison, of: Query, row: int) -> Proof:
        """The first number of a set, by its value, that the comparison holds with."""
        values, target = self.graph.values, self._number(row)
        rows = np.array(sorted(self.proved(of)), dtype=np.int64)
        rows = rows[values.unit_ids[rows] == values.unit_ids[row]]
        fitting = rows[_holding(comparison, target.value, values.numbers[rows])].tolist()
        fitting += [
            literal
            for literal in self._literals(of)
            if literal.unit == target.unit and comparison.holds(target.value, literal.value)
        ]
        if not fitting:
            claim = Compare(comparison, of)
            return Proof(
                Operator.COMPARE, Step(Operator.COMPARE, None, comparison, target, How.MISSING, None), (), claim
            )
        source = self._member(Operator.NUMBER, fitting[0])
        step = Step(Operator.COMPARE, source, comparison, target, How.ARITHMETIC)
        return Proof(Operator.COMPARE, step, (self.proof(of, fitting[0]),))

    def _literals(self, query: Query) -> Iterator[Number]:
        """The members of a set of numbers that the value table does not hold: only a query can name them."""
        for literal in nodes(query):
            if isinstance(literal, Number) and self._holds(query, literal):
                yield literal

    def _holds(self, query: Query, member: Member) -> bool:
        """Whether a set holds a member."""
        if isinstance(member, int):
            return member in self.proved(query)
        match query:
            case Number():
                return query == member and self.graph.values.row_of(query.value, query.unit) is None
            case And(parts):
                return all(self._holds(part, member) for part in parts)
            case Or(parts):
                return any(self._holds(part, member) for part in parts)
        return False

    def _member(self, operator: Operator, member: Member) -> Member:
        return self._number(member) if operator is Operator.NUMBER and isinstance(member, int) else member

    def _number(self, row: int) -> Number:
        return Number(*self.graph.values.number_at(row))


def _holding(comparison: Comparison, x: float, ys: np.ndarray) -> np.ndarray:  # (n,) -> (n,) bool
    """Whether `x` stands in the relation to each of some numbers, as `Comparison.holds` has it."""
    bounds = comparison.factor * ys + comparison.offset
    match comparison.order:
        case Order.LESS:
            return x < bounds
        case Order.GREATER:
            return x > bounds
        case Order.AT_MOST:
            return x <= bounds
        case Order.AT_LEAST:
            return x >= bounds
    equal: np.ndarray
    if comparison.tolerance == 0.0:
        equal = bounds == x
    else:
        distance = np.abs(x - bounds)
        equal = (distance < comparison.tolerance * abs(x)) & (distance < comparison.tolerance * np.abs(bounds))
    return equal if comparison.order is Order.EQUAL else ~equal


def _fewest(ways: Iterable[Proof]) -> Proof:
    """The proof with the fewest missing steps."""
    return min(ways, key=lambda proof: proof.missing)

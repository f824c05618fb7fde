"""Proofs: the most likely assignment of a query's variables for an answer, with the probability of each fact used.

The arguments of every maximum are walked back from the answer. A proof's probability is made of its parts as the
answer's was, so the two agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.exact.arithmetic import compared_ranges
from kgreckon.models.proofs import How, Member, Proof, Step
from kgreckon.models.reckoner.fuzzy import FuzzyNumbers, FuzzySemantics, FuzzySet, Reckoner, ids_on
from kgreckon.models.reckoner.observed import LabelledEdges
from kgreckon.query import Batch, Comparison, Number, Operator, Pause, interpret


def explain(reckoner: Reckoner, batch: Batch[np.ndarray], answer: int) -> Proof:
    """Why the only query of a batch has this answer, an entity or a value row."""
    return explain_all(reckoner, batch, [answer])[0]


def explain_all(
    reckoner: Reckoner, batch: Batch[np.ndarray], answers: Sequence[int], pause: Pause | None = None
) -> list[Proof]:
    """Why the only query of a batch has each of these answers; its sets are computed once for all of them."""
    if len(batch) != 1:
        raise UserError("a reason is given for one query at a time")
    ids = ids_on(batch, reckoner.facts.observed.device)
    semantics = reckoner.semantics(batch)
    with torch.no_grad():
        root: _Node = interpret(batch.with_ids(ids), _Tracing(semantics), pause)
        walk = _Walk(semantics, root)
        found = []
        for answer in answers:
            if pause is not None:
                pause()
            found.append(walk.proof(answer))
        return found


@dataclass(frozen=True)
class _Node:
    """A node of a query with its set."""

    operator: Operator
    id: Tensor | None  # (1,)
    parts: tuple[_Node, ...]
    found: FuzzySet

    @property
    def likely(self) -> Tensor:  # (n,)
        return (self.found if isinstance(self.found, Tensor) else self.found.likely)[0]


class _Tracing:
    """The fuzzy semantics with every set kept beside what it was made of, where the interpreter keeps only the last."""

    def __init__(self, semantics: FuzzySemantics) -> None:
        self.semantics = semantics

    def entity(self, entities: Tensor) -> _Node:
        return _Node(Operator.ENTITY, entities, (), self.semantics.entity(entities))

    def number(self, rows: Tensor) -> _Node:
        return _Node(Operator.NUMBER, rows, (), self.semantics.number(rows))

    def follow(self, relations: Tensor, of: _Node) -> _Node:
        return _Node(Operator.FOLLOW, relations, (of,), self.semantics.follow(relations, of.found))

    def value_of(self, attributes: Tensor, of: _Node) -> _Node:
        return _Node(Operator.VALUE_OF, attributes, (of,), self.semantics.value_of(attributes, of.found))

    def having_value(self, attributes: Tensor, of: _Node) -> _Node:
        return _Node(Operator.HAVING_VALUE, attributes, (of,), self.semantics.having_value(attributes, of.found))

    def compare(self, comparisons: Tensor, of: _Node) -> _Node:
        return _Node(Operator.COMPARE, comparisons, (of,), self.semantics.compare(comparisons, of.found))

    def intersect(self, parts: Sequence[_Node], of_numbers: bool) -> _Node:
        found = self.semantics.intersect([part.found for part in parts], of_numbers)
        return _Node(Operator.AND, None, tuple(parts), found)

    def unite(self, parts: Sequence[_Node], of_numbers: bool) -> _Node:
        found = self.semantics.unite([part.found for part in parts], of_numbers)
        return _Node(Operator.OR, None, tuple(parts), found)

    def complement(self, of: _Node, of_numbers: bool) -> _Node:
        return _Node(Operator.NOT, None, (of,), self.semantics.complement(of.found, of_numbers))


class _Walk:
    """From an answer back to the leaves."""

    def __init__(self, semantics: FuzzySemantics, root: _Node) -> None:
        self.semantics, self.root = semantics, root
        self.observed, self.facts = semantics.observed, semantics.facts
        # What all answers share: the likeliest members below a node, by node, and the ranges of a comparison.
        self._likeliest: dict[int, tuple[Tensor, Tensor]] = {}
        self._ranges: dict[int, np.ndarray] = {}

    def proof(self, answer: int) -> Proof:
        """The proof of the whole query for one answer."""
        return self._proof(self.root, answer)

    def _proof(self, node: _Node, target: int) -> Proof:
        match node.operator:
            case Operator.ENTITY | Operator.NUMBER:
                assert node.id is not None
                given = int(node.id)
                of_numbers = node.operator is Operator.NUMBER
                ends = self._member(of_numbers, given), self._member(of_numbers, target)
                return Proof(node.operator, Step(node.operator, ends[0], 0, ends[1], How.GIVEN, float(given == target)))
            case Operator.AND | Operator.OR | Operator.NOT:
                parts = tuple(self._proof(part, target) for part in node.parts)
                outside = isinstance(node.found, FuzzyNumbers) and not bool(
                    node.found.units[0, self.semantics.row_units[target]]
                )
                if not outside or node.operator is not Operator.NOT:
                    return Proof(node.operator, None, parts)
                # The complement of a set of numbers holds those of its own units only.
                number = self._member(True, target)
                return Proof(node.operator, Step(node.operator, number, 0, number, How.ARITHMETIC, 0.0), parts)
        assert node.id is not None
        label, below = int(node.id), node.parts[0]
        source, how = self._best_source(node, label, below.likely, target)
        # What the maximum was made of: the source's own probability, and what is left for the step.
        score, of_source = float(node.likely[target]), float(below.likely[source])
        probability = score / of_source if of_source else 0.0
        predicted = node.operator is Operator.FOLLOW and how is How.PREDICTED
        support = self.facts.support(source, label, target) if predicted else None
        start = self._member(node.operator in (Operator.HAVING_VALUE, Operator.COMPARE), source)
        end = self._member(node.operator in (Operator.VALUE_OF, Operator.COMPARE), target)
        named: int | Comparison = self.semantics.comparisons[label] if node.operator is Operator.COMPARE else label
        step = Step(node.operator, start, named, end, how, probability, support)
        return Proof(node.operator, step, (self._proof(below, source),))

    def _member(self, is_number: bool, place: int) -> Member:
        """An entity's id, or the number in a row of the value table or among the query's literals."""
        if not is_number:
            return place
        values = self.observed.graph.values
        return Number(*values.number_at(place)) if place < len(values) else self.semantics.literals[place - len(values)]

    def _best_source(self, node: _Node, label: int, likely: Tensor, target: int) -> tuple[int, How]:
        """The source that the target's maximum, or most of its expectation, came from."""
        match node.operator:
            case Operator.FOLLOW:
                stated = self._stated(self.observed.relations, label, likely, target)
                predicted = self._predicted_head(node, label, likely, target)
            case Operator.VALUE_OF:
                stated = self._stated(self.observed.values, label, likely, target)
                predicted = self._predicted_holder(label, likely, target)
            case Operator.HAVING_VALUE:
                stated = self._stated(self.observed.having, label, likely, target)
                predicted = self._predicted_value(label, likely, target)
            case _:
                return self._compared(label, likely, target)
        best = max(stated, predicted, key=lambda each: each[0])
        return best[1], How.OBSERVED if best is stated and stated[0] > 0 else How.PREDICTED

    @staticmethod
    def _stated(edges: LabelledEdges, label: int, likely: Tensor, target: int) -> tuple[float, int]:
        run = slice(int(edges.starts[label]), int(edges.starts[label + 1]))
        sources = edges.sources[run][edges.targets[run] == target]
        if not len(sources):
            return 0.0, 0
        best = int(likely[sources].argmax())
        return float(likely[sources[best]]), int(sources[best])

    def _predicted_head(self, node: _Node, label: int, likely: Tensor, target: int) -> tuple[float, int]:
        if id(node) not in self._likeliest:
            self._likeliest[id(node)] = self.semantics._likeliest(likely[None])
        weight, heads = self._likeliest[id(node)]
        relation = torch.tensor([label], device=likely.device)
        predicted = self.facts.tails(heads, relation, slice(target, target + 1))
        if predicted is None:
            return 0.0, int(heads[0, 0])
        scores = predicted[0, :, 0] * weight[0]
        best = int(scores.argmax())
        return float(scores[best]), int(heads[0, best])

    def _predicted_holder(self, label: int, likely: Tensor, target: int) -> tuple[float, int]:
        missing = self.facts.missing(label)
        if missing is None or not len(missing.entities) or not missing.rows.start <= target < missing.rows.stop:
            return 0.0, 0
        weight, places = self.semantics._likeliest(likely[missing.entities][None])
        scores = missing.probabilities[places[0], target - missing.first_row] * weight[0]
        best = int(scores.argmax())
        return float(scores[best]), int(missing.entities[places[0, best]])

    def _predicted_value(self, label: int, likely: Tensor, target: int) -> tuple[float, int]:
        missing = self.facts.missing(label)
        if missing is None:
            return 0.0, 0
        place = torch.nonzero(missing.entities == target)[:, 0]
        if not len(place):
            return 0.0, 0
        mass = missing.probabilities[place[0]] * likely[missing.rows]
        total = float(mass.sum() if self.semantics.inference.expectation else mass.amax())
        return total, missing.first_row + int(mass.argmax())

    def _compared(self, label: int, likely: Tensor, target: int) -> tuple[int, How]:
        semantics = self.semantics
        if label not in self._ranges:
            values = self.observed.graph.values
            self._ranges[label] = compared_ranges(values, semantics.comparisons[label], semantics.literals)
        ranges = self._ranges[label]
        reaching = ranges[(ranges[:, 1] <= target) & (target < ranges[:, 2]), 0]
        computed = (0.0, 0)
        if len(reaching):
            ids = torch.from_numpy(reaching).to(likely.device)
            best = int(likely[ids].argmax())
            computed = float(likely[ids[best]]), int(ids[best])
        if semantics.inference.mode.is_computed:
            return computed[1], How.ARITHMETIC
        assert self.observed.compared is not None
        stated = self._stated(self.observed.compared, label, likely, target)
        if stated[0] >= computed[0] * self.facts.edge_probability:
            return stated[1], How.OBSERVED
        return computed[1], How.PREDICTED

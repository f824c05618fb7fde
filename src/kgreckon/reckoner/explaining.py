"""Reasons: the most likely assignment of a query's variables for an answer, with the probability of each fact used.

The arguments of every maximum are walked back from the answer. A reason's probability is made of its parts as the
answer's was, so the two agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod

import numpy as np
import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.exact import Numbers
from kgreckon.exact.comparing import compared_ranges
from kgreckon.query import Batch, Number, Operator, Pause, interpret
from kgreckon.query.english import compared_with, fact_words, number_words, value_words
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.reckoner.fuzzy import FuzzySemantics, FuzzySet, NumberSets, Reckoner, ids_on
from kgreckon.reckoner.observed import LabelledEdges
from kgreckon.reckoner.rules import Support

_CERTAIN = 1 - 1e-6
_WORTH_A_WORD = 0.1  # the confidence of a rule


class How(Enum):
    """How a fact is known."""

    GIVEN = "given"  # named by the query
    OBSERVED = "observed"
    PREDICTED = "predicted"
    ARITHMETIC = "arithmetic"


@dataclass(frozen=True)
class Fact:
    """A step of a reason: a source, by a label, leads to a target; ids count as those of the query's columns do."""

    operator: Operator
    source: int
    label: int
    target: int
    probability: float
    how: How
    support: Support | None = None  # what a rule says for a predicted fact


@dataclass(frozen=True)
class Reason:
    """Why one node of a query holds for an entity or a number: a fact and what it rests on, or parts joined."""

    operator: Operator
    target: int  # an entity, a value row, or beyond the table the place of a literal
    fact: Fact | None = None
    parts: tuple[Reason, ...] = field(default=())

    @property
    def probability(self) -> float:
        """Made of the parts as the score of the answer was."""
        own = 1.0 if self.fact is None else self.fact.probability
        below = [part.probability for part in self.parts]
        match self.operator:
            case Operator.OR:
                return 1 - prod(1 - each for each in below)
            case Operator.NOT:
                return own * (1 - below[0])
        return own * prod(below)

    def facts(self) -> Iterator[Fact]:
        """All facts that the reason uses, the answer's own first."""
        if self.fact is not None:
            yield self.fact
        for part in self.parts:
            yield from part.facts()


def explain(reckoner: Reckoner, batch: Batch, answer: int) -> Reason:
    """Why the only query of a batch has this answer, an entity or a value row."""
    return explain_all(reckoner, batch, [answer])[0]


def explain_all(reckoner: Reckoner, batch: Batch, answers: Sequence[int], pause: Pause | None = None) -> list[Reason]:
    """Why the only query of a batch has each of these answers; its sets are computed once for all of them."""
    if len(batch) != 1:
        raise UserError("a reason is given for one query at a time")
    ids = ids_on(batch, reckoner.facts.observed.device)
    semantics = reckoner.semantics(batch)
    traced = Batch(batch.shape, ids, batch.comparisons, batch.literals)  # type: ignore[arg-type]  # ids are a tensor
    with torch.no_grad():
        root: _Node = interpret(traced, _Tracing(semantics), pause)  # type: ignore[arg-type]
        walk = _Walk(semantics, root)
        found = []
        for answer in answers:
            if pause is not None:
                pause()
            found.append(walk.reason(answer))
        return found


def lines(reason: Reason, batch: Batch, names: Vocabulary) -> list[str]:
    """The facts of a reason in words, each with how it is known and, where it is not certain, its probability.

    Under a predicted fact stands the path by which a rule speaks for it, if the rule is worth a word.

    Of several conditions one of which is enough, a certain one is, else those that are possible. Of a condition that is
    denied, what speaks for it follows under a line that says how likely that is.
    """
    if reason.operator is not Operator.NOT:
        own = [] if reason.fact is None else _said(reason.fact, batch, names)
        parts = _enough(reason.parts) if reason.operator is Operator.OR else reason.parts
        return [*own, *(line for part in parts for line in lines(part, batch, names))]
    against = reason.parts[0]
    if against.probability <= 0:
        return ["nothing speaks against it"]
    said = lines(against, batch, names)
    return [f"what speaks against it has a probability of {against.probability:.3g}:", *(f"– {line}" for line in said)]


def _enough(parts: Sequence[Reason]) -> list[Reason]:
    """Of the parts of a union those that speak for it."""
    chances = [part.probability for part in parts]
    if max(chances) >= _CERTAIN:
        return [parts[chances.index(max(chances))]]
    return [part for part, chance in zip(parts, chances, strict=True) if chance > 0]


def _said(fact: Fact, batch: Batch, names: Vocabulary) -> list[str]:
    """One fact in words; none for what the query itself names."""

    def number(row: int) -> str:
        size = len(names.values)
        return number_words(Number(*names.values.number_at(row)) if row < size else batch.literals[row - size], names)

    match fact.operator:
        case Operator.FOLLOW:
            text = fact_words(names.entity_label(fact.source), fact.label, names.entity_label(fact.target), names)
        case Operator.VALUE_OF:
            text = value_words(fact.label, names.entity_label(fact.source), number(fact.target), names)
        case Operator.HAVING_VALUE:
            text = value_words(fact.label, names.entity_label(fact.target), number(fact.source), names)
            text += " or another of the set" if fact.how is How.PREDICTED else ""
        case Operator.COMPARE:
            text = f"{number(fact.target)} is {compared_with(batch.comparisons[fact.label], number(fact.source))}"
        case _:
            return []
    sure = "" if fact.how is not How.PREDICTED else f", {fact.probability:.3g}"
    return [f"{text} ({fact.how.value}{sure})", *_since(fact.support, names)]


def _since(support: Support | None, names: Vocabulary) -> list[str]:
    """A path in words, and how often one of its kind ends in such a fact."""
    if support is None or support.confidence < _WORTH_A_WORD:
        return []
    steps = [
        fact_words(names.entity_label(head), label, names.entity_label(tail), names)
        for head, label, tail in support.steps
    ]
    return [f"– since {' and '.join(steps)}: so in {100 * support.confidence:.0f} % of such cases"]


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

    def intersect(self, parts: Sequence[_Node], numbers: bool) -> _Node:
        found = self.semantics.intersect([part.found for part in parts], numbers)
        return _Node(Operator.AND, None, tuple(parts), found)

    def unite(self, parts: Sequence[_Node], numbers: bool) -> _Node:
        found = self.semantics.unite([part.found for part in parts], numbers)
        return _Node(Operator.OR, None, tuple(parts), found)

    def complement(self, of: _Node, numbers: bool) -> _Node:
        return _Node(Operator.NOT, None, (of,), self.semantics.complement(of.found, numbers))


class _Walk:
    """From an answer back to the leaves."""

    def __init__(self, semantics: FuzzySemantics, root: _Node) -> None:
        self.semantics, self.root = semantics, root
        self.observed, self.facts = semantics.observed, semantics.facts
        # What all answers share: the likeliest members below a node, by node, and the ranges of a comparison.
        self._likeliest: dict[int, tuple[Tensor, Tensor]] = {}
        self._ranges: dict[int, np.ndarray] = {}

    def reason(self, answer: int) -> Reason:
        """The reason of the whole query."""
        return self._reason(self.root, answer)

    def _reason(self, node: _Node, target: int) -> Reason:
        match node.operator:
            case Operator.ENTITY | Operator.NUMBER:
                assert node.id is not None
                given = int(node.id)
                fact = Fact(node.operator, given, given, target, float(given == target), How.GIVEN)
                return Reason(node.operator, target, fact)
            case Operator.AND | Operator.OR | Operator.NOT:
                parts = tuple(self._reason(part, target) for part in node.parts)
                outside = isinstance(node.found, NumberSets) and not bool(
                    node.found.units[0, self.semantics.row_units[target]]
                )
                # The complement of a set of numbers holds those of its own units only.
                fact = Fact(node.operator, target, target, target, 0.0, How.ARITHMETIC)
                return Reason(node.operator, target, fact if outside and node.operator is Operator.NOT else None, parts)
        assert node.id is not None
        label, below = int(node.id), node.parts[0]
        source, how = self._best_source(node, label, below.likely, target)
        # What the maximum was made of: the source's own probability, and what is left for the fact.
        score, of_source = float(node.likely[target]), float(below.likely[source])
        asks = node.operator is Operator.FOLLOW and how is How.PREDICTED
        support = self.facts.support(source, label, target) if asks else None
        fact = Fact(node.operator, source, label, target, score / of_source if of_source else 0.0, how, support)
        return Reason(node.operator, target, fact, (self._reason(below, source),))

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
        if semantics.inference.numbers is Numbers.COMPUTED:
            return computed[1], How.ARITHMETIC
        assert self.observed.compared is not None
        stated = self._stated(self.observed.compared, label, likely, target)
        if stated[0] >= computed[0] * self.facts.edge_probability:
            return stated[1], How.OBSERVED
        return computed[1], How.PREDICTED

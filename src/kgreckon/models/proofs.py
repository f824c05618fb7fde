"""Proofs: the facts that an answer rests on, as a tree of ids; `kgreckon.answers` puts them into words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from kgreckon.query import Comparison, Number, Operator, Query

Member = int | Number  # an entity by its id, or a number with its unit


class How(StrEnum):
    """How a step is known."""

    GIVEN = "given"  # the query names it
    OBSERVED = "observed"
    PREDICTED = "predicted"
    ARITHMETIC = "arithmetic"
    MISSING = "missing"  # the graph does not state it, and the model does not say how likely it is


@dataclass(frozen=True)
class RulePath:
    """A rule at work: the path of facts from which it infers another one."""

    steps: tuple[tuple[int, int, int], ...]  # head, relation, tail
    confidence: float


@dataclass(frozen=True)
class Likes:
    """The things that are most like one end of a fact, among those with such facts, and which of them have this one."""

    end: int  # whose likes they are
    having: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Expected:
    """How many facts of the kind an end of a fact has, and how many more are expected of it."""

    end: int
    stated: int
    more: float
    fact: tuple[int, int, int] | None = None  # the one that is stated, if it is one: head, relation, tail


@dataclass(frozen=True)
class Support:
    """What speaks for a predicted fact, or against it."""

    rule: RulePath | None = None
    likes: Likes | None = None
    expected: Expected | None = None


@dataclass(frozen=True)
class Step:
    """One step of a proof: from a source, along a relation, an attribute or a comparison, to a target."""

    operator: Operator
    source: Member | None  # None where the step is missing and nothing says where it starts
    label: int | Comparison  # the relation or attribute; ENTITY and NUMBER have none, which is 0
    target: Member | None
    how: How
    probability: float | None = 1.0  # None where the model does not say
    support: Support | None = None  # of a predicted fact


@dataclass(frozen=True)
class Proof:
    """Why one node of a query holds for an entity or a number: a step and what it rests on, or parts joined."""

    operator: Operator
    step: Step | None = None
    parts: tuple[Proof, ...] = ()
    claim: Query | None = None  # a part of the query that is said as a whole, of the step's target
    how: How = How.OBSERVED  # of a claim

    @property
    def probability(self) -> float:
        """Combined from the parts as the score of the answer was; a step of unknown probability counts as 1."""
        own = 1.0 if self.step is None or self.step.probability is None else self.step.probability
        below = [part.probability for part in self.parts]
        match self.operator:
            case Operator.OR:
                return own * (1 - prod(1 - probability for probability in below))
            case Operator.NOT:
                return own * (1 - below[0]) if below else own
        return own * prod(below)

    def steps(self) -> Iterator[Step]:
        """All steps that the proof uses, the answer's own first."""
        if self.step is not None:
            yield self.step
        for part in self.parts:
            yield from part.steps()

    @property
    def missing(self) -> int:
        """How many steps and claims the graph does not state."""
        is_missing = (self.step is not None and self.step.how is How.MISSING) or (
            self.claim is not None and self.how is How.MISSING
        )
        return is_missing + sum(part.missing for part in self.parts)

"""One number about all answers: how many there are, or the sum, mean or extreme of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.answers.calculated import said_of, term_values
from kgreckon.answers.estimates import interval_texts
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import measured
from kgreckon.query.absence import rests_on_absence
from kgreckon.query.datatypes import with_unit
from kgreckon.query.question import Aggregate, Question
from kgreckon.query.terms import Own, unit_of
from kgreckon.query.words.claims import percent


@dataclass(frozen=True)
class ExpectedTotal:
    """A number about an inferred set: its expectation, and where it lies with a probability."""

    value: float
    low: float
    high: float
    coverage: float
    chance: float = 1.0  # that there is such a number: a mean needs a value


@dataclass(frozen=True)
class Total:
    """One number about a set: from what is stated, and what is expected with all that is not."""

    kind: str  # an Aggregate
    attribute: str | None  # whose values; a count has none
    value: float | None  # of what is stated; None where nothing is
    unit: str | None
    counted: int  # the answers whose values are in it
    without: int  # the proved answers without a stated value

    rests_on_absence: bool = False  # whether what is not stated counts as false in the question
    expected: ExpectedTotal | None = None  # with all that is inferred, where a model has probabilities

    def __str__(self) -> str:
        said = self._stated()
        expected = "" if self.expected is None else self._expected(self.expected)
        return f"{said}; {expected}" if expected else said

    def _stated(self) -> str:
        if self.kind == Aggregate.WHETHER:
            return "yes" if self.value else "no, as far as is stated"
        if self.value is None and self.kind == Aggregate.VALUE:
            return "unknown: not all of its numbers are stated"
        if self.value is None:
            return "unknown: none of the answers has a stated value"
        number = measured(self.value, self.unit or "")
        if self.attribute is None:
            word = "found" if self.rests_on_absence else "proved"
            return number if self.expected is None else f"{number} {word}"
        left_out = f", without {self.without:,} that have no stated {self.attribute}" if self.without else ""
        number = with_unit(number, self.unit)
        if self.kind == Aggregate.VALUE:
            return number
        return f"{number}, of {self.counted:,} stated value{'s' * (self.counted != 1)}{left_out}"

    def _expected(self, expected: ExpectedTotal) -> str:
        """`about 11, between 9 and 14`."""
        unit = self.unit or ""
        if self.kind == Aggregate.WHETHER:
            return "" if self.value else f"with what is inferred, {percent(expected.value)} likely"
        if expected.low == expected.high == self.value:
            return "the same with what is inferred"
        if self.attribute is None:
            middle, low, high = (f"{number:,.0f}" for number in (expected.value, expected.low, expected.high))
        else:
            middle, low, high = interval_texts(expected.value, expected.low, expected.high, unit)
        return f"about {with_unit(middle, self.unit)}, between {low} and {high}, with what is inferred"


def stated_total(graph: KnowledgeGraph, question: Question, proved: np.ndarray) -> Total:
    """The number about the proved answers, from the values that are stated."""
    kind = question.aggregate
    assert kind is not None
    if question.of is None:
        value = float(len(proved) if kind is Aggregate.COUNT else len(proved) > 0)
        return Total(kind.value, None, value, None, len(proved), 0, rests_on_absence(question.query))
    names = graph.vocabulary
    found = term_values(graph, question.of, proved)
    held, counts = np.unique(found.places, return_counts=True)
    values = np.bincount(np.repeat(np.arange(len(held)), counts), found.numbers, len(held)) / counts
    term = Own(question.of) if isinstance(question.of, int) else question.of
    return Total(
        kind.value,
        said_of(term, graph),
        total_of(kind, values) if len(values) or (kind is Aggregate.SUM and not len(proved)) else None,
        unit_of(term, names),
        len(values),
        len(proved) - len(values),
        rests_on_absence(question.query),
    )


def total_of(kind: Aggregate, values: np.ndarray) -> float:
    """The sum, mean, median or extreme of some values."""
    match kind:
        case Aggregate.COUNT:
            return float(len(values))
        case Aggregate.WHETHER:
            return float(len(values) > 0)
        case Aggregate.SUM:
            return float(values.sum())
        case Aggregate.MEAN | Aggregate.VALUE:
            return float(values.mean())
        case Aggregate.MEDIAN:
            return float(np.median(values))
        case Aggregate.MINIMUM:
            return float(values.min())
        case Aggregate.MAXIMUM:
            return float(values.max())

"""One number about all answers: how many there are, or the sum, mean or extreme of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.query.question import Aggregate, Question
from kgreckon.query.words.lexicon import lexicon_of


@dataclass(frozen=True)
class Total:
    """One number about a set: from what is stated, and what is expected with all that is not."""

    kind: str  # an Aggregate
    attribute: str | None  # whose values; a count has none
    value: float | None  # of what is stated; None where nothing is
    unit: str | None
    counted: int  # the answers whose values are in it
    without: int  # the proved answers without a stated value

    def __str__(self) -> str:
        if self.value is None:
            return "unknown: none of the answers has a stated value"
        number = f"{int(self.value):,}" if self.value.is_integer() else f"{self.value:,.6g}"
        if self.attribute is None:
            return number
        unit = "" if self.unit == "number" else f" {self.unit}"
        left_out = f", without {self.without:,} that have no stated {self.attribute}" if self.without else ""
        return f"{number}{unit}, of {self.counted:,} stated values{left_out}"


def stated_total(graph: KnowledgeGraph, question: Question, proved: np.ndarray) -> Total:
    """The number about the proved answers, from the values that are stated."""
    kind = question.aggregate
    assert kind is not None
    if question.of is None:
        return Total(kind.value, None, float(len(proved)), None, len(proved), 0)
    names = graph.vocabulary
    rows = [graph.values_of.row(entity, question.of) for entity in proved.tolist()]
    values = np.array([graph.values.numbers[own].mean() for own in rows if len(own)])
    return Total(
        kind.value,
        lexicon_of(names).attributes[question.of],
        total_of(kind, values) if len(values) or kind is Aggregate.SUM else None,
        names.attribute_unit(question.of),
        len(values),
        len(proved) - len(values),
    )


def total_of(kind: Aggregate, values: np.ndarray) -> float:
    """The sum, mean, median or extreme of some values."""
    match kind:
        case Aggregate.COUNT:
            return float(len(values))
        case Aggregate.SUM:
            return float(values.sum())
        case Aggregate.MEAN:
            return float(values.mean())
        case Aggregate.MEDIAN:
            return float(np.median(values))
        case Aggregate.MINIMUM:
            return float(values.min())
        case Aggregate.MAXIMUM:
            return float(values.max())

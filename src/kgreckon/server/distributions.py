"""Distributions: how the values of an attribute are spread, and which of them a question asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kgreckon.answers import Ranking
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import (
    And,
    Compare,
    Comparison,
    HavingValue,
    Not,
    Number,
    NumberSort,
    Or,
    Order,
    Pause,
    Query,
    ValueOf,
)
from kgreckon.query.algebra import children
from kgreckon.server.catalogue import Catalogue
from kgreckon.server.schemas import Distribution

_BINS = 40
_SKEWED = 1000.0  # largest by smallest value, from which on a logarithmic scale is clearer
_MOST = 8  # distributions in one answer


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to `high`; infinite where it is open, empty where low is above high."""

    low: float = -math.inf
    high: float = math.inf

    def __and__(self, other: Interval) -> Interval:
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def __or__(self, other: Interval) -> Interval:
        if self.low > self.high or other.low > other.high:
            return other if self.low > self.high else self
        return Interval(min(self.low, other.low), max(self.high, other.high))


EMPTY = Interval(math.inf, -math.inf)


def distributions(catalogue: Catalogue, ranking: Ranking, pause: Pause) -> list[Distribution]:
    """A histogram for each attribute that the question bounds by a comparison, and one of the answers if numbers."""
    graph, histograms = catalogue.graph, []
    for node, denied in _bounded(ranking.query):
        unit = graph.vocabulary.attribute_unit(node.attribute)
        allowed = interval(graph, node.of, unit, pause)
        ends = {"low": _end(allowed.low), "high": _end(allowed.high), "excluded": denied}
        histograms.append(of_attribute(catalogue, node.attribute).model_copy(update=ends))
        if len(histograms) == _MOST:
            break
    if isinstance(ranking.sort, NumberSort):
        histograms = [*_of_answers(catalogue, ranking), *histograms]
    return histograms


def _bounded(query: Query, denied: bool = False) -> Iterator[tuple[HavingValue, bool]]:
    """Conditions that bound an attribute, and whether what they bound is to be left out."""
    if isinstance(query, HavingValue) and any(isinstance(below, Compare) for below in _numbers_below(query.of)):
        yield query, denied
    for child in children(query):
        yield from _bounded(child, denied != isinstance(query, Not))


def _numbers_below(query: Query) -> Iterator[Query]:
    """The nodes of a set of numbers, as far down as they speak of the same numbers."""
    yield query
    match query:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _numbers_below(part)
        case Not(of):
            yield from _numbers_below(of)


def interval(graph: KnowledgeGraph, query: Query, unit: str, pause: Pause) -> Interval:
    """The smallest interval around a set of numbers of one unit, as far as comparisons and values determine it."""
    match query:
        case Compare(comparison, of):
            return _compared(comparison, interval(graph, of, unit, pause))
        case And(parts):
            result = Interval()
            for part in parts:
                result &= interval(graph, part, unit, pause)
            return result
        case Or(parts):
            result = EMPTY
            for part in parts:
                result |= interval(graph, part, unit, pause)
            return result
        case Not(Compare(comparison, of)):
            return _never(comparison, _attained(graph, of, unit, pause))
        case Not():
            return Interval()
    return _attained(graph, query, unit, pause)


def _attained(graph: KnowledgeGraph, query: Query, unit: str, pause: Pause) -> Interval:
    """From the least to the greatest number of one unit in a set, of those that the graph or the query names."""
    if isinstance(query, Number):
        return Interval(query.value, query.value) if query.unit == unit else EMPTY
    rows = ask(graph, query, pause=pause)
    known = graph.values.rows_of(unit)
    numbers = graph.values.numbers[rows[(rows >= known.start) & (rows < known.stop)]]
    return Interval(float(numbers.min()), float(numbers.max())) if len(numbers) else EMPTY


def _transformed(comparison: Comparison, of: Interval) -> Interval:
    """What the right side of a comparison ranges over."""
    if of.low > of.high:
        return EMPTY
    ends = [comparison.factor * end + comparison.offset if comparison.factor else comparison.offset
            for end in (of.low, of.high)]  # fmt: skip
    return Interval(min(ends), max(ends))


def _compared(comparison: Comparison, of: Interval) -> Interval:
    """What stands in the relation to some number of the interval."""
    right = _transformed(comparison, of)
    if right.low > right.high:
        return EMPTY
    match comparison.order:
        case Order.GREATER | Order.AT_LEAST:
            return Interval(low=right.low)
        case Order.LESS | Order.AT_MOST:
            return Interval(high=right.high)
        case Order.EQUAL:
            # Within a share t of both sides: |x - z| < t·min(|x|, |z|), so that x lies between z·(1 - t) and z·(1 + t).
            share = comparison.tolerance
            below, above = (1 - share, 1 + share) if share < 1 else (0.0, math.inf)
            ends = [end * side if end else 0.0 for end in (right.low, right.high) for side in (below, above)]
            return Interval(min(ends), max(ends))
    return Interval()


def _never(comparison: Comparison, of: Interval) -> Interval:
    """What stands in the relation to no number of the interval."""
    right = _transformed(comparison, of)
    if right.low > right.high:
        return Interval()
    match comparison.order:
        case Order.GREATER | Order.AT_LEAST:
            return Interval(high=right.low)
        case Order.LESS | Order.AT_MOST:
            return Interval(low=right.high)
    return Interval()


def of_attribute(catalogue: Catalogue, attribute: int) -> Distribution:
    """How all values of an attribute are spread, computed once."""
    if attribute in catalogue.distributions:
        return catalogue.distributions[attribute]
    names = catalogue.graph.vocabulary
    name, label, unit = (
        method(attribute) for method in (names.attribute_name, names.attribute_label, names.attribute_unit)
    )
    found = catalogue.distributions[attribute] = histogram(name, label, unit, catalogue.values_of(attribute))
    return found


def _of_unit(catalogue: Catalogue, unit: str) -> Distribution:
    values = catalogue.graph.values
    if unit not in catalogue.distributions:
        catalogue.distributions[unit] = histogram(None, unit, unit, values.numbers[values.rows_of(unit)])
    return catalogue.distributions[unit]


def _of_answers(catalogue: Catalogue, ranking: Ranking) -> Iterator[Distribution]:
    """The values that the answers are among, and how much of the answers' scores lies in each bin."""
    graph, sort = catalogue.graph, ranking.sort
    assert isinstance(sort, NumberSort)
    for unit in sorted(sort.units & set(graph.values.units))[:_MOST]:
        rows, candidates = graph.values.rows_of(unit), ranking.candidates
        if isinstance(ranking.query, ValueOf):
            shown = of_attribute(catalogue, ranking.query.attribute)
        else:
            shown = _of_unit(catalogue, unit)
        own = slice(*np.searchsorted(candidates.ids, [rows.start, rows.stop]).tolist())
        numbers, scores = graph.values.numbers[candidates.ids[own]], candidates.scores[own].astype(np.float64)
        mass = np.bincount(_bins(shown.edges, numbers), weights=scores, minlength=len(shown.counts))
        yield shown.model_copy(update={"answers": mass.tolist()})


def histogram(attribute: str | None, label: str, unit: str, numbers: np.ndarray) -> Distribution:
    """The edges of bins and how many of the numbers are in each; for skewed numbers on a logarithmic scale."""
    edges, logarithmic = np.array([0.0, 1.0]), False
    if len(numbers):
        low, high = float(numbers.min()), float(numbers.max())
        bins = min(_BINS, len(np.unique(numbers)))
        logarithmic = low > 0 and high / low > _SKEWED
        if low == high:
            half, largest = max(abs(low), 1.0) / 2, float(np.finfo(np.float64).max)
            edges = np.clip(np.array([low - half, low + half]), -largest, largest)
        elif logarithmic:
            edges = np.geomspace(low, high, bins + 1)
        else:
            share = np.linspace(0, 1, bins + 1)
            edges = np.maximum.accumulate(low * (1 - share) + high * share)  # their difference may be too large
        edges[0], edges[-1] = min(float(edges[0]), low), max(float(edges[-1]), high)
    counts = np.bincount(_bins(edges, numbers), minlength=len(edges) - 1).tolist()
    return Distribution(
        attribute=attribute, label=label, unit=unit, edges=edges.tolist(), counts=counts, log=logarithmic
    )


def _bins(edges: np.ndarray | list[float], numbers: np.ndarray) -> np.ndarray:  # (numbers,)
    """The bin that each number is in."""
    return np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None

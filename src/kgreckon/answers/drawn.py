"""What is expected of all answers together, from graphs that are drawn from the probabilities of facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from kgreckon.answers.calculated import draws_of
from kgreckon.answers.ordering import Scored, in_order
from kgreckon.answers.totals import ExpectedTotal, Total, stated_total, total_of
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Candidates, Draws, Model
from kgreckon.query import Pause
from kgreckon.query.question import Aggregate, Question


def total_with_inferred(
    graph: KnowledgeGraph, model: Model, question: Question, proved: np.ndarray, pause: Pause | None, coverage: float
) -> Total:
    """The number that a question asks about all its answers: of what is stated, and with what a model infers."""
    assert question.aggregate is not None
    total = stated_total(graph, question, proved)
    draws = draws_of(graph, model, question, question.of, pause) if question.near is None else None
    return total if draws is None else replace(total, expected=expected_total(draws, question.aggregate, coverage))


def likeliest_top(
    graph: KnowledgeGraph,
    model: Model,
    question: Question,
    candidates: Candidates,
    shown: int,
    pause: Pause | None,
) -> list[Scored] | None:
    """The answers that are likeliest to be among so many with the largest or smallest values, with that probability.

    None where no model infers any, or the question asks for no such answers.
    """
    sorting, limit = question.sorting, question.limit
    if sorting is None or limit is None or sorting.nearest is not None or question.near is not None:
        return None
    draws = draws_of(graph, model, question, sorting.attribute, pause)
    if draws is None:
        return None
    chances = chances_of_top(draws, limit, sorting.descending, question.skip)
    meant = np.isin(draws.ids, candidates.ids)
    chosen = ((one, chances[one]) for one in draws.ids[meant].tolist() if one in chances)
    ordered, without = in_order(model, sorted(chosen, key=lambda each: -each[1])[:shown], sorting)
    return [*ordered, *without]


def expected_total(draws: Draws, kind: Aggregate, coverage: float) -> ExpectedTotal | None:
    """The number about the answers in each drawn graph, its mean and the interval between its quantiles."""
    if kind is Aggregate.COUNT:
        totals = draws.members.sum(axis=1).astype(np.float64)
    elif kind is Aggregate.WHETHER:
        totals = draws.members.any(axis=1).astype(np.float64)
    else:
        totals = np.array([_total(kind, row) for row in _values(draws)])
    known = totals[~np.isnan(totals)]
    if not len(known):
        return None
    tail = (1 - coverage) / 2
    method: Literal["inverted_cdf", "linear"] = (
        "inverted_cdf" if kind is Aggregate.COUNT else "linear"
    )  # a count is a whole number
    low, high = (float(np.quantile(known, share, method=method)) for share in (tail, 1 - tail))
    return ExpectedTotal(float(known.mean()), low, high, coverage, len(known) / len(totals))


def chances_of_top(draws: Draws, limit: int, descending: bool, skip: int = 0) -> dict[int, float]:
    """For each answer that is among so many with the largest or smallest values, in which share of the graphs.

    So many after some that are skipped, if there are any.
    """
    values = _values(draws)
    keys = np.where(np.isnan(values), np.inf, -values if descending else values)
    best = np.argsort(keys, axis=1, kind="stable")[:, skip : skip + limit]
    chosen = np.take_along_axis(keys, best, axis=1) < np.inf
    counts = np.bincount(best[chosen], minlength=len(draws.ids))
    return {int(draws.ids[place]): counts[place] / len(keys) for place in np.flatnonzero(counts)}


def _values(draws: Draws) -> np.ndarray:  # (graphs, answers)
    """The values of the answers in each graph, NaN for what is none there."""
    assert draws.values is not None
    return np.where(draws.members, draws.values, np.nan)


def _total(kind: Aggregate, values: np.ndarray) -> float:
    stated = values[~np.isnan(values)]
    return total_of(kind, stated) if len(stated) or kind is Aggregate.SUM else float("nan")

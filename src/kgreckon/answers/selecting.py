"""Which answers are shown, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kgreckon.answers.drawn import likeliest_top
from kgreckon.answers.nearness import Nearness
from kgreckon.answers.ordering import Scored, in_order
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Candidates, Model, ScoreMeaning
from kgreckon.query import Pause, Query, Sort
from kgreckon.query.question import Question

_LEAST_LIKELY = 0.01  # of an answer that is counted among those left out


class Only(StrEnum):
    """Which answers are asked for, where not all are."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@dataclass(frozen=True)
class Ranking:
    """The candidates for a query with their scores, and which of them the graph proves."""

    query: Query
    sort: Sort
    candidates: Candidates
    proved: np.ndarray  # ids, rising

    def count(self, only: Only | None = None) -> int:
        """How many answers there are: those that are proved, and the others that are possible."""
        possible = int(np.count_nonzero(self.candidates.scores > 0))
        proved = np.isin(self.candidates.ids, self.proved, assume_unique=True)
        both = int(np.count_nonzero(proved & (self.candidates.scores > 0)))
        inferred = 0 if only is Only.OBSERVED else possible - both
        return inferred + (0 if only is Only.INFERRED else len(self.proved))

    def best(self, limit: int, only: Only | None = None) -> list[tuple[int, float]]:
        """Ids and scores from the best on: what is proved comes first, a tie by its id, and nothing impossible."""
        if limit < 0:
            raise UserError(f"limit must not be negative, but is {limit}")
        ids, scores = self.candidates.ids, self.candidates.scores
        order = scores.astype(np.float64)
        proved = np.isin(ids, self.proved, assume_unique=True)
        order[proved] = 0 if only is Only.INFERRED else 2 + order[proved]  # no score is above 1
        if only is Only.OBSERVED:
            order[order < 2] = 0
        limit = min(limit, len(order))
        if not limit:
            return []
        least = np.partition(order, len(order) - limit)[len(order) - limit]
        likely = np.flatnonzero((order >= least) & (order > 0))
        chosen = likely[np.argsort(-order[likely], kind="stable")][:limit]
        return list(zip(ids[chosen].tolist(), scores[chosen].tolist(), strict=True))


@dataclass(frozen=True)
class Selection:
    """The answers to show with their scores, and what is left out."""

    best: list[Scored]
    count: int  # of all answers that could be shown
    unlikely: int = 0  # inferred ones with too low a probability
    unordered: int = 0  # those without a value to sort by
    among: int = 0  # of how many with the largest or smallest values the score is the probability to be one
    skipped: int = 0  # and how many come before these


def select(
    graph: KnowledgeGraph,
    model: Model,
    ranking: Ranking,
    limit: int,
    only: Only | None,
    question: Question,
    above: float,
    nearness: Nearness | None,
    pause: Pause | None,
) -> Selection:
    """The answers to show, and how many are left out."""
    if question.aggregate is not None:
        return Selection([], 0)
    unlikely = 0
    if above > 0 and model.calibration is ScoreMeaning.PROBABILITY:
        ids, scores = ranking.candidates.ids, ranking.candidates.scores
        low = (scores <= above) & ~np.isin(ids, ranking.proved, assume_unique=True)
        unlikely = int(np.count_nonzero(low & (scores >= _LEAST_LIKELY))) if only is not Only.OBSERVED else 0
        kept = Candidates(ids[~low], scores[~low])
        ranking = replace(ranking, candidates=kept)
    if question.sorting is None and nearness is None:
        return Selection(ranking.best(limit, only), _at_most(question.limit, ranking.count(only)), unlikely)
    top = likeliest_top(graph, model, question, ranking.candidates, limit, pause) if not only else None
    if top is not None:
        return Selection(top, len(top), unlikely, among=question.limit or 0, skipped=question.skip)
    everything = ranking.best(len(ranking.candidates.ids), only)
    if question.sorting is None:
        assert nearness is not None  # one of both orders them
        nearest = nearness.in_order(everything, set(ranking.proved.tolist()))
        nearest = nearest[question.skip :]
        return Selection(nearest[:limit], _at_most(question.limit, len(nearest)), unlikely)
    ordered, without = in_order(model, everything, question.sorting)
    ordered = ordered[question.skip :]
    return Selection(ordered[:limit], _at_most(question.limit, len(ordered)), unlikely, len(without))


def _at_most(limit: int | None, count: int) -> int:
    return count if limit is None else min(limit, count)

"""Fitting the calibration: one number after the other, to rank the hard answers of validation queries best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kgreckon.evaluation import Evaluation, EvaluationQueries, evaluate_scores
from kgreckon.evaluation.metrics import QueryScores, summarise
from kgreckon.models.reckoner.fuzzy import Inference, Reckoner
from kgreckon.models.reckoner.predicted import PredictedFacts

# What is tried, in this order; each line keeps what it found best before the next is tried.
STEPS: tuple[tuple[dict[str, float], ...], ...] = (
    tuple({"rules": value} for value in (0.0, 0.25, 0.5, 1.0)),
    tuple({"hidden": value} for value in (1.0, 2.0, 4.0, 8.0, 16.0)),
    tuple({"existence": value} for value in (0.1, 0.3, 1.0, 3.0)),
    tuple(
        {"forward": forward, "backward": backward}
        for forward, backward in ((1.0, 0.0), (0.9, 0.1), (0.8, 0.2), (0.6, 0.4), (0.6, 0.2), (1.0, 0.2))
    ),
    tuple({"value_regression": value} for value in (0.0, 0.25, 0.5, 1.0)),
    tuple(
        {"value_link": link, "value_back": back}
        for link, back in ((0.0, 0.0), (0.5, 0.3), (0.7, 0.3), (1.0, 0.3), (1.0, 0.0))
    ),
    tuple({"hidden": value} for value in (1.0, 2.0, 4.0, 8.0, 16.0)),
    tuple({"edge_probability": value} for value in (0.0, 1e-4, 1e-3, 1e-2)),
)

# The gain that a change must bring: less is chance, with some hundred queries of each type.
_WORTH = 0.1


def mean_over_types(evaluation: Evaluation) -> float:
    """The mean over the general types of the MRR of queries for entities."""
    by_type: dict[str, list[QueryScores]] = {}
    for result in evaluation.results:
        if not result.shape.denotes_numbers:
            by_type.setdefault(result.type, []).append(result.scores)
    scores = [summarise(QueryScores.concatenate(own)).mrr for own in by_type.values()]
    return sum(scores) / len(scores) if scores else 0.0


def fit_calibration(
    facts: PredictedFacts,
    inference: Inference,
    queries: EvaluationQueries,
    at_once: int,
    tried: Callable[[dict[str, Any]], None] = lambda line: None,
    steps: Sequence[Sequence[dict[str, float]]] = STEPS,
) -> tuple[PredictedFacts, float]:
    """The best calibration found, and its score on the queries; it is the only thing that sees validation answers."""

    def score(candidate: PredictedFacts) -> float:
        found = mean_over_types(evaluate_scores(Reckoner(candidate, inference).answer, queries, at_once=at_once))
        tried({**candidate.calibration.as_json(), "validation_mrr": found})
        return found

    known = {facts.calibration: score(facts)}
    for choices in steps:
        if "rules" in choices[0] and not len(facts.evidence):
            continue
        for choice in choices:
            calibration = replace(facts.calibration, **choice)
            if calibration not in known:
                known[calibration] = score(facts.recalibrated(calibration))
        best = max(known, key=lambda calibration: known[calibration])
        if known[best] > known[facts.calibration] + _WORTH:
            facts = facts.recalibrated(best)
    return facts, known[facts.calibration]

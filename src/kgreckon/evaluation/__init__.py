"""Evaluation: ranks as pure functions, the metrics made of them, and the tables of a whole split."""

from kgreckon.evaluation.evaluating import EvaluationQueries, RankedQueries, evaluate_scores
from kgreckon.evaluation.metrics import Metrics, QueryScores, summarise
from kgreckon.evaluation.ranking import Answers, Ranks, filtered_ranks
from kgreckon.evaluation.results import Evaluation, ShapeResult

__all__ = [
    "Answers",
    "Evaluation",
    "EvaluationQueries",
    "Metrics",
    "QueryScores",
    "RankedQueries",
    "Ranks",
    "ShapeResult",
    "evaluate_scores",
    "filtered_ranks",
    "summarise",
]

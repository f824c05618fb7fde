"""Evaluation: ranks as pure functions, the metrics made of them, and the tables of a whole split."""

from kgreckon.evaluation.by_hardness import HardAnswers, HardnessRow
from kgreckon.evaluation.evaluating import EvaluationQueries, RankedQueries, evaluate_scores
from kgreckon.evaluation.evaluation_result import EvaluationResult, HardnessTable, TargetTable
from kgreckon.evaluation.metrics import Metrics, QueryScores, summarise
from kgreckon.evaluation.ranking import AnswerPairs, Ranks, filtered_ranks
from kgreckon.evaluation.reliability import ReliabilityRow, expected_error, of_all_types
from kgreckon.evaluation.reliability_meter import ReliabilityMeter
from kgreckon.evaluation.results import Evaluation, ShapeResult

__all__ = [
    "AnswerPairs",
    "Evaluation",
    "EvaluationQueries",
    "EvaluationResult",
    "HardAnswers",
    "HardnessRow",
    "HardnessTable",
    "Metrics",
    "QueryScores",
    "RankedQueries",
    "Ranks",
    "ReliabilityMeter",
    "ReliabilityRow",
    "ShapeResult",
    "TargetTable",
    "evaluate_scores",
    "expected_error",
    "filtered_ranks",
    "of_all_types",
    "summarise",
]

"""Evaluation: ranks as pure functions, and the metrics made of them."""

from kgreckon.evaluation.metrics import Metrics, QueryScores, summarise
from kgreckon.evaluation.ranking import Ranks, filtered_ranks

__all__ = ["Metrics", "QueryScores", "Ranks", "filtered_ranks", "summarise"]

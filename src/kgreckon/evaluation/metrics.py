"""Metrics: a query's score is the mean over its hard answers, a table's number the mean over queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import mean

import torch
from torch import Tensor

from kgreckon.evaluation.ranking import AnswerPairs, Ranks

HITS = (1, 3, 10)


@dataclass(frozen=True)
class QueryScores:
    """The metrics of each query of a batch, as columns: MRR, H@1, H@3, H@10; realistic, then optimistic ranks."""

    realistic: Tensor  # (queries, 4) float32
    optimistic: Tensor  # (queries, 4) float32

    @staticmethod
    def from_ranks(ranks: Ranks) -> QueryScores:
        """The mean over each query's hard answers; every query must have one."""
        return QueryScores(*(_means(rank, ranks.answers) for rank in (ranks.realistic, ranks.best)))

    @staticmethod
    def concatenate(parts: Iterable[QueryScores]) -> QueryScores:
        """The queries of all parts."""
        parts = list(parts)
        return QueryScores(torch.cat([p.realistic for p in parts]), torch.cat([p.optimistic for p in parts]))

    def cpu(self) -> QueryScores:
        """The same on the host."""
        return QueryScores(self.realistic.cpu(), self.optimistic.cpu())


def _means(rank: Tensor, answers: AnswerPairs) -> Tensor:
    columns = torch.stack([1 / rank, *((rank <= k).float() for k in HITS)], dim=1)
    sums = torch.zeros(len(answers.counts), columns.shape[1], device=rank.device)
    return sums.index_add_(0, answers.query, columns) / answers.counts[:, None]


@dataclass(frozen=True)
class Metrics:
    """The mean over some queries, in percent as the paper prints them."""

    queries: int
    mrr: float
    hits_at_1: float
    hits_at_3: float
    hits_at_10: float
    optimistic_mrr: float


def mean_of(tables: Sequence[Metrics]) -> Metrics | None:
    """The mean over some types, each counted once however many queries it has; None of none."""
    if not tables:
        return None
    queries = sum(table.queries for table in tables)
    names = [field.name for field in fields(Metrics) if field.name != "queries"]
    return Metrics(queries, *(mean(getattr(table, name) for table in tables) for name in names))


def summarise(scores: QueryScores) -> Metrics:
    """The mean over queries."""
    mrr, *hits = (100 * scores.realistic.double().mean(dim=0)).tolist()
    optimistic = 100 * scores.optimistic[:, 0].double().mean().item()
    return Metrics(len(scores.realistic), mrr, hits[0], hits[1], hits[2], optimistic)

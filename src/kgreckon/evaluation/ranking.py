"""Ranking: where each hard answer stands among all candidates, the query's other answers left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

_FEW = 16  # hard answers of a query that are counted one by one; the scores of a query with more are sorted


@dataclass(frozen=True)
class AnswerPairs:
    """The answers to the queries of a batch as pairs, sorted by query, where the scores are."""

    query: Tensor  # (answers,) int64: the query's place in the batch
    item: Tensor  # (answers,) int64
    counts: Tensor  # (queries,) int64
    on_host: np.ndarray  # (queries,) int64: the counts again, so that the host need not wait for the device

    @staticmethod
    def of(items: Tensor, counts: np.ndarray) -> AnswerPairs:  # (answers,), (queries,)
        """Pairs in the order of their queries, with so many for each."""
        on_device = torch.from_numpy(counts).to(items.device)
        places = torch.arange(len(counts), device=items.device)
        query = torch.repeat_interleave(places, on_device, output_size=len(items))
        return AnswerPairs(query, items.long(), on_device, counts)


@dataclass(frozen=True)
class Ranks:
    """The rank of each hard answer, ties counted for it (best) and against it (worst)."""

    answers: AnswerPairs
    best: Tensor  # (hard answers,) float32
    worst: Tensor  # (hard answers,) float32

    @property
    def realistic(self) -> Tensor:
        """The mean of the best and the worst rank: what a tie is worth in expectation."""
        return (self.best + self.worst) / 2


def filtered_ranks(scores: Tensor, easy: AnswerPairs, hard: AnswerPairs) -> Ranks:  # (queries, candidates)
    """Rank hard answers against the candidates that are not answers."""
    others = scores.clone()
    others[easy.query, easy.item] = -torch.inf
    others[hard.query, hard.item] = -torch.inf
    # One row of wanted scores for each query, padded to the longest, so that many are looked up at once.
    starts = hard.counts.cumsum(0) - hard.counts
    position = hard.query, torch.arange(len(hard.query), device=scores.device) - starts[hard.query]
    wanted = scores.new_zeros(len(scores), int(hard.on_host.max(initial=0)))
    wanted[position] = scores[hard.query, hard.item]
    above, equal = (torch.zeros_like(wanted, dtype=torch.int64) for _ in range(2))
    order = np.argsort(-hard.on_host, kind="stable")
    many = int((hard.on_host > _FEW).sum())
    _by_sorting(others, wanted, above, equal, torch.from_numpy(order[:many]).to(scores.device))
    _by_counting(
        others, wanted, above, equal, torch.from_numpy(order[many:]).to(scores.device), hard.on_host[order[many:]]
    )
    best = 1 + above[position]
    return Ranks(hard, best.float(), (best + equal[position]).float())


def _by_sorting(others: Tensor, wanted: Tensor, above: Tensor, equal: Tensor, rows: Tensor) -> None:
    """Of some queries, how many scores are above each wanted one, and how many are equal: in a sorted row."""
    if not len(rows):
        return
    ordered, wanted = others[rows].sort(dim=1).values, wanted[rows]
    after = torch.searchsorted(ordered, wanted, right=True)
    above[rows] = ordered.shape[1] - after
    equal[rows] = after - torch.searchsorted(ordered, wanted)


def _by_counting(
    others: Tensor, wanted: Tensor, above: Tensor, equal: Tensor, rows: Tensor, counts: np.ndarray
) -> None:
    """The same by going through the row for each wanted score; the queries come with falling counts."""
    other_rows = others[rows]
    for column in range(int(counts.max(initial=0))):
        having = int((counts > column).sum())
        some, score = other_rows[:having], wanted[rows[:having], column, None]
        above[rows[:having], column] = torch.count_nonzero(some > score, dim=1)
        equal[rows[:having], column] = torch.count_nonzero(some == score, dim=1)

"""Ranking: where each hard answer stands among all candidates, the query's other answers left out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Ranks:
    """The rank of each hard answer, ties counted for it (best) and against it (worst)."""

    query: Tensor  # (hard answers,) int64: which query of the batch
    best: Tensor  # (hard answers,) float32
    worst: Tensor  # (hard answers,) float32

    @property
    def realistic(self) -> Tensor:
        """The mean of the best and the worst rank: what a tie is worth in expectation."""
        return (self.best + self.worst) / 2


def filtered_ranks(
    scores: Tensor, easy_query: Tensor, easy: Tensor, hard_query: Tensor, hard: Tensor
) -> Ranks:  # (b, n), (e,), (e,), (h,), (h,)
    """Rank hard answers against the candidates that are no answer.

    Answers come as pairs of a query's place in the batch and a candidate; hard ones sorted by query.
    """
    queries, candidates = scores.shape
    wanted = scores[hard_query, hard]
    others = scores.clone()
    others[easy_query, easy] = -torch.inf
    others[hard_query, hard] = -torch.inf
    others = others.sort(dim=1).values
    # One row of wanted scores for each query, padded to the longest, so that all are looked up at once.
    counts = torch.bincount(hard_query, minlength=queries)
    width = int(counts.max()) if len(hard) else 0
    starts = counts.cumsum(0) - counts
    column = torch.arange(len(hard), device=scores.device) - starts[hard_query]
    padded = torch.zeros(queries, width, device=scores.device, dtype=scores.dtype)
    padded[hard_query, column] = wanted
    above = candidates - torch.searchsorted(others, padded, right=True)
    above_or_equal = candidates - torch.searchsorted(others, padded)
    best = 1 + above[hard_query, column]
    worst = 1 + above_or_equal[hard_query, column]
    return Ranks(hard_query, best.float(), worst.float())

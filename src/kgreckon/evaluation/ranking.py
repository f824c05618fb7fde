"""Ranking: where each hard answer stands among all candidates, the query's other answers left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Answers:
    """The answers to the queries of a batch as pairs, sorted by query, where the scores are."""

    query: Tensor  # (answers,) int64: the query's place in the batch
    item: Tensor  # (answers,) int64
    counts: Tensor  # (queries,) int64
    longest: int  # the largest count, known to the host so that it need not wait for the device

    @staticmethod
    def of(items: Tensor, counts: np.ndarray) -> Answers:  # (answers,), (queries,)
        """Answers in the order of their queries, with so many for each."""
        on_device = torch.from_numpy(counts).to(items.device)
        places = torch.arange(len(counts), device=items.device)
        query = torch.repeat_interleave(places, on_device, output_size=len(items))
        return Answers(query, items.long(), on_device, int(counts.max(initial=0)))


@dataclass(frozen=True)
class Ranks:
    """The rank of each hard answer, ties counted for it (best) and against it (worst)."""

    answers: Answers
    best: Tensor  # (hard answers,) float32
    worst: Tensor  # (hard answers,) float32

    @property
    def realistic(self) -> Tensor:
        """The mean of the best and the worst rank: what a tie is worth in expectation."""
        return (self.best + self.worst) / 2


def filtered_ranks(scores: Tensor, easy: Answers, hard: Answers) -> Ranks:  # (queries, candidates)
    """Rank hard answers against the candidates that are no answer."""
    queries, candidates = scores.shape
    wanted = scores[hard.query, hard.item]
    others = scores.clone()
    others[easy.query, easy.item] = -torch.inf
    others[hard.query, hard.item] = -torch.inf
    others = others.sort(dim=1).values
    # One row of wanted scores for each query, padded to the longest, so that all are looked up at once.
    starts = hard.counts.cumsum(0) - hard.counts
    column = torch.arange(len(wanted), device=scores.device) - starts[hard.query]
    padded = torch.zeros(queries, hard.longest, device=scores.device, dtype=scores.dtype)
    padded[hard.query, column] = wanted
    above = candidates - torch.searchsorted(others, padded, right=True)
    above_or_equal = candidates - torch.searchsorted(others, padded)
    best = 1 + above[hard.query, column]
    worst = 1 + above_or_equal[hard.query, column]
    return Ranks(hard, best.float(), worst.float())

"""What a model reached by how hard the answers are: by how many facts and values their cheapest proofs lack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from kgreckon.benchmark.hardness import Hardness


@dataclass(frozen=True)
class HardAnswers:
    """The hard answers to the queries of one specific type: how many each query has, how hard they are, their ranks."""

    counts: np.ndarray  # (queries,) int64
    hardness: Hardness
    ranks: Tensor  # (hard answers,) float32, realistic ones

    def cpu(self) -> HardAnswers:
        """The same on the host."""
        return HardAnswers(self.counts, self.hardness, self.ranks.cpu())


@dataclass(frozen=True)
class HardnessRow:
    """What was reached on the hard answers whose cheapest proofs lack so many facts and values.

    A query's score is the mean over those of its hard answers, the MRR the mean over the queries that have some.
    """

    facts: int | None  # None where facts and values count together
    values: int | None
    missing: int
    queries: int
    answers: int
    mrr: float


def by_missing(results: Sequence[HardAnswers]) -> list[HardnessRow]:
    """A row for each number of missing facts and values."""
    pooled = _Pool(results)
    return [pooled.row(None, None, missing, pooled.missing == missing) for missing in np.unique(pooled.missing)]


def by_facts_and_values(results: Sequence[HardAnswers]) -> list[HardnessRow]:
    """A row for each pair of missing facts and missing values."""
    pooled = _Pool(results)
    pairs = sorted(
        set(zip(pooled.facts.tolist(), pooled.values.tolist(), strict=True)), key=lambda pair: (sum(pair), pair[1])
    )
    return [
        pooled.row(facts, values, facts + values, (pooled.facts == facts) & (pooled.values == values))
        for facts, values in pairs
    ]


class _Pool:
    """The hard answers of several specific types together."""

    def __init__(self, results: Sequence[HardAnswers]) -> None:
        hardness = Hardness.concatenate([result.hardness for result in results])
        self.facts, self.values, self.missing = hardness.facts, hardness.values, hardness.missing
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(result.counts for result in results)])
        self._query = np.repeat(np.arange(len(counts)), counts)
        self._scores = np.concatenate([np.zeros(0), *(1 / result.ranks.double().numpy() for result in results)])

    def row(self, facts: int | None, values: int | None, missing: int, chosen: np.ndarray) -> HardnessRow:
        """What was reached on the chosen answers."""
        _, query, counts = np.unique(self._query[chosen], return_inverse=True, return_counts=True)
        means = np.bincount(query, self._scores[chosen]) / counts
        return HardnessRow(facts, values, int(missing), len(counts), int(chosen.sum()), 100 * float(means.mean()))

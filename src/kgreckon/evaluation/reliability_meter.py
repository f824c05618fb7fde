"""Counting, while queries are ranked, which of the candidates of each probability are true.

A candidate is anything that the known graph does not prove and that is shown with at least 1 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from kgreckon.evaluation.evaluating import RankedQueries
from kgreckon.evaluation.reliability import ReliabilityRow
from kgreckon.exact import ComparisonMode, answer
from kgreckon.graph import KnowledgeGraph
from kgreckon.processes import ALONE, Processes
from kgreckon.query import Batch

LEAST = 0.01
_TENTHS = 10


class ReliabilityMeter:
    """Sees the scores of an evaluation's queries for entities, and counts which candidates are true."""

    def __init__(
        self,
        known: KnowledgeGraph,
        mode: ComparisonMode,
        shown: Callable[[Batch[Tensor], Tensor], Tensor] = lambda _, scores: scores,
    ) -> None:
        self.known, self.mode, self.shown = known, mode, shown
        # Of each batch, by its type: candidates, probabilities, true ones of each tenth; nothing of one for numbers.
        self._seen: list[dict[str, Tensor]] = []

    def see(self, queries: RankedQueries, first: int, last: int, scores: Tensor) -> None:
        """Count the candidates of some neighbouring queries, given their scores."""
        if queries.shape.denotes_numbers:
            self._seen.append({})
            return
        ids = np.ascontiguousarray(queries.ids[first:last].cpu().numpy())
        counted = self.shown(Batch(queries.shape, queries.ids[first:last]), scores)
        true = torch.zeros_like(counted, dtype=torch.bool)
        for answers in queries.answers(first, last):
            true[answers.query, answers.item] = True
        possible = counted >= LEAST
        for row, proved in enumerate(answer(self.known, Batch(queries.shape, ids), self.mode)):
            possible[row, torch.from_numpy(proved.astype(np.int64)).to(scores.device)] = False
        likely, right = (part[possible].double().cpu().numpy() for part in (counted, true))
        tenth = (likely * _TENTHS).astype(np.int64).clip(max=_TENTHS - 1)
        sums = [np.bincount(tenth, weights, _TENTHS) for weights in (np.ones(len(likely)), likely, right)]
        self._seen.append({queries.type: torch.from_numpy(np.stack(sums))})

    def rows(self, processes: Processes = ALONE) -> list[ReliabilityRow]:
        """What all processes have seen, by type and tenth, without empty tenths."""
        by_type: dict[str, np.ndarray] = {}
        for seen in processes.in_order(self._seen):
            for name, sums in seen.items():
                by_type[name] = by_type.get(name, np.zeros((3, _TENTHS))) + sums.numpy()
        return [
            ReliabilityRow(name, tenth, int(count), float(stated / count), float(true / count))
            for name, sums in by_type.items()
            for tenth, (count, stated, true) in enumerate(sums.T)
            if count
        ]

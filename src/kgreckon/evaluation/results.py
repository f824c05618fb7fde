"""What a way to score candidates reached on a split: by type, by target, touching numbers or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Split
from kgreckon.evaluation.metrics import Metrics, QueryScores, summarise
from kgreckon.query import Shape


@dataclass(frozen=True)
class ShapeResult:
    """What a model reached on the queries of one specific type."""

    type: str
    shape: Shape
    scores: QueryScores
    units: Tensor | None = None  # for number targets: the unit asked for
    errors: Tensor | None = None  # for number targets: how far the best value is from the nearest hard answer

    def cpu(self) -> ShapeResult:
        """The same on the host."""
        scores = QueryScores(self.scores.realistic.cpu(), self.scores.optimistic.cpu())
        units, errors = (None if column is None else column.cpu() for column in (self.units, self.errors))
        return ShapeResult(self.type, self.shape, scores, units, errors)


@dataclass(frozen=True)
class Evaluation:
    """What a model reached on a split."""

    split: Split
    units: Sequence[str]
    results: tuple[ShapeResult, ...]
    seconds: float

    def select(self, keep: Callable[[ShapeResult], bool]) -> Metrics | None:
        """The mean over the queries of some specific types, or None where there are none."""
        chosen = [result.scores for result in self.results if keep(result)]
        return summarise(QueryScores.concatenate(chosen)) if chosen else None

    def mean_mrr(self) -> float:
        """The mean over all queries with an entity as target: the paper's overall number."""
        metrics = self.select(lambda result: not result.shape.denotes_numbers)
        return metrics.mrr if metrics is not None else 0.0

    def as_json(self) -> dict[str, Any]:
        """All tables as plain data, entity targets and number targets apart."""
        types = list(dict.fromkeys(result.type for result in self.results))

        def table(numbers: bool) -> dict[str, Any]:
            def json(keep: Callable[[ShapeResult], bool]) -> dict[str, float] | None:
                found = self.select(lambda result: result.shape.denotes_numbers == numbers and keep(result))
                return None if found is None else found.as_json()

            rows = {
                "all": json(lambda result: True),
                "by_type": {name: json(lambda result, name=name: result.type == name) for name in types},  # type: ignore[misc]
                "touching_numbers": json(lambda result: result.shape.touches_numbers),
                "without_numbers": json(lambda result: not result.shape.touches_numbers),
                "by_specific_type": {
                    result.shape.text: summarise(result.scores).as_json()
                    for result in self.results
                    if result.shape.denotes_numbers == numbers
                },
            }
            return rows

        asked = [result.units for result in self.results if result.units is not None]
        found = [result.errors for result in self.results if result.errors is not None]
        units, errors = (torch.cat(column) if column else torch.zeros(0) for column in (asked, found))
        absolute = {
            self.units[int(unit)]: {"queries": len(own), "mean": float(own.mean()), "median": float(np.median(own))}
            for unit in sorted(set(units.tolist()))
            for own in (errors[units == unit].numpy(),)
        }
        return {
            "split": self.split.label,
            "queries": sum(len(result.scores.realistic) for result in self.results),
            "seconds": self.seconds,
            "entity_targets": table(False),
            "number_targets": table(True) | {"absolute_error_of_the_best_value": absolute},
        }

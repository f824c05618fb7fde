"""What a way to score candidates reached on a split: by type, by target, touching numbers or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Split
from kgreckon.evaluation.by_hardness import HardAnswers, by_facts_and_values, by_missing
from kgreckon.evaluation.evaluation_result import AbsoluteError, EvaluationResult, HardnessTable, TargetTable
from kgreckon.evaluation.metrics import Metrics, QueryScores, mean_of, summarise
from kgreckon.evaluation.reliability import ReliabilityRow
from kgreckon.query import Shape


@dataclass(frozen=True)
class ShapeResult:
    """What a model reached on the queries of one specific type."""

    type: str
    shape: Shape
    scores: QueryScores
    answers: Tensor  # (queries,) int64: how many answers each query has, easy and hard
    units: Tensor | None = None  # for number targets: the unit asked for
    errors: Tensor | None = None  # for number targets: how far the best value is from the nearest hard answer
    among_values: QueryScores | None = None  # of entities ranked among entities and values, as released baselines are
    hard_answers: HardAnswers | None = None  # where it was asked for how hard they are

    def cpu(self) -> ShapeResult:
        """The same on the host."""
        units, errors = (None if column is None else column.cpu() for column in (self.units, self.errors))
        among_values = None if self.among_values is None else self.among_values.cpu()
        hard = None if self.hard_answers is None else self.hard_answers.cpu()
        scores, answers = self.scores.cpu(), self.answers.cpu()
        return ShapeResult(self.type, self.shape, scores, answers, units, errors, among_values, hard)


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
        """The mean over queries with an entity as target, the paper's overall number; if there are none, over all."""
        metrics = self.select(lambda result: not result.shape.denotes_numbers) or self.select(lambda result: True)
        return metrics.mrr if metrics is not None else 0.0

    def mean_over_types(self) -> float:
        """The mean over the general types of the MRR of queries for entities."""
        by_type: dict[str, list[QueryScores]] = {}
        for result in self.results:
            if not result.shape.denotes_numbers:
                by_type.setdefault(result.type, []).append(result.scores)
        mean = mean_of([summarise(QueryScores.concatenate(scores)) for scores in by_type.values()])
        return 0.0 if mean is None else mean.mrr

    def result(
        self,
        queries_per_type: int | None = None,
        device: str = "cpu",
        reliability: list[ReliabilityRow] | None = None,
    ) -> EvaluationResult:
        """All tables, queries for entities and queries for numbers apart."""
        return EvaluationResult(
            split=self.split.label,
            queries=sum(len(result.scores.realistic) for result in self.results),
            seconds=self.seconds,
            entity_targets=self._table(False),
            entity_targets_among_values=self._among_values(),
            number_targets=self._table(True),
            mrr_by_answers=self._by_answers(),
            absolute_errors=self._absolute_errors(),
            by_unit=self._by_unit(),
            queries_per_type=queries_per_type,
            device=device,
            reliability=reliability,
        )

    def _table(self, of_numbers: bool) -> TargetTable:
        """The metrics of the queries for entities, or of those for numbers."""

        def metrics(keep: Callable[[ShapeResult], bool]) -> Metrics | None:
            return self.select(lambda result: result.shape.denotes_numbers == of_numbers and keep(result))

        def of_type(name: str) -> Metrics | None:
            return metrics(lambda result: result.type == name)

        negated = {result.type: result.shape.has_negation for result in self.results}
        by_type = {name: of_type(name) for name in negated}

        def mean_over_types(negation: bool) -> Metrics | None:
            return mean_of([table for name, table in by_type.items() if table and negated[name] == negation])

        return TargetTable(
            all=metrics(lambda result: True),
            by_type=by_type,
            touching_numbers=metrics(lambda result: result.shape.touches_numbers),
            without_numbers=metrics(lambda result: not result.shape.touches_numbers),
            by_specific_type={
                result.shape.text: summarise(result.scores)
                for result in self.results
                if result.shape.denotes_numbers == of_numbers
            },
            types_without_negation=mean_over_types(False),
            types_with_negation=mean_over_types(True),
            by_hardness=self._by_hardness(of_numbers),
        )

    def _by_hardness(self, of_numbers: bool) -> HardnessTable | None:
        """The MRR by what the cheapest proofs lack, of all types and of each; None where nobody asked for it."""
        by_type: dict[str, list[HardAnswers]] = {}
        for result in self.results:
            if result.hard_answers is not None and result.shape.denotes_numbers == of_numbers:
                by_type.setdefault(result.type, []).append(result.hard_answers)
        if not by_type:
            return None
        everything = [answers for parts in by_type.values() for answers in parts]
        return HardnessTable(
            by_missing(everything),
            by_facts_and_values(everything),
            {name: by_missing(parts) for name, parts in by_type.items()},
        )

    def _among_values(self) -> TargetTable | None:
        """The metrics of the queries for entities, ranked among entities and values, of a model that does so."""
        if all(result.among_values is None for result in self.results):
            return None
        ranked = (
            replace(result, scores=result.among_values or result.scores, hard_answers=None) for result in self.results
        )
        return replace(self, results=tuple(ranked))._table(False)

    def _absolute_errors(self) -> dict[str, AbsoluteError]:
        """How far the best value is from the nearest hard answer, by unit."""
        asked = [result.units for result in self.results if result.units is not None]
        measured = [result.errors for result in self.results if result.errors is not None]
        units, errors = (torch.cat(column) if column else torch.zeros(0) for column in (asked, measured))
        by_unit = {int(unit): errors[units == unit].numpy() for unit in sorted(set(units.tolist()))}
        return {
            self.units[unit]: AbsoluteError(len(of_unit), float(of_unit.mean()), float(np.median(of_unit)))
            for unit, of_unit in by_unit.items()
        }

    def _by_answers(self) -> list[dict[str, float]]:
        """The MRR of queries for entities by how many answers they have, in bins that double."""
        chosen = [result for result in self.results if not result.shape.denotes_numbers]
        if not chosen:
            return []
        counts = torch.cat([result.answers for result in chosen])
        scores = torch.cat([result.scores.realistic[:, 0] for result in chosen]).double()
        bins = counts.clamp(min=1).double().log2().floor().long()
        return [
            {
                "from": 2**bin_,
                "to": 2 ** (bin_ + 1) - 1,
                "queries": int((bins == bin_).sum()),
                "mrr": 100 * float(scores[bins == bin_].mean()),
            }
            for bin_ in sorted(set(bins.tolist()))
        ]

    def _by_unit(self) -> dict[str, Metrics]:
        """The metrics of queries for numbers by the unit asked for."""
        chosen = [result for result in self.results if result.units is not None]
        if not chosen:
            return {}
        units = torch.cat([result.units for result in chosen if result.units is not None])
        scores = QueryScores.concatenate(result.scores for result in chosen)
        return {
            self.units[unit]: summarise(QueryScores(scores.realistic[units == unit], scores.optimistic[units == unit]))
            for unit in sorted(set(units.tolist()))
        }

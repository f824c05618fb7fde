"""A trained reckoner behind the interface of all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Candidates, Draws, JudgedNumbers, Prediction, ScoreMeaning, TrainedModel
from kgreckon.models.proofs import Proof
from kgreckon.models.reckoner.answer_maps import one_fact_alone
from kgreckon.models.reckoner.drawing import draw
from kgreckon.models.reckoner.explaining import explain_all
from kgreckon.models.reckoner.fuzzy import FuzzySet, Inference, Reckoner
from kgreckon.models.reckoner.learning import AT_ONCE, LearnedParts
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.reckoner.predicting import judge_numbers, predict
from kgreckon.query import Batch, Pause, Query, Shape

_FEW_ATTRIBUTES = 16  # whose missing values are predicted ahead


class ReckonerModel(TrainedModel):
    """Exact logic over predicted facts: probabilities, numbers with intervals, and proofs."""

    name = "reckoner"
    calibration = ScoreMeaning.PROBABILITY

    def __init__(self, learned: LearnedParts, facts: PredictedFacts, inference: Inference | None = None) -> None:
        self.learned, self.facts, self.maps = learned, facts, learned.maps
        self.reckoner = Reckoner(facts, inference or learned.inference)
        self.graph = facts.observed.graph
        self.device = facts.observed.device
        self.queries_at_once = AT_ONCE[facts.observed.device.type]

    @torch.no_grad()
    def candidates(self, query: Query, proved: np.ndarray, pause: Pause | None = None) -> Candidates:
        """Everything that is possible, with its probability."""
        batch = Batch.of([query], self.graph.values)
        found = self._shown(batch.shape, *self.reckoner.answer_and_parts(batch, pause))
        scores = found[0].float().cpu().numpy()
        possible = np.flatnonzero(scores > 0)
        return Candidates(possible, scores[possible])

    @torch.no_grad()
    def draws(self, query: Query, attribute: int | None, pause: Pause | None = None) -> Draws:
        """The answers in graphs that are drawn from the probabilities of facts."""
        return draw(self.facts, self.reckoner.inference, query, attribute, pause)

    def scores(self, batch: Batch[Tensor]) -> Tensor:  # -> (queries, candidates)
        """The probability of every candidate."""
        return self.reckoner.answer(batch)

    def shown(self, batch: Batch[Tensor], scores: Tensor) -> Tensor:  # (queries, candidates)
        """The probabilities of answers, which have the order of the scores."""
        return self._shown(batch.shape, scores, self.reckoner.answer_and_parts(batch)[1])

    def _shown(self, shape: Shape, scores: Tensor, parts: Sequence[FuzzySet]) -> Tensor:
        return self.maps.shown(shape, scores, one_fact_alone(shape, scores, parts))

    def prove(self, query: Query, answers: Sequence[int], pause: Pause | None = None) -> list[Proof]:
        """The facts of the most likely proof, each with its probability."""
        return explain_all(self.reckoner, Batch.of([query], self.graph.values), answers, pause)

    def predict(self, entity: int, attribute: int, coverage: float, reasons: bool = False) -> Prediction:
        """The value of an attribute on an entity, from everything but the value itself."""
        return predict(self.facts, entity, attribute, coverage, reasons)

    def attribute_chances(self, entity: int) -> np.ndarray:  # (attributes,)
        """How likely the entity has each attribute."""
        return self.facts.existences(entity).cpu().numpy()

    def judge_numbers(
        self, attribute: int, entities: np.ndarray, numbers: np.ndarray, coverage: float
    ) -> JudgedNumbers:
        """How unlikely numbers are that are stated of entities, each judged by everything but itself."""
        return judge_numbers(self.facts, attribute, entities, numbers, coverage)

    def prepare(self, pause: Pause) -> None:
        """Predict the missing values of all attributes, unless they are many."""
        if len(self.graph.attributes) <= _FEW_ATTRIBUTES:
            for attribute in range(len(self.graph.attributes)):
                pause()
                self.facts.missing(attribute)

    def limited(self, heads: int) -> ReckonerModel:
        """The same with predicted facts from no more heads than that, which bounds the cost of a second hop."""
        inference = replace(self.reckoner.inference, heads=min(heads, self.reckoner.inference.heads))
        return ReckonerModel(self.learned, self.facts, inference)

    def over(self, graph: KnowledgeGraph) -> ReckonerModel:
        """The same weights over a graph with other facts; what is new there gets its vectors."""
        return ReckonerModel(*self.learned.over(graph), self.reckoner.inference)

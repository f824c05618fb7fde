"""Putting a fact model together from the training graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.attributes import AttributeModels, fit_attributes
from kgreckon.models.reckoner.existence import FOLDS, hidden_tails, odds, stated_chances
from kgreckon.models.reckoner.features import neighbourhood_vectors
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.models.reckoner.predicted import Expectations

DIMENSION = 96  # of the vectors that say where an entity stands


@dataclass(frozen=True)
class Beliefs:
    """What is learned beside the link predictor."""

    expectations: Expectations
    attributes: AttributeModels

    def as_tensors(self) -> dict[str, Tensor]:
        """What a run folder keeps; the rest follows from the graph."""
        return {"log_odds": self.expectations.odds.log().half()} | self.attributes.as_tensors()

    @staticmethod
    def from_tensors(
        tensors: dict[str, Tensor], observed: ObservedFacts, training: KnowledgeGraph, stated_share: float
    ) -> Beliefs:
        """The same again, over the facts that are known."""
        attributes = AttributeModels.from_tensors(tensors, observed.graph, training)
        return Beliefs(Expectations(_hidden(observed, stated_share), tensors["log_odds"].float().exp()), attributes)


def fit_beliefs(observed: ObservedFacts, stated_share: float, seed: int) -> Beliefs:
    """Learn what to expect of entities and of their numbers, where the graph states that share of the facts."""
    graph, device = observed.graph, observed.device
    fold_of = np.random.default_rng(seed).integers(FOLDS, size=len(graph.entities))
    vectors = neighbourhood_vectors(graph, DIMENSION, seed)
    chances = stated_chances(graph, vectors, fold_of, device)
    expectations = Expectations(
        _hidden(observed, stated_share), torch.from_numpy(odds(chances).T.copy()).float().to(device)
    )
    return Beliefs(expectations, fit_attributes(graph, fold_of, seed))


def _hidden(observed: ObservedFacts, stated_share: float) -> Tensor:  # (relations, entities)
    return torch.from_numpy(hidden_tails(observed.graph, stated_share)).to(observed.device)

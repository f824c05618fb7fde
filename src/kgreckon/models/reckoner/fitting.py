"""Putting a fact model together from the training graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.attributes import AttributeModel, fit_attributes, scales_of
from kgreckon.models.reckoner.existence import FOLDS, hidden_tails, odds, stated_chances
from kgreckon.models.reckoner.features import neighbourhood_vectors
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.models.reckoner.predicted import Expectations

DIMENSION = 96  # of the vectors that say where an entity stands


@dataclass(frozen=True)
class Beliefs:
    """What is learned beside the link predictor."""

    expectations: Expectations
    attributes: list[AttributeModel]

    def as_tensors(self) -> dict[str, Tensor]:
        """What a run folder keeps; the rest follows from the graph."""
        columns = [[getattr(model, name) for model in self.attributes] for name in ("mean", "width", "degrees")]
        mean, width, degrees = (torch.from_numpy(np.array(column, dtype=np.float32)) for column in columns)
        odds_ = self.expectations.odds.log().half()
        return {"log_odds": odds_, "attribute_mean": mean, "attribute_width": width, "attribute_degrees": degrees}

    @staticmethod
    def from_tensors(
        tensors: dict[str, Tensor], observed: ObservedFacts, training: KnowledgeGraph, stated_share: float
    ) -> Beliefs:
        """The same again, over the facts that are known; means and widths are on the scale of the training graph."""
        names = ("attribute_mean", "attribute_width", "attribute_degrees")
        mean, width, degrees = (tensors[name].cpu().double().numpy() for name in names)
        attributes = [
            AttributeModel(scale, mean[place], width[place], float(degrees[place]))
            for place, scale in enumerate(scales_of(training))
        ]
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
    return Beliefs(expectations, fit_attributes(graph, vectors, fold_of))


def _hidden(observed: ObservedFacts, stated_share: float) -> Tensor:  # (relations, entities)
    return torch.from_numpy(hidden_tails(observed.graph, stated_share)).to(observed.device)

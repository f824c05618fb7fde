"""A trained neural model behind the interface of all models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Candidates, ScoreMeaning, TrainedModel
from kgreckon.models.neural.query_model import QueryModel
from kgreckon.models.proofs import Proof
from kgreckon.models.stated import StatedFacts
from kgreckon.query import SEVEN, Batch, Pause, Query


class NeuralModel(TrainedModel):
    """Scores of a query embedding; what it says of a reason is which steps the graph states."""

    calibration = ScoreMeaning.SHARE
    any_comparison = False

    def __init__(self, encoder: QueryModel, graph: KnowledgeGraph, device: torch.device) -> None:
        self.encoder, self.graph, self.device = encoder, graph, device
        self.name = encoder.settings.title

    def why_not(self, query: Query) -> str | None:
        """The model has learned only the comparisons of its benchmark, and the numbers of its graph."""
        batch = Batch.of([query], self.graph.values)
        others = [str(comparison) for comparison in batch.comparisons if comparison not in SEVEN.values()]
        unknown = [*others[:1], *(f"{literal.value:g}" for literal in batch.literals[:1])]
        if not unknown:
            return None
        at_all = others and any(literal.value == 0 for literal in batch.literals)  # those up to 0, and those above
        return (
            f"this model knows only the comparisons {', '.join(SEVEN)}, and the numbers of its graph: not "
            f"{', '.join(unknown)}{', and not who has a value at all' if at_all else ''}; ask for observed answers "
            "only, which do without the model"
        )

    @torch.no_grad()
    def candidates(self, query: Query, proved: np.ndarray, pause: Pause | None = None) -> Candidates:
        """Every entity or value with its share of the softmax."""
        if pause is not None:
            pause()
        batch = Batch.of([query], self.graph.values)
        ids = torch.from_numpy(batch.ids).to(self.device)
        scores = self.scores(Batch(batch.shape, ids))[0].float().softmax(dim=0).cpu().numpy()
        return Candidates(np.arange(len(scores)), scores)

    def scores(self, batch: Batch[Tensor]) -> Tensor:  # -> (queries, candidates)
        """The inner products, or other scores, of the encoded queries."""
        return self.encoder.answer(batch)

    def scores_as_released(self, batch: Batch[Tensor]) -> Tensor:  # -> (queries, candidates, perhaps values)
        """Where values are entities, an entity is ranked among them too."""
        return self.encoder.answer(batch, among_values=True)

    def prove(self, query: Query, answers: Sequence[int], pause: Pause | None = None) -> list[Proof]:
        """The steps that the graph states, and those that are missing."""
        stated = StatedFacts(self.graph, pause)
        return [stated.proof(query, answer) for answer in answers]

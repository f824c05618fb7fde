"""Exact answering as a model: what a graph proves, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgreckon.exact import ComparisonMode
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Candidates, Model, ScoreMeaning
from kgreckon.models.proofs import How, Proof, Step
from kgreckon.models.stated import StatedFacts
from kgreckon.query import Operator, Pause, Query

# Of what is not proved: it has no probability.
_NOTHING = Proof(Operator.ENTITY, Step(Operator.ENTITY, None, 0, None, How.MISSING, 0.0))


class ExactModel(Model):
    """The answers that a graph proves, each certain."""

    name = "exact"
    calibration = ScoreMeaning.CERTAIN

    def __init__(self, graph: KnowledgeGraph, mode: ComparisonMode = ComparisonMode.COMPUTED) -> None:
        self.graph, self.mode = graph, mode

    def over(self, graph: KnowledgeGraph) -> ExactModel:
        """What another graph proves."""
        return ExactModel(graph, self.mode)

    def candidates(self, query: Query, proved: np.ndarray, pause: Pause | None = None) -> Candidates:
        """What is proved."""
        return Candidates(proved, np.ones(len(proved), dtype=np.float32))

    def prove(self, query: Query, answers: Sequence[int], pause: Pause | None = None) -> list[Proof]:
        """The facts of one proof each."""
        stated = StatedFacts(self.graph, pause)
        proved = stated.proved(query)
        return [stated.proof(query, answer) if answer in proved else _NOTHING for answer in answers]

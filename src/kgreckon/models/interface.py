"""The one interface of all models: scores of candidates, what is supported, proofs, and what a score means.

Nothing here needs torch: exact answering is a model too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import numpy as np

from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import Proof
from kgreckon.query import Batch, Entity, Follow, Pause, Query

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class ScoreMeaning(StrEnum):
    """What a model's score means."""

    CERTAIN = "certain"  # only what is proved has a score
    PROBABILITY = "probability"
    SHARE = "share"  # of a softmax over all candidates: it ranks, but is not a probability


@dataclass(frozen=True)
class Candidates:
    """The possible answers to one query with their scores: entities, or rows of the value table."""

    ids: np.ndarray  # (candidates,) int, rising
    scores: np.ndarray  # (candidates,) float32, above 0 and at most 1

    def dense(self, size: int) -> np.ndarray:  # (size,) float32
        """The score of every entity or row, 0 where it is not a candidate."""
        scores = np.zeros(size, dtype=np.float32)
        scores[self.ids] = self.scores
        return scores


@dataclass(frozen=True)
class Draws:
    """The answers to a query in graphs that are drawn from the probabilities of facts."""

    ids: np.ndarray  # (answers,) int, rising: what is an answer in some graph
    members: np.ndarray  # (graphs, answers) bool: whether it is one in each
    values: np.ndarray | None = None  # (graphs, answers) of an attribute; NaN where there is none


@dataclass(frozen=True)
class Influence:
    """Known facts that moved an estimate: a number of the entity's own, or its facts of one relation."""

    effect: float  # the estimate less what it would be without them
    attribute: int | None = None  # of the entity's own number
    number: float | None = None
    relation: int | None = None  # 2r as the graph states it, 2r + 1 for its inverse
    entities: tuple[int, ...] = ()  # at the other ends, those that moved the estimate most
    facts: int = 1  # how many there are


@dataclass(frozen=True)
class FormulaSource:
    """A number that a formula uses: an attribute of the entity, or its mean over the neighbours along a relation."""

    attribute: int
    relation: int | None = None


@dataclass(frozen=True)
class Formula:
    """A line that makes an estimate from one number or two: slope times it, plus offset, or the same of logarithms."""

    form: Literal["alone", "sum", "difference", "product", "ratio"]  # how two numbers become one
    sources: tuple[FormulaSource, ...]
    slope: float
    offset: float
    logarithmic: bool


@dataclass(frozen=True)
class Prediction:
    """The value of an attribute on an entity: what is stated, and what to expect where nothing is."""

    stated: tuple[float, ...]
    unit: str
    has_it: float  # the probability that the entity has the attribute; 1 where it is stated
    estimate: float  # the median
    low: float
    high: float
    coverage: float  # the probability that the value lies between low and high
    formula: Formula | None = None  # what made the estimate, where it is an identity
    reasons: tuple[Influence, ...] = ()  # what moved the estimate most, where it was asked for


@dataclass(frozen=True)
class JudgedNumbers:
    """What is to be expected of some stated numbers, each from everything but itself, and how unlikely they are."""

    estimates: np.ndarray  # (n,)
    lows: np.ndarray  # (n,): of the interval that was asked for
    highs: np.ndarray  # (n,)
    chances: np.ndarray  # (n,): the probability of a number that is at least so far out


class Model(ABC):
    """What answers questions about a graph. One model may be asked from several threads at once."""

    graph: KnowledgeGraph  # the facts that count as observed
    name: str
    calibration: ScoreMeaning
    mode: ComparisonMode = ComparisonMode.COMPUTED  # how numbers are compared where the graph is asked what it proves
    any_comparison = True  # or only the seven of the paper, and numbers that the graph holds

    def why_not(self, query: Query) -> str | None:
        """Why the model cannot answer a query, or None where it can."""
        return None

    def proved(self, query: Query, pause: Pause | None = None) -> np.ndarray:
        """The ids of what the graph proves, rising."""
        return ask(self.graph, query, self.mode, pause)

    @abstractmethod
    def candidates(self, query: Query, proved: np.ndarray, pause: Pause | None = None) -> Candidates:
        """The candidates for a query's answers with their scores; `proved` are the ids that the graph proves."""

    @abstractmethod
    def prove(self, query: Query, answers: Sequence[int], pause: Pause | None = None) -> list[Proof]:
        """Why each of some ids is an answer, from one computation for all of them."""

    def predict(self, entity: int, attribute: int, coverage: float, reasons: bool = False) -> Prediction | None:
        """The value of an attribute on an entity, with reasons if asked; None from a model that predicts no numbers."""
        return None

    def attribute_chances(self, entity: int) -> np.ndarray | None:  # (attributes,)
        """How likely an entity has each attribute where it is not stated; None from a model that does not say."""
        return None

    def judge_numbers(
        self, attribute: int, entities: np.ndarray, numbers: np.ndarray, coverage: float
    ) -> JudgedNumbers | None:
        """How unlikely numbers are that are stated of entities; None from a model that predicts no numbers."""
        return None

    def likely_facts(
        self, relation: int, heads: np.ndarray, above: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # (n,) each
        """The facts from heads that are not stated and at least so likely: the head's row, the tail, how likely."""
        raise UserError(f"the model {self.name} infers nothing: learn a reckoner, kgreckon learn")

    def draws(self, query: Query, attribute: int | None, pause: Pause | None = None) -> Draws | None:
        """The things that answer a query in drawn graphs, and their values of an attribute; None without probabilities.

        The same graphs are drawn each time.
        """
        return None

    def prepare(self, pause: Pause) -> None:
        """Compute ahead what many questions need; a server calls this in the background."""
        pause()

    def over(self, graph: KnowledgeGraph) -> Model:
        """The same model over a graph with later changes, in which ids of things, relations and attributes stay."""
        raise UserError(f"the model {self.name} cannot take changes: learn a reckoner, kgreckon learn")

    def limited(self, heads: int) -> Model:
        """The same model with at most that much work in a step, for a server's time limits."""
        return self


class TrainedModel(Model):
    """A model with weights: it scores all candidates of a batch of queries on its device."""

    device: torch.device  # where batches are scored
    queries_at_once: int = 0  # that are ranked together; 0 leaves it to the evaluation

    @abstractmethod
    def scores(self, batch: Batch[Tensor]) -> Tensor:  # -> (queries, all candidates of the target's sort)
        """A score of every candidate for each query of a batch; only their order counts."""

    def likely_facts(
        self, relation: int, heads: np.ndarray, above: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # (n,) each
        """Of all scores those that are high enough, and of facts that the graph does not state."""
        import torch

        ids = torch.tensor([[relation, head] for head in heads.tolist()], dtype=torch.int32, device=self.device)
        shape = Batch.of([Follow(relation, Entity(int(heads[0])))], self.graph.values)
        scores = self.scores(shape.with_ids(ids)).float().cpu().numpy()
        for row, head in enumerate(heads.tolist()):
            scores[row, ask(self.graph, Follow(relation, Entity(head)))] = 0
        rows, tails = np.nonzero(scores >= above)
        return rows, tails, scores[rows, tails]

    def shown(self, batch: Batch[Tensor], scores: Tensor) -> Tensor:  # (queries, candidates)
        """What is shown to people for the scores of a batch; a model with probabilities may map them."""
        return scores

    def scores_as_released(self, batch: Batch[Tensor]) -> Tensor:  # -> (queries, candidates, then others)
        """The same, and after them the scores of others that the paper's released code ranks among the candidates."""
        return self.scores(batch)


class TrainingProgress:
    """What a training reports about itself; the default prints nothing."""

    def begin(self, step: int, steps: int) -> None:
        """Training starts at a step."""

    def report(self, step: int, loss: float, queries_per_second: float) -> None:
        """The step reached, with the mean loss since the last report."""

    def validated(self, step: int, mrr: float, best: bool) -> None:
        """A validation is done."""

    def stage(self, text: str) -> None:
        """Work other than steps begins."""

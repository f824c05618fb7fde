"""The answerer: what the graph proves and what a model infers, ranked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.answering.steps import Steps
from kgreckon.benchmark import Split
from kgreckon.errors import UserError
from kgreckon.exact import ask as ask_exactly
from kgreckon.graph import KnowledgeGraph
from kgreckon.models import QueryModel
from kgreckon.query import (
    SEVEN,
    Batch,
    Entity,
    Number,
    NumberSort,
    Pause,
    Query,
    Sort,
    ValueOf,
    sentence,
    sort_of,
)
from kgreckon.query.english import number_words
from kgreckon.query.paper import write
from kgreckon.query.reading import answers_wanted, read_query
from kgreckon.reckoner import CertainFacts, Inference, ObservedFacts, PredictedFacts, Reckoner
from kgreckon.reckoner.explaining import explain_all, lines
from kgreckon.reckoner.fuzzy import ids_on
from kgreckon.reckoner.predicting import predict
from kgreckon.training.evaluating import device_for, load
from kgreckon.training.run_folder import Run

_NOTHING = "nothing speaks for it"  # the reason of what is no answer
COVERAGE = 0.9  # of an estimate's interval
_LEAST_EXPECTED = 0.01  # numbers that are not observed, below which there is no estimate of them


class Only(StrEnum):
    """Which answers are asked for, where not all are."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@dataclass(frozen=True)
class Answer:
    """One answer: an entity, or a number with its unit."""

    id: int  # of the entity, or the row of the value table
    name: str
    label: str
    score: float  # a probability: the reckoner's own, or a model's softmax over all candidates
    observed: bool  # the graph proves it; else it is inferred
    value: float | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Estimate:
    """Where an inferred number is likely to be."""

    value: float
    low: float
    high: float
    unit: str
    expected: float  # how many such numbers are to be expected; below 1, the chance that there is one
    coverage: float = COVERAGE


@dataclass(frozen=True)
class Answers:
    """A question with its best answers."""

    query: str  # in the paper's notation
    words: str
    observed: int  # how many answers the graph proves
    answers: tuple[Answer, ...]
    estimate: Estimate | None = None  # of the numbers that are not observed

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def witnesses(graph: KnowledgeGraph, query: Query, answers: Sequence[int]) -> list[list[str]]:
    """For each answer that the graph proves, the facts of one proof."""
    return Answerer.exact(graph).explain_all(query, answers)


def name_of(graph: KnowledgeGraph, query: Query, answer: int) -> str:
    """The readable name of an answer, or its number and unit."""
    if not isinstance(sort_of(query, graph.vocabulary), NumberSort):
        return graph.vocabulary.entity_label(answer)
    return number_words(Number(*graph.values.number_at(answer)), graph.vocabulary)


@dataclass(frozen=True)
class Ranking:
    """The score of every candidate for a query, and which of them the graph proves."""

    query: Query
    sort: Sort
    scores: np.ndarray  # (candidates,) float32: entities, or rows of the value table
    proved: np.ndarray  # ids, rising

    def best(self, limit: int, only: Only | None = None) -> list[int]:
        """The candidates from the best on: what is proved comes first, a tie by its id, and nothing impossible."""
        if limit < 0:
            raise UserError(f"limit must not be negative, but is {limit}")
        order = self.scores.astype(np.float64)
        order[self.proved] = 0 if only is Only.INFERRED else 2 + order[self.proved]  # no score is above 1
        if only is Only.OBSERVED:
            order[order < 2] = 0
        limit = min(limit, len(order))
        if not limit:
            return []
        least = np.partition(order, len(order) - limit)[len(order) - limit]
        likely = np.flatnonzero((order >= least) & (order > 0))
        return likely[np.argsort(-order[likely], kind="stable")][:limit].tolist()


class Answerer:
    """A trained run over all facts of its graph; one may be asked from several threads at once.

    The model learned from the training graph; whatever the whole graph states beyond it counts as observed here.
    """

    def __init__(self, model: QueryModel | Reckoner, graph: KnowledgeGraph, device: torch.device) -> None:
        self.model, self.graph, self.device = model, graph, device

    @staticmethod
    def open(run: Run | str | Path, benchmark: Path | None = None, device: str = "auto") -> Answerer:
        """The answerer of a run folder."""
        opened = run if isinstance(run, Run) else Run.open(run)
        model = load(opened, benchmark, device, known=Split.TEST)
        model = model.computing() if isinstance(model, Reckoner) else model
        return Answerer(model, opened.benchmark(benchmark).graph, device_for(device))

    @staticmethod
    def exact(graph: KnowledgeGraph) -> Answerer:
        """The answerer of a graph alone: what it proves, and nothing else."""
        cpu = torch.device("cpu")
        return Answerer(Reckoner(CertainFacts(ObservedFacts.of(graph, cpu)), Inference()), graph, cpu)

    @cached_property
    def _exact(self) -> Answerer:
        return Answerer.exact(self.graph)

    def ask(self, query: Query | str, limit: int | None = None, only: Only | str | None = None) -> Answers:
        """The best answers to a query, or to one written in the paper's notation or in SPARQL.

        `only` may be "observed" or "inferred". Without a limit and a LIMIT there are 20.
        """
        if only is not None and only not in set(Only):
            raise UserError(f"only cannot be {only!r}: choose {' or '.join(Only)}")
        only = None if only is None else Only(only)
        asked, own_limit = self._read(query)
        return self.best(self.rank(asked, only=only), answers_wanted(limit, own_limit), only)

    def rank(self, query: Query, pause: Pause | None = None, only: Only | None = None) -> Ranking:
        """The score of every candidate; of what is observed alone a neural model has no say."""
        if only is Only.OBSERVED and not isinstance(self.model, Reckoner):
            return self._exact.rank(query, pause)
        sort = sort_of(query, self.graph.vocabulary)
        self.check(query)
        scores = self._scores(Batch.of([query], self.graph.values), pause).float().cpu().numpy()
        if isinstance(sort, NumberSort):  # only numbers in a unit that the query can mean
            table = self.graph.values
            meant = np.array([unit in sort.units for unit in table.units], dtype=bool)[table.unit_ids]
            scores = np.where(meant, scores, np.float32(0))
        return Ranking(query, sort, scores, ask_exactly(self.graph, query, pause=pause))

    def check(self, query: Query) -> None:
        """Raise a UserError where the model cannot answer: a neural one has learned only what its graph holds."""
        if isinstance(self.model, Reckoner):
            return
        batch = Batch.of([query], self.graph.values)
        others = [str(comparison) for comparison in batch.comparisons if comparison not in SEVEN.values()]
        unknown = [*others[:1], *(f"{literal.value:g}" for literal in batch.literals[:1])]
        if unknown:
            at_all = others and any(literal.value == 0 for literal in batch.literals)  # those up to 0, and those above
            raise UserError(
                f"this model knows only the comparisons {', '.join(SEVEN)}, and the numbers of its graph: not "
                f"{', '.join(unknown)}{', and not who has a value at all' if at_all else ''}; ask for observed answers "
                "only, which do without the model"
            )

    def best(self, ranking: Ranking, limit: int, only: Only | None = None) -> Answers:
        """The best of all candidates, in words."""
        names, proved = self.graph.vocabulary, set(ranking.proved.tolist())
        numbers = isinstance(ranking.sort, NumberSort)
        found = tuple(
            self._answer(numbers, place, float(ranking.scores[place]), place in proved)
            for place in ranking.best(limit, only)
        )
        estimate = self._estimate(ranking) if numbers and only is not Only.OBSERVED else None
        return Answers(write(ranking.query, names), sentence(ranking.query, names), len(proved), found, estimate)

    def explain(self, query: Query | str, answer: int) -> list[str]:
        """Why: the facts of the likeliest proof; from a neural model, which steps the graph states and which not."""
        return self.explain_all(query, [answer])[0]

    def explain_all(self, query: Query | str, answers: Sequence[int], pause: Pause | None = None) -> list[list[str]]:
        """Why each of some answers is one, from one computation for all of them."""
        query, names = self._read(query)[0], self.graph.vocabulary
        batch = Batch.of([query], self.graph.values)
        candidates = len(self.graph.values if batch.shape.denotes_numbers else self.graph.entities)
        for answer in answers:
            if not 0 <= answer < candidates:
                raise UserError(f"{answer} is not the id of an answer: there are {candidates:,} candidates")
        if isinstance(self.model, Reckoner):
            reasons = explain_all(self.model, batch, answers, pause)
            return [lines(each, batch, names) if each.probability > 0 else [_NOTHING] for each in reasons]
        steps = Steps(self.graph, lambda part, member: self._exact.explain_all(part, [member], pause)[0], pause)
        certain = [answer for answer in answers if answer in steps.proved(query)]
        proofs = dict(zip(certain, self._exact.explain_all(query, certain, pause), strict=True)) if certain else {}
        return [proofs[answer] if answer in proofs else steps.lines(query, answer) for answer in answers]

    def _read(self, query: Query | str) -> tuple[Query, int | None]:
        return read_query(query, self.graph.vocabulary) if isinstance(query, str) else (query, None)

    @torch.no_grad()
    def _scores(self, batch: Batch, pause: Pause | None) -> Tensor:  # -> (candidates,)
        if isinstance(self.model, Reckoner):
            return self.model.answer(batch, pause)[0]
        if pause is not None:
            pause()
        ids = ids_on(batch, self.device)
        return self.model.answer(Batch(batch.shape, ids))[0].float().softmax(dim=0)  # type: ignore[arg-type]

    def _answer(self, numbers: bool, place: int, score: float, observed: bool) -> Answer:
        names = self.graph.vocabulary
        if not numbers:
            return Answer(place, names.entity_name(place), names.entity_label(place), score, observed)
        value, unit = self.graph.values.number_at(place)
        label = number_words(Number(value, unit), names)
        return Answer(place, label, label, score, observed, value, unit)

    def _estimate(self, ranking: Ranking) -> Estimate | None:
        """The middle of what is left to the values that are not observed, within the likeliest unit."""
        asked, proved = ranking.query, ranking.proved
        if isinstance(asked, ValueOf) and isinstance(asked.of, Entity):
            if len(proved):  # an entity has one value
                return None
            if isinstance(self.model, Reckoner):
                if not isinstance(self.model.facts, PredictedFacts):
                    return None
                own = predict(self.model.facts, asked.of.entity, asked.attribute, COVERAGE)
                return Estimate(own.estimate, own.low, own.high, own.unit, own.has_it)
        mass = ranking.scores.astype(np.float64)
        mass[proved] = 0
        if isinstance(asked, ValueOf):  # other attributes may have the same unit
            stated = self.graph.attribute_facts.targets[self.graph.attribute_facts.labels == asked.attribute]
            mass[: stated.min(initial=len(mass))] = 0
            mass[stated.max(initial=-1) + 1 :] = 0
        starts = self.graph.values.unit_starts
        by_unit = np.add.reduceat(mass, starts[:-1]) if len(starts) > 1 else np.zeros(0)
        if not len(by_unit) or by_unit.max() < _LEAST_EXPECTED:
            return None
        unit = int(by_unit.argmax())
        rows = slice(int(starts[unit]), int(starts[unit + 1]))
        below = np.cumsum(mass[rows]) / by_unit[unit]
        low, middle, high = (
            float(self.graph.values.numbers[rows][min(int(np.searchsorted(below, share)), len(below) - 1)])
            for share in ((1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2)
        )
        # A neural model spreads what it has over the candidates, whether there is a value or not.
        expected = float(by_unit[unit]) if isinstance(self.model, Reckoner) else 1.0
        return Estimate(middle, low, high, self.graph.values.units[unit], expected)

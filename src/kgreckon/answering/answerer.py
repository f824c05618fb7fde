"""The answerer: what the graph proves and what a model infers, ranked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Split
from kgreckon.errors import UserError
from kgreckon.exact import ask as ask_exactly
from kgreckon.graph import KnowledgeGraph
from kgreckon.models import QueryModel
from kgreckon.query import SEVEN, And, Batch, Entity, Number, NumberSort, Query, ValueOf, sentence, sort_of
from kgreckon.query.paper import write
from kgreckon.query.reading import read_query
from kgreckon.reckoner import CertainFacts, Inference, ObservedFacts, PredictedFacts, Reckoner
from kgreckon.reckoner.explaining import explain, lines
from kgreckon.reckoner.fuzzy import ids_on
from kgreckon.reckoner.predicting import predict
from kgreckon.training.evaluating import device_for, load
from kgreckon.training.run_folder import Run

COVERAGE = 0.9  # of an estimate's interval


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
    certain = Reckoner(CertainFacts(ObservedFacts.of(graph, torch.device("cpu"))), Inference())
    batch = Batch.of([query], graph.values)
    return [lines(explain(certain, batch, answer), batch, graph.vocabulary) for answer in answers]


def name_of(graph: KnowledgeGraph, query: Query, answer: int) -> str:
    """The readable name of an answer, or its number and unit."""
    if not isinstance(sort_of(query, graph.vocabulary), NumberSort):
        return graph.vocabulary.entity_label(answer)
    number = Number(*graph.values.number_at(answer))
    return f"{graph.vocabulary.write_number(number)} {number.unit}".strip()


class Answerer:
    """A trained run over all facts of its graph.

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

    def ask(self, query: Query | str, limit: int = 10) -> Answers:
        """The best answers to a query, or to one written in the paper's notation or in SPARQL."""
        asked, own_limit = self._read(query)
        limit = limit if own_limit is None else min(limit, own_limit)
        batch = Batch.of([asked], self.graph.values)
        scores, proved = self._scores(asked, batch), ask_exactly(self.graph, asked)
        order = scores.clone()
        order[torch.from_numpy(proved.astype(np.int64)).to(order.device)] += 1  # what is proved comes first
        best = order.topk(min(limit, len(order)))
        places = [place for place, score in zip(best.indices.tolist(), best.values.tolist(), strict=True) if score > 0]
        known = set(proved.tolist())
        found = tuple(self._answer(asked, place, float(scores[place]), place in known) for place in places)
        names = self.graph.vocabulary
        estimate = self._estimate(asked, scores, proved) if batch.shape.denotes_numbers else None
        return Answers(write(asked, names), sentence(asked, names), len(proved), found, estimate)

    def explain(self, query: Query | str, answer: int) -> list[str]:
        """Why: the facts of the likeliest proof; from a neural model, which conditions the graph proves."""
        asked, _ = self._read(query)
        batch = Batch.of([asked], self.graph.values)
        if isinstance(self.model, Reckoner):
            return lines(explain(self.model, batch, answer), batch, self.graph.vocabulary)
        if answer in ask_exactly(self.graph, asked):
            return witnesses(self.graph, asked, [answer])[0]
        parts = asked.parts if isinstance(asked, And) else (asked,)
        return [
            f"{sentence(part, self.graph.vocabulary)} "
            f"({'observed' if answer in ask_exactly(self.graph, part) else 'missing'})"
            for part in parts
        ]

    def _read(self, query: Query | str) -> tuple[Query, int | None]:
        asked, limit = read_query(query, self.graph.vocabulary) if isinstance(query, str) else (query, None)
        sort_of(asked, self.graph.vocabulary)
        return asked, limit

    def _scores(self, asked: Query, batch: Batch) -> Tensor:  # -> (candidates,)
        """The score of every candidate; of numbers only those in a unit that the query can mean."""
        scores = self._model_scores(batch)
        sort = sort_of(asked, self.graph.vocabulary)
        if not isinstance(sort, NumberSort):
            return scores
        table = self.graph.values
        meant = np.array([unit in sort.units for unit in table.units], dtype=bool)[table.unit_ids]
        return torch.where(torch.from_numpy(meant).to(scores.device), scores, 0.0)

    def _model_scores(self, batch: Batch) -> Tensor:  # -> (candidates,)
        if isinstance(self.model, Reckoner):
            return self.model.answer(batch)[0]
        if batch.literals:
            raise UserError(f"this model knows only the numbers of its graph, not {batch.literals[0].value:g}")
        if batch.comparisons[: len(SEVEN)] != tuple(SEVEN.values()) or len(batch.comparisons) > len(SEVEN):
            raise UserError(f"this model knows only the comparisons {', '.join(SEVEN)}")
        ids = ids_on(batch, self.device)
        return self.model.answer(Batch(batch.shape, ids))[0].float().softmax(dim=0)  # type: ignore[arg-type]

    def _answer(self, query: Query, place: int, score: float, observed: bool) -> Answer:
        label = name_of(self.graph, query, place)
        if not isinstance(sort_of(query, self.graph.vocabulary), NumberSort):
            return Answer(place, self.graph.vocabulary.entity_name(place), label, score, observed)
        return Answer(place, label, label, score, observed, *self.graph.values.number_at(place))

    def _estimate(self, asked: Query, scores: Tensor, proved: np.ndarray) -> Estimate | None:
        """The middle of what is left to the values that are not observed, within the likeliest unit."""
        if isinstance(asked, ValueOf) and isinstance(asked.of, Entity) and isinstance(self.model, Reckoner):
            if len(proved) or not isinstance(self.model.facts, PredictedFacts):
                return None
            own = predict(self.model.facts, asked.of.entity, asked.attribute, COVERAGE)
            return Estimate(own.estimate, own.low, own.high, own.unit)
        mass = scores.double().cpu().numpy().copy()
        mass[proved] = 0
        starts = self.graph.values.unit_starts
        by_unit = np.add.reduceat(mass, starts[:-1]) if len(starts) > 1 else np.zeros(0)
        if not len(by_unit) or by_unit.max() <= 1e-6:
            return None
        unit = int(by_unit.argmax())
        rows = slice(int(starts[unit]), int(starts[unit + 1]))
        below = np.cumsum(mass[rows]) / by_unit[unit]
        low, middle, high = (
            float(self.graph.values.numbers[rows][min(int(np.searchsorted(below, share)), len(below) - 1)])
            for share in ((1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2)
        )
        return Estimate(middle, low, high, self.graph.values.units[unit])

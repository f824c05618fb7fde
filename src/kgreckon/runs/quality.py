"""How well a model finds the facts and values that were held back from it: what a person may expect of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from kgreckon.errors import UserError, first_problem
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainedModel
from kgreckon.query import Batch, Entity, Follow

LEAST = 0.01  # candidates below are not counted among those that were stated
_MOST_FACTS, _MOST_OF_ONE = 3_000, 200  # held-back facts that are ranked, in all and of one relation
_MOST_VALUES = 200  # held-back values that are predicted, of one attribute
_ENOUGH = 10  # held-back facts from which on a relation's figures mean something
_COVERAGE = 0.9
Advance = Callable[[int, int], None]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Tenth(_Part):
    """Candidates whose probability was between two bounds: how many, what was stated on average, and what was true."""

    low: float
    high: float
    candidates: int
    stated: float
    true: float


class RelationQuality(_Part):
    """How well a relation's hidden facts are found, asked from both ends."""

    name: str
    label: str
    facts: int  # that the graph states
    tested: int  # that were held back and ranked, each from both ends
    mrr: float  # percent
    hits_at_10: float  # percent
    candidates: int  # with a probability of at least `LEAST`
    stated: float  # how many of them are expected to be true
    true: int  # how many are


class AttributeQuality(_Part):
    """How near an attribute's hidden values are predicted, and how often the interval holds them."""

    name: str
    label: str
    unit: str
    values: int  # that the graph states
    tested: int
    mean_error: float
    median_error: float
    mean_error_of_the_median: float  # of guessing the median of the known values
    covered: float  # share of the tested values inside their interval


class Quality(_Part):
    """The quality report of a model that was learned from facts."""

    entities: int
    facts: int
    values: int
    held_back: float  # share of all facts and values
    seconds: float  # that learning took, in all; 0 until it is done
    mrr: float  # percent, of all ranked facts
    hits_at_1: float
    hits_at_10: float
    tested: int
    coverage: float  # that the intervals state
    tenths: tuple[Tenth, ...]
    relations: tuple[RelationQuality, ...]  # the most frequent first
    attributes: tuple[AttributeQuality, ...]
    entities_without_facts: int  # of which only values are known, or nothing

    @property
    def untested(self) -> tuple[str, ...]:
        """The labels of relations of which too few facts were held back to say anything."""
        return tuple(row.label for row in self.relations if row.tested < _ENOUGH)

    @property
    def calibration_error(self) -> float:
        """The mean distance of stated and true share over the tenths, by how many candidates they have."""
        total = sum(tenth.candidates for tenth in self.tenths)
        return sum(tenth.candidates * abs(tenth.stated - tenth.true) for tenth in self.tenths) / max(total, 1)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Quality:
        """The way back from what a run folder holds."""
        try:
            return Quality.model_validate(data)
        except ValidationError as error:
            raise UserError(f"not a quality report: {first_problem(error)}") from None

    def sentences(self) -> list[str]:
        """The report in words, the most important first."""
        if not self.tested and not self.attributes:
            return ["The graph is too small to hold anything back: nothing was measured."]
        told = []
        if self.tested:
            told.append(
                f"{self.tested:,} facts were hidden and looked for from both ends: the right answer came first in "
                f"{self.hits_at_1:.0f} % of cases and among the ten best in {self.hits_at_10:.0f} %."
            )
            told.append(
                f"Probabilities are off by {100 * self.calibration_error:.1f} points on average "
                f"(over all candidates of at least {LEAST:.0%})."
            )
        better = [row for row in self.attributes if row.mean_error < row.mean_error_of_the_median]
        if self.attributes:
            tested = sum(row.tested for row in self.attributes)
            covered = sum(row.tested * row.covered for row in self.attributes) / max(tested, 1)
            told.append(
                f"{tested:,} numbers were hidden: {len(better)} of {len(self.attributes)} attributes are predicted "
                f"better than by their median, and {covered:.0%} of the numbers lie in their interval of "
                f"{self.coverage:.0%}."
            )
        if self.untested:
            few = ", ".join(self.untested[:5]) + (" and others" if len(self.untested) > 5 else "")
            told.append(f"Too few facts to judge: {few}.")
        if self.entities_without_facts:
            without = f"{self.entities_without_facts:,} of {self.entities:,} things"
            told.append(f"{without} have no fact that links them to others: little can be inferred about them.")
        return told


def measure(
    model: TrainedModel,
    held_back: HeldBack,
    share: float,
    rng: np.random.Generator,
    advance: Advance = lambda done, total: None,
) -> Quality:
    """Ask a model that has not seen them for the facts and values that were held back from its graph."""
    graph = model.graph
    asked = _some_facts(held_back.facts, len(graph.relations), rng)
    chosen = [_some(own, _MOST_VALUES, rng) for own in _by_label(held_back.attribute_facts, len(graph.attributes))]
    total, done = 2 * len(asked) + sum(map(len, chosen)), 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        advance(done, total)

    ranks, tally = _ask_facts(model, held_back.facts, asked, step)
    attributes = [_attribute_quality(model, place, own, step) for place, own in enumerate(chosen)]
    relations = [
        _relation_quality(graph, held_back, place, asked, ranks, tally) for place in range(len(graph.relations))
    ]
    of_facts = np.concatenate([graph.facts.sources, graph.facts.targets])
    return Quality(
        entities=len(graph.entities),
        facts=len(graph.facts) + len(held_back.facts),
        values=len(graph.attribute_facts) + len(held_back.attribute_facts),
        held_back=share,
        seconds=0.0,
        mrr=_percent(1 / ranks),
        hits_at_1=_percent(ranks <= 1),
        hits_at_10=_percent(ranks <= 10),
        tested=len(asked),
        coverage=_COVERAGE,
        tenths=tuple(tally.tenths()),
        relations=tuple(sorted(relations, key=lambda row: -row.facts)),
        attributes=tuple(sorted((row for row in attributes if row is not None), key=lambda row: -row.values)),
        entities_without_facts=len(graph.entities)
        - len(np.unique(np.concatenate([of_facts, held_back.facts.sources, held_back.facts.targets]))),
    )


def _by_label(facts: Triples, labels: int) -> list[Triples]:
    return [facts[facts.labels == label] for label in range(labels)]


def _some(facts: Triples, most: int, rng: np.random.Generator) -> Triples:
    return facts[np.sort(rng.permutation(len(facts))[:most])]


def _some_facts(facts: Triples, relations: int, rng: np.random.Generator) -> Triples:
    """A random choice with few of each relation, and of all so many that it stays fast."""
    rows = rng.permutation(len(facts))
    order = rows[np.argsort(facts.labels[rows], kind="stable")]
    labels = facts.labels[order]
    counts = np.bincount(labels, minlength=relations)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    few = order[place < _MOST_OF_ONE]
    return facts[np.sort(rng.permutation(few)[:_MOST_FACTS])]


class _Tally:
    """Candidates that were stated with a probability, by relation and by tenth."""

    def __init__(self, relations: int) -> None:
        self.counts, self.true = np.zeros((relations, 10), np.int64), np.zeros((relations, 10), np.int64)
        self.stated = np.zeros((relations, 10))

    def add(self, relation: int, scores: np.ndarray, true: np.ndarray) -> None:
        """Candidates of one question, and which of them were held back."""
        tenths = np.minimum((10 * scores).astype(np.int64), 9)
        self.counts[relation] += np.bincount(tenths, minlength=10)
        self.true[relation] += np.bincount(tenths[true], minlength=10)
        self.stated[relation] += np.bincount(tenths, scores, minlength=10)

    def tenths(self) -> Iterable[Tenth]:
        """Those that have candidates."""
        for place, (count, true, stated) in enumerate(
            zip(self.counts.sum(0).tolist(), self.true.sum(0).tolist(), self.stated.sum(0).tolist(), strict=True)
        ):
            if count:
                yield Tenth(
                    low=place / 10, high=(place + 1) / 10, candidates=count, stated=stated / count, true=true / count
                )


def _ask_facts(
    model: TrainedModel, held_back: Triples, asked: Triples, step: Callable[[int], None]
) -> tuple[np.ndarray, _Tally]:
    """The rank of each fact from its head and then from its tail, (facts, 2), and what was stated of all candidates."""
    import torch

    graph, table = model.graph, model.graph.values
    tally, ranks = _Tally(len(graph.relations)), np.ones((len(asked), 2))
    shape = Batch.of([Follow(0, Entity(0))], table)
    at_once = max(1, min(model.queries_at_once or 64, 64))
    counted: set[tuple[int, int]] = set()  # a question that several facts ask counts once
    for side in (0, 1):
        hidden = _targets(held_back, bool(side))
        heads, tails = (asked.targets, asked.sources) if side else (asked.sources, asked.targets)
        for first in range(0, len(asked), at_once):
            rows = slice(first, first + at_once)
            relations = 2 * asked.labels[rows].astype(np.int32) + side
            ids = torch.from_numpy(np.stack([relations, heads[rows].astype(np.int32)], axis=1))
            scores = model.scores(shape.with_ids(ids.to(model.device))).float().cpu().numpy()
            for row, (relation, head, tail) in enumerate(
                zip(asked.labels[rows].tolist(), heads[rows].tolist(), tails[rows].tolist(), strict=True), first
            ):
                own = scores[row - first]
                true = hidden.get((relation, head), ())
                wanted = own[tail]
                possible = np.ones(len(own), dtype=bool)
                possible[ask(graph, Follow(2 * relation + side, Entity(head)))] = False
                candidates = np.flatnonzero(possible & (own >= LEAST))
                question = (2 * relation + side, head)
                if question not in counted:
                    counted.add(question)
                    tally.add(relation, own[candidates], np.isin(candidates, true))
                possible[list(true)] = False
                others = own[possible]
                ranks[row, side] = 1 + np.count_nonzero(others > wanted) + 0.5 * np.count_nonzero(others == wanted)
            step(len(relations))
    return ranks, tally


def _targets(facts: Triples, backwards: bool) -> dict[tuple[int, int], list[int]]:
    """What each relation leads to from each entity."""
    found: dict[tuple[int, int], list[int]] = {}
    heads, tails = (facts.targets, facts.sources) if backwards else (facts.sources, facts.targets)
    for head, label, tail in zip(heads.tolist(), facts.labels.tolist(), tails.tolist(), strict=True):
        found.setdefault((label, head), []).append(tail)
    return found


def _relation_quality(
    graph: KnowledgeGraph, held_back: HeldBack, relation: int, asked: Triples, ranks: np.ndarray, tally: _Tally
) -> RelationQuality:
    own = ranks[asked.labels == relation]
    facts = int(np.count_nonzero(graph.facts.labels == relation) + np.count_nonzero(held_back.facts.labels == relation))
    return RelationQuality(
        name=graph.relations.name(relation),
        label=graph.relations.label(relation),
        facts=facts,
        tested=len(own),
        mrr=_percent(1 / own),
        hits_at_10=_percent(own <= 10),
        candidates=int(tally.counts[relation].sum()),
        stated=float(tally.stated[relation].sum()),
        true=int(tally.true[relation].sum()),
    )


def _attribute_quality(
    model: TrainedModel, attribute: int, hidden: Triples, step: Callable[[int], None]
) -> AttributeQuality | None:
    graph = model.graph
    known = graph.values.numbers[graph.attribute_facts.targets[graph.attribute_facts.labels == attribute]]
    errors, inside, unit = [], 0, graph.values.units[int(graph.attribute_units[attribute])]
    median = float(np.median(known)) if len(known) else 0.0
    numbers = graph.values.numbers[hidden.targets]
    for entity, number in zip(hidden.sources.tolist(), numbers.tolist(), strict=True):
        found = model.predict(entity, attribute, _COVERAGE) if len(known) else None
        step(1)
        if found is not None:
            errors.append(abs(found.estimate - number))
            inside += found.low <= number <= found.high
    if not errors:
        return None
    return AttributeQuality(
        name=graph.attributes.name(attribute),
        label=graph.attributes.label(attribute),
        unit=unit,
        values=len(known) + len(hidden),
        tested=len(errors),
        mean_error=float(np.mean(errors)),
        median_error=float(np.median(errors)),
        mean_error_of_the_median=float(np.mean(np.abs(numbers - median))),
        covered=inside / len(errors),
    )


def _percent(shares: np.ndarray) -> float:
    return 100 * float(np.mean(shares)) if shares.size else 0.0

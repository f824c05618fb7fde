"""Measuring a learned model on the facts and values that were held back from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainedModel
from kgreckon.query import Batch, Entity, Follow
from kgreckon.runs.quality import LEAST, AttributeQuality, Quality, RelationQuality, Tenth

_MOST_FACTS, _MOST_OF_ONE = 3_000, 200  # held-back facts that are ranked, in all and of one relation
_MOST_VALUES = 200  # held-back values that are predicted, of one attribute
_MOST_HEADS, _FEWEST_HEADS = 20_000, 40  # heads that are asked for what they lack: in all, and of one relation
_MOST_THINGS = 2_000  # that are asked for the numbers that they lack
_AT_ONCE = 64
_COVERAGE = 0.9
Advance = Callable[[int, int], None]


def measure(
    model: TrainedModel,
    held_back: HeldBack,
    share: float,
    rng: np.random.Generator,
    advance: Advance = lambda done, total: None,
    unseen: HeldBack | None = None,
) -> Quality:
    """Ask a model that has not learned them for the facts and values that were held back from its graph.

    Ranks are those of held-back facts. What probabilities are worth is seen on all facts that are not stated, from a
    sample of all things: one that asked only for what is hidden would see more come true than was said. The true ones
    among them are those that are `unseen` in calibrating too, each of which stands for a few.
    """
    graph, unseen = model.graph, held_back if unseen is None else unseen
    asked = _some_facts(held_back.facts, len(graph.relations), rng)
    hidden = [held_back.attribute_facts.labels == label for label in range(len(graph.attributes))]
    chosen = [_some(held_back.attribute_facts[own], _MOST_VALUES, rng) for own in hidden]
    values = [np.count_nonzero(own) + np.count_nonzero(graph.attribute_facts.labels == place)
              for place, own in enumerate(hidden)]  # fmt: skip
    heads = [_some_heads(unseen.facts, relation, graph, rng) for relation in range(len(graph.relations))]
    total, done = 2 * len(asked) + sum(map(len, chosen)) + sum(len(own) for own, _ in heads), 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        advance(done, total)

    ranks = _ranks(model, held_back.facts, asked, step)
    tally = _tally_facts(model, unseen, heads, step)
    attributes = [_attribute_quality(model, place, own, int(values[place]), step) for place, own in enumerate(chosen)]
    relations = [
        _relation_quality(graph, held_back, place, asked, ranks, tally) for place in range(len(graph.relations))
    ]
    facts = (graph.facts, held_back.facts)
    degrees = sum(
        np.bincount(ends, minlength=len(graph.entities)) for own in facts for ends in (own.sources, own.targets)
    )
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
        value_tenths=tuple(_tally_values(model, unseen, rng).tenths()),
        relations=tuple(sorted(relations, key=lambda row: -row.facts)),
        attributes=tuple(sorted((row for row in attributes if row is not None), key=lambda row: -row.values)),
        entities_without_facts=int(np.count_nonzero(degrees == 0)),
        entities_with_one_fact=int(np.count_nonzero(degrees == 1)),
    )


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


def _some_heads(
    held_back: Triples, relation: int, graph: KnowledgeGraph, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Things to ask for a relation, and how many each stands for: half of them hide a fact of it, if so many do."""
    most = max(_FEWEST_HEADS, _MOST_HEADS // max(1, len(graph.relations)))
    hiding = np.unique(held_back.sources[held_back.labels == relation])
    others = np.setdiff1d(np.arange(len(graph.entities)), hiding)
    first = rng.permutation(hiding)[: most // 2]
    second = rng.permutation(others)[: most - len(first)]
    counts = np.repeat([len(hiding) / max(1, len(first)), len(others) / max(1, len(second))], [len(first), len(second)])
    return np.concatenate([first, second]), counts


class _Tally:
    """Facts or values that are not stated, by label and by tenth of the probability."""

    def __init__(self, labels: int, of_hidden: float) -> None:
        self.counts, self.true, self.stated = np.zeros((3, labels, 10))
        self.of_hidden = of_hidden  # the share of the true ones that are known

    def add(self, labels: np.ndarray, scores: np.ndarray, true: np.ndarray, counts: np.ndarray) -> None:
        """Some candidates: their labels and probabilities, which are known to be true, and how many each stands for."""
        places = labels, np.minimum((10 * scores).astype(np.int64), 9)
        np.add.at(self.counts, places, counts)
        np.add.at(self.true, places, counts * true / self.of_hidden)
        np.add.at(self.stated, places, counts * scores)

    def tenths(self) -> Iterable[Tenth]:
        """Those that have candidates."""
        columns = (self.counts.sum(0).tolist(), self.true.sum(0).tolist(), self.stated.sum(0).tolist())
        for place, (count, true, stated) in enumerate(zip(*columns, strict=True)):
            if count:
                yield Tenth(
                    low=place / 10,
                    high=(place + 1) / 10,
                    candidates=round(count),
                    stated=stated / count,
                    true=min(true / count, 1.0),
                )


def _tally_facts(
    model: TrainedModel,
    held_back: HeldBack,
    heads: list[tuple[np.ndarray, np.ndarray]],  # of each relation, and how many each stands for
    step: Callable[[int], None],
) -> _Tally:
    """What is said of facts that are not stated."""
    tally = _Tally(len(heads), held_back.of_hidden)
    for relation, (own, counts) in enumerate(heads):
        for first in range(0, len(own), _AT_ONCE):
            asked = own[first : first + _AT_ONCE]
            rows, tails, scores = model.likely_facts(2 * relation, asked, LEAST)
            labels = np.full(len(rows), relation)
            true = held_back.facts.rows_of(asked[rows], labels, tails) >= 0
            tally.add(labels, scores, true, counts[first + rows])
            step(len(asked))
    return tally


def _tally_values(model: TrainedModel, held_back: HeldBack, rng: np.random.Generator) -> _Tally:
    """What is said of whether things have numbers that are not stated."""
    graph = model.graph
    tally, size = _Tally(len(graph.attributes), held_back.of_hidden), len(graph.entities)
    things = rng.permutation(size)[:_MOST_THINGS] if len(graph.attributes) else np.zeros(0, dtype=np.int64)
    place_of = np.full(size, -1)
    place_of[things] = np.arange(len(things))

    def those_with(own: Triples) -> np.ndarray:  # (things, attributes) bool
        having = np.zeros((len(things) + 1, len(graph.attributes)), dtype=bool)
        having[place_of[own.sources], own.labels] = True  # others share the last row
        return having[:-1]

    stated, hidden = those_with(graph.attribute_facts), those_with(held_back.attribute_facts)
    for place, thing in enumerate(things.tolist()):
        chances = model.attribute_chances(thing)
        if chances is None:
            break
        labels = np.flatnonzero(~stated[place] & (chances >= LEAST))
        tally.add(labels, chances[labels], hidden[place, labels], np.full(len(labels), size / len(things)))
    return tally


def _ranks(
    model: TrainedModel, held_back: Triples, asked: Triples, step: Callable[[int], None]
) -> np.ndarray:  # (facts, 2)
    """The rank of each fact from its head and then from its tail, among all that is neither stated nor held back."""
    import torch

    graph, table = model.graph, model.graph.values
    ranks = np.ones((len(asked), 2))
    shape = Batch.of([Follow(0, Entity(0))], table)
    at_once = max(1, min(model.queries_at_once or _AT_ONCE, _AT_ONCE))
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
                possible = np.ones(len(own), dtype=bool)
                possible[ask(graph, Follow(2 * relation + side, Entity(head)))] = False
                possible[hidden[relation, head]] = False
                others, wanted = own[possible], own[tail]
                ranks[row, side] = 1 + np.count_nonzero(others > wanted) + 0.5 * np.count_nonzero(others == wanted)
            step(len(relations))
    return ranks


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
        candidates=round(tally.counts[relation].sum()),
        stated=float(tally.stated[relation].sum()),
        true=round(tally.true[relation].sum()),
    )


def _attribute_quality(
    model: TrainedModel, attribute: int, hidden: Triples, values: int, step: Callable[[int], None]
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
        values=values,
        tested=len(errors),
        mean_error=float(np.mean(errors)),
        median_error=float(np.median(errors)),
        mean_error_of_the_median=float(np.mean(np.abs(numbers - median))),
        covered=inside / len(errors),
    )


def _percent(shares: np.ndarray) -> float:
    return 100 * float(np.mean(shares)) if shares.size else 0.0

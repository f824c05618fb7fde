"""What is expected of inferred sets, against whole graphs that are drawn from the probabilities of facts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from kgreckon.answers.drawn import chances_of_top, expected_total
from kgreckon.answers.totals import ExpectedTotal, Total
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.reckoner.drawing import GRAPHS, draw
from kgreckon.models.reckoner.fuzzy import CertainFacts, Inference, MissingValues
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.query.paper import parse
from kgreckon.query.question import Aggregate
from random_graph import random_graph

DRAWN = 1000
ALL_HEADS = Inference(heads=10_000, least=0.0)


class Likely(CertainFacts):
    """Every fact that a graph does not state has a probability, the same one from both its ends."""

    def __init__(self, graph: KnowledgeGraph, seed: int) -> None:
        super().__init__(ObservedFacts.of(graph, torch.device("cpu")))
        generator = torch.Generator().manual_seed(seed)
        entities = len(graph.entities)
        self.facts = torch.rand(len(graph.relations), entities, entities, generator=generator) ** 6
        self.values = {}
        for attribute in range(len(graph.attributes)):
            unit = int(graph.attribute_units[attribute])
            low, high = int(graph.values.unit_starts[unit]), int(graph.values.unit_starts[unit + 1])
            own = graph.attribute_facts.sources[graph.attribute_facts.labels == attribute]
            lacking = torch.from_numpy(np.setdiff1d(np.arange(entities), own))
            likely = torch.rand(len(lacking), high - low, generator=generator) / (high - low)
            self.values[attribute] = MissingValues(lacking, likely, low)

    def tails(self, heads, relations, to=slice(None)):
        facts = torch.stack([self.facts, self.facts.transpose(1, 2)], dim=1).flatten(0, 1)
        return facts[relations[:, None], heads, to].clone()

    def missing(self, attribute):
        return self.values[attribute]


def drawn_graphs(facts: Likely, graph: KnowledgeGraph, rng: np.random.Generator):
    """Whole graphs: each fact that is not stated is thrown for, and each missing value."""
    likely = facts.facts.numpy()
    for _ in range(DRAWN):
        labels, sources, targets = np.nonzero(rng.random(likely.shape) < likely)
        own = graph.facts
        whole = [
            np.concatenate(both) for both in ((own.sources, sources), (own.labels, labels), (own.targets, targets))
        ]
        sources, labels, targets = np.unique(np.stack(whole), axis=1).astype(np.int32)
        held = [np.stack([graph.attribute_facts.sources, graph.attribute_facts.labels, graph.attribute_facts.targets])]
        for attribute, missing in facts.values.items():
            sums = missing.probabilities.double().cumsum(dim=1).numpy()
            rows = (rng.random(len(sums))[:, None] >= sums).sum(axis=1)
            some = rows < sums.shape[1]
            entities = missing.entities.numpy()[some]
            held.append(np.stack([entities, np.full(len(entities), attribute), rows[some] + missing.first_row]))
        values = np.concatenate(held, axis=1).astype(np.int32)
        yield replace(
            graph, facts=Triples.from_arrays(sources, labels, targets), attribute_facts=Triples.from_arrays(*values)
        )


QUERIES = (
    "(rp,(r0),(e,(e1)))",
    "(rp,(^r1),(rp,(r0),(e,(e2))))",
    "(i,(rp,(r0),(e,(e0))),(rp,(^r0),(e,(e3))))",  # the same facts from both their ends
    "(i,(rp,(r0),(e,(e0))),(n,(rp,(r1),(rp,(r0),(e,(e1))))))",
    "(rap,(height),(np,(GreaterThan),(ap,(height),(rp,(r0),(e,(e1))))))",
    "(u,(rp,(r2),(e,(e4))),(rap,(age),(np,(x < y),(nv,(3 years)))))",
    "(rp,(r0),(rap,(width),(nv,(5 metres))))",
)


@pytest.fixture(scope="module")
def graph():
    return random_graph(3, entities=14, facts=40, values=30)


@pytest.fixture(scope="module")
def facts(graph):
    return Likely(graph, 5)


def number_of(kind, values):
    """A number about some values, written without the library: None where there is none."""
    if kind is Aggregate.SUM:
        return float(sum(values))
    if not values:
        return None
    if kind is Aggregate.MEAN:
        return sum(values) / len(values)
    rising = sorted(values)
    if kind is Aggregate.MEDIAN:
        middle = len(rising) // 2
        return rising[middle] if len(rising) % 2 else (rising[middle - 1] + rising[middle]) / 2
    return rising[0] if kind is Aggregate.MINIMUM else rising[-1]


def expected_by_graphs(graphs, query, height):
    """By whole graphs: how many answers there are, the sum of their values, and who has the two largest ones."""
    counts, sums = [], []
    tops: dict[int, float] = {}
    for one in graphs:
        answers = ask(one, query)
        counts.append(len(answers))
        values = {e: one.values.numbers[one.values_of.row(e, height)].mean() for e in answers.tolist() if
                  len(one.values_of.row(e, height))}  # fmt: skip
        sums.append(sum(values.values()))
        for entity in sorted(values, key=lambda e: (-values[e], e))[:2]:
            tops[entity] = tops.get(entity, 0) + 1 / DRAWN
    return np.array(counts), np.array(sums), tops


def test_counts_sums_and_the_largest_are_those_of_whole_graphs_drawn_from_the_facts(graph, facts):
    height = graph.vocabulary.attribute_id("height")
    graphs = list(drawn_graphs(facts, graph, np.random.default_rng(1)))
    for text in QUERIES:
        query = parse(text, graph.vocabulary)
        counts, sums, tops = expected_by_graphs(graphs, query, height)
        draws = draw(facts, ALL_HEADS, query, height)
        assert draws.members.shape == (GRAPHS, len(draws.ids))
        for kind, whole in ((Aggregate.COUNT, counts), (Aggregate.SUM, sums)):
            found = expected_total(draws, kind, 0.9)
            assert found is not None
            error = whole.std() * np.sqrt(1 / GRAPHS + 1 / DRAWN) + 1e-9
            assert abs(found.value - whole.mean()) < 4 * error, (text, kind)
            within = np.mean((whole >= found.low) & (whole <= found.high))
            assert within >= 0.84, (text, kind)
        chances = chances_of_top(draws, 2, True)
        for entity in {*tops, *chances}:
            share = tops.get(entity, 0)
            error = np.sqrt(max(share * (1 - share), 0.01) * (1 / GRAPHS + 1 / DRAWN))
            assert abs(chances.get(entity, 0) - share) < 4.5 * error, (text, entity)


@pytest.mark.parametrize("kind", [Aggregate.MEAN, Aggregate.MEDIAN, Aggregate.MINIMUM, Aggregate.MAXIMUM])
def test_means_medians_and_extremes_are_those_of_whole_graphs_drawn_from_the_facts(graph, facts, kind):
    height = graph.vocabulary.attribute_id("height")
    graphs = list(drawn_graphs(facts, graph, np.random.default_rng(2)))
    for text in QUERIES:
        query = parse(text, graph.vocabulary)
        numbers = []
        for one in graphs:
            held = (one.values.numbers[one.values_of.row(entity, height)] for entity in ask(one, query).tolist())
            numbers.append(number_of(kind, [float(values.mean()) for values in held if len(values)]))
        whole = np.array([number for number in numbers if number is not None])
        found = expected_total(draw(facts, ALL_HEADS, query, height), kind, 0.9)
        share = len(whole) / DRAWN  # in how many graphs there is such a number at all
        if share < 0.05:
            assert found is None or found.chance < 0.1
            continue
        assert found is not None
        noise = np.sqrt(1 / GRAPHS + 1 / DRAWN)
        assert abs(found.chance - share) < 4.5 * np.sqrt(max(share * (1 - share), 0.01)) * noise, text
        noise /= np.sqrt(share)  # the numbers are fewer than the graphs
        assert abs(found.value - whole.mean()) < 4.5 * whole.std() * noise + 1e-9, text
        within = np.mean((whole >= found.low - 1e-9) & (whole <= found.high + 1e-9))
        assert within >= 0.9 - 4.5 * np.sqrt(0.9 * 0.1) * noise, text


def test_the_same_graphs_are_drawn_each_time_and_certain_facts_leave_nothing_to_chance(graph, facts):
    query = parse(QUERIES[1], graph.vocabulary)
    assert np.array_equal(draw(facts, ALL_HEADS, query, None).members, draw(facts, ALL_HEADS, query, None).members)
    certain = draw(CertainFacts(facts.observed), ALL_HEADS, query, None)
    assert certain.members.all() and certain.ids.tolist() == ask(graph, query).tolist()


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (
            Total("count", None, 8.0, None, 8, 0, False, ExpectedTotal(11.2, 9, 14, 0.9)),
            "8 proved; about 11, between 9 and 14",
        ),
        (
            Total("count", None, 8.0, None, 8, 0, True, ExpectedTotal(6.9, 6, 8, 0.9)),
            "8 found; about 7, between 6 and 8",
        ),
        (Total("count", None, 8.0, None, 8, 0, False, ExpectedTotal(8, 8, 8, 0.9)), "8 proved; the same"),
        (Total("count", None, 8.0, None, 8, 0), "8"),
        (
            Total("mean", "area", 14_017_514.7, "metres", 53, 2, False, ExpectedTotal(14.2e6, 14.0e6, 14.6e6, 0.9)),
            "14,017,514.7 metres, of 53 stated values, without 2 that have no stated area; "
            "about 14.2 million metres, between 14 million and 14.6 million",
        ),
        (Total("maximum", "opening", 1927.0, "date", 1, 0), "1927, of 1 stated value"),
        (Total("sum", "area", None, "metres", 0, 3), "unknown: none of the answers has a stated value"),
    ],
)
def test_a_total_says_what_is_proved_and_what_is_expected(total, text):
    assert str(total).removesuffix(" with what is inferred").removesuffix(",") == text

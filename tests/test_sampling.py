"""The compiled walk draws what the paper's walk draws: compared with the plain Python reference."""

import random
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from kgreckon.benchmark import SplitGraph
from kgreckon.benchmark.numerical_edges import with_numerical_edges
from kgreckon.benchmark.sampling import Walker
from kgreckon.benchmark.walking import Program
from kgreckon.exact import ComparisonMode, answer
from kgreckon.query import GENERAL_TYPES, Batch, Compare, Follow, HavingValue, Shape, ValueOf, shape_of, specific_type
from kgreckon.query.algebra import nodes
from random_graph import random_graph
from reference import Reference

DRAWS = 3000
# The smallest probability that two samples of one distribution differ as they do. There are some 80 comparisons with
# fixed seeds, so a fair sampler stays above this; a sampler that skips a rule falls far below.
ALARM = 1e-4

TYPES = {
    **GENERAL_TYPES,
    "2in": Shape.parse("(i,(p,(e)),(n,(p,(e))))"),
    "inp": Shape.parse("(p,(i,(p,(e)),(n,(p,(e)))))"),
}


def with_edges(graph):
    rng = np.random.default_rng(0)
    every = SplitGraph(graph, np.zeros(len(graph.facts), np.int8), np.zeros(len(graph.attribute_facts), np.int8))
    return with_numerical_edges(every, rng, 700).graph


@pytest.fixture(scope="module")
def graphs(world_graph):
    return {"world": with_edges(world_graph), "small": with_edges(random_graph())}


@pytest.fixture(scope="module")
def references(graphs):
    return {(place, mode): Reference(graph, mode) for place, graph in graphs.items() for mode in ComparisonMode}


def reference_draws(reference, shape, rng):
    while True:
        query = reference.sample(shape, rng)
        if query is not None:
            yield query


def compiled_draws(graph, mode, shape, seed):
    walker, program = Walker(graph, mode), Program(shape)
    draws = walker.draw(program, seed, 0, 20 * DRAWS)
    for ids, kinds in zip(draws.ids, draws.kinds.tolist(), strict=True):
        yield Batch(program.specific_shape(kinds), ids[None, :]).query(0, graph.values)


def labels_of(query):
    """What its projections are labelled with, projection by projection."""
    for node in nodes(query):
        match node:
            case Follow(label, _) | ValueOf(label, _) | HavingValue(label, _):
                yield type(node).__name__, label
            case Compare(comparison, _):
                yield "Compare", str(comparison)


def probability_of_the_difference(one: Counter, other: Counter) -> float:
    """By the chi-squared test, with rare classes thrown together."""
    classes = sorted({*one, *other}, key=repr)
    common = [c for c in classes if one[c] + other[c] >= 20]
    rare = [c for c in classes if one[c] + other[c] < 20]
    counted = [[counts[c] for c in common] + [sum(counts[c] for c in rare)] for counts in (one, other)]
    table = np.array(counted)[:, np.sum(counted, axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(chi2_contingency(table).pvalue)


@pytest.mark.parametrize("mode", list(ComparisonMode))
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("place", ["world", "small"])
def test_the_same_distribution(graphs, references, place, name, mode):
    graph, shape = graphs[place], TYPES[name].canonical
    theirs = list(islice(reference_draws(references[place, mode], shape, random.Random(1)), DRAWS))
    ours = list(islice(compiled_draws(graph, mode, shape, 1), DRAWS))
    assert len(ours) == len(theirs) == DRAWS

    def shapes(queries):
        return Counter(specific_type(query) for query in queries)

    def labels(queries):
        return Counter(label for query in queries for label in labels_of(query))

    def answer_counts(queries):
        found: Counter = Counter()
        for shape, group in by_shape(queries).items():
            counts = answer(graph, Batch.of(group, graph.values), mode).counts
            found.update((shape.canonical.text, int(np.log2(count + 1))) for count in counts)
        return found

    for view in (shapes, labels, answer_counts):
        assert probability_of_the_difference(view(ours), view(theirs)) > ALARM, view.__name__


def by_shape(queries):
    groups: dict[Shape, list] = {}
    for query in queries:
        groups.setdefault(shape_of(query), []).append(query)
    return groups


def test_the_alarm_goes_off_when_a_rule_is_skipped(graphs, references):
    """A walk that chose among all edges instead of among predecessors would be told apart."""
    graph = graphs["world"]
    rng = random.Random(1)
    fair = list(islice(reference_draws(references["world", ComparisonMode.SAMPLED], GENERAL_TYPES["1p"], rng), DRAWS))
    facts = graph.facts
    edges = rng.choices(range(len(facts)), k=DRAWS)
    skipped = Counter(("Follow", 2 * int(facts.labels[e]) + rng.randrange(2)) for e in edges)
    labels = Counter(label for query in fair for label in labels_of(query) if label[0] == "Follow")
    assert probability_of_the_difference(labels, skipped) < ALARM


def test_the_same_attempt_reaches_the_same_query_however_attempts_are_cut(graphs):
    walker, program = Walker(graphs["small"], ComparisonMode.SAMPLED), Program(GENERAL_TYPES["up"])
    whole = walker.draw(program, 9, 0, 1000)
    parts = [walker.draw(program, 9, first, 250) for first in range(0, 1000, 250)]
    assert np.array_equal(whole.ids, np.concatenate([part.ids for part in parts]))
    assert np.array_equal(whole.kinds, np.concatenate([part.kinds for part in parts]))

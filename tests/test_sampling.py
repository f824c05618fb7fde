"""The compiled walk draws what the paper's walk draws: compared with the plain Python reference."""

import random
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from kgreckon.benchmark import BuildSettings, Split, SplitGraph, build
from kgreckon.benchmark.numerical_edges import with_numerical_edges
from kgreckon.benchmark.sampling import Walker
from kgreckon.benchmark.splits import random_splits
from kgreckon.benchmark.walking import Program
from kgreckon.exact import ComparisonMode, answer
from kgreckon.query import GENERAL_TYPES, Batch, Compare, Follow, HavingValue, Shape, ValueOf, shape_of, specific_type
from kgreckon.query.algebra import nodes
from random_graph import random_graph
from reference import Reference
from released_sampler import (
    ReleasedSampler,
    first_edges,
    pattern_of,
    queries_to_test,
    queries_to_train_on,
    shape_text,
)

DRAWS = 3000
# The smallest probability that two samples of one distribution differ as they do. There are some 250 comparisons with
# fixed seeds, so a fair sampler stays above this; a sampler that skips a rule falls far below.
ALARM = 1e-4

TYPES = {
    **GENERAL_TYPES,
    "2in": Shape.parse("(i,(p,(e)),(n,(p,(e))))"),
    "inp": Shape.parse("(p,(i,(p,(e)),(n,(p,(e)))))"),
    "pp": Shape.parse("(i,(p,(p,(e))),(p,(p,(e))))"),
    "ui": Shape.parse("(i,(p,(e)),(u,(p,(e)),(p,(e))))"),
}


def with_edges(graph, mode):
    rng = np.random.default_rng(0)
    every = SplitGraph(graph, np.zeros(len(graph.facts), np.int8), np.zeros(len(graph.attribute_facts), np.int8))
    return with_numerical_edges(every, rng, mode, 700).graph


@pytest.fixture(scope="module")
def graphs(world_graph):
    places = {"world": world_graph, "small": random_graph()}
    return {(place, mode): with_edges(graph, mode) for place, graph in places.items() for mode in ComparisonMode}


@pytest.fixture(scope="module")
def references(graphs):
    return {(place, mode): Reference(graph, mode) for (place, mode), graph in graphs.items()}


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
    graph, shape = graphs[place, mode], TYPES[name].canonical
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
    """A walk that chose among all edges instead of among predecessors would be noticed."""
    graph = graphs["world", ComparisonMode.SAMPLED]
    rng = random.Random(1)
    fair = list(islice(reference_draws(references["world", ComparisonMode.SAMPLED], GENERAL_TYPES["1p"], rng), DRAWS))
    facts = graph.facts
    edges = rng.choices(range(len(facts)), k=DRAWS)
    skipped = Counter(("Follow", 2 * int(facts.labels[e]) + rng.randrange(2)) for e in edges)
    labels = Counter(label for query in fair for label in labels_of(query) if label[0] == "Follow")
    assert probability_of_the_difference(labels, skipped) < ALARM


def test_the_same_attempt_reaches_the_same_query_however_attempts_are_cut(graphs):
    walker, program = (
        Walker(graphs["small", ComparisonMode.SAMPLED], ComparisonMode.SAMPLED),
        Program(GENERAL_TYPES["up"]),
    )
    whole = walker.draw(program, 9, 0, 1000)
    parts = [walker.draw(program, 9, first, 250) for first in range(0, 1000, 250)]
    assert np.array_equal(whole.ids, np.concatenate([part.ids for part in parts]))
    assert np.array_equal(whole.kinds, np.concatenate([part.kinds for part in parts]))


# ------------------------------------------------------------------------- as released: a plain Python port of that

COUNTS = {Split.TRAIN: 1500, Split.VALID: 1, Split.TEST: 200}  # distinct queries of each type


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    graph = random_graph(entities=400, facts=1200, values=800)
    counts = {split: dict.fromkeys(GENERAL_TYPES, count) for split, count in COUNTS.items()}
    settings = BuildSettings(counts=counts, mode=ComparisonMode.RELEASED, known_anchors=False)
    return build(graph, tmp_path_factory.mktemp("released") / "b", settings)


@pytest.fixture(scope="module")
def samplers(released):
    return [ReleasedSampler(released.graphs.at(split)) for split in Split]


# All training queries of one hop are enumerated, not drawn.
DRAWN = [(split, name) for split in (Split.TRAIN, Split.TEST) for name in GENERAL_TYPES][1:]


@pytest.mark.parametrize(("split", "name"), DRAWN)
def test_specific_types_have_the_shares_that_the_released_code_gives_them(released, samplers, split, name):
    ours = Counter(released.summary(split, name)["shapes"])
    assert ours.total() == COUNTS[split]
    draw = queries_to_train_on if split is Split.TRAIN else queries_to_test
    theirs = Counter(
        Shape.parse(shape_text(query)).canonical.text
        for query in draw(samplers, pattern_of(GENERAL_TYPES[name]), COUNTS[split], random.Random(3))
    )
    assert probability_of_the_difference(ours, theirs) > ALARM


@pytest.mark.parametrize("limit", [20, 700, 4000])
def test_released_edges_are_the_first_pairs_of_the_values_as_they_are_met(limit):
    graph = random_graph(2)
    targets, number_at = graph.attribute_facts.targets, graph.values.number_at
    splits = random_splits(len(targets), np.random.default_rng(1))
    graphs = SplitGraph(graph, np.zeros(len(graph.facts), np.int8), splits)
    graphs = with_numerical_edges(graphs, np.random.default_rng(0), ComparisonMode.RELEASED, limit)
    shuffled = np.random.default_rng(0).permutation(len(targets)).tolist()
    met = [number_at(targets[fact]) for split in Split for fact in shuffled if splits[fact] == split]
    first = set(first_edges(met, limit))
    for split in Split:
        edges = graphs.at(split).comparisons
        assert edges is not None
        found = {
            (number_at(y), label, number_at(x))
            for y, label, x in zip(edges.sources, edges.labels.tolist(), edges.targets, strict=True)
        }
        there = set(met[: (splits <= split).sum()])
        assert found == {edge for edge in first if edge[0] in there and edge[2] in there}
        assert len(found) == len(edges)

"""Rules and what they foretell, against plain loops; and what they add to a link predictor's scores."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from kgreckon.answers.reason import reason_of
from kgreckon.benchmark.splits import TRAIN_SHARE
from kgreckon.graph import GraphBuilder
from kgreckon.models.reckoner import Calibration, Inference, ObservedFacts, PredictedFacts, Reckoner
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.explaining import explain
from kgreckon.models.reckoner.fitting import fit_beliefs
from kgreckon.models.reckoner.links import ComplEx
from kgreckon.models.reckoner.predicted import Labels, log_sums
from kgreckon.models.reckoner.rules import foretell, mine_rules, support_of
from kgreckon.query import Batch
from kgreckon.query.paper import parse
from random_graph import random_graph

CPU = torch.device("cpu")
PSEUDO, LEAST_CONFIDENCE = 5, 0.03


def edges_of(graph):
    facts = graph.facts
    rows = zip(facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True)
    return {edge for head, label, tail in rows for edge in ((head, 2 * label, tail), (tail, 2 * label + 1, head))}


def bodies_of(edges):
    """All paths of one and two steps that do not come back to where they began: (first, second) and the ends."""
    by_head: dict[int, list[tuple[int, int]]] = {}
    for head, label, tail in edges:
        by_head.setdefault(head, []).append((label, tail))
    for head, first, middle in edges:
        yield (first, -1), head, middle
        if middle != head:
            for second, tail in by_head[middle]:
                if tail != head:
                    yield (first, second), head, tail


def plain_rules(graph):
    edges = edges_of(graph)
    paths: Counter = Counter()
    supports: Counter = Counter()
    for body, head, tail in bodies_of(edges):
        paths[body] += 1
        for label in range(2 * len(graph.relations)):
            if (head, label, tail) in edges and body != (label, -1):
                supports[label, body] += 1
    confidence = {(label, body): count / (paths[body] + PSEUDO) for (label, body), count in supports.items()}
    return {rule: value for rule, value in confidence.items() if supports[rule] >= 2 and value >= LEAST_CONFIDENCE}


def as_dict(rules):
    counts = np.diff(rules.starts)
    labels = np.repeat(np.arange(len(counts)), counts).tolist()
    bodies = zip(rules.first.tolist(), rules.second.tolist(), strict=True)
    return dict(zip(zip(labels, bodies, strict=True), rules.confidence.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_rules_are_those_of_a_plain_count(seed):
    graph = random_graph(seed, entities=40, facts=150)
    found, plain = as_dict(mine_rules(graph)), plain_rules(graph)
    assert plain and found.keys() == plain.keys()
    assert all(found[rule] == pytest.approx(plain[rule]) for rule in plain)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_foretold_is_what_the_most_trusted_rule_says(seed):
    graph = random_graph(seed, entities=40, facts=150)
    labels, heads = map(
        np.array, zip(*product(range(2 * len(graph.relations)), range(len(graph.entities))), strict=True)
    )
    told = foretell(graph, mine_rules(graph), labels, heads)
    edges, rules = edges_of(graph), plain_rules(graph)
    reached = {(body, head, tail) for body, head, tail in bodies_of(edges)}
    best: dict[tuple[int, int, int], float] = {}
    for (label, body), confidence in rules.items():
        for own, head, tail in reached:
            if own == body and head != tail and (head, label, tail) not in edges:
                best[label, head, tail] = max(best.get((label, head, tail), 0), confidence)
    rows = list(zip(told.labels.tolist(), told.heads.tolist(), told.tails.tolist(), strict=True))
    assert len(set(rows)) == len(rows) and set(rows) == best.keys()
    np.testing.assert_allclose(told.chances, [best[row] for row in rows], rtol=1e-5)


def test_a_rule_that_says_too_much_is_not_heard():
    """Of all that a rule says nothing or everything counts; what a more trusted one says stays."""
    builder = GraphBuilder()
    for person in range(30):
        builder.add_fact(f"person{person}", "lives_in", "town")
        builder.add_fact(f"person{person}", "in_land", "land")
        for number in range(80):
            builder.add_fact(f"person{person}", "saw", f"film{number}")
            if person and number < 60:
                builder.add_fact(f"person{person}", "liked", f"film{number}")
    builder.add_fact("town", "in", "land")
    graph = builder.build()
    names = graph.vocabulary
    head = np.array([names.entity_id("person0")])
    assert len(foretell(graph, mine_rules(graph), np.array([names.relation_id("liked")]), head).tails) == 0
    builder.add_fact("person0", "reviewed", "film1")
    for person in range(1, 30):
        builder.add_fact(f"person{person}", "reviewed", "film2")
    graph = builder.build()
    names = graph.vocabulary
    head = np.array([names.entity_id("person0")])
    told = foretell(graph, mine_rules(graph), np.array([names.relation_id("liked")]), head)
    assert [graph.entities.label(tail) for tail in told.tails.tolist()] == ["film1"]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_foretold_has_a_path_of_that_confidence(seed):
    graph = random_graph(seed, entities=40, facts=150)
    rules, edges = mine_rules(graph), edges_of(graph)
    labels, heads = map(
        np.array, zip(*product(range(2 * len(graph.relations)), range(len(graph.entities))), strict=True)
    )
    told = foretell(graph, rules, labels, heads)
    chances = dict(
        zip(zip(told.labels.tolist(), told.heads.tolist(), told.tails.tolist(), strict=True), told.chances, strict=True)
    )
    for (label, head), tail in product(zip(labels[::7].tolist(), heads[::7].tolist(), strict=True), range(40)):
        support = support_of(graph, rules, head, label, tail)
        if (head, label, tail) in edges:
            continue
        assert (support is not None) == ((label, head, tail) in chances)
        if support is not None:
            assert support.confidence == pytest.approx(chances[label, head, tail])
            assert set(support.steps) <= edges
            assert support.steps[0][0] == head and support.steps[-1][2] == tail
            assert all(one[2] == other[0] for one, other in pairwise(support.steps))


def land_graph():
    builder = GraphBuilder()
    for index in range(20):
        builder.add_fact(f"child{index}", "born_in", f"town{index % 4}")
        if index:
            builder.add_fact(f"child{index}", "citizen_of", f"land{index % 2}")
    for index in range(4):
        builder.add_fact(f"town{index}", "in", f"land{index % 2}")
    return builder.build()


def test_a_rule_finds_the_fact_that_is_missing():
    graph = land_graph()
    names = graph.vocabulary
    child, citizen = names.entity_id("child0"), names.relation_id("citizen_of")
    told = foretell(graph, mine_rules(graph), np.array([citizen]), np.array([child]))
    assert graph.entities.label(int(told.tails[told.chances.argmax()])) == "land0"
    assert told.chances.max() > 0.7


class TestEvidence:
    @pytest.fixture
    def parts(self):
        observed = ObservedFacts.of(random_graph(1), CPU)
        labels = Labels.of(observed)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        torch.nn.init.normal_(scorer.nodes)
        expectations = fit_beliefs(observed, TRAIN_SHARE, 0).expectations
        return observed, scorer, expectations, Evidence.of_rules(observed, expectations.relations(1.0, 1.0))

    def test_a_row_is_still_a_softmax(self, parts):
        """Seen from the head alone, what is expected of a row is what its unobserved tails share."""
        observed, scorer, expectations, evidence = parts
        sums = log_sums(observed, scorer, expectations, evidence, 0.7)
        little = 1e-4  # far below the cap
        calibration = Calibration(forward=1.0, backward=0.0, hidden=little, existence=little, rules=0.7)
        facts = PredictedFacts(observed, scorer, expectations, sums, [], calibration, evidence=evidence)
        heads = torch.arange(len(observed.graph.entities))
        relations = torch.zeros(len(heads), dtype=torch.long)
        likely = facts.tails(heads[:, None], relations)[:, 0]
        for head in heads.tolist():
            likely[head, observed.graph.follows.row(head, 0)] = 0
        loops = likely.diagonal().clone()
        expected = expectations.relations(1e-4, 1e-4)[0]
        assert ((likely.sum(dim=1) - loops <= expected * 1.001) & (likely.sum(dim=1) >= expected * 0.9)).all()

    def test_without_weight_it_is_as_if_nobody_spoke(self, parts):
        observed, scorer, expectations, evidence = parts
        sums = log_sums(observed, scorer, expectations)
        plain = PredictedFacts(observed, scorer, expectations, sums, [], Calibration())
        calibration = Calibration(rules=0.7)
        sums = log_sums(observed, scorer, expectations, evidence, 0.7)
        told = PredictedFacts(observed, scorer, expectations, sums, [], calibration, evidence=evidence)
        heads, relations = torch.arange(len(observed.graph.entities))[None], torch.tensor([2])
        assert not torch.allclose(told.tails(heads, relations), plain.tails(heads, relations))
        silent = told.recalibrated(Calibration(rules=0.0)).tails(heads, relations)
        torch.testing.assert_close(silent, plain.tails(heads, relations))
        torch.testing.assert_close(
            told.recalibrated(Calibration(rules=0.0)).recalibrated(calibration).tails(heads, relations),
            told.tails(heads, relations),
        )

    def test_it_is_added_from_both_sides_and_to_some_tails_alone(self, parts):
        observed, _, _, evidence = parts
        size = len(observed.graph.entities)
        there, back, part = torch.zeros(size, size), torch.zeros(size, size), torch.zeros(size, 7)
        rows = torch.arange(size)
        evidence.add_to(there, torch.full_like(rows, 2), rows, slice(None), 1.0, 0.0)
        evidence.add_to(back, torch.full_like(rows, 3), rows, slice(None), 0.0, 1.0)
        assert there.max() > 0 and torch.equal(there, back.T)
        evidence.add_to(part, torch.full_like(rows, 2), rows, slice(5, 12), 1.0, 0.0)
        assert torch.equal(part, there[:, 5:12])

    def test_it_is_kept(self, parts):
        observed, _, _, evidence = parts
        again = Evidence.from_tensors(evidence.as_tensors(), observed)
        assert torch.equal(again.facts.group_keys, evidence.facts.group_keys)
        assert torch.equal(again.facts.targets, evidence.facts.targets)
        torch.testing.assert_close(again.from_head, evidence.from_head, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(again.from_tail, evidence.from_tail, rtol=1e-3, atol=1e-3)
        assert as_dict(again.rules) == pytest.approx(as_dict(evidence.rules))

    def test_a_reason_names_the_path_that_a_rule_speaks_by(self):
        graph = land_graph()
        names = graph.vocabulary
        observed = ObservedFacts.of(graph, CPU)
        labels = Labels.of(observed)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        expectations = fit_beliefs(observed, TRAIN_SHARE, 0).expectations
        evidence = Evidence.of_rules(observed, expectations.relations(1.0, 1.0))
        sums = log_sums(observed, scorer, expectations, evidence, 1.0)
        facts = PredictedFacts(observed, scorer, expectations, sums, [], Calibration(rules=1.0), evidence=evidence)
        batch = Batch.of([parse("(rp,(citizen_of),(e,(child0)))", names)], graph.values)
        inference = Inference()
        best = int(Reckoner(facts, inference).answer(batch)[0].argmax())
        assert graph.entities.label(best) == "land0"
        said = reason_of(explain(Reckoner(facts, inference), batch, best), names).lines()
        assert "predicted" in said[0]
        assert said[1].startswith("– since child0 — born in → town0 and town0 — in → land0: so in ")
        silent = Reckoner(facts.recalibrated(Calibration(rules=0.0)), inference)
        assert len(reason_of(explain(silent, batch, best), names).lines()) == 1

"""Rules and what they say, against plain loops; and what that adds to the evidence for a fact."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from kgreckon.answers.reason import reason_of
from kgreckon.benchmark.splits import TRAIN_SHARE
from kgreckon.graph import GraphBuilder
from kgreckon.models.reckoner import Calibration, Inference, ObservedFacts, PredictedFacts, Reckoner
from kgreckon.models.reckoner.evidence import Evidence, rules_as_tensors, rules_from_tensors
from kgreckon.models.reckoner.existence import Expectations
from kgreckon.models.reckoner.explaining import explain
from kgreckon.models.reckoner.links import ComplEx, Labels
from kgreckon.models.reckoner.rules import Edges, Rules, mine_rules, support_of, told_by
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
                if tail not in (head, middle):
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


def told(graph, rules, labels, heads):
    """What is told for each fact: the best confidence, and what others add."""
    rows, tails, best, more = told_by(Edges(graph), rules, labels, heads)
    keys = zip(labels[rows].tolist(), heads[rows].tolist(), tails.tolist(), strict=True)
    facts = list(keys)
    assert len(set(facts)) == len(facts)
    return dict(zip(facts, zip((0.03 * np.expm1(best)).tolist(), more.tolist(), strict=True), strict=True))


def everything(graph):
    return map(np.array, zip(*product(range(2 * len(graph.relations)), range(len(graph.entities))), strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_told_is_what_the_best_rule_says_and_the_best_of_each_other_group(seed):
    graph = random_graph(seed, entities=40, facts=150)
    rules = mine_rules(graph)
    labels, heads = everything(graph)
    found, edges = told(graph, rules, labels, heads), edges_of(graph)
    reached: dict[tuple, set] = {}
    for body, head, tail in bodies_of(edges):
        reached.setdefault(body, set()).add((head, tail))
    targets = np.repeat(np.arange(len(rules.starts) - 1), np.diff(rules.starts)).tolist()
    groups: dict[tuple[int, int, int], dict[int, float]] = {}
    bodies = zip(rules.first.tolist(), rules.second.tolist(), strict=True)
    for label, body, confidence, group in zip(targets, bodies, rules.confidence, rules.group.tolist(), strict=True):
        for head, tail in reached.get(body, ()):
            if head != tail and (head, label, tail) not in edges:
                of_fact = groups.setdefault((label, head, tail), {})
                of_fact[group] = max(of_fact.get(group, 0), confidence)
    assert found and found.keys() == groups.keys()
    for fact, of_fact in groups.items():
        first, *others = sorted(of_fact.values(), reverse=True)
        assert found[fact][0] == pytest.approx(first, rel=1e-4)
        assert found[fact][1] == pytest.approx(-np.log1p(-np.array(others)).sum(), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_rules_say_the_same_of_a_fact_from_both_ends(seed):
    """Also where many paths leave one end: the graph has hubs with far more than 64 neighbours."""
    graph = random_graph(seed, entities=150, facts=3000)
    found = told(graph, mine_rules(graph), *everything(graph))
    assert found and max(np.bincount([head for _, head, _ in found])) > 64
    for (label, head, tail), said in found.items():
        assert found[label ^ 1, tail, head] == pytest.approx(said, rel=1e-5, abs=1e-6)


def test_rules_that_agree_count_once():
    """Two relations that always go together are one reason; a third of its own is another."""
    builder = GraphBuilder()
    rng = np.random.default_rng(0)
    for index in range(200):
        town, chief = rng.integers(20), rng.integers(20)
        builder.add_fact(f"p{index}", "lives_in", f"t{town}")
        builder.add_fact(f"p{index}", "sleeps_in", f"t{town}")
        builder.add_fact(f"p{index}", "works_for", f"c{chief}")
        builder.add_fact(f"c{chief}", "based_in", f"t{chief}")
        if index:
            builder.add_fact(f"p{index}", "votes_in", f"t{town if index % 2 else chief}")
    graph = builder.build()
    names, rules = graph.vocabulary, mine_rules(graph)
    votes = names.relation_id("votes_in")
    own = slice(int(rules.starts[votes]), int(rules.starts[votes + 1]))
    bodies = dict(zip(zip(rules.first[own], rules.second[own], strict=True), rules.group[own].tolist(), strict=True))
    lives, sleeps = (bodies[names.relation_id(name), -1] for name in ("lives_in", "sleeps_in"))
    assert lives == sleeps
    assert bodies[names.relation_id("works_for"), names.relation_id("based_in")] != lives


def test_a_rule_is_not_heard_where_it_says_too_much_of_both_ends():
    builder = GraphBuilder()
    for person in range(90):
        builder.add_fact(f"person{person}", "likes", "film")
        builder.add_fact("film", "shown_in", f"town{person}")
        builder.add_fact(f"person{person}", "lives_in", f"town{person}")
    graph = builder.build()
    names, edges = graph.vocabulary, Edges(graph)
    lives = np.array([names.relation_id("lives_in")])
    made = Rules(
        (np.arange(edges.num_labels + 1) > lives[0]).astype(np.int64),
        np.array([names.relation_id("likes")]),
        np.array([names.relation_id("shown_in")]),
        np.array([0.5]),
        np.array([0]),
    )
    one, other = (np.array([names.entity_id(name)]) for name in ("person0", "film"))
    assert len(told_by(edges, made, lives, one)[1]) == 0
    assert len(told_by(edges, made.with_inverses(), lives, one)[1]) == 0
    direct = replace(made, first=np.array([names.relation_id("^likes")]), second=np.array([-1]))
    assert len(told_by(edges, direct, lives, other)[1]) == 90  # one path each arrives at the people


@pytest.mark.parametrize("seed", range(3))
def test_what_is_told_has_a_path_of_that_confidence(seed):
    graph = random_graph(seed, entities=40, facts=150)
    rules, edges = mine_rules(graph), edges_of(graph)
    labels, heads = everything(graph)
    found, start = told(graph, rules, labels, heads), Edges(graph)
    for (label, head), tail in product(zip(labels[::7].tolist(), heads[::7].tolist(), strict=True), range(40)):
        support = support_of(start, rules, head, label, tail)
        if (head, label, tail) in edges:
            continue
        assert (support is not None) == ((label, head, tail) in found)
        if support is not None:
            assert support.confidence == pytest.approx(found[label, head, tail][0], rel=1e-4)
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
    found = told(graph, mine_rules(graph), np.array([citizen]), np.array([child]))
    best = max(found, key=lambda fact: found[fact][0])
    assert graph.entities.label(best[2]) == "land0"
    assert found[best][0] > 0.7


class TestEvidence:
    def test_it_is_the_same_whether_it_was_kept_or_not(self):
        graph = random_graph(1)
        evidence = Evidence(graph, mine_rules(graph))
        labels, heads = torch.tensor([2, 2, 3, 2]), torch.tensor([5, 7, 5, 5])
        first, second = evidence.rows(labels, heads), evidence.rows(labels, heads)
        assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
        assert len(first[0]) and set(first[0].tolist()) <= {0, 1, 2, 3}
        for place in range(4):
            alone = Evidence(graph, evidence.rules).rows(labels[place : place + 1], heads[place : place + 1])
            own = first[0] == place
            assert all(torch.equal(column[own], other) for column, other in zip(first[1:], alone[1:], strict=True))

    def test_many_at_once_are_told_the_same_as_few(self, monkeypatch):
        graph = random_graph(1)
        rules, rng = mine_rules(graph), np.random.default_rng(0)
        labels = torch.from_numpy(rng.integers(2 * len(graph.relations), size=300))
        heads = torch.from_numpy(rng.integers(len(graph.entities), size=300))
        few = Evidence(graph, rules).rows(labels, heads)
        monkeypatch.setattr("kgreckon.models.reckoner.evidence._MANY", 10)
        many = Evidence(graph, rules).rows(labels, heads)
        assert len(few[0]) > 100
        assert all(torch.equal(one, other) for one, other in zip(few, many, strict=True))

    def test_rules_are_kept(self):
        graph = random_graph(1)
        rules = mine_rules(graph)
        again = rules_from_tensors(rules_as_tensors(rules), 2 * len(graph.relations))
        for name in ("starts", "first", "second", "group"):
            assert np.array_equal(getattr(again, name), getattr(rules, name))
        assert again.confidence == pytest.approx(rules.confidence)
        assert len(rules_from_tensors({}, 4)) == 0

    def test_a_reason_names_the_path_that_a_rule_speaks_by(self):
        graph = land_graph()
        names = graph.vocabulary
        observed, labels = ObservedFacts.of(graph, CPU), Labels.of(graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        expectations, evidence = Expectations(graph, TRAIN_SHARE), Evidence(graph, mine_rules(graph))
        facts = PredictedFacts(observed, scorer, expectations, [], Calibration(rules=1.0), evidence)
        batch = Batch.of([parse("(rp,(citizen_of),(e,(child0)))", names)], graph.values)
        inference = Inference()
        best = int(Reckoner(facts, inference).answer(batch)[0].argmax())
        assert graph.entities.label(best) == "land0"
        reason = reason_of(explain(Reckoner(facts, inference), batch, best), names)
        said, path = reason.lines(), "child0 is born in town0 and town0 is in land0, which is right in "
        assert "predicted" in said[0] and said[1].startswith(f"– since {path}")
        assert "land0" in reason.sentence
        silent = Reckoner(facts.recalibrated(Calibration(rules=0.0, more_rules=0.0)), inference)
        assert "is right in" not in str(reason_of(explain(silent, batch, best), names))

    def test_rules_start_from_all_that_is_known_when_a_question_is_asked(self):
        """A fact that came after the training is a reason: nobody need train again."""
        graph = land_graph()
        names, rules = graph.vocabulary, mine_rules(graph)
        child, citizen = names.entity_id("child0"), names.relation_id("citizen_of")
        facts = graph.facts
        kept = ~((facts.sources == child) & (facts.labels == names.relation_id("born_in") // 2))
        without = graph.restricted(kept, np.ones(0, dtype=bool))
        assert not len(told_by(Edges(without), rules, np.array([citizen]), np.array([child]))[1])
        assert len(told_by(Edges(graph), rules, np.array([citizen]), np.array([child]))[1])

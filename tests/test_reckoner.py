"""The reckoner: laws of the fuzzy semantics, of its parts, and of a whole run."""

import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hidden_facts import (
    facts_with_values_of_their_own,
    some_hidden_facts,
    without_hidden_facts,
    without_unused_values,
)
from kgreckon.answers.number_prediction import PredictedNumber
from kgreckon.benchmark import Benchmark, BuildSettings, Split, build
from kgreckon.benchmark.splits import TRAIN_SHARE
from kgreckon.cli import main
from kgreckon.cli.console import console
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries
from kgreckon.exact import ComparisonMode, answer
from kgreckon.graph import GraphBuilder
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import Prediction, TrainingProgress
from kgreckon.models.proofs import How, Proof
from kgreckon.models.reckoner import (
    Calibration,
    CertainFacts,
    Inference,
    MissingValues,
    ObservedFacts,
    PredictedFacts,
    Reckoner,
)
from kgreckon.models.reckoner.answer_maps import AnswerMaps, one_fact_alone
from kgreckon.models.reckoner.attributes import Scale, fit_attributes
from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.calibrating import fit_calibration, fit_share
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.existence import FOLDS, Expectations
from kgreckon.models.reckoner.explaining import explain
from kgreckon.models.reckoner.fuzzy import Ranges
from kgreckon.models.reckoner.learning import is_trained, learn_reckoner, open_reckoner
from kgreckon.models.reckoner.links import ComplEx, Labels, LinkTraining
from kgreckon.models.reckoner.log_sums import LogSums
from kgreckon.models.reckoner.predicted import loop_shares
from kgreckon.models.reckoner.predicting import predict
from kgreckon.models.reckoner.reckoner_model import ReckonerModel
from kgreckon.models.reckoner.rules import Rules, mine_rules
from kgreckon.models.run_files import BEST, RunFiles
from kgreckon.query import (
    GENERAL_TYPES,
    SEVEN,
    And,
    Batch,
    Compare,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Shape,
)
from kgreckon.query.algebra import ValueOf
from kgreckon.query.paper import parse
from kgreckon.runs import Run, choose_settings, resume, train_with
from kgreckon.runs.evaluate import evaluate
from random_graph import random_graph
from strategies import NUMBERS, comparisons, graphs, queries

CPU = torch.device("cpu")
ALL_HEADS = Inference(mode=ComparisonMode.COMPUTED, heads=10_000, least=0.0)


class Random(CertainFacts):
    """Every fact that the graph does not state has a random probability."""

    def __init__(self, graph, seed):
        super().__init__(ObservedFacts.of(graph, CPU))
        generator = torch.Generator().manual_seed(seed)
        entities = len(graph.entities)
        self.facts = torch.rand(2 * len(graph.relations), entities, entities, generator=generator) * 0.9
        self.values = {}
        for attribute in range(len(graph.attributes)):
            unit = int(graph.attribute_units[attribute])
            low, high = int(graph.values.unit_starts[unit]), int(graph.values.unit_starts[unit + 1])
            stated = set(graph.attribute_facts.sources[graph.attribute_facts.labels == attribute].tolist())
            lacking = torch.tensor([e for e in range(entities) if e not in stated], dtype=torch.long)
            likely = torch.rand(len(lacking), high - low, generator=generator) * 0.9 / (high - low)
            self.values[attribute] = MissingValues(lacking, likely, low)

    def tails(self, heads, relations, to=slice(None)):
        return self.facts[relations[:, None], heads, to].clone()

    def support(self, head, relation, tail):
        return None

    def missing(self, attribute):
        return self.values[attribute]


def without_negation(query):
    match query:
        case Not(of):
            return without_negation(of)
        case And(parts) | Or(parts):
            return type(query)(tuple(without_negation(part) for part in parts))
        case Follow() | ValueOf() | HavingValue() | Compare():
            return replace(query, of=without_negation(query.of))
    return query


def scores(facts, graph, query, inference=ALL_HEADS):
    return Reckoner(facts, inference).answer(Batch.of([query], graph.values))[0]


def set_of_known(observed):
    facts = observed.graph.facts
    return set(facts.targets[facts.labels == observed.graph.vocabulary.relation_id("knows") // 2].tolist())


def proved_members(proof: Proof):
    """What a proof is the proof of: the end of its own step or, where parts are joined, of all of theirs."""
    if proof.step is not None:
        return {proof.step.target}
    return {member for part in proof.parts for member in proved_members(part)}


def fact_model(observed, scorer, calibration, rules=None, share=TRAIN_SHARE):
    rules = Rules.none(observed.relations.num_labels) if rules is None else rules
    expectations, evidence = Expectations(observed.graph, share), Evidence(observed.graph, rules)
    return PredictedFacts(observed, scorer, expectations, [], calibration, evidence)


class TestFuzzySemantics:
    @settings(max_examples=300)
    @given(st.data())
    def test_certain_facts_give_exact_answers(self, data):
        graph = data.draw(graphs())
        batch = Batch.of([data.draw(queries(graph))], graph.values)
        found = Reckoner(CertainFacts(ObservedFacts.of(graph, CPU)), ALL_HEADS).answer(batch)[0]
        assert set(found.tolist()) <= {0.0, 1.0}
        assert torch.nonzero(found)[:, 0].tolist() == answer(graph, batch)[0].tolist()

    def test_certain_facts_give_exact_answers_to_every_type_of_a_benchmark(self, small):
        graph = small.graphs.at(Split.TRAIN)
        for mode in ComparisonMode:
            reckoner = Reckoner(CertainFacts(ObservedFacts.of(graph, CPU)), Inference(mode=mode))
            for name in small.types:
                for queries_ in small.query_sets(Split.VALID, name):
                    found = reckoner.answer(queries_.batch)
                    exact = answer(graph, queries_.batch, mode)
                    for row, expected in zip(found, exact, strict=True):
                        assert torch.nonzero(row)[:, 0].tolist() == expected.tolist()

    @settings(max_examples=150)
    @given(st.data(), st.integers(0, 1000))
    def test_no_answer_loses_when_a_fact_gains(self, data, seed):
        graph = data.draw(graphs())
        query = without_negation(data.draw(queries(graph)))
        facts = Random(graph, seed)
        before = scores(facts, graph, query)
        place = tuple(data.draw(st.integers(0, size - 1)) for size in facts.facts.shape)
        facts.facts[place] = 0.95
        attribute = data.draw(st.integers(0, len(graph.attributes) - 1))
        missing = facts.values[attribute]
        if len(missing.entities):
            missing.probabilities[data.draw(st.integers(0, len(missing.entities) - 1)), 0] += 0.05
        after = scores(facts, graph, query)
        assert (after >= before - 1e-6).all()

    @settings(max_examples=100)
    @given(st.data(), st.integers(0, 1000))
    def test_a_batch_of_one_equals_its_row(self, data, seed):
        graph = data.draw(graphs())
        columns = (len(graph.attributes), len(SEVEN), len(graph.values), 2 * len(graph.relations), len(graph.entities))
        row = st.tuples(*(st.integers(0, size - 1) for size in columns))
        ids = np.array(data.draw(st.lists(row, min_size=1, max_size=6)), dtype=np.int32)
        batch = Batch(Shape.parse("(u,(rap,(np,(nv))),(n,(rp,(e))))"), ids)
        reckoner = Reckoner(Random(graph, seed), ALL_HEADS)
        together = reckoner.answer(batch)
        for index in range(len(batch)):
            assert torch.allclose(together[index], reckoner.answer(batch[index : index + 1])[0], atol=1e-6)

    @settings(max_examples=200)
    @given(st.data(), st.integers(0, 1000))
    def test_a_proof_is_of_its_answer_and_has_its_probability(self, data, seed):
        graph = data.draw(graphs())
        batch = Batch.of([data.draw(queries(graph))], graph.values)
        reckoner = Reckoner(Random(graph, seed), ALL_HEADS)
        found = reckoner.answer(batch)[0]
        for place in {int(found.argmax()), data.draw(st.integers(0, len(found) - 1))}:
            proof = explain(reckoner, batch, place)
            member = Number(*graph.values.number_at(place)) if batch.shape.denotes_numbers else place
            assert proved_members(proof) == {member}
            assert proof.probability == pytest.approx(float(found[place]), abs=1e-5)
            assert all(step.probability == pytest.approx(1) for step in proof.steps() if step.how is How.OBSERVED)

    @settings(max_examples=60)
    @given(st.data(), st.integers(0, 1000), st.floats(-2, 2), st.floats(0.2, 3))
    def test_one_fact_has_one_probability_in_every_question(self, data, seed, offset, slope):
        """Also beside conditions that certainly hold and alternatives that do not; and no map changes the order."""
        graph = data.draw(graphs())
        reckoner = Reckoner(Random(graph, seed), ALL_HEADS)
        maps = AnswerMaps(dict.fromkeys(GENERAL_TYPES, (offset, slope)))

        def shown(query):
            batch = Batch.of([query], graph.values)
            scores_, parts = reckoner.answer_and_parts(batch)
            return scores_[0], maps.shown(batch.shape, scores_, one_fact_alone(batch.shape, scores_, parts))[0]

        entity, relation = st.integers(0, len(graph.entities) - 1), st.integers(0, 2 * len(graph.relations) - 1)
        fact, other = (Follow(data.draw(relation), Entity(data.draw(entity))) for _ in range(2))
        _, of_fact = shown(fact)
        of_other, _ = shown(other)
        for query, nothing in ((And((fact, other)), 1.0), (And((other, fact)), 1.0), (Or((fact, other)), 0.0)):
            found, displayed = shown(query)
            alone = of_other == nothing
            assert displayed[alone].tolist() == pytest.approx(of_fact[alone].tolist(), abs=1e-6)
            assert (displayed[found.argsort()].diff() >= 0).all()
        _, of_none = shown(And((Not(fact), other)))
        stated = of_other == 1
        assert of_none[stated].tolist() == pytest.approx((1 - of_fact[stated]).tolist(), abs=1e-6)

    def test_proofs_along_sampled_edges(self, small):
        graph = small.graphs.at(Split.TRAIN)
        facts = Random(graph, 0)
        facts.edge_probability = 0.25
        reckoner = Reckoner(facts, Inference(mode=ComparisonMode.SAMPLED))
        hows = set()
        for queries_ in small.query_sets(Split.VALID, "2p"):
            batch = queries_.batch[:1]
            found = reckoner.answer(batch)[0]
            for place in found.topk(min(20, len(found))).indices.tolist():
                proof = explain(reckoner, batch, place)
                assert proof.probability == pytest.approx(float(found[place]), abs=1e-5)
                hows |= {step.how for step in proof.steps()}
        assert hows >= {How.GIVEN, How.OBSERVED, How.PREDICTED}

    @given(st.lists(NUMBERS, min_size=1, max_size=12), comparisons(), st.integers(0, 100))
    def test_a_comparison_takes_the_likeliest_number_that_satisfies_it(self, numbers, comparison, seed):
        builder = GraphBuilder()
        for index, number in enumerate(numbers):
            builder.add_value(f"e{index}", "height", number, "metres")
        graph = builder.build()
        literal = Number(1.5, "metres")
        likely = torch.rand(1, len(graph.values) + 1, generator=torch.Generator().manual_seed(seed))
        ranges = Ranges(comparison, (literal,), ObservedFacts.of(graph, CPU), CPU)
        every_y = [*graph.values.numbers, literal.value]
        for x, found in zip(graph.values.numbers, ranges.reached(likely)[0].tolist(), strict=True):
            weights = [float(p) for y, p in zip(every_y, likely[0], strict=True) if comparison.holds(x, y)]
            assert found == pytest.approx(max(weights, default=0.0))


class TestLinks:
    def test_a_fact_has_one_score_from_three_sides(self):
        generator = torch.Generator().manual_seed(0)
        scorer = ComplEx(5, 3, 4, generator)
        head, label, tail = (torch.randn(7, 8, generator=generator) for _ in range(3))
        complex_ = [torch.complex(*each.chunk(2, dim=1)) for each in (head, label, tail)]
        expected = (complex_[0] * complex_[1] * complex_[2].conj()).real.sum(dim=1)
        assert torch.allclose((scorer.of_tail(head, label) * tail).sum(dim=1), expected, atol=1e-5)
        assert torch.allclose((scorer.of_head(label, tail) * head).sum(dim=1), expected, atol=1e-5)
        assert torch.allclose((scorer.of_label(head, tail) * label).sum(dim=1), expected, atol=1e-5)
        assert torch.allclose(scorer.penalty(head), complex_[0].abs().pow(3).sum(), rtol=1e-4)

    def test_every_example_is_learned_once_an_epoch(self):
        graph = random_graph()
        labels = Labels.of(graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 4, torch.Generator().manual_seed(0))
        training = LinkTraining(scorer, labels.examples(graph, CPU), 64, 0.1, 0.01, 0.1, seed=3)
        batches = list(training._batches(0))
        assert len(batches) == training.steps_per_epoch
        for place, examples in enumerate(training.examples):
            rows = torch.cat([rows for kind, rows in batches if kind == place])
            assert sorted(set(rows.tolist())) == list(range(len(examples)))
            assert len(rows) < len(examples) + 64
        first = training.epoch(0)
        for epoch in range(1, 8):
            last = training.epoch(epoch)
        assert last < first


class TestExpectations:
    def test_nothing_is_hidden_behind_the_one_tail_of_a_one_valued_relation(self):
        builder = GraphBuilder()
        for index in range(400):
            builder.add_fact(f"city{index}", "in", f"country{index % 8}")
        graph = builder.build()
        (forward, states), (backward, stated_of) = (Expectations(graph, TRAIN_SHARE).of(label) for label in (0, 1))
        cities, countries = (np.unique(ends) for ends in (graph.facts.sources, graph.facts.targets))
        assert forward[cities].min() > 0 and forward[cities].max() < 0.1
        assert backward[countries] == pytest.approx(50 * 0.25)
        assert np.array_equal(np.flatnonzero(states), cities) and np.array_equal(np.flatnonzero(stated_of), countries)

    def test_an_entity_like_those_that_have_a_label_is_expected_to_have_it(self):
        builder = GraphBuilder()
        for index in range(300):
            kind = "person" if index % 2 else "city"
            builder.add_fact(f"x{index}", "is", kind)
            if kind == "person" and index % 10 != 1:
                builder.add_value(f"x{index}", "age", 20.0 + index % 50, "years")
        graph = builder.build()
        expected, _ = Expectations(graph, TRAIN_SHARE).of(2 * len(graph.relations))
        ids = {name: place for place, name in enumerate(map(str, graph.entities.names))}
        people = [float(expected[ids[f"x{index}"]]) for index in range(1, 300, 10)]
        cities = [float(expected[ids[f"x{index}"]]) for index in range(0, 300, 10)]
        assert min(people) > 5 * max(cities)

    def test_an_entity_says_nothing_of_itself(self):
        """The owners of a label's features are counted without the entity: its own lack of the label is no reason."""
        builder = GraphBuilder()
        for index in range(200):
            builder.add_fact(f"x{index}", "is", f"kind{index % 20}")
            if index % 20 and index != 199:
                builder.add_fact(f"x{index}", "has", f"thing{index % 3}")
        graph = builder.build()
        label = graph.vocabulary.relation_id("has")
        expectations = Expectations(graph, TRAIN_SHARE)
        told = expectations.signatures.features(label, expectations.owners(label)[0])
        best = told[graph.vocabulary.entity_id("x199"), 2]  # of its kind all nine others have it
        rate = (len(expectations.owners(label)[0]) + 0.5) / (len(graph.entities) + 1)
        share = (9 + 3 * rate) / (9 + 3)
        assert best == pytest.approx(np.log(share / (1 - share)) - np.log(rate / (1 - rate)), rel=1e-5)


class TestAttributes:
    def test_a_scale_is_monotone_and_can_be_undone(self):
        numbers = np.array([3.0, -100.0, 7.0, 7.0, 1e6, 12.0])
        scale = Scale.of(numbers)
        inside = np.linspace(-200, 2e6, 57)
        assert (np.diff(scale.score(inside)) > 0).all()
        assert np.allclose(scale.number(scale.score(inside)), inside)

    def test_a_scale_of_the_greatest_numbers_stays_finite(self):
        numbers = np.array([-1.7e308, 2.0, 1.7e308])
        scale = Scale.of(numbers)
        assert np.allclose(scale.number(scale.score(numbers)) / 1e308, numbers / 1e308)
        far = scale.number(np.array([-40.0, 0.3, 40.0]))
        assert np.isfinite(far).all() and (far == np.unique(far)).all()

    def test_values_are_found_from_neighbours_with_honest_intervals(self):
        rng = np.random.default_rng(0)
        builder = GraphBuilder()
        truth = {}
        for team in range(120):
            middle = rng.uniform(1850, 2000)
            for player in range(8):
                name = f"p{team}_{player}"
                builder.add_fact(name, "plays_for", f"team{team}")
                truth[name] = middle + rng.normal() * 4
                if player:
                    builder.add_value(name, "born", truth[name], "years")
            builder.add_value(f"team{team}", "founded", middle + 10, "years")
        graph = builder.build()
        folds = np.random.default_rng(1).integers(FOLDS, size=len(graph.entities))
        names = {str(name): place for place, name in enumerate(map(str, graph.attributes.names))}
        model = fit_attributes(graph, folds)[names["born"]]
        entities = [str(name) for name in map(str, graph.entities.names)]
        lacking = np.array([entities.index(f"p{team}_0") for team in range(120)])
        wanted = np.array([truth[f"p{team}_0"] for team in range(120)])
        error = np.abs(model.quantile(lacking, 0.5) - wanted)
        assert np.median(error) < 6
        low, high = model.quantile(lacking, 0.05), model.quantile(lacking, 0.95)
        assert 0.8 <= ((low <= wanted) & (wanted <= high)).mean() <= 0.99
        assert (high - low).mean() < 60


def random_facts(seed, rules=True):
    """A fact model with everything in it over a random graph: links, rules, weights that differ by end."""
    observed = ObservedFacts.of(random_graph(seed), CPU)
    labels = Labels.of(observed.graph)
    scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(seed))
    torch.nn.init.normal_(scorer.nodes)
    torch.nn.init.normal_(scorer.labels)
    calibration = Calibration(intercept=-1, as_stated=0.2, by_arity=-0.1, expected=0.1, stated=0.3, more_rules=0.4)
    return fact_model(observed, scorer, calibration, mine_rules(observed.graph) if rules else None)


class TestOneProbability:
    @pytest.mark.parametrize("seed", range(3))
    def test_a_fact_has_the_same_probability_from_both_ends_in_a_row_and_alone(self, seed):
        facts = random_facts(seed)
        everyone = torch.arange(facts.labels.entities)
        for relation in range(0, facts.labels.relations, 2):
            there, back = (facts.tails(everyone[None], torch.tensor([r]))[0] for r in (relation, relation + 1))
            torch.testing.assert_close(there, back.T, rtol=1e-4, atol=1e-7)
            heads, tails = (each.flatten() for each in torch.meshgrid(everyone, everyone, indexing="ij"))
            alone = facts.probabilities(heads, torch.full_like(heads, relation), tails).view_as(there)
            stated = torch.zeros_like(there, dtype=torch.bool)
            own = facts.observed.graph.facts
            rows = own.labels == relation // 2
            stated[own.sources[rows], own.targets[rows]] = True
            torch.testing.assert_close(alone[~stated], there[~stated], rtol=1e-4, atol=1e-7)
            assert (alone[stated] == 1).all()

    def test_the_same_in_every_notation(self):
        facts = random_facts(0)
        names, graph = facts.observed.graph.vocabulary, facts.observed.graph
        reckoner = Reckoner(facts, ALL_HEADS)
        head, tail = "e3", "e40"
        texts = [f"(rp,(r1),(e,({head})))", f"(rp,(^r1),(e,({tail})))"]
        found = [reckoner.answer(Batch.of([parse(text, names)], graph.values))[0] for text in texts]
        one, other = float(found[0][names.entity_id(tail)]), float(found[1][names.entity_id(head)])
        assert one == pytest.approx(other, rel=1e-4) and 0 < one < 1

    def test_more_evidence_never_makes_a_fact_less_likely(self):
        facts = random_facts(1)
        rng = torch.Generator().manual_seed(0)
        heads, tails = (torch.randint(facts.labels.entities, (200,), generator=rng) for _ in range(2))
        relations = torch.randint(facts.labels.relations, (200,), generator=rng)
        before = facts.evidence_of(heads, relations, tails)
        weights = torch.tensor(facts.calibration.facts)
        for end in ("from the head", "from the tail"):
            more = before.clone()
            sign = 1.0 - 2.0 * (relations % 2)
            turned = 1.0 if end == "from the head" else -1.0
            more[:, 1] += 1
            more[:, 2] += turned * sign
            more[:, 3] += turned * facts.arity[relations]
            assert (more @ weights > before @ weights).all()
        for column in (4, 5):
            more = before.clone()
            more[:, column] += 0.5
            assert (more @ weights > before @ weights).all()

    def test_what_is_observed_later_counts_at_once(self):
        """A fact that the training graph lacks: one fewer is hidden, and its tail no longer competes."""
        builder = GraphBuilder()
        for index in range(60):
            if index:
                builder.add_fact(f"city{index}", "in", f"country{index % 6}")
            builder.add_fact(f"city{index}", "is", "City")
        before = builder.build()
        builder.add_fact("city0", "in", "country0")
        after = builder.build()
        assert list(map(str, before.entities.names)) and len(before.entities) == len(after.entities)
        likely = []
        for graph in (before, after):
            labels = Labels.of(graph)
            scorer = ComplEx(labels.num_nodes, labels.num_labels, 4, torch.Generator().manual_seed(0))
            facts = fact_model(ObservedFacts.of(graph, CPU), scorer, Calibration())
            names = graph.vocabulary
            ends = (names.entity_id("city0"), names.relation_id("in"), names.entity_id("country3"))
            likely.append(float(facts.probabilities(*(torch.tensor([each]) for each in ends))))
        assert likely[1] < likely[0] / 5

    def test_softmax_sums_over_a_choice_of_tails_are_close_to_those_over_all(self):
        """Exact where all tails fit into the choice, and otherwise within a tenth of what they are the logarithm of."""
        generator = np.random.default_rng(0)
        builder = GraphBuilder()
        for index in range(6000):
            builder.add_fact(f"a{index}", "in", f"b{int(3000 * generator.random() ** 2)}")
        observed = ObservedFacts.of(builder.build(), CPU)
        labels = Labels.of(observed.graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 16, torch.Generator().manual_seed(0)).requires_grad_(
            False
        )
        torch.nn.init.normal_(scorer.nodes, std=0.5)
        torch.nn.init.normal_(scorer.labels, std=0.5)
        sums = LogSums(scorer, labels.entities, observed.relations, loop_shares(observed))
        names = observed.graph.vocabulary
        heads = torch.tensor([names.entity_id(f"a{index}") for index in range(0, 6000, 40)])
        scores = scorer.of_tail(scorer.nodes[heads], scorer.labels[0].expand(len(heads), -1)) @ scorer.nodes.T
        for row, head in enumerate(heads.tolist()):
            scores[row, observed.graph.follows.row(head, 0)] = -torch.inf
            scores[row, head] = -torch.inf
        exact = scores.logsumexp(dim=1)
        assert len(sums.choice(0).tails) < labels.entities / 5
        assert float((sums.of(0, heads) - exact).abs().mean()) < 0.1
        few = random_facts(0)
        everyone = torch.arange(few.labels.entities)
        asked = few.scorer.of_tail(few.scorer.nodes[everyone], few.scorer.labels[4].expand(len(everyone), -1))
        scores = asked @ few.scorer.nodes[: few.labels.entities].T
        for head in everyone.tolist():
            scores[head, few.observed.graph.follows.row(head, 4)] = -torch.inf
            if not few.loops[4]:
                scores[head, head] = -torch.inf
        torch.testing.assert_close(few.log_sums.of(4, everyone), scores.logsumexp(dim=1), rtol=1e-4, atol=1e-4)


class TestCalibration:
    def test_probabilities_are_those_of_facts_though_only_some_of_the_true_ones_are_held_back(self):
        rng = np.random.default_rng(0)
        features = np.stack([np.ones(40_000), rng.normal(size=40_000)], axis=1)
        true = rng.random(40_000) < 1 / (1 + np.exp(-(features @ [-2.0, 1.5])))
        held = true & (rng.random(40_000) < 0.5)
        kept = held | (rng.random(40_000) < 0.2)  # every fifth of the others stands for five
        counts = np.where(held, 1.0, 5.0)[kept]
        found = fit_share(features[kept], held[kept], counts, 0.5, (0.0, 0.0), [(None, None)] * 2)
        assert found == pytest.approx((-2.0, 1.5), abs=0.12)

    def test_of_a_hundred_facts_at_seven_tenths_about_seventy_are_true(self):
        """Facts that neither the training nor the calibration saw, among all that are not observed."""
        builder, rng = GraphBuilder(), np.random.default_rng(0)
        for index in range(1500):
            town = int(rng.integers(40))
            builder.add_fact(f"p{index}", "lives_in", f"t{town}")
            builder.add_fact(f"p{index}", "works_in", f"t{town if rng.random() < 0.7 else int(rng.integers(40))}")
            builder.add_fact(f"p{index}", "knows", f"p{int(rng.integers(1500))}")
        whole = builder.build()
        splits = rng.choice(3, size=len(whole.facts), p=(0.8, 0.1, 0.1))
        none = np.ones(0, dtype=bool)
        graph, larger = whole.restricted(splits == 0, none), whole.restricted(splits <= 1, none)
        observed, labels = ObservedFacts.of(graph, CPU), Labels.of(graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        training = LinkTraining(scorer, labels.examples(graph, CPU), 500, 0.1, 0.02, 0.0, seed=0)
        for epoch in range(15):
            training.epoch(epoch)
        facts = fact_model(observed, scorer, Calibration(), mine_rules(graph))
        facts = fit_calibration(facts, HeldBack.between(graph, larger, 0.8, 0.5), np.random.default_rng(0))
        assert 0 <= facts.calibration.more_rules <= 1  # no more than a noisy-or, whatever facts are drawn
        people = torch.tensor([whole.vocabulary.entity_id(f"p{index}") for index in range(1500)])
        works = whole.vocabulary.relation_id("works_in")
        likely = torch.cat(
            [facts.tails(part[:, None], torch.full_like(part, works))[:, 0] for part in people.split(250)]
        )
        true, stated = torch.zeros_like(likely, dtype=torch.bool), torch.zeros_like(likely, dtype=torch.bool)
        for row, person in enumerate(people.tolist()):
            true[row, whole.follows.row(person, works)] = True
            stated[row, graph.follows.row(person, works)] = True
        likely, true = likely[~stated], true[~stated]
        for low, high in ((0.01, 0.1), (0.1, 0.5), (0.5, 1.0)):
            own = (likely >= low) & (likely < high)
            if own.sum() >= 60:
                assert float(true[own].float().mean()) == pytest.approx(float(likely[own].mean()), abs=0.1, rel=0.35)
        assert int((likely > 0.5).sum()) >= 60

    def test_a_cache_keeps_the_latest_within_its_room(self):
        kept: Latest[str, str] = Latest(room=10, size=len)
        for key in "abcd":
            kept.keep(key, key * 4)
        assert len(kept) == 2 and kept.find("a") is None and kept.find("d") == "dddd"
        assert kept.get("c", lambda: "never made") == "cccc"
        kept.keep("e", "eeee")
        assert kept.find("d") is None and kept.find("c") == "cccc"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=100))


def chosen(**changes):
    few = {"rank": 8, "epochs": 4, "batch_size": 64, "heads": 16, "validation_queries": 3}
    return choose_settings("reckoner", **{**few, "rules": True, "checkpoint_every": 2, "device": "cpu", **changes})


def loaded(run: Run, known: Split = Split.TRAIN) -> ReckonerModel:
    model = run.load(device="cpu", known=known)
    assert isinstance(model, ReckonerModel)
    return model


@pytest.fixture(scope="module")
def run(small, tmp_path_factory):
    return train_with(small, tmp_path_factory.mktemp("runs") / "run", chosen())


class TestRuns:
    @pytest.mark.parametrize("name", ["rule_starts", "number_folds"])
    def test_weights_of_other_sizes_than_the_graphs_are_refused(self, run, small, tmp_path, name):
        shutil.copytree(run.folder, tmp_path / "run")
        other = Run.open(tmp_path / "run")
        weights = other.files.tensors(BEST, CPU)
        other.load(small.folder)
        for changed in (weights[name][:-1], weights[name][..., :-1], weights[name].flatten()[:1], weights[name][None]):
            other.files.save(BEST, {**weights, name: changed})
            with pytest.raises(UserError, match=f"does not fit its settings or its graph: {name} has the sizes"):
                other.load(small.folder)

    def test_weights_that_are_no_finite_numbers_are_refused(self, run, small, tmp_path):
        shutil.copytree(run.folder, tmp_path / "run")
        other = Run.open(tmp_path / "run")
        weights = other.files.tensors(BEST, CPU)
        for number in (float("nan"), float("inf")):
            other.files.save(BEST, {**weights, "scorer.labels": torch.full_like(weights["scorer.labels"], number)})
            with pytest.raises(UserError, match=r"best\.safetensors cannot be used: scorer\.labels holds"):
                other.load(small.folder)

    def test_a_run_can_be_evaluated_and_loaded(self, run, small):
        result = evaluate(run)
        assert result.queries == len(EvaluationQueries.load(small, Split.TEST, CPU))
        assert (run.folder / "test_metrics.json").is_file()
        reckoner = loaded(run).reckoner
        for queries_ in small.query_sets(Split.TEST, "2p"):
            found = reckoner.answer(queries_.batch)
            assert ((found >= 0) & (found <= 1)).all()

    def test_entities_that_are_linked_with_all_others_are_learned_from(self, tmp_path):
        builder = GraphBuilder()
        for head in range(8):
            for tail in range(8):
                if head != tail:
                    builder.add_fact(f"e{head}", "near", f"e{tail}")
            builder.add_fact(f"e{head}", "likes", f"e{(head * 3 + 1) % 8}")
        benchmark = build(builder.build(), tmp_path / "b", BuildSettings.choose(builder.build(), queries=20))
        facts = loaded(train_with(benchmark, tmp_path / "run", chosen()), Split.TEST).facts
        everyone = torch.arange(8)
        assert (facts.log_sums.of(0, everyone) == torch.inf).any()
        likely = facts.tails(everyone[None], torch.tensor([0]))
        assert ((likely >= 0) & (likely <= 1)).all()

    def test_a_stopped_run_goes_on_to_the_same_end(self, small, run, tmp_path):
        stopped = train_with(small, tmp_path / "run", chosen(epochs=2))
        for name in ("best.safetensors", "calibration.json"):
            (stopped.folder / name).unlink()
        assert not (stopped.folder / "rules.safetensors").exists()
        header = (run.folder / "run.json").read_text()
        (stopped.folder / "run.json").write_text(header)
        finished = resume(stopped.folder)
        first, second = (each.files.tensors("best.safetensors", CPU) for each in (run, finished))
        assert first.keys() == second.keys()
        assert all(torch.equal(first[name], second[name]) for name in first)
        losses = [[line["loss"] for line in each.files.records() if "loss" in line] for each in (run, finished)]
        assert losses[0] == losses[1]

    def test_a_finished_run_has_nothing_left_to_do(self, run, small):
        before = (run.folder / "best.safetensors").stat().st_mtime_ns, len(run.files.records())
        again = resume(run.folder, small.folder)
        assert (again.folder / "best.safetensors").stat().st_mtime_ns == before[0]
        assert sum("validation_mrr" in line for line in again.files.records()) == 1

    def test_the_scales_of_numbers_do_not_depend_on_what_is_known(self, run, small):
        """An estimate looks at all that is known, but on the scale of the training graph."""
        one, other = (loaded(run, known) for known in (Split.TRAIN, Split.TEST))
        for first, second in zip(one.facts.attributes, other.facts.attributes, strict=True):
            assert np.array_equal(first.scale.numbers, second.scale.numbers)
            assert np.array_equal(first.scale.counts, second.scale.counts) and first.limits == second.limits

    def test_a_run_that_was_stopped_while_it_was_fitted_goes_on_from_there(self, small, run, tmp_path, monkeypatch):
        """What was learned after the links is saved too, and not learned again."""
        from kgreckon.models.reckoner import learning

        def killed(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(learning, "fit_calibration", killed)
            train_with(small, tmp_path / "run", chosen())
        assert (tmp_path / "run" / "rules.safetensors").is_file()
        with monkeypatch.context() as patch:
            patch.setattr(learning, "mine_rules", killed)
            patch.setattr(learning, "fit_attributes", killed)
            patch.setattr(LinkTraining, "epoch", killed)
            finished = resume(tmp_path / "run")
        first, second = (each.files.tensors("best.safetensors", CPU) for each in (run, finished))
        assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
        assert not (tmp_path / "run" / "rules.safetensors").exists()

    def test_a_run_of_an_older_version_says_what_to_do(self, run, tmp_path):
        shutil.copytree(run.folder, tmp_path / "run")
        older = Run.open(tmp_path / "run")
        older.files.save("best.safetensors", {"relation_sums": torch.zeros(3)})
        with pytest.raises(UserError, match=r"older version.*train it again"):
            older.load()

    def test_facts_outside_the_validation_graph_change_nothing_at_all(self, small, run, tmp_path):
        """Without the test graph's own facts, the same weights, calibration and answers, bit for bit."""
        graphs = small.graphs
        kept = graphs.fact_splits <= Split.VALID, graphs.attribute_fact_splits <= Split.VALID
        other = train_with(without_hidden_facts(small, tmp_path / "other", *kept), tmp_path / "run", chosen())
        first, second = (each.files.tensors("best.safetensors", CPU) for each in (run, other))
        assert all(torch.equal(first[name], second[name]) for name in first)
        calibrations = [(each.folder / "calibration.json").read_text() for each in (run, other)]
        assert calibrations[0] == calibrations[1]
        for queries_ in small.query_sets(Split.TEST, "2p"):
            found, expected = (loaded(each).reckoner.answer(queries_.batch) for each in (run, other))
            assert torch.equal(found, expected)

    @pytest.mark.parametrize("dropped", [some_hidden_facts, facts_with_values_of_their_own])
    def test_facts_outside_the_training_graph_change_nothing_but_the_calibration(self, small, run, tmp_path, dropped):
        fewer = without_hidden_facts(small, tmp_path / "other", *dropped(small))
        other = train_with(fewer, tmp_path / "run", chosen())
        first, second = (each.files.tensors("best.safetensors", CPU) for each in (run, other))
        assert all(torch.equal(first[name], second[name]) for name in first)
        for queries_ in small.query_sets(Split.TEST, "2p"):
            found, expected = (
                Reckoner(facts.recalibrated(Calibration()), Inference()).answer(queries_.batch)
                for facts in (loaded(each).facts for each in (run, other))
            )
            assert torch.equal(found, expected)

    def test_values_that_only_hidden_facts_use_change_nothing_that_is_learned_of_the_others(self, small):
        """The value table tells which numbers there are: with and without those the beliefs are the same."""
        whole = small.graphs.at(Split.TRAIN)
        pruned = without_unused_values(whole)
        assert len(pruned.values) < len(whole.values)
        fold_of = np.random.default_rng(0).integers(FOLDS, size=len(whole.entities))
        ours, theirs = (fit_attributes(graph, fold_of, 0) for graph in (whole, pruned))
        for label in range(2 * len(whole.relations) + len(whole.attributes)):
            expected = [Expectations(graph, TRAIN_SHARE).of(label)[0] for graph in (whole, pruned)]
            assert np.array_equal(expected[0], expected[1])
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(one.scale.numbers, other.scale.numbers)
        first, second = (each.as_tensors() for each in (ours, theirs))
        assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)

    def test_what_is_learned_well_is_ranked_first(self, tmp_path):
        """Training facts as hard answers: a reckoner without observed facts finds them again."""
        builder = GraphBuilder()
        for index in range(40):
            builder.add_fact(f"city{index}", "in", f"country{index % 5}")
            builder.add_fact(f"city{index}", "twin_of", f"city{(index + 5) % 40}")
        observed = ObservedFacts.of(builder.build(), CPU)
        labels = Labels.of(observed.graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 16, torch.Generator().manual_seed(0))
        training = LinkTraining(scorer, labels.examples(observed.graph, CPU), 32, 0.1, 0.0, 0.0, seed=0)
        for epoch in range(60):
            training.epoch(epoch)
        facts = fact_model(observed, scorer, Calibration())
        for edge in range(0, 80, 9):
            head, relation, tail = (
                int(getattr(observed.graph.facts, c)[edge]) for c in ("sources", "labels", "targets")
            )
            likely = facts.tails(torch.tensor([[head]]), torch.tensor([2 * relation]))[0, 0]
            stated = observed.graph.follows.row(head, 2 * relation)
            assert tail in likely.topk(len(stated)).indices.tolist()

    def test_an_entity_is_related_to_itself_only_where_others_are(self):
        builder = GraphBuilder()
        for index in range(30):
            builder.add_fact(f"e{index}", "borders", f"e{(index + 1) % 30}")
            builder.add_fact(f"e{(index + 1) % 30}", "borders", f"e{index}")
            builder.add_fact(f"e{index}", "knows", f"e{index if index % 3 == 0 else (index + 2) % 30}")
        observed = ObservedFacts.of(builder.build(), CPU)
        labels = Labels.of(observed.graph)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        torch.nn.init.ones_(scorer.nodes)  # every entity resembles every other, and itself
        torch.nn.init.ones_(scorer.labels)
        facts = fact_model(observed, scorer, Calibration(intercept=30.0))
        heads, relations = torch.arange(30).expand(4, 30), torch.arange(4)
        likely = facts.tails(heads, relations)
        own = likely[:, torch.arange(30), torch.arange(30)]
        assert own.shape == (4, 30)
        assert (own[:2] == 0).all()
        # Ten know themselves, of thirty that know someone and fewer that someone knows: the smaller share holds.
        assert len(set_of_known(observed)) < 30
        assert own[2].max() == pytest.approx(1 / 3) and own[3].max() == pytest.approx(1 / 3)
        others = likely.clone()
        others[:, torch.arange(30), torch.arange(30)] = 0
        assert others.max() > 0.89
        for entity in (0, 7, 29):
            alone = facts.tails(heads, relations, slice(entity, entity + 1))
            assert torch.allclose(alone, likely[:, :, entity : entity + 1], atol=1e-6)

    @pytest.mark.parametrize("kind", ["relations", "numbers"])
    def test_a_graph_of_one_kind_of_facts_will_do(self, kind, tmp_path):
        builder = GraphBuilder()
        rng = np.random.default_rng(0)
        for index in range(300):
            if kind == "relations":
                builder.add_fact(f"e{rng.integers(20)}", f"r{rng.integers(3)}", f"e{rng.integers(20)}")
            else:
                builder.add_value(f"e{index % 40}", f"a{rng.integers(3)}", float(rng.integers(12)), "metres")
        graph = builder.build()
        types = {name: GENERAL_TYPES[name] for name in ("1p", "2i")}
        made = build(graph, tmp_path / "b", BuildSettings.choose(graph, queries=20, types=types))
        result = evaluate(train_with(made, tmp_path / "run", chosen()))
        assert result.queries > 0

    def test_an_unknown_setting_is_told_what_there_is(self):
        with pytest.raises(UserError, match=r"unknown setting 'steps': choose .*epochs"):
            chosen(steps=50)

    def test_settings_that_cannot_be_meant_are_refused(self):
        with pytest.raises(UserError, match=r"rank must be at least 1"):
            chosen(rank=0)
        with pytest.raises(UserError, match=f"seed must be below {2**32}"):
            chosen(seed=2**32)
        with pytest.raises(UserError, match="ranks"):
            chosen(ranks=3)
        with pytest.raises(UserError, match="complex"):
            chosen(scorer="complexx")

    def test_an_unfinished_run_says_how_to_go_on(self, small, tmp_path):
        stopped = train_with(small, tmp_path / "run", chosen(epochs=1))
        (stopped.folder / "calibration.json").unlink()
        with pytest.raises(UserError, match="resume"):
            stopped.load()

    @pytest.mark.parametrize("content", ['{"links": "much"}', '{"forward": 1}', '{"links": null}', '{"links": 1}'])
    def test_a_calibration_that_is_none_is_named(self, run, tmp_path, content):
        shutil.copytree(run.folder, tmp_path / "run")
        (tmp_path / "run" / "calibration.json").write_text(content)
        with pytest.raises(UserError, match="does not fit its settings"):
            Run.open(tmp_path / "run").load()


class TestPredict:
    def test_a_prediction_holds_its_own_estimate(self, run):
        facts = loaded(run).facts
        for attribute in range(len(facts.attributes)):
            for entity in (0, 3, 17):
                wide, narrow = (predict(facts, entity, attribute, coverage) for coverage in (0.95, 0.5))
                assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high
                stated = facts.observed.graph.values_of.row(entity, attribute)
                assert len(wide.stated) == len(stated) and (wide.has_it == 1) == bool(len(stated))
        with pytest.raises(UserError, match="coverage"):
            predict(facts, 0, 0, 1.0)

    def test_names_and_units_are_told_as_they_are_and_intervals_as_fine_as_they_are_wide(self, capsys):
        builder = GraphBuilder()
        builder.add_value("[/b] Movie", "[red]time", 1600000540.0, "[s]")
        names = builder.build().vocabulary
        found = Prediction((), "[s]", 0.5, 1600001270.4, 1600000478.2, 1600002061.3, 0.9)
        console().print(str(PredictedNumber.of(found, 0, 0, names)))
        first, second = capsys.readouterr().out.splitlines()[:2]
        assert first == "[red]time of [/b] Movie, [s]"
        interval = "1,600,000,480 to 1,600,002,060 [s] with a probability of 90%"
        assert second == f"predicted from everything else: about 1,600,001,270, {interval}"
        wide = replace(found, estimate=8.0, low=5.4841, high=10.5159)
        console().print(str(PredictedNumber.of(wide, 0, 0, names)))
        assert "about 8, 5.5 to 10.5 [s] with" in capsys.readouterr().out

    def test_from_the_command_line(self, run, monkeypatch, capsys):
        def output(*arguments):
            monkeypatch.setattr(sys, "argv", ["kgreckon", "predict", str(run.folder), *arguments])
            with pytest.raises(SystemExit):
                main()
            return capsys.readouterr()

        assert "predicted from everything else" in output("e3", "height").out
        assert json.loads(output("e3", "height", "--json").out)["unit"] == "metres"
        assert "height" in output("e3", "hight").err


def test_a_comparison_of_a_predicted_value_is_an_expectation():
    """An entity has one value: the chance that it is above a bound is the mass above it, not the largest piece."""
    builder = GraphBuilder()
    for index in range(10):
        builder.add_value(f"e{index}", "height", float(index), "metres")
    builder.add_fact("e0", "knows", "unknown")
    graph = builder.build()
    unknown = [str(name) for name in map(str, graph.entities.names)].index("unknown")
    expected = MissingValues(torch.tensor([unknown]), torch.full((1, 10), 0.08), 0)

    class OneUnknown(CertainFacts):
        def missing(self, attribute):
            return expected

    facts = OneUnknown(ObservedFacts.of(graph, CPU))
    above = HavingValue(0, Compare(SEVEN["GreaterThan"], Number(4.5, "metres")))
    assert float(scores(facts, graph, above)[unknown]) == pytest.approx(0.4)
    largest = replace(ALL_HEADS, expectation=False)
    assert float(scores(facts, graph, above, largest)[unknown]) == pytest.approx(0.08)


def test_a_plain_graph_is_learned_from_with_facts_held_back(tmp_path):
    """No benchmark and no queries: held-back facts, which are not observed, are found among all others."""
    builder = GraphBuilder()
    for index in range(60):
        builder.add_fact(f"city{index}", "in", f"country{index % 5}")
        builder.add_fact(f"city{index}", "under", f"king{index % 5}")
        builder.add_value(f"city{index}", "age", float(index % 7), "years")
    whole = builder.build()
    graph, held = hold_back(whole, 0.1, np.random.default_rng(0))
    assert len(graph.facts) + len(held.facts) == len(whole.facts) and len(held.facts) and len(held.attribute_facts)
    again = HeldBack.between(graph, whole, 0.9)
    for one, other in ((held.facts, again.facts), (held.attribute_facts, again.attribute_facts)):
        assert all(np.array_equal(getattr(one, c), getattr(other, c)) for c in ("sources", "labels", "targets"))
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    files, chosen_ = RunFiles(folder), chosen(epochs=30)
    learn_reckoner(files, graph, held, chosen_, CPU, TrainingProgress())
    assert is_trained(files)
    assert next(line for line in files.records() if "validation_mrr" in line)["validation_mrr"] > 40
    reckoner = ReckonerModel(*open_reckoner(files, graph, whole, held.stated_share, chosen_, CPU)).reckoner
    names = whole.vocabulary
    batch = Batch.of([parse("(rp,(in),(e,(city3)))", names)], whole.values)
    assert float(reckoner.answer(batch)[0, names.entity_id("country3")]) == 1.0

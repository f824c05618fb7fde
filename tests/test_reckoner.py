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
from kgreckon.benchmark import Benchmark, BuildSettings, Split, build
from kgreckon.benchmark.splits import TRAIN_SHARE
from kgreckon.cli import main
from kgreckon.cli.console import console
from kgreckon.cli.run_tables import print_prediction
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
from kgreckon.models.reckoner.attributes import Scale, fit_attributes
from kgreckon.models.reckoner.existence import FOLDS, hidden_tails
from kgreckon.models.reckoner.explaining import explain
from kgreckon.models.reckoner.fitting import fit_beliefs
from kgreckon.models.reckoner.fuzzy import Ranges
from kgreckon.models.reckoner.learning import is_trained, learn_reckoner, open_reckoner
from kgreckon.models.reckoner.links import ComplEx, LinkTraining
from kgreckon.models.reckoner.predicted import Expectations, Labels, log_sums
from kgreckon.models.reckoner.predicting import predict
from kgreckon.models.reckoner.reckoner_model import ReckonerModel
from kgreckon.models.run_files import BEST, RunFiles
from kgreckon.query import GENERAL_TYPES, SEVEN, And, Batch, Compare, Follow, HavingValue, Not, Number, Or, Shape
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
        observed = ObservedFacts.of(random_graph(), CPU)
        labels = Labels.of(observed)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 4, torch.Generator().manual_seed(0))
        training = LinkTraining(scorer, labels.examples(observed), 64, 0.1, 0.01, 0.1, seed=3)
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
        forward, backward = hidden_tails(graph, TRAIN_SHARE)
        cities, countries = (np.unique(ends) for ends in (graph.facts.sources, graph.facts.targets))
        assert forward[cities].min() > 0 and forward[cities].max() < 0.1 and not forward[countries].any()
        assert backward[countries] == pytest.approx(50 * 0.25) and not backward[cities].any()

    def test_an_entity_like_those_that_have_a_relation_is_expected_to_have_it(self):
        builder = GraphBuilder()
        for index in range(300):
            kind = "person" if index % 2 else "city"
            builder.add_fact(f"x{index}", "is", kind)
            if kind == "person" and index % 10 != 1:
                builder.add_value(f"x{index}", "age", 20.0 + index % 50, "years")
        graph = builder.build()
        odds = fit_beliefs(ObservedFacts.of(graph, CPU), TRAIN_SHARE, 0).expectations.odds[2 * len(graph.relations)]
        ids = {name: place for place, name in enumerate(map(str, graph.entities.names))}
        people = [float(odds[ids[f"x{index}"]]) for index in range(1, 300, 10)]
        cities = [float(odds[ids[f"x{index}"]]) for index in range(0, 300, 10)]
        assert min(people) > 5 * max(cities)

    @given(st.lists(st.floats(1e-6, 1e4), min_size=1, max_size=8).map(sorted))
    def test_where_none_are_stated_more_are_expected_with_the_odds_but_never_many(self, odds):
        expected = Expectations(torch.zeros(1, len(odds)), torch.tensor([odds])).relations(1.0, 1.0)[0]
        assert (expected.diff() >= 0).all()
        assert (expected <= 2.0).all()
        assert (expected <= torch.tensor(odds) * 1.0001).all()
        assert all(float(own) > 0.95 * odd for own, odd in zip(expected, odds, strict=True) if odd < 0.1)


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
    @pytest.mark.parametrize("name", ["relation_sums", "value_sums", "log_odds", "number_folds"])
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
            other.files.save(BEST, {**weights, "value_sums": torch.full_like(weights["value_sums"], number)})
            with pytest.raises(UserError, match=r"best\.safetensors cannot be used: value_sums holds"):
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
        whole = ObservedFacts.of(benchmark.graph, CPU)
        facts = loaded(train_with(benchmark, tmp_path / "run", chosen()), Split.TEST).facts
        sums = log_sums(whole, facts.scorer, facts.expectations)
        assert not (sums.relations == -torch.inf).any()
        for backward in (0.0, 0.5):
            told = replace(facts.calibration, forward=1 - backward, backward=backward)
            likely = facts.recalibrated(told).tails(torch.arange(8)[None], torch.tensor([0]))
            assert ((likely >= 0) & (likely <= 1)).all()

    def test_a_stopped_run_goes_on_to_the_same_end(self, small, run, tmp_path):
        stopped = train_with(small, tmp_path / "run", chosen(epochs=2))
        for name in ("best.safetensors", "calibration.json"):
            (stopped.folder / name).unlink()
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

    @pytest.mark.parametrize("dropped", [some_hidden_facts, facts_with_values_of_their_own])
    def test_facts_outside_the_training_graph_change_nothing_that_is_learned(self, small, run, tmp_path, dropped):
        """Other hidden facts, the same validation queries: the same weights, beliefs and calibration, bit for bit.

        So a value that only hidden facts use is worth what it would be if no fact used it.
        """
        fewer = without_hidden_facts(small, tmp_path / "other", *dropped(small))
        other = train_with(fewer, tmp_path / "run", chosen())
        first, second = (each.files.tensors("best.safetensors", CPU) for each in (run, other))
        assert all(torch.equal(first[name], second[name]) for name in first)
        calibrations = [(each.folder / "calibration.json").read_text() for each in (run, other)]
        assert calibrations[0] == calibrations[1]
        for queries_ in small.query_sets(Split.TEST, "2p"):
            found, expected = (loaded(each).reckoner.answer(queries_.batch) for each in (run, other))
            assert torch.equal(found, expected)

    def test_values_that_only_hidden_facts_use_change_nothing_that_is_learned_of_the_others(self, small):
        """The value table tells which numbers there are: with and without those the beliefs are the same."""
        whole = small.graphs.at(Split.TRAIN)
        pruned = without_unused_values(whole)
        assert len(pruned.values) < len(whole.values)
        ours, theirs = (fit_beliefs(ObservedFacts.of(graph, CPU), TRAIN_SHARE, 0) for graph in (whole, pruned))
        assert torch.equal(ours.expectations.hidden, theirs.expectations.hidden)
        assert torch.equal(ours.expectations.odds, theirs.expectations.odds)
        for one, other in zip(ours.attributes, theirs.attributes, strict=True):
            assert np.array_equal(one.scale.numbers, other.scale.numbers)
        first, second = (each.attributes.as_tensors() for each in (ours, theirs))
        assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)

    def test_what_is_learned_well_is_ranked_first(self, tmp_path):
        """Training facts as hard answers: a reckoner without observed facts finds them again."""
        builder = GraphBuilder()
        for index in range(40):
            builder.add_fact(f"city{index}", "in", f"country{index % 5}")
            builder.add_fact(f"city{index}", "twin_of", f"city{(index + 5) % 40}")
        observed = ObservedFacts.of(builder.build(), CPU)
        labels = Labels.of(observed)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 16, torch.Generator().manual_seed(0))
        training = LinkTraining(scorer, labels.examples(observed), 32, 0.1, 0.0, 0.0, seed=0)
        for epoch in range(60):
            training.epoch(epoch)
        beliefs = fit_beliefs(observed, TRAIN_SHARE, 0)
        sums = log_sums(observed, scorer, beliefs.expectations)
        facts = PredictedFacts(observed, scorer, beliefs.expectations, sums, beliefs.attributes, Calibration())
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
        labels = Labels.of(observed)
        scorer = ComplEx(labels.num_nodes, labels.num_labels, 8, torch.Generator().manual_seed(0))
        torch.nn.init.ones_(scorer.nodes)  # every entity resembles every other, and itself
        torch.nn.init.ones_(scorer.labels)
        expectations = fit_beliefs(observed, TRAIN_SHARE, 0).expectations
        sums = log_sums(observed, scorer, expectations)
        facts = PredictedFacts(observed, scorer, expectations, sums, [], Calibration(hidden=1e6))
        heads, relations = torch.arange(30).expand(4, 30), torch.arange(4)
        likely = facts.tails(heads, relations)
        own = likely[:, torch.arange(30), torch.arange(30)]
        assert own.shape == (4, 30)
        assert (own[:2] == 0).all()
        # Ten know themselves: of thirty that know someone, and of twenty-five or so that someone knows.
        assert own[2].max() == pytest.approx(1 / 3) and own[3].max() == pytest.approx(10 / len(set_of_known(observed)))
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

    @pytest.mark.parametrize("content", ['{"forward": "much"}', '{"forwards": 1}', '{"hidden": null}'])
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
        print_prediction(found, 0, 0, names, console())
        first, second = capsys.readouterr().out.splitlines()[:2]
        assert first == "[red]time of [/b] Movie, [s]"
        interval = "1,600,000,480 to 1,600,002,060 [s] with a probability of 90%"
        assert second == f"predicted from everything else: about 1,600,001,270, {interval}"
        print_prediction(replace(found, estimate=8.0, low=5.4841, high=10.5159), 0, 0, names, console())
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
    reckoner, _ = open_reckoner(files, graph, whole, held.stated_share, chosen_, CPU)
    names = whole.vocabulary
    batch = Batch.of([parse("(rp,(in),(e,(city3)))", names)], whole.values)
    assert float(reckoner.answer(batch)[0, names.entity_id("country3")]) == 1.0
